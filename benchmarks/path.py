"""A path over lam against its fits one by one, and the choice of lam against scikit-learn's grid search.

    python -m benchmarks.path [--problems a9a,w8a] [--tol 1e-3] [--repeat 3] [--grid-rows 20000]

What is measured is processor time, of one thread: on a shared machine the clock on the wall measures the others. The
runs of a problem take turns, and the best of each counts.

path        pegasos.lam_path with its own lams, against PegasosClassifier(lam, tol).fit for each of them. All of a call
            counts: reading and checking the rows, encoding the labels, certificates. Every fit is certified to tol.
grid        PegasosClassifierCV against GridSearchCV(LinearSVC(loss="hinge")), the same 10 lams, the same 5 folds, one
            refit, accuracy. C = 1 / (lam n_train). LinearSVC's tol is the loosest of a ladder with which its objective,
            on all rows and for every lam, is *measured* to be within tol of a proved lower bound. Its conversion to
            float64 is not timed. At most grid-rows rows: the rival's time grows faster than theirs.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from benchmarks import problems, tables
from benchmarks.objective import dual, primal
from pegasos import LamPath, PegasosClassifier, PegasosClassifierCV, lam_path

RESULTS = Path(__file__).parent / "results" / "path.json"
_PROBLEMS = ["a9a", "w8a", "covtype", "reuters21578"]
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")
_LADDER = (1.0, 0.3, 0.1, 0.03, 0.01)  # LinearSVC's tol
_MOST_EPOCHS = 10_000  # of LinearSVC
_N_FOLDS, _N_GRID, _EPS_GRID = 5, 10, 1e-3


def main() -> None:
    """Measure, print a line a problem, write the numbers; those of problems measured before are kept."""
    arguments = _arguments()
    for name in arguments.problems.split(","):
        problem = problems.load(name)
        part = _part(problem, arguments.grid_rows)
        settings = {"problem": name, "tol": arguments.tol, "repeat": arguments.repeat}
        row = {**settings, **_path_row(problem, arguments), **_grid_row(part, arguments)}
        print(_line(row), flush=True)
        _write(row)


def _write(row: dict[str, object]) -> None:
    rows = json.loads(RESULTS.read_text())["rows"] if RESULTS.exists() else []
    rows = [*(other for other in rows if other["problem"] != row["problem"]), row]
    content = {"versions": tables.versions(_PACKAGES), "machine": tables.machine(), "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")


def _path_row(problem: problems.Problem, arguments: argparse.Namespace) -> dict[str, object]:
    path = lam_path(problem.X, problem.y, tol=arguments.tol, random_state=0)
    runs = {
        "path": lambda: lam_path(problem.X, problem.y, tol=arguments.tol, random_state=0),
        "one by one": lambda: _one_by_one(problem, path.lams, arguments.tol),
    }
    seconds = _best_of(runs, arguments.repeat)
    return {
        "n_rows": len(problem.y),
        "n_lams": len(path),
        "lams": [path.lams[0], path.lams[-1]],
        "largest_relative_gap": max(certificate.relative_gap for certificate in path.certificates),
        "path": seconds["path"],
        "one_by_one": seconds["one by one"],
        "path_ratio": seconds["one by one"] / seconds["path"],
    }


def _one_by_one(problem: problems.Problem, lams: np.ndarray, tol: float) -> None:
    for lam in lams:
        PegasosClassifier(lam=lam, tol=tol, random_state=0).fit(problem.X, problem.y)


def _grid_row(problem: problems.Problem, arguments: argparse.Namespace) -> dict[str, object]:
    n, X = len(problem.y), problem.X.astype(np.float64)
    proofs = lam_path(problem.X, problem.y, n_lams=_N_GRID, eps=_EPS_GRID, tol=0.01 * arguments.tol, random_state=0)
    their_tol = _loosest(problem, X, proofs, arguments.tol)
    by_c = {"C": (1.0 / (proofs.lams * n * (1 - 1 / _N_FOLDS))).tolist()}
    machine = LinearSVC(loss="hinge", tol=their_tol, max_iter=_MOST_EPOCHS, random_state=0)
    runs = {
        "ours": lambda: PegasosClassifierCV(
            proofs.lams.tolist(), cv=_N_FOLDS, tol=arguments.tol, n_jobs=1, random_state=0
        ).fit(problem.X, problem.y),
        "theirs": lambda: GridSearchCV(machine, by_c, cv=_N_FOLDS).fit(X, problem.y),
    }
    seconds = _best_of(runs, arguments.repeat)
    return {
        "grid_rows": n,
        "grid_lams": [proofs.lams[0], proofs.lams[-1]],
        "linear_svc_tol": their_tol,
        "pegasos_cv": seconds["ours"],
        "grid_search_linear_svc": seconds["theirs"],
        "grid_ratio": seconds["theirs"] / seconds["ours"],
    }


def _loosest(problem: problems.Problem, X: object, proofs: LamPath, target: float) -> float:
    """The first tol of the ladder with which every fit of the grid is good enough; or the last."""
    bounds = [dual(problem, lam, alpha[0]) for lam, alpha in zip(proofs.lams, proofs.alphas, strict=True)]
    for tol in _LADDER:
        values = (_value(problem, X, lam, tol) for lam in proofs.lams)
        if all(value - bound <= target * value for value, bound in zip(values, bounds, strict=True)):
            return tol
    return _LADDER[-1]


def _value(problem: problems.Problem, X: object, lam: float, tol: float) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        C = 1.0 / (lam * len(problem.y))
        model = LinearSVC(loss="hinge", C=C, tol=tol, max_iter=_MOST_EPOCHS, random_state=0).fit(X, problem.y)
    return primal(problem, lam, model.coef_[0], float(model.intercept_[0]))


def _best_of(runs: dict[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    best = dict.fromkeys(runs, np.inf)
    for _ in range(repeat):
        for name, run in runs.items():
            begun = time.process_time()
            run()
            best[name] = min(best[name], time.process_time() - begun)
    return best


def _part(problem: problems.Problem, n_rows: int) -> problems.Problem:
    """Some of the rows, drawn at random."""
    if len(problem.y) <= n_rows:
        return problem
    chosen = np.sort(np.random.default_rng(0).choice(len(problem.y), n_rows, replace=False))
    return problems.Problem(problem.name, problem.X[chosen], problem.y[chosen])


def _line(row: dict[str, object]) -> str:
    return (
        "{problem:>14}  {n_lams} lams: path {path:.3f} s, one by one {one_by_one:.3f} s, ratio {path_ratio:.1f}   "
        "grid of {grid_rows} rows: pegasos {pegasos_cv:.3f} s, LinearSVC {grid_search_linear_svc:.3f} s, "
        "ratio {grid_ratio:.1f}"
    ).format(**row)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.path", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default=",".join(_PROBLEMS))
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--grid-rows", type=int, default=20_000)
    return parser.parse_args()


if __name__ == "__main__":
    main()
