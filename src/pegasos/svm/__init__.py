"""The support vector machines of scikit-learn, with the same names, parameters, semantics and attributes.

Change the import, and keep the script: ``from pegasos.svm import SVC`` instead of ``from sklearn.svm import SVC``. The
models also have ``certificate_``, ``certified(X)`` and ``time_budget``.

>>> from pegasos.svm import SVC
>>> model = SVC(kernel="linear").fit([[-1, -1], [-2, -1], [1, 1], [2, 1]], [1, 1, 2, 2])
>>> model.predict([[-0.8, -1]])
array([1])
>>> model.certificate_.relative_gap <= 1e-3
True
"""

from sklearn.svm._bounds import l1_min_c

from pegasos.svm.kernel_machines import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from pegasos.svm.linear_machines import LinearSVC, LinearSVR

__all__ = ["SVC", "SVR", "LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "l1_min_c"]
