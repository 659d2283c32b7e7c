"""Support vector machines that return the proof of how good they are."""

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.warnings import GapWarning, PriorWarning

__all__ = [
    "Certificate",
    "GapWarning",
    "KernelPegasosClassifier",
    "PegasosClassifier",
    "PegasosError",
    "PriorWarning",
]
__version__ = "0.1.0"
