"""Compare pegasos with the other solvers installed here, on one problem, to the same measured gap.

pegasos bench
pegasos bench data.svm --lam 1e-4 --target 1e-3
pip install liblinear-official && pegasos bench data.svm

A solver gets the time of its loosest setting whose measured objective is within the target; that setting is run again,
and the best run counts. With more than two classes, the largest is trained against the rest. Without a file, data is
generated.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from pegasos.cli._files import add_format_options, format_options, kinds, read_rows
from pegasos.cli._results import label_text, print_json, print_table
from pegasos.cli.rivals import RacedRows, Rival, installed
from pegasos.errors import PegasosError

_REPEATS = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The rows, the problem, the target."""
    parser.add_argument("data", metavar="DATA", nargs="?", help=f"{kinds}; default: generated rows")
    parser.add_argument("--lam", type=float, default=1e-4, help="strength of the regularization (default: 1e-4)")
    parser.add_argument("--target", type=float, default=1e-3, help="relative gap to reach (default: 1e-3)")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that one run may take (default: 10)")
    parser.add_argument("--n-jobs", type=int, help="threads for pegasos; the others have one (default: 1)")
    parser.add_argument("--json", action="store_true", help="print one JSON object, and nothing else, on stdout")
    add_format_options(parser)


class RaceResult(NamedTuple):
    """The loosest setting that was good enough, its best run; or the last setting that was tried."""

    name: str
    reached: bool
    seconds: float
    above: float  # the optimum, relatively, at most
    setting: float


def run(arguments: argparse.Namespace) -> None:
    """Race, and print the table."""
    for name in ("lam", "target", "limit"):
        if not 0.0 < getattr(arguments, name) < float("inf"):
            raise PegasosError(f"--{name} must be a positive number, got {getattr(arguments, name)}.")
    name, data = _data(arguments)
    lam = arguments.lam
    judge = _Judge(data, lam, arguments.target)
    rivals, missing = installed(arguments.n_jobs)
    outcomes = []
    for rival in rivals:
        _tell(f"racing {rival.name} ...")
        outcomes.append(judge.race(rival, arguments.limit))
    _tell("")
    if arguments.json:
        print_json({"data": name, "lam": lam, "target": arguments.target, "outcomes": [o._asdict() for o in outcomes]})
        return
    n_rows, n_features = data.X.shape
    print(f"{name}: {n_rows} rows, {n_features} features, lam {lam:g}, to a gap of {arguments.target:g}")
    ours = outcomes[0].seconds
    print_table(
        ("solver", "seconds", "times ours", "above the optimum", "reached"),
        [
            (o.name, f"{o.seconds:.4f}", f"{o.seconds / ours:.2f}", f"{o.above:.1e}", "yes" if o.reached else "no")
            for o in outcomes
        ],
    )
    if missing:
        print(f"not installed: {', '.join(missing)}", file=sys.stderr)


def _tell(text: str) -> None:
    """On a terminal, what takes so long."""
    if sys.stderr.isatty():
        print(f"\r{text:40}\r", end="", file=sys.stderr, flush=True)


class _Judge:
    """The objective of weights against a proved lower bound of the optimum."""

    def __init__(self, data: RacedRows, lam: float, target: float) -> None:
        from pegasos.estimators.linear import PegasosClassifier

        self.data, self.lam, self.target = data, lam, target
        self.model = PegasosClassifier(lam, tol=0.01 * target, max_iter=100_000, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model.fit(data.X, data.y)

    def above(self, weights: Any, intercept: float) -> float:
        """How far above the optimum these weights are at most, relatively."""
        self.model.coef_ = np.asarray(weights, np.float64).reshape(1, -1)
        self.model.intercept_ = np.array([intercept], np.float64)
        return self.model.certify(self.data.X, self.data.y).relative_gap

    def race(self, rival: Rival, limit: float) -> RaceResult:
        """Up the ladder until it is good enough, or too slow; then the good setting again."""
        prepared = rival.prepare(self.data)
        for setting in rival.ladder(self.target):
            outcome = self._timed(rival, prepared, setting)
            if outcome.reached or outcome.seconds > limit:
                break
        if not outcome.reached:
            return outcome
        again = [self._timed(rival, prepared, outcome.setting) for _ in range(_REPEATS - 1)]
        return min([outcome, *again], key=lambda one: (not one.reached, one.seconds))

    def _timed(self, rival: Rival, prepared: Any, setting: float) -> RaceResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a loose setting does not converge, as expected
            begun = perf_counter()
            try:
                result = rival.fit(prepared, self.lam, setting)
            except PegasosError:  # what was given is wrong, and no race
                raise
            except (ValueError, ArithmeticError, RuntimeError):  # it gave up
                return RaceResult(rival.name, False, perf_counter() - begun, float("inf"), setting)
            seconds = perf_counter() - begun
        above = self.above(*result)
        return RaceResult(rival.name, above <= self.target, seconds, above, setting)


def _data(arguments: argparse.Namespace) -> tuple[str, RacedRows]:
    if arguments.data is None:
        return "generated rows", _generated()
    X, y, *_ = read_rows(arguments.data, format_options(arguments), texts=False)
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise PegasosError(f"{arguments.data} has rows of one class only, {label_text(classes[0])}: two are needed.")
    name = str(arguments.data)
    if len(classes) > 2:
        name += f", class {label_text(classes[counts.argmax()])} against the rest"
    positive = classes[counts.argmax() if len(classes) > 2 else 1]
    return name, RacedRows(X, np.where(y == positive, 1.0, -1.0))


def _generated() -> RacedRows:
    """Sparse rows such as texts give: most features rare, the classes not quite separable."""
    import scipy.sparse as sp

    generator = np.random.default_rng(0)
    n_rows, n_features, n_words = 20_000, 5_000, 40
    columns = (n_features * generator.random((n_rows, n_words)) ** 3).astype(np.int32)
    values = np.full(n_rows * n_words, 1.0 / np.sqrt(n_words), np.float32)
    X = sp.csr_matrix((values, columns.ravel(), np.arange(0, values.size + 1, n_words)), (n_rows, n_features))
    X.sum_duplicates()
    scores = X @ generator.normal(size=n_features) + 0.3 * generator.normal(size=n_rows)
    return RacedRows(X, np.where(scores > 0.0, 1.0, -1.0))
