"""The walk of a fit: from an estimator down to the native loop, every frame in the same layer or in a lower one."""

import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

from pegasos import KernelPegasosClassifier, PegasosClassifier, _core

X, Y = load_iris(return_X_y=True)
PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def layers():
    """The rank of each package, as import-linter has it: 0 is the top."""
    contracts = tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]
    listed = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {name.strip(): rank for rank, layer in enumerate(listed) for name in layer.split("|")}


RANKS = layers()


def rank_of(module):
    return RANKS[".".join(module.split(".")[:2])]


def stack():
    """The functions of the library that are running, from the outermost to the innermost."""
    frame, found = sys._getframe(2), []
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("pegasos."):
            found.append((module, frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


def walks(monkeypatch, fit):
    """The stacks at which a fit calls into the native core."""
    seen = set()

    def watched(native):
        def call(*args, **settings):
            seen.add(tuple(stack()))
            return native(*args, **settings)

        return call

    natives = {name: value for name, value in vars(_core).items() if type(value).__name__ == "nb_func"}
    for name, native in natives.items():
        monkeypatch.setattr(_core, name, watched(native))
    fit()
    return seen


FITS = {
    "one vs rest": lambda: PegasosClassifier(random_state=0).fit(X, Y),
    "one vs one": lambda: PegasosClassifier(multi_class="ovo", random_state=0).fit(X, Y),
    "all at once": lambda: PegasosClassifier(multi_class="crammer_singer", random_state=0).fit(X, Y),
    "pegasos": lambda: PegasosClassifier(solver="pegasos", tol=None, max_iter=3, random_state=0).fit(X, Y),
    "kernel": lambda: KernelPegasosClassifier(random_state=0).fit(X, Y),
    "stream": lambda: PegasosClassifier(random_state=0).partial_fit(X, Y, classes=np.unique(Y)),
}


@pytest.mark.parametrize("name", FITS)
def test_every_frame_of_a_fit_goes_down(monkeypatch, name):
    """Above the solvers there is no way back up; below, a problem calls its rows, whatever kind they are."""
    found = walks(monkeypatch, FITS[name])
    assert found
    for walk in found:
        ranks = [rank_of(module) for module, _ in walk if rank_of(module) <= RANKS["pegasos.solvers"]]
        assert ranks == sorted(ranks), walk


@pytest.mark.parametrize("name", ["one vs rest", "one vs one", "all at once", "pegasos", "kernel"])
def test_a_fit_is_fit_then_fitting_then_the_driver_then_the_core(monkeypatch, name):
    for walk in walks(monkeypatch, FITS[name]):
        if ("pegasos.solvers.driver", "run") not in walk:
            continue
        path = [
            ("pegasos.estimators._training", "fit"),
            ("pegasos.fitting.fit", "fit"),
            ("pegasos.solvers.driver", "run"),
        ]
        places = [walk.index(step) for step in path]
        assert places == sorted(places)
        assert [walk.count(step) for step in path] == [1, 1, 1]
        return
    raise AssertionError("no walk went through the driver")
