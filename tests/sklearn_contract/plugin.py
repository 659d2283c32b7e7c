"""A plugin of pytest: scikit-learn's own tests of `sklearn.svm` find the estimators of `pegasos.svm` there."""

import sklearn.svm

import pegasos.svm

for _name in pegasos.svm.__all__:
    setattr(sklearn.svm, _name, getattr(pegasos.svm, _name))
