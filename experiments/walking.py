"""Pegasos as in the paper, stopped at any step and continued from there: rows drawn uniformly, no intercept."""

from collections.abc import Iterator, Sequence
from typing import Any

from pegasos import KernelPegasosClassifier, PegasosClassifier


def pegasos(lam: float, seed: int, kernel: Any = None, **settings: Any) -> Any:
    """A machine whose next `fit` continues where the last one ended."""
    common = {"solver": "pegasos", "sampling": "uniform", "fit_intercept": False, "tol": None, "warm_start": True}
    common |= {"lam": lam, "max_iter": 1_000_000, "random_state": seed} | settings
    return PegasosClassifier(**common) if kernel is None else KernelPegasosClassifier(kernel, **common)


def objectives(model: Any, X: Any, sign: Any, looks: Sequence[int] | Iterator[int]) -> Iterator[tuple[int, float]]:
    """The objective after each of these numbers of steps."""
    taken = 0
    for look in looks:
        primal = model.set_params(max_steps=look - taken).fit(X, sign).certificate_.primal
        taken = look
        yield look, primal


def tenth_more(first: int) -> Iterator[int]:
    """Numbers of steps to look after, each a tenth more than the last."""
    steps = first
    while True:
        yield steps
        steps = steps * 11 // 10
