"""What a budget of time buys: AutoPegasos against an exhaustive grid, Optuna with scikit-learn's machines, and halving.

    python -m benchmarks.tuning [--data satimage,spambase] [--budget 60] [--methods grid,tenth,auto,optuna,halving]

A third of the rows is held out for the test score. Every method scores settings by five folds of the rest and fits its
winner to all of it; seconds are those of the whole. All of them run in one thread.

auto     AutoPegasos(time_budget=budget).
optuna   Optuna's TPE, StandardScaler, then LinearSVC or SVC with an RBF kernel, C in [1e-2, 1e4], gamma in [1e-2, 1e2]
         times one over the number of features; until the budget ends, looked at after each fold. For strings and graphs
         SVC on the kernel matrices that pegasos computes.
halving  HalvingRandomSearchCV over the same ranges of SVC, ten settings a round, as many rounds as fit into the budget.
grid     all of a grid (8 C, 7 gamma, standardized; and 8 C of LinearSVC), with no budget. Its seconds are those of the
         processor, so that other work on the machine does not lengthen them.
tenth    AutoPegasos with a tenth of the grid's seconds, by the clock.

Data: a9a (6,000 rows of it), satimage, spambase, usps, splice (9,000 strings), mutag (graphs), of the folder that
PEGASOS_DATA names. The results go to benchmarks/results/tuning.json; runs of other data or methods in it are kept.
"""

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import HalvingRandomSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils import _safe_indexing
from threadpoolctl import threadpool_limits

from experiments import data
from pegasos import AutoPegasos
from pegasos.kernels import Kernel, RandomWalk, ShortestPath, Spectrum, WeightedDegree, WeisfeilerLehman

RESULTS = Path(__file__).parent / "results" / "tuning.json"
NAMES = ("a9a:6000", "satimage", "spambase", "usps", "splice", "mutag")
_most_matrices = {True: 12, False: 3}  # of few items, of many
_MOST_STRINGS = 9000  # the matrices of more would fill the memory
_MOST_STEPS = 10_000_000  # LIBSVM's own limit, which scikit-learn lifts: a fit to a matrix of low rank may never end
_COSTS, _WIDTHS = (1e-2, 1e4), (1e-2, 1e2)
Found = tuple[float, Any]  # the mean over the folds, and what it is the mean of


def load(name: str) -> tuple[Any, np.ndarray]:
    """Rows, strings or graphs, and their classes; "a9a:6000" for 6,000 rows drawn at random."""
    name, _, n_rows = name.partition(":")
    if n_rows:
        X, y = load(name)
        chosen = np.random.default_rng(0).permutation(len(y))[: int(n_rows)]
        return _safe_indexing(X, chosen), y[chosen]
    if name == "mutag":
        return data.graphs("graph_mutag")
    if name == "splice":
        arrays = data.read("splice_celegans_tr")
        chosen = np.random.default_rng(0).permutation(len(arrays["y"]))[:_MOST_STRINGS]
        return ["".join("ACGTN"[code] for code in row) for row in arrays["codes"][chosen]], arrays["y"][chosen]
    arrays = data.read(name)
    return data.matrix(arrays), arrays["y"]


def kernels(name: str) -> dict[str, Kernel]:
    """The kernels that are tried instead of widths, for strings and graphs."""
    if name == "mutag":
        subtrees: dict[str, Kernel] = {f"WL {h}": WeisfeilerLehman(h).normalized() for h in range(7)}
        walks = {f"walks {decay}": RandomWalk(decay, n_steps=8).normalized() for decay in (0.003, 0.03)}
        return subtrees | {"paths": ShortestPath().normalized()} | walks
    found: dict[str, Kernel] = {f"WD {degree}": WeightedDegree(degree).normalized() for degree in (2, 5, 10, 20)}
    return found | {f"spectrum {k}": Spectrum(k).normalized() for k in (3, 4, 6)}


