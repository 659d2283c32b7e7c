"""Ten classes, one against the rest: time until the sum of the ten objectives is within a gap of its optimum.

    python -m benchmarks.multiclass

A rival is called once for each class, its conversions not timed. Ladders and limits are those of `benchmarks.run`.
"""

import json
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.problems import Problem, pixels
from benchmarks.rivals import installed
from pegasos import PegasosClassifier

_result = Path(__file__).parent / "results" / "multiclass.json"
_NAMES, _LAMS, _TARGETS = ("mnist", "fashion_mnist"), (1e-4, 1e-5), (1e-2, 1e-3)
_PATIENCE, _REPEAT = 5.0, 2
_LEFT_OUT = ("Vowpal Wabbit", "skglm", "SGD", "SGD averaged")  # far behind on two classes


def main() -> None:
    """Measure and print."""
    rows = []
    for name in _NAMES:
        X, y = pixels(name)
        for lam in _LAMS:
            strict = PegasosClassifier(lam, tol=1e-4, n_jobs=2, random_state=0).fit(X, y)
            best = strict.certificate_.dual
            for target in _TARGETS:
                rows.append(_compared(name, X, y, lam=lam, target=target, best=best))
                print(rows[-1], flush=True)
                _result.write_text(json.dumps(rows, indent=1) + "\n")


def _compared(name: str, X: np.ndarray, y: np.ndarray, *, lam: float, target: float, best: float) -> dict[str, object]:
    ours = min(_ours(X, y, lam, target, best) for _ in range(_REPEAT))
    row: dict[str, object] = {"problem": name, "lam": lam, "target": target, "pegasos": ours}
    problems = [Problem(f"{name}-{c}", X, np.where(y == c, 1, -1).astype(np.int32)) for c in np.unique(y)]
    rivals = {}
    for solver in installed():
        if solver.name == "pegasos" or solver.name in _LEFT_OUT:
            continue
        rivals[solver.name] = _rival(solver, problems, lam=lam, target=target, best=best, limit=_PATIENCE * ours)
    reached = [seconds for seconds in rivals.values() if isinstance(seconds, float)]
    return {**row, **rivals, "fastest rival / pegasos": min(reached) / ours if reached else f"> {_PATIENCE}"}


def _ours(X: np.ndarray, y: np.ndarray, lam: float, target: float, best: float) -> float:
    start = time.perf_counter()
    model = PegasosClassifier(lam, tol=target, n_jobs=2, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    assert model.certificate_.primal <= best * (1.0 + target)
    return seconds


def _rival(solver, problems: list[Problem], *, lam: float, target: float, best: float, limit: float) -> float | str:
    """Seconds of the loosest good setting, or how long was given in vain."""
    data = [solver.prepare(problem) for problem in problems]
    for setting in solver.ladder(target):
        spent = value = 0.0
        for one, problem in zip(data, problems, strict=True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                start = time.perf_counter()
                weights, intercept = solver.fit(one, lam, setting)
                spent += time.perf_counter() - start
            if spent > limit:
                return f"> {limit:.1f}"
            losses = np.maximum(0.0, 1.0 - problem.y * (problem.X @ weights.astype(np.float32) + intercept))
            value += float(lam / 2 * (weights @ weights + intercept**2) + losses.mean(dtype=np.float64))
        if value <= best * (1.0 + target):
            return spent
    return f"> {limit:.1f}"


if __name__ == "__main__":
    main()
