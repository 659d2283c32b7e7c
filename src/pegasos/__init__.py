"""Support vector machines with a proof of how good each fit is."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pegasos.accelerate import patch_sklearn, unpatch_sklearn
    from pegasos.certificate import Certificate
    from pegasos.errors import PegasosError
    from pegasos.estimators.kernel import KernelPegasosClassifier
    from pegasos.estimators.linear import PegasosClassifier
    from pegasos.estimators.linear_cv import PegasosClassifierCV
    from pegasos.estimators.one_class import KernelPegasosOneClass, PegasosOneClass
    from pegasos.estimators.regression import KernelPegasosRegressor, PegasosRegressor
    from pegasos.estimators.regression_cv import PegasosRegressorCV
    from pegasos.estimators.warnings import GapWarning, NuWarning, PriorWarning
    from pegasos.persistence import load, save
    from pegasos.plots.lam_path import LamPathDisplay
    from pegasos.stepping import Step, steps
    from pegasos.tuning.auto import AutoPegasos
    from pegasos.tuning.auto_regressor import AutoPegasosRegressor
    from pegasos.tuning.path import LamPath, lam_path

__all__ = [
    "AutoPegasos",
    "AutoPegasosRegressor",
    "Certificate",
    "GapWarning",
    "KernelPegasosClassifier",
    "KernelPegasosOneClass",
    "KernelPegasosRegressor",
    "LamPath",
    "LamPathDisplay",
    "NuWarning",
    "PegasosClassifier",
    "PegasosClassifierCV",
    "PegasosError",
    "PegasosOneClass",
    "PegasosRegressor",
    "PegasosRegressorCV",
    "PriorWarning",
    "Step",
    "lam_path",
    "load",
    "patch_sklearn",
    "save",
    "steps",
    "unpatch_sklearn",
]
__version__ = "0.2.0"

# The module of each name, imported on first use, so that `pegasos --help` need not wait for numpy.
_homes = {
    "AutoPegasos": "tuning.auto",
    "AutoPegasosRegressor": "tuning.auto_regressor",
    "Certificate": "certificate",
    "GapWarning": "estimators.warnings",
    "KernelPegasosClassifier": "estimators.kernel",
    "KernelPegasosOneClass": "estimators.one_class",
    "KernelPegasosRegressor": "estimators.regression",
    "LamPath": "tuning.path",
    "LamPathDisplay": "plots.lam_path",
    "NuWarning": "estimators.warnings",
    "PegasosClassifier": "estimators.linear",
    "PegasosClassifierCV": "estimators.linear_cv",
    "PegasosError": "errors",
    "PegasosOneClass": "estimators.one_class",
    "PegasosRegressor": "estimators.regression",
    "PegasosRegressorCV": "estimators.regression_cv",
    "PriorWarning": "estimators.warnings",
    "Step": "stepping",
    "lam_path": "tuning.path",
    "load": "persistence",
    "patch_sklearn": "accelerate",
    "save": "persistence",
    "steps": "stepping",
    "unpatch_sklearn": "accelerate",
}
_MODULES = ("certificate", "data", "export", "kernels", "online", "plots", "report", "solution", "svm", "theory")


def __getattr__(name: str) -> Any:
    """Import a name on first use."""
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in _homes:
        raise AttributeError(f"module 'pegasos' has no attribute {name!r}.")
    value = getattr(import_module(f"{__name__}.{_homes[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
