"""Rows a second of the online learners, against scikit-learn's and river's with the same step rule.

    python -m benchmarks.online [--problems a9a,w8a] [--passes 5] [--repeat 15]

Each round times every learner once, so that what else the machine does meanwhile falls on all of them; the best round
counts. All of them run in one thread, and what is measured is processor time: on a shared machine the clock on the wall
measures the others. A fit is all of it: reading and checking the rows, encoding the labels, the passes.

scikit-learn  SGDClassifier with loss="perceptron" and a constant step of 1, and with learning_rate="pa1", eta0=C: the
              rules that its deprecated classes Perceptron and PassiveAggressiveClassifier stand for. tol=None.
river         learn_one on dictionaries made beforehand, of the first rows only: it has no blocks.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import SGDClassifier

from benchmarks import problems
from pegasos import _core
from pegasos.online import ConfidenceWeighted, PassiveAggressive, Perceptron

RESULTS = Path(__file__).parent / "results" / "online.json"
_ROWS_OF_RIVER = 1000
Runs = dict[str, tuple[int, Callable[[], object]]]


def main() -> None:
    """Measure, print a table, write the numbers."""
    arguments = _arguments()
    found = {}
    for name in arguments.problems.split(",") if arguments.problems else problems.names():
        problem = problems.load(name)
        seconds = _best_of(_runs(problem, arguments.passes), arguments.repeat)
        found[name] = {
            "n_rows": problem.X.shape[0],
            "non_zeros_a_row": _non_zeros(problem.X) / problem.X.shape[0],
            "rows_a_second": seconds,
            "ratios": _ratios(seconds),
        }
        print(_line(name, found[name]), flush=True)
    settings = {"passes": arguments.passes, "repeat": arguments.repeat, "instruction_set": _core.instruction_set()}
    RESULTS.write_text(json.dumps(settings | {"problems": found}, indent=1) + "\n")


def _runs(problem: problems.Problem, passes: int) -> Runs:
    """How many rows each run visits, and the run."""
    X, y = problem.X, problem.y
    visits = passes * X.shape[0]
    common = {"max_iter": passes, "random_state": 0}
    rival = {"penalty": None, "tol": None, **common}
    models = {
        "perceptron": Perceptron("last", **common),
        "averaged perceptron": Perceptron("averaged", **common),
        "PA-I": PassiveAggressive(1.0, **common),
        "AROW": ConfidenceWeighted(**common),
        "perceptron, scikit-learn": SGDClassifier("perceptron", learning_rate="constant", eta0=1.0, **rival),
        "PA-I, scikit-learn": SGDClassifier("hinge", learning_rate="pa1", eta0=1.0, **rival),
    }
    runs: Runs = {name: (visits, lambda model=model: model.fit(X, y)) for name, model in models.items()}
    return runs | _river_runs(problem)


def _river_runs(problem: problems.Problem) -> Runs:
    try:
        from river import linear_model
    except ImportError:
        print("river is not installed; it is left out.")
        return {}
    rows = sp.csr_array(problem.X[:_ROWS_OF_RIVER])
    pairs = [(_as_dictionary(rows, i), bool(problem.y[i] > 0)) for i in range(rows.shape[0])]

    def learn(make: Callable[[], object]) -> None:
        model = make()
        for x, y in pairs:
            model.learn_one(x, y)

    return {
        "perceptron, river": (len(pairs), lambda: learn(linear_model.Perceptron)),
        "PA-I, river": (len(pairs), lambda: learn(lambda: linear_model.PAClassifier(C=1.0, mode=1))),
    }


def _as_dictionary(rows: sp.csr_array, i: int) -> dict[int, float]:
    part = slice(rows.indptr[i], rows.indptr[i + 1])
    return dict(zip(rows.indices[part].tolist(), rows.data[part].tolist(), strict=True))


def _best_of(runs: Runs, repeat: int) -> dict[str, float]:
    """Rows a second of the best round."""
    best = dict.fromkeys(runs, np.inf)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few passes do not converge, as expected
        for _ in range(repeat):
            for name, (_, run) in runs.items():
                start = time.process_time()
                run()
                best[name] = min(best[name], time.process_time() - start)
    return {name: visits / best[name] for name, (visits, _) in runs.items()}


def _ratios(rows_a_second: dict[str, float]) -> dict[str, float]:
    """How many times as many rows per second as each rival with the same rule."""
    rivals = [name for name in rows_a_second if ", " in name]
    return {name: rows_a_second[name.split(", ")[0]] / rows_a_second[name] for name in rivals}


def _non_zeros(X: problems.Matrix) -> int:
    return int(X.nnz if sp.issparse(X) else X.size)


def _line(name: str, found: dict) -> str:
    speeds = ", ".join(f"{learner} {speed:,.0f}" for learner, speed in found["rows_a_second"].items())
    ratios = ", ".join(f"{ratio:.1f} times {rival}" for rival, ratio in found["ratios"].items())
    return f"{name}: rows per second: {speeds}; {ratios}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.online", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", help="names, with commas; default: the five of the project")
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--repeat", type=int, default=15, help="rounds; the best one of each learner counts")
    return parser.parse_args()


if __name__ == "__main__":
    main()
