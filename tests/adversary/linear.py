"""Linear certificates at the ends of the ranges, recomputed in rational numbers."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos import PegasosClassifier
from pegasos.data import ArraySource
from pegasos.errors import PegasosError
from pegasos.estimators.warnings import GapWarning
from tests.adversary.exact import ExactProblem

Random = np.random.Generator
_right = Fraction(1, 10**9)  # of the objective: a certificate counts nothing below a tenth of this


def some_rows(random: Random) -> tuple[np.ndarray, np.ndarray]:
    """A few rows with labels: of one scale or many, some equal, some 0, some almost dependent."""
    n, d = int(random.integers(2, 13)), int(random.integers(1, 6))
    X = random.normal(size=(n, d))
    if random.random() < 0.3:
        X *= 10.0 ** random.uniform(-20, 20, d)
    elif random.random() < 0.8:
        X *= 10.0 ** random.uniform(-20, 20)
    if random.random() < 0.2:
        X[:, -1] = X[:, 0] * (1.0 + 1e-9 * random.normal(size=n))
    if random.random() < 0.2:
        X[random.integers(n)] = X[random.integers(n)]
    if random.random() < 0.2:
        X[random.integers(n)] = 0.0
    if random.random() < 0.2:
        X = X + 10.0 ** random.uniform(-3, 12) * np.abs(X).max()
    y = random.integers(0, 2, n)
    if random.random() < 0.5:
        y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    y[:2] = 0, 1
    return X, y


def some_weights(random: Random, n: int) -> np.ndarray | None:
    """None, even, or uneven over up to 400 decades; some are 0."""
    kind = random.random()
    if kind < 0.4:
        return None
    if kind < 0.6:
        return np.full(n, 10.0 ** random.uniform(-200, 200))
    spread = 10.0 ** random.uniform(0, 2.3)
    weights = 10.0 ** random.uniform(-spread, spread, n)
    if random.random() < 0.3:
        weights[2:][random.random(n - 2) < 0.3] = 0.0
    return weights


def some_parameters(random: Random) -> dict[str, Any]:
    """Options of a fit, of two classes."""
    parameters: dict[str, Any] = {
        "lam": 10.0 ** random.uniform(-12, 3),
        "tol": 10.0 ** random.uniform(-14, -1),
        "max_iter": int(random.integers(1, 200)),
        "solver": random.choice(["auto", "dual", "pegasos", "cutting_plane"], p=[0.6, 0.2, 0.1, 0.1]),
        "fit_intercept": bool(random.random() < 0.8),
        "class_weight": "balanced" if random.random() < 0.2 else None,
        "random_state": int(random.integers(100)),
        "time_budget": 0.5,
    }
    if parameters["solver"] != "pegasos":
        parameters["regularize_intercept"] = bool(random.random() < 0.6)
    if random.random() < 0.2:
        parameters["intercept_scaling"] = 10.0 ** random.uniform(-3, 3)
    return parameters


def some_prior(random: Random, X: np.ndarray) -> Any:
    """None, or weights whose scores are about 1, or any."""
    if random.random() < 0.7:
        return None
    size = 10.0 ** random.uniform(-3, 3) if random.random() < 0.5 else 1.0 / np.maximum(np.abs(X).max(axis=0), 1e-300)
    return random.normal(size=X.shape[1]) * size, random.normal()


def hunt(random: Random) -> dict[str, int]:
    """One problem: the certificate of the fit, of `certify`, and of blocks; what was checked, by name."""
    X, y = some_rows(random)
    weights, parameters = some_weights(random, len(y)), some_parameters(random)
    parameters["prior"] = some_prior(random, X)
    if random.random() < 0.3:
        X = X.astype(np.float32)
        if not np.isfinite(X).all():
            return {}
    given = sp.csr_matrix(X) if random.random() < 0.3 else X
    model = PegasosClassifier(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", GapWarning)
        try:
            model.fit(given, y, sample_weight=weights)
        except PegasosError as error:
            return {f"refused: {str(error)[:30]}": 1}
        again = model.certify(given, y, sample_weight=weights)
    problem = ExactProblem.of(model, X, y, weights)
    check(model, problem, model.certificate_, "fit")
    check(model, problem, again, "certify")
    counts = {"linear certificates": 2}
    plain = weights is None and parameters["prior"] is None and parameters.get("regularize_intercept", True)
    if plain and parameters["solver"] in {"auto", "dual"} and random.random() < 0.3:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GapWarning)
            source = ArraySource(X, y, block_rows=int(random.integers(1, len(y) + 1)))
            blocks = PegasosClassifier(**parameters).fit_source(source, memory="1M")
        check(blocks, ExactProblem.of(blocks, X, y), blocks.certificate_, "fit_source")
        counts["linear certificates"] += 1
    return counts


def check(model: Any, problem: ExactProblem, certificate: Any, what: str) -> None:
    """Whether the certificate tells the truth about the model."""
    numbers = certificate.primal, certificate.dual, certificate.relative_gap, certificate.weight_radius
    assert not np.isnan(numbers).any(), f"{what}: NaN in {certificate!r}"
    if not certificate.is_finite:
        return
    primal, dual = problem.primal(model.coef_[0], model.intercept_[0]), problem.dual(model.alpha_)
    room = _right * max(primal, Fraction(certificate.primal))
    assert primal <= Fraction(certificate.primal) + room, f"{what}: P is {float(primal)!r}, said {certificate!r}"
    assert dual >= Fraction(certificate.dual) - room, f"{what}: D is {float(dual)!r}, said {certificate!r}"
    assert certificate.dual <= certificate.primal, f"{what}: {certificate!r}"