class Task:
    """A third held out; folds of the rest; and who scores a machine on them."""

    def __init__(self, name: str, seed: int):
        self.name, self.seed = name, seed
        X, y = load(name)
        self.is_rows = not isinstance(X, list)
        numbers = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
        self.train, self.test = (_safe_indexing(X, each) for each in numbers)
        self.y, self.truth = (y[each] for each in numbers)
        self.folds = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(self.y, self.y))
        self.matrices: dict[str, np.ndarray] = {}

    def rows(self, kernel: str | None) -> Any:
        """What a machine of scikit-learn trains on: the rows, or the kernel matrix."""
        if kernel is None:
            return self.train
        if kernel not in self.matrices:
            if len(self.matrices) >= _most_matrices[len(self.y) < 1000]:
                self.matrices.clear()
            self.matrices[kernel] = kernels(self.name)[kernel].block(self.train, self.train)
        return self.matrices[kernel]

    def scores(self, model: Any, kernel: str | None) -> Iterator[float]:
        """The score of each fold."""
        X = self.rows(kernel)
        for train, test in self.folds:
            pair = (X[train], X[test]) if kernel is None else (X[np.ix_(train, train)], X[np.ix_(test, train)])
            yield clone(model).fit(pair[0], self.y[train]).score(pair[1], self.y[test])

    def test_score(self, model: Any, kernel: str | None) -> float:
        """The score of the machine fitted to all training rows."""
        asked = self.test if kernel is None else kernels(self.name)[kernel].block(self.test, self.train)
        return float(clone(model).fit(self.rows(kernel), self.y).score(asked, self.truth))

    def machine(self, C: float, gamma: float | None) -> Any:
        """LinearSVC, SVC with an RBF kernel, or SVC on a matrix."""
        if not self.is_rows:
            return SVC(C=C, kernel="precomputed", cache_size=1000, max_iter=_MOST_STEPS)
        d = self.train.shape[1]
        scaler = StandardScaler(with_mean=not hasattr(self.train, "indptr"))
        machine = LinearSVC(C=C / d, dual="auto") if gamma is None else SVC(C=C, gamma=gamma / d, cache_size=1000)
        return make_pipeline(scaler, machine)


def run_auto(task: Task, budget: float) -> dict[str, Any]:
    """AutoPegasos."""
    auto = AutoPegasos(budget, random_state=task.seed).fit(task.train, task.y)
    return {"cv": auto.best_score_, "test": auto.score(task.test, task.truth), "n_settings": len(auto.leaderboard_)} | {
        "chosen": {key: str(value) for key, value in auto.best_params_.items()}
    }


