"""Kernel certificates, recomputed in long double; single and double precision must say the same."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from pegasos import KernelPegasosClassifier
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning

_RIGHT = 1e-9  # of the objective: a certificate counts nothing below a tenth of this


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One problem: the certificate of the fit, and predictions of both precisions."""
    n, d = int(random.integers(4, 60)), int(random.integers(1, 5))
    X = random.normal(size=(n, d)) * 10.0 ** random.uniform(-6, 6)
    y = random.integers(0, 2, n) if random.random() < 0.5 else (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[:2] = 0, 1
    is_single = bool(random.random() < 0.6)
    X = X.astype(np.float32) if is_single else X
    settings: dict[str, Any] = {
        "kernel": str(random.choice(["rbf", "poly", "laplacian"])),
        "lam": 10.0 ** random.uniform(-9, 1),
        "tol": None if random.random() < 0.3 else 10.0 ** random.uniform(-8, -1),
        "max_iter": int(random.integers(1, 60)),
        "regularize_intercept": bool(random.random() < 0.7),
        "random_state": 0,
        "time_budget": 1.0,
    }
    weights = None if random.random() < 0.6 else 10.0 ** random.uniform(-8, 8, n)
    model = KernelPegasosClassifier(**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GapWarning)
        try:
            model.fit(X, y, sample_weight=weights)
        except PegasosError:
            return {}
        again = model.certify(X, y, sample_weight=weights)
    for certificate, what in ((model.certificate_, "fit"), (again, "certify")):
        if certificate.is_finite:
            check(model, (X, y, weights), certificate, what)
    asked = random.normal(size=(50, d)).astype(X.dtype) * np.abs(X).max(axis=0)
    np.testing.assert_array_equal(model.predict(asked), model.predict(asked.astype(np.float64)))
    return {"kernel certificates": 2, "rows predicted twice": 50}


def check(model: Any, given: tuple[Any, Any, Any], certificate: Any, what: str) -> None:
    """P and D of the kernel in double, summed up in long double."""
    X, y, weights = given
    terms, n = model.fitted_.terms, len(y)
    wide = X.astype(np.float64)
    kernel = model.kernel_.block(wide, wide).astype(np.longdouble) + np.longdouble(terms.bias) ** 2
    sign = np.where(y == model.classes_[1], 1, -1)
    cost = np.ones(n) if weights is None else weights
    total, lam = np.longdouble(terms.total), np.longdouble(terms.lam)
    coefficients = np.zeros(n, np.longdouble)
    coefficients[model.support_] = model.dual_coef_[0]
    scores = kernel @ coefficients + np.longdouble(model.fitted_.proof.intercepts[0])
    square = coefficients @ (kernel @ coefficients)
    primal = lam / 2 * square + np.sum(cost * np.maximum(0, 1 - sign * scores)) / total
    alpha = model.alpha_.astype(np.longdouble)
    if terms.is_free:
        sums = {s: alpha[sign == s].sum() for s in (1, -1)}
        lighter = min(sums.values())
        alpha = alpha * np.where(sign > 0, *(lighter / sums[s] if sums[s] else 0 for s in (1, -1)))
    own = sign * alpha / (lam * total)
    dual = alpha.sum() / total - lam / 2 * (own @ kernel @ own)
    # Kernel values of other blocks differ in the last places: what that changes is not the certificate's.
    unit = 64.0 * np.finfo(np.float64).eps
    lengths = np.sqrt(np.diag(kernel))
    reach = np.sum(np.abs(coefficients) * lengths)
    apart = unit * (lam / 2 * reach**2 + np.sum(cost * lengths) / total * reach)
    room = _RIGHT * max(primal, certificate.primal) + apart
    assert primal <= certificate.primal + room, f"{what}: P is {float(primal)!r}, said {certificate!r}"
    assert dual >= certificate.dual - room, f"{what}: D is {float(dual)!r}, said {certificate!r}"
    assert certificate.dual <= certificate.primal or not np.isfinite(certificate.relative_gap), (
        f"{what}: {certificate!r}"
    )
