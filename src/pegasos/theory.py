"""Results of the paper as functions: C and lam, and the guarantee of the averaged iterate."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

least_margin = 1e-5  # fraction of the largest norm: with a smaller margin, classes are considered inseparable


def lam_of_c(C: float, total: float, largest_norm: float = 1.0, least_cost: float = 1.0) -> float:
    """The lam with the same minimizer as 1/2 |w|^2 + C sum_i cost_i loss_i: 1 / (C N).

    An infinite C requests a hard margin. If weights of length 1/m give every row a margin, the dual variables add up to
    lam total / m^2, and with the lam of this function their bounds, the costs, do not limit them, down to margins of
    1e-5 of the largest norm. Those weights cost lam / (2 m^2), at most least_cost / (2 total): a larger optimum proves
    that there are none.

    Parameters
    ----------
    C : float
        The factor of the sum of the losses, or ``inf``.
    total : float
        The sum of the sample weights, N: the number of samples if there are none.
    largest_norm : float, default=1.0
        Length of the longest row; used for an infinite C.
    least_cost : float, default=1.0
        The smallest cost above 0; used for an infinite C.

    Examples
    --------
    >>> from pegasos.theory import lam_of_c
    >>> lam_of_c(2.0, 50)
    0.01
    """
    if math.isinf(C):
        return (least_margin * (largest_norm or 1.0)) ** 2 * least_cost / total
    product = C * total
    return 1.0 / product if product > 0.0 else math.inf


def c_of_lam(lam: float, total: float) -> float:
    """The inverse of `lam_of_c`: the C of LIBSVM and LIBLINEAR that corresponds to lam.

    Parameters
    ----------
    lam : float
        Strength of the regularization.
    total : float
        The sum of the sample weights, N: the number of samples if there are none.

    Examples
    --------
    >>> from pegasos.theory import c_of_lam
    >>> c_of_lam(0.01, 50)
    2.0
    """
    return 1.0 / (lam * total)


def margin_bound(dual: float, lam: float) -> float:
    """Upper bound on the margin that weights of length 1 can give every row, if the optimum is at least ``dual``.

    With a margin m, weights of length 1/m would have no loss and cost lam / (2 m^2).

    Parameters
    ----------
    dual : float
        A lower bound on the optimum.
    lam : float
        Strength of the regularization.

    Examples
    --------
    >>> from pegasos.theory import margin_bound
    >>> margin_bound(dual=0.5, lam=0.01)
    0.1
    """
    return math.sqrt(lam / (2.0 * dual)) if dual > 0.0 else math.inf


def suboptimality_bound(step: npt.ArrayLike, lam: float, largest_norm: float) -> npt.NDArray[np.float64]:
    """Bound on the expected suboptimality of the average of the first ``step`` iterates of Pegasos.

    (sqrt(lam) + R)^2 (1 + ln T) / (2 lam T), for projected Pegasos with costs of 1 and rows of norm at most R. It does
    not depend on the number of rows.

    Parameters
    ----------
    step : int or array of int
        The number of steps, T.
    lam : float
        Strength of the regularization.
    largest_norm : float
        The length R of the longest row.

    Examples
    --------
    >>> from pegasos.theory import suboptimality_bound
    >>> float(suboptimality_bound(10_000, lam=0.01, largest_norm=1.0).round(4))
    0.0618
    """
    t = np.asarray(step, dtype=np.float64)
    constant = (np.sqrt(lam) + largest_norm) ** 2
    return np.asarray(constant * (1.0 + np.log(t)) / (2.0 * lam * t))
