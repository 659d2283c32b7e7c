"""Kernel machines reach the optimum that independent exact solvers find, for every kernel."""

import inspect

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, kernels
from pegasos.kernels import (
    RBF,
    ChiSquared,
    DynamicTimeWarping,
    Exp,
    Fourier,
    FunctionKernel,
    GlobalAlignment,
    Intersection,
    Laplacian,
    Linear,
    Mismatch,
    Polynomial,
    Precomputed,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    on,
)
from pegasos.solution import Status
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, run
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.solvers.pegasos import Pegasos
from tests.agreement.interior_point import kernel_optimum_of
from tests.problems import kernel_problem_of
from tests.reference.kernel_pegasos import PlainKernelProblem

N = 36
RNG = np.random.default_rng(0)
ROWS = np.abs(RNG.normal(size=(N, 4)))
DNA = ["".join(RNG.choice(list("ACGT"), 12)) for _ in range(N)]
SERIES = [np.cumsum(RNG.normal(size=RNG.integers(6, 14))) for _ in range(N)]


def random_graph():
    n = int(RNG.integers(3, 8))
    upper = np.triu(RNG.random((n, n)) < 0.5, 1)
    return (upper | upper.T).astype(int), RNG.choice(list("CNO"), n).tolist()


GRAPHS = [random_graph() for _ in range(N)]
FRAME = pd.DataFrame({"dna": DNA, "a": ROWS[:, 0], "b": ROWS[:, 1]})
CASES = {
    "linear": (Linear(), ROWS),
    "polynomial": (Polynomial(3, 0.5, 1.0), ROWS),
    "rbf": (RBF(0.5), ROWS),
    "laplacian": (Laplacian(0.5), ROWS),
    "chi squared": (ChiSquared(0.5), ROWS),
    "intersection": (Intersection(), ROWS),
    "spectrum": (Spectrum(2), DNA),
    "mismatch": (Mismatch(3, 1), DNA),
    "subsequence": (Subsequence(3, 0.6), DNA),
    "weighted degree": (WeightedDegree(3), DNA),
    "global alignment": (GlobalAlignment(1.0), SERIES),
    "fourier": (Fourier(8, 0.5), SERIES),
    "weisfeiler lehman": (WeisfeilerLehman(2), GRAPHS),
    "shortest path": (ShortestPath(), GRAPHS),
    "random walk": (RandomWalk(0.05), GRAPHS),
    "category": (kernels.Category(), [tuple(text[:3]) for text in DNA]),
    "words": (kernels.Words(), [" ".join(text) for text in DNA]),
    "standardized": (kernels.Standardized(RBF(0.5), [0.1] * 4, [2.0] * 4), ROWS),
    "sum": (RBF(0.5) + Linear(), ROWS),
    "product": (RBF(0.5) * Polynomial(2), ROWS),
    "scaled": (3.0 * RBF(0.5), ROWS),
    "power": (Linear() ** 2, ROWS),
    "exp": (Exp(0.1 * Linear()), ROWS),
    "normalized": (Spectrum(2).normalized(), DNA),
    "on": (on("dna", Spectrum(2)) + on(["a", "b"], RBF(0.5)), FRAME),
    "precomputed": (Precomputed(), RBF(0.5).block(ROWS, ROWS)),
    "function": (FunctionKernel(lambda x, z: float(np.exp(-0.5 * np.sum((x - z) ** 2)))), ROWS),
}
every_kernel = pytest.mark.parametrize(("kernel", "items"), CASES.values(), ids=CASES)


def problem_on(kernel, items, *, seed=1, lam=0.01, bias=1.0):
    random = np.random.default_rng(seed)
    cost = random.choice([0.0, 0.5, 1.0, 4.0], N)
    settings = {"offset": 0.2 * random.normal(size=N), "total": float(cost.sum()), "lam": lam, "bias": bias}
    problem = kernel_problem_of(kernel, items, random.choice([-1, 1], N), cost=cost, **settings)
    read = problem.rows.items
    return problem, PlainKernelProblem.of(problem, np.asarray(kernel.evaluate(read, read), np.float64))


def test_every_kernel_of_the_library_has_its_case():
    public = {each for name in kernels.__all__ if inspect.isclass(each := getattr(kernels, name))}
    bases = (kernels.Kernel, kernels.TokenKernel, kernels.MercerReport, kernels.IndefiniteKernelWarning)
    parts = {type(kernel) for kernel, _ in CASES.values()}
    inner = {kernels.On, kernels.Normalized, kernels.Sum}
    # Dynamic time warping is not positive semi-definite: it has no optimum to agree on.
    assert public - set(bases) - parts - inner == {DynamicTimeWarping}


