"""Where the time of a fit goes: in which native loops, and what is left to Python; beside a bare pass over the rows.

    python -m benchmarks.shares [--problems a9a,w8a] [--tol 1e-3] [--repeat 15]

The native functions are wrapped in a clock, and of some fits that of the shortest time counts. A bare pass is the
scores of all rows, on two threads: the least that any solver has to do again and again. What a fit would take if it
were bound by nothing but its passes stands beside what it took.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks import problems
from pegasos import PegasosClassifier, _core

RESULTS = Path(__file__).parent / "results" / "shares.json"

# What the native functions are there for.
parts = {
    "reading": ("inspect", "dense_rows", "csr_rows"),
    "sweeps": ("dual_advance", "pegasos_advance", "shuffle", "recall_rows"),
    "second order": ("residuals", "slope", "smooth", "bend", "curvature", "factor", "solve", "gram", "outer"),
    "certificates": ("dual_weights", "losses"),
}


@contextmanager
def clocked() -> Iterator[dict[str, float]]:
    """While it lasts, the seconds of every native function by its name, by the clock however many threads are in it."""
    seconds: dict[str, float] = defaultdict(float)
    inside: dict[str, int] = defaultdict(int)
    since: dict[str, float] = {}
    lock = Lock()
    functions = {name: f for name in dir(_core) if callable(f := getattr(_core, name)) and not isinstance(f, type)}

    def timed(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            with lock:
                inside[name] += 1
                since.setdefault(name, perf_counter())
            try:
                return f(*arguments, **named)
            finally:
                with lock:
                    inside[name] -= 1
                    if inside[name] == 0:
                        seconds[name] += perf_counter() - since.pop(name)

        return call

    for name, f in functions.items():
        setattr(_core, name, timed(name, f))
    try:
        yield seconds
    finally:
        for name, f in functions.items():
            setattr(_core, name, f)


def measure(problem: problems.Problem, lam: float, tol: float, repeat: int) -> dict[str, Any]:
    """The shortest of some fits, split up."""
    model = PegasosClassifier(lam=lam, tol=tol, n_jobs=2, random_state=0)
    best: dict[str, float] = {}
    shortest = np.inf
    for _ in range(repeat):
        with clocked() as seconds:
            begun = perf_counter()
            model.fit(problem.X, problem.y)
            elapsed = perf_counter() - begun
        if elapsed < shortest:
            shortest, best = elapsed, dict(seconds)
    found = {part: sum(best.get(name, 0.0) for name in names) for part, names in parts.items()}
    known = {name for names in parts.values() for name in names}
    found["other loops"] = sum(value for name, value in best.items() if name not in known)
    found["Python"] = shortest - sum(best.values())
    return {
        "problem": problem.name,
        "lam": lam,
        "tol": tol,
        "seconds": shortest,
        "passes": float(model.trace_["epoch"][-1]) + 3.0,
        "bare_pass": _bare_pass(model, problem, repeat),
        "parts": found,
    }


def _bare_pass(model: PegasosClassifier, problem: problems.Problem, repeat: int) -> float:
    with clocked() as seconds:
        takes = []
        for _ in range(repeat):
            seconds.clear()
            model.decision_function(problem.X)
            takes.append(sum(seconds.values()))
    return min(takes)


def main() -> None:
    """Measure, print, keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shares", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", default=",".join(problems.names()))
    parser.add_argument("--tol", type=float, default=1e-3)
    parser.add_argument("--repeat", type=int, default=15)
    options = parser.parse_args()
    rows = json.loads(RESULTS.read_text()) if RESULTS.exists() else []
    for name in options.problems.split(","):
        problem = problems.load(name)
        for lam in (1e-4, 1e-5):
            row = measure(problem, lam, options.tol, options.repeat)
            print(_line(row), flush=True)
            same = ("problem", "lam", "tol")
            rows = [*(old for old in rows if any(old[key] != row[key] for key in same)), row]
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


def _line(row: dict[str, Any]) -> str:
    shares = ", ".join(f"{part} {value / row['seconds']:.0%}" for part, value in row["parts"].items())
    return (
        f"{row['problem']:>14} lam {row['lam']:g}: {1e3 * row['seconds']:.1f} ms = {row['passes']:.1f} passes, "
        f"{row['seconds'] / row['bare_pass']:.0f} times a bare pass of {1e3 * row['bare_pass']:.2f} ms; {shares}"
    )


if __name__ == "__main__":
    main()
