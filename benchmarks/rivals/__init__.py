"""The solvers that are compared, one file for each library.

Each file offers `SOLVERS`, which meet the protocol `Rival` of `pegasos.cli.rivals`; how lam, C, the intercept and the
stopping rule were matched is said there, or in the file itself.
"""

from importlib import import_module

from pegasos.cli.rivals import Rival

Solver = Rival

_modules = {
    "pegasos_": "pegasos",
    "linear_svc": "scikit-learn",
    "sgd": "scikit-learn",
    "liblinear_": "liblinear-official",
    "snapml_": "snapml",
    "vowpal_": "vowpalwabbit",
    "skglm_": "skglm",
}


def installed() -> list[Solver]:
    """All solvers whose library can be imported, pegasos first; a line is printed for each that cannot."""
    solvers: list[Solver] = []
    for module, library in _modules.items():
        try:
            solvers += import_module(f"{__name__}.{module}").SOLVERS
        except ImportError as error:
            print(f"{library} cannot be imported and is left out ({error}).")
    return solvers