@every_kernel
@pytest.mark.parametrize("bias", [0.0, 2.0])
def test_decomposition_reaches_the_optimum_of_the_interior_point_solver(kernel, items, bias):
    problem, plain = problem_on(kernel, items, bias=bias)
    X, best = kernel_optimum_of(plain)
    solution = run(problem, Decomposition(1e-8), Stop(1e-8), seed=0)
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-6)
    assert solution.certificate.dual <= best.primal * (1 + 1e-9)
    # The same features, with weights that are coefficients: how far apart they are is bounded too.
    assert np.linalg.norm(X.T @ solution.weights - best.weights) <= solution.certificate.weight_radius + 1e-5


@every_kernel
def test_every_certificate_bounds_the_true_distance(kernel, items):
    problem, plain = problem_on(kernel, items)
    _, best = kernel_optimum_of(plain)
    slack = 1e-9 * (1.0 + best.primal)
    for solver in (Decomposition(None), KernelPegasos(Pegasos()), KernelPegasos(Pegasos(4, "uniform", True, "tail"))):
        for epochs in (1, 3, 10):
            solution = run(problem, solver, Stop(None, max_iter=epochs), seed=0)
            assert plain.primal(solution.weights) - best.primal <= solution.certificate.gap + slack
            for row in solution.trace.rows:
                assert row.dual <= best.primal + slack
                assert row.primal >= best.dual - slack


@given(seed=st.integers(0, 10_000), lam=st.sampled_from((1e-4, 1e-2, 1.0)), gamma=st.sampled_from((0.01, 0.5, 20.0)))
def test_random_problems_reach_the_optimum(seed, lam, gamma):
    problem, plain = problem_on(RBF(gamma), ROWS, seed=seed, lam=lam)
    _, best = kernel_optimum_of(plain)
    # A wide Gaussian with weak regularization is as badly conditioned as it gets for steps along one coordinate.
    solution = run(problem, Decomposition(1e-7), Stop(1e-7, max_iter=100_000), seed=0)
    assert solution.status is Status.CERTIFIED
    assert solution.certificate.primal == pytest.approx(best.primal, rel=1e-6)


@every_kernel
def test_a_precomputed_matrix_is_as_good_as_the_kernel(kernel, items):
    y = np.random.default_rng(2).integers(0, 2, N)
    settings = {"lam": 0.01, "tol": 1e-9, "max_iter": 100_000, "random_state": 0}
    computed = KernelPegasosClassifier(kernel if kernel != Precomputed() else "precomputed", **settings).fit(items, y)
    block = kernel.block(items, items)
    given_matrix = KernelPegasosClassifier("precomputed", **settings).fit(block, y)
    assert given_matrix.certificate_.primal == pytest.approx(computed.certificate_.primal, rel=1e-8)
    np.testing.assert_allclose(given_matrix.decision_function(block), computed.decision_function(items), atol=1e-2)


@pytest.mark.parametrize("kernel", [Linear(), Spectrum(2), Spectrum(3).normalized(), WeisfeilerLehman(1)], ids=str)
def test_an_explicit_map_leads_to_the_same_optimum_and_certificate(kernel):
    random = np.random.default_rng(3)
    y = random.integers(0, 2, 240)
    if kernel == Linear():
        items = random.normal(size=(240, 5)) + 0.5 * y[:, None]
    elif kernel == WeisfeilerLehman(1):
        items = [random_graph() for _ in range(240)]
    else:
        items = ["".join(random.choice(list("ACGT" if label else "ACGG"), 15)) for label in y]
    mapped, direct = (
        KernelPegasosClassifier(kernel, lam=0.01, tol=1e-8, solver=solver, random_state=0).fit(items, y)
        for solver in ("auto", "decomposition")
    )
    assert kernel.has_features
    assert mapped.certificate_.primal == pytest.approx(direct.certificate_.primal, rel=3e-8)
    again = mapped.certify(items, y)
    assert again.gap == pytest.approx(mapped.certificate_.gap, abs=1e-12 + 2.0 * again.rounding)
    np.testing.assert_allclose(mapped.decision_function(items), direct.decision_function(items), atol=1e-2)


def test_with_a_nearly_free_intercept_the_scores_approach_those_of_libsvm():
    random = np.random.default_rng(4)
    X = random.normal(size=(200, 3))
    y = (np.linalg.norm(X, axis=1) + 0.3 * random.normal(size=200) > 1.2).astype(int)
    rival = SVC(C=1.0, gamma=0.5, tol=1e-8).fit(X, y).decision_function(X)
    apart = []
    for scaling in (1.0, 10.0, 100.0):
        model = KernelPegasosClassifier(
            C=1.0, gamma=0.5, intercept_scaling=scaling, tol=1e-9, max_iter=100_000, random_state=0
        ).fit(X, y)
        apart.append(np.abs(model.decision_function(X) - rival).max())
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-3
