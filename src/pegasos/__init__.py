"""Support vector machines that return the proof of how good they are."""

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.linear_cv import PegasosClassifierCV
from pegasos.estimators.warnings import GapWarning, PriorWarning
from pegasos.tuning.display import LamPathDisplay
from pegasos.tuning.path import LamPath, lam_path

__all__ = [
    "Certificate",
    "GapWarning",
    "KernelPegasosClassifier",
    "LamPath",
    "LamPathDisplay",
    "PegasosClassifier",
    "PegasosClassifierCV",
    "PegasosError",
    "PriorWarning",
    "lam_path",
]
__version__ = "0.1.0"
