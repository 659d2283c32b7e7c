"""`pegasos.svm` has the defaults of the scikit-learn that is installed, whichever version that is."""

import inspect

import pytest
import sklearn.svm

import pegasos.svm

NAMES = ["SVC", "NuSVC", "LinearSVC", "SVR", "NuSVR", "LinearSVR", "OneClassSVM"]


@pytest.mark.parametrize("name", NAMES)
def test_defaults_are_those_of_the_installed_version(name):
    theirs = inspect.signature(getattr(sklearn.svm, name)).parameters
    ours = inspect.signature(getattr(pegasos.svm, name)).parameters
    assert {key: value.default for key, value in theirs.items()}.items() <= {
        key: value.default for key, value in ours.items()
    }.items()
