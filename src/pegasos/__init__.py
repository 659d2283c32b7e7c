"""Support vector machines that return the proof of how good they are."""

from typing import TYPE_CHECKING, Any

from pegasos.certificate import Certificate
from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.linear_cv import PegasosClassifierCV
from pegasos.estimators.warnings import GapWarning, PriorWarning
from pegasos.plots.lam_path import LamPathDisplay
from pegasos.tuning.path import LamPath, lam_path

if TYPE_CHECKING:
    from pegasos.tuning.auto import AutoPegasos

__all__ = [
    "AutoPegasos",
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


def __getattr__(name: str) -> Any:
    """What is imported only when it is asked for."""
    if name == "AutoPegasos":
        from pegasos.tuning.auto import AutoPegasos

        return AutoPegasos
    raise AttributeError(f"module 'pegasos' has no attribute {name!r}.")
