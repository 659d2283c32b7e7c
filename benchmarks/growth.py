"""How training grows: with the rows, and with the features, at a fixed lam and a fixed gap.

    python -m benchmarks.growth

The paper's claim: at a fixed lam the number of Pegasos steps to a gap does not grow with the rows. Steps are those of
`solver="pegasos"` with rows drawn uniformly, until the tail average is within the gap of the optimum; what is measured
is the objective, against the optimum that a strict run of "auto" proves. Seconds are those of `fit` to a certified
gap, which has to look at every row at least once to prove anything. Rows are generated, the same plane and noise for
every size.
"""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from pegasos import PegasosClassifier
from pegasos.problem import Problem, Rows
from pegasos.solvers.pegasos import Pegasos

_ROWS = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000, 10_000_000)
_FEATURES = (10, 30, 100, 300, 1000)
_LAM, _GAP, _D = 1e-3, 1e-2, 20
_SEEDS = 5
_folder = Path(__file__).parents[1]
_result = _folder / "benchmarks" / "results" / "growth.json"
_image = _folder / "docs" / "images" / "growth.png"


def main() -> None:
    """Measure, print, keep, draw."""
    by_rows = [_measured(n, _D) for n in _ROWS]
    by_features = [_measured(100_000, d) for d in _FEATURES]
    found = {"lam": _LAM, "gap": _GAP, "rows": by_rows, "features": by_features}
    for name in ("rows", "features"):
        for what in ("steps", "seconds"):
            points = [(one[name], one[what]) for one in found[name]]
            found[f"slope of {what} in {name}"] = float(np.polyfit(*np.log(np.array(points)).T, 1)[0])
    _result.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({key: value for key, value in found.items() if key.startswith("slope")}, indent=1))
    _draw(found)


def _measured(n: int, d: int) -> dict[str, Any]:
    X, y = _generated(n, d)
    seconds = min(_seconds(X, y) for _ in range(3))
    best = PegasosClassifier(_LAM, tol=1e-5, n_jobs=2, random_state=0).fit(X, y).certificate_.dual
    problem = Problem.plain(Rows.of(X, 1.0, 2), y, _LAM)
    steps = [_steps(problem, best, seed) for seed in range(_SEEDS)]
    print(f"{n:,} x {d}: {np.median(steps):,.0f} steps, {seconds:.4f} s", flush=True)
    return {"rows": n, "features": d, "steps": float(np.median(steps)), "seconds": seconds}


def _steps(problem: Problem, best: float, seed: int) -> int:
    """Steps until the tail average is within the gap, looked at when there are a tenth more than at the last look."""
    solver = Pegasos(sampling="uniform", average="tail")
    state = solver.start(problem, seed)
    steps = 1000
    while True:
        solver.advance_to(problem, state, steps)
        weights, _ = solver.point(problem, state)
        losses = problem.losses(weights)
        if losses.total / problem.total + 0.5 * problem.lam * losses.square <= best * (1.0 + _GAP):
            return steps
        steps = steps * 11 // 10


def _seconds(X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    PegasosClassifier(_LAM, tol=_GAP, n_jobs=2, random_state=0).fit(X, y)
    return time.perf_counter() - start


def _generated(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of length about 1, the side of a plane, one in ten or so on the wrong one."""
    random = np.random.default_rng(d)
    plane = random.standard_normal(d, dtype=np.float32)
    X = random.standard_normal((n, d), dtype=np.float32)
    X /= np.float32(np.sqrt(d))
    scores = X @ plane
    return X, np.where(scores + 0.3 * random.standard_normal(n, dtype=np.float32) > 0, 1, -1).astype(np.int8)


def _draw(found: dict[str, Any]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for ax, name in zip(axes, ("rows", "features"), strict=True):
        x = [one[name] for one in found[name]]
        other = ax.twinx()
        steps = ax.loglog(x, [one["steps"] for one in found[name]], "o-", color="#0072B2", label="Pegasos steps")
        seconds = other.loglog(
            x, [one["seconds"] for one in found[name]], "s--", color="#D55E00", label="seconds of fit"
        )
        ax.set_ylim(1e2, 1e7)
        other.set_ylim(1e-3, 1e2)
        slopes = [found[f"slope of {what} in {name}"] for what in ("steps", "seconds")]
        ax.set_xlabel(name)
        ax.set_ylabel("Pegasos steps to a gap of 1e-2", color="#0072B2")
        other.set_ylabel("seconds of fit to a certified 1e-2", color="#D55E00")
        ax.set_title(f"slopes: steps {slopes[0]:.2f}, seconds {slopes[1]:.2f}", fontsize=10)
        ax.legend(handles=steps + seconds, frameon=False, loc="upper left")
    figure.savefig(_image, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    main()