def run_optuna(task: Task, budget: float) -> dict[str, Any]:
    """Optuna and the machines of scikit-learn."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    begun, best, n_settings = perf_counter(), (-1.0, None), 0
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=task.seed))
    while perf_counter() - begun < budget:
        trial = study.ask()
        machine, kernel = _suggest(task, trial)
        scores = []
        for score in task.scores(machine, kernel):
            scores.append(score)
            if perf_counter() - begun > budget:
                break
        n_settings += 1
        study.tell(trial, float(np.mean(scores)))
        if len(scores) == len(task.folds) or best[1] is None:
            best = max(best, (float(np.mean(scores)), (machine, kernel)), key=lambda pair: pair[0])
    return {"cv": best[0], "test": task.test_score(*best[1]), "n_settings": n_settings, "chosen": _words(best[1])}


def _suggest(task: Task, trial: Any) -> tuple[Any, str | None]:
    C = trial.suggest_float("C", *_COSTS, log=True)
    if not task.is_rows:
        return task.machine(C, None), trial.suggest_categorical("kernel", list(kernels(task.name)))
    if trial.suggest_categorical("machine", ["LinearSVC", "SVC"]) == "LinearSVC":
        return task.machine(C, None), None
    return task.machine(C, trial.suggest_float("gamma", *_WIDTHS, log=True)), None


def run_halving(task: Task, budget: float) -> dict[str, Any] | None:
    """Rounds of halving, the next one only if it fits into the budget like the longest so far."""
    if not task.is_rows:
        return None
    d, begun, longest, best, n_settings = task.train.shape[1], perf_counter(), 0.0, (-1.0, None), 0
    while perf_counter() - begun + longest < budget:
        before = perf_counter()
        search = HalvingRandomSearchCV(
            task.machine(1.0, 1.0),
            {"svc__C": loguniform(*_COSTS), "svc__gamma": loguniform(_WIDTHS[0] / d, _WIDTHS[1] / d)},
            n_candidates=10,
            cv=StratifiedKFold(5, shuffle=True, random_state=task.seed),
            random_state=task.seed + n_settings,
            refit=False,
        ).fit(task.train, task.y)
        n_settings += 10
        longest = max(longest, perf_counter() - before)
        found = clone(search.estimator).set_params(**search.best_params_)
        best = max(best, (search.best_score_, (found, None)), key=lambda pair: pair[0])
    return {"cv": best[0], "test": task.test_score(*best[1]), "n_settings": n_settings, "chosen": _words(best[1])}


def run_grid(task: Task, budget: float) -> dict[str, Any]:
    """Everything."""
    costs, widths = np.geomspace(1e-2, 1e4, 8), np.geomspace(*_WIDTHS, 7)
    if task.is_rows:
        settings = [(task.machine(C, gamma), None) for C in costs for gamma in (None, *widths)]
    else:
        settings = [(task.machine(C, None), kernel) for kernel in kernels(task.name) for C in costs]
    found = [(float(np.mean(list(task.scores(*setting)))), setting) for setting in settings]
    best = max(found, key=lambda pair: pair[0])
    return {"cv": best[0], "test": task.test_score(*best[1]), "n_settings": len(settings), "chosen": _words(best[1])}


def _words(chosen: tuple[Any, str | None]) -> str:
    machine, kernel = chosen
    return f"{kernel or ''} {machine if not hasattr(machine, 'steps') else machine[-1]}".strip()


methods: dict[str, Callable[[Task, float], dict[str, Any] | None]] = {
    "grid": run_grid,
    "tenth": run_auto,
    "auto": run_auto,
    "optuna": run_optuna,
    "halving": run_halving,
}


def measure(task: Task, method: str, budget: float) -> dict[str, Any] | None:
    """One run, printed."""
    clock = process_time if method == "grid" else perf_counter
    begun = clock()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = methods[method](task, budget)
    if found is None:
        return None
    seconds = clock() - begun
    print(
        f"{task.name:9} {method:8} {seconds:7.1f} s  cv {found['cv']:.4f}  test {found['test']:.4f}  "
        f"{found['n_settings']:4d} settings  {found['chosen']}",
        flush=True,
    )
    return {
        "data": task.name,
        "method": method,
        "seed": task.seed,
        "budget": budget,
        "seconds": round(seconds, 1),
    } | found


def main() -> None:
    """Measure, print a line a run, write the numbers."""
    arguments = _arguments()
    os.environ["OMP_NUM_THREADS"] = "1"  # for the threads of pegasos; those of BLAS have been counted already
    for name in arguments.data.split(","):
        for seed in range(arguments.seeds):
            task = Task(name, seed)
            for method in [method for method in methods if method in arguments.methods.split(",")]:
                with threadpool_limits(1):
                    run = measure(task, method, _budget(method, task, arguments.budget))
                if run is not None:
                    _write(run)


def _read() -> list[dict[str, Any]]:
    return list(json.loads(RESULTS.read_text())) if RESULTS.exists() else []


def _write(run: dict[str, Any]) -> None:
    """In the place of an earlier one like it."""
    same = ("data", "method", "seed") if run["method"] in ("grid", "tenth") else ("data", "method", "seed", "budget")
    others = [old for old in _read() if any(old[key] != run[key] for key in same)]
    RESULTS.write_text(json.dumps([*others, run], indent=1) + "\n")


def _budget(method: str, task: Task, budget: float) -> float:
    if method != "tenth":
        return budget
    grids = [old for old in _read() if (old["data"], old["method"], old["seed"]) == (task.name, "grid", task.seed)]
    if not grids:
        raise SystemExit(f"There is no grid for {task.name}, seed {task.seed}: run --methods grid first.")
    return float(grids[0]["seconds"]) / 10.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=",".join(NAMES))
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each method")
    parser.add_argument("--methods", default=",".join(methods))
    parser.add_argument("--seeds", type=int, default=1, help="splits into training and test rows")
    return parser.parse_args()


if __name__ == "__main__":
    main()
