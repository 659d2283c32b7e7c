"""An intercept that is not regularized: the optimum of LIBSVM and of an exact solver, and its certificate."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale
from sklearn.svm import SVC

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.certificate import balanced, best_intercepts, certify_free
from pegasos.kernels import RBF, Spectrum
from pegasos.problem import Problem, Rows
from pegasos.solution import Status
from pegasos.solvers.auto import Auto
from pegasos.solvers.decomposition import Decomposition
from pegasos.solvers.driver import Stop, Watcher, run
from pegasos.solvers.dual_ascent import DualAscent
from pegasos.solvers.free_intercept import FreeIntercept, natural_bias
from pegasos.solvers.mapped import FreeMapped
from pegasos.solvers.pegasos import Pegasos
from tests.agreement.interior_point import free_optimum_of
from tests.problems import kernel_problem_of, problem_of, small_problems
from tests.reference.objective import PlainProblem

TIGHT = 1e-9
SOLVERS = {"dual": DualAscent(), "auto": Auto(Pegasos(), DualAscent(), TIGHT)}
X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)[:200]
Y = Y[:200]


def problem(seed, *, bias=0.0, dtype=np.float64, layout="dense"):
    """Unbalanced, noisy, with costs, offsets and a row of zeros, far from the origin."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(40, 4)) + 3.0
    sign = np.where(rows[:, 0] + 0.7 * random.normal(size=40) > 3.7, 1, -1)
    sign[:2] = 1, -1
    rows[4] = 0.0
    cost, offset = random.uniform(0.0, 2.0, 40), random.normal(size=40)
    cost[6] = 0.0
    return problem_of(rows, sign, cost=cost, offset=offset, lam=0.03, bias=bias, dtype=dtype, layout=layout)


@pytest.mark.parametrize("layout", ["dense", "csr int32"])
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_an_exact_solver(seed, name, layout):
    plain = problem(seed, layout=layout)
    exact = free_optimum_of(plain)
    free = problem(seed, layout=layout, bias=natural_bias(plain.rows.squared_norms))
    solution = run(free, FreeIntercept(SOLVERS[name], TIGHT), Stop(TIGHT, 100_000))
    assert solution.status is Status.CERTIFIED
    certificate = solution.certificate
    assert certificate.primal >= exact.dual - 1e-10
    assert certificate.dual <= exact.primal + 1e-10
    assert certificate.primal == pytest.approx(exact.primal, rel=1e-7)
    distance = np.linalg.norm(solution.weights[:-1] - exact.weights[:-2])
    assert distance <= certificate.weight_radius + 1e-4
    assert np.sum(solution.alpha * free.sign) == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("strength", [0.1, 1.0, 10.0])
def test_the_constant_column_changes_the_way_but_not_the_optimum(strength):
    exact = free_optimum_of(problem(1))
    solution = run(problem(1, bias=strength), FreeIntercept(DualAscent(), TIGHT), Stop(TIGHT, 100_000))
    assert solution.certificate.primal == pytest.approx(exact.primal, rel=1e-7)


@given(small_problems(), st.integers(0, 2**16))
def test_every_dual_point_bounds_the_optimum_from_both_sides(drawn, seed):
    if len(set(drawn.sign[drawn.cost > 0].tolist())) < 2:
        return
    alpha = np.random.default_rng(seed).random(drawn.rows.n_rows) * drawn.cost
    certificate, weights, intercept = certify_free(drawn, alpha)
    plain = PlainProblem.of(drawn)
    bare = PlainProblem(
        plain.X[:, : drawn.rows.n_features], plain.sign, plain.cost, plain.offset, plain.lam, plain.total
    )
    exact = free_optimum_of(bare)
    slack = 1e-8 * max(1.0, exact.primal)
    assert certificate.dual <= exact.primal + slack
    assert certificate.primal >= exact.dual - slack
    distance = np.linalg.norm(weights[:-1] - exact.weights[:-1])
    assert distance <= certificate.weight_radius * (1 + 1e-6) + np.sqrt(2 * slack / drawn.lam)
    shifted = PlainProblem(bare.X, bare.sign, bare.cost, bare.offset + intercept, bare.lam, bare.total)
    assert certificate.primal == pytest.approx(shifted.primal(weights[:-1]), rel=1e-9, abs=1e-12)


@given(small_problems(), st.integers(0, 2**16))
def test_the_best_intercepts_are_where_the_loss_is_least(drawn, seed):
    if len(set(drawn.sign[drawn.cost > 0].tolist())) < 2:
        return
    scores = np.random.default_rng(seed).normal(size=drawn.rows.n_rows)
    lowest, highest = best_intercepts(drawn, scores)
    assert lowest <= highest

    def loss(intercept):
        return float(drawn.cost @ np.maximum(0.0, 1.0 - drawn.sign * (scores + drawn.offset + intercept)))

    breaks = drawn.sign - scores - drawn.offset
    least = min(loss(b) for b in breaks)
    tolerance = 1e-9 * (1.0 + least)
    for inside in (lowest, highest, 0.5 * (lowest + highest)):
        assert loss(inside) <= least + tolerance
    assert loss(lowest - 1.0) > least - tolerance
    assert loss(highest + 1.0) > least - tolerance


@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_the_kernel_machine_has_libsvms_optimum(kernel, C):
    shape = {"kernel": kernel, "gamma": 0.05, "coef0": 1.0, "degree": 2}
    theirs = SVC(C=C, tol=1e-9, **shape).fit(X, Y)
    settings = {"C": C, "tol": 1e-8, "regularize_intercept": False, "solver": "decomposition", "max_iter": 20_000}
    ours = KernelPegasosClassifier(**shape, **settings).fit(X, Y)
    # LIBSVM keeps kernel values in single precision: with a large C its optimum is a little above ours.
    assert _objective(ours, C) <= _objective(theirs, C) * (1.0 + 1e-7)
    assert _objective(ours, C) == pytest.approx(_objective(theirs, C), rel=1e-6 if C <= 1.0 else 1e-4)
    if C <= 1.0:
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-4)
    assert ours.certify(X, Y).relative_gap <= 1.1e-8


def _objective(model, C):
    """The textbook's objective of a fitted kernel machine, LIBSVM's or ours, from its public attributes."""
    scores = model.decision_function(X)
    square = float(model.dual_coef_[0] @ (scores[model.support_] - model.intercept_[0]))
    return 0.5 * square + C * np.maximum(0.0, 1.0 - np.where(Y == 1, 1, -1) * scores).sum()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_the_linear_machine_has_libsvms_optimum_with_weights(C):
    weights = np.random.default_rng(0).uniform(0.0, 3.0, len(Y))
    theirs = SVC(kernel="linear", C=C * len(Y) / weights.sum(), tol=1e-10).fit(X, Y, weights * weights.sum() / len(Y))
    ours = PegasosClassifier(C=C, tol=1e-10, regularize_intercept=False, max_iter=50_000).fit(X, Y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3)


def test_features_and_kernel_give_the_same_machine():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abc"), 8)) for _ in range(240)]
    y = np.array([word.count("ab") > 1 for word in words])
    settings = {"lam": 1e-3, "tol": 1e-8, "regularize_intercept": False, "max_iter": 20_000}
    mapped = KernelPegasosClassifier(Spectrum(2), **settings).fit(words, y)
    by_kernel = KernelPegasosClassifier(Spectrum(2), solver="decomposition", **settings).fit(words, y)
    np.testing.assert_allclose(mapped.decision_function(words), by_kernel.decision_function(words), atol=1e-2)
    assert mapped.certificate_.primal == pytest.approx(by_kernel.certificate_.primal, rel=1e-7)
    assert mapped.certify(words, y).relative_gap <= 1.1e-8


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_certified_predictions_are_those_of_a_much_more_exact_fit(make):
    random = np.random.default_rng(3)
    rows = random.normal(size=(300, 5)) + 1.0
    y = random.random(300) < 1.0 / (1.0 + np.exp(2.0 - 2.0 * rows[:, 0]))
    rough = make(lam=1e-2, tol=2e-4, regularize_intercept=False, random_state=0).fit(rows, y)
    exact = make(lam=1e-2, tol=1e-9, regularize_intercept=False, max_iter=50_000).fit(rows, y)
    new = random.normal(size=(2000, 5)) + 1.0
    sure = rough.certified(new)
    assert 0 < sure.sum() < len(sure)
    assert (rough.predict(new)[sure] == exact.predict(new)[sure]).all()
    distance = abs(float(rough.intercept_[0] - exact.intercept_[0]))
    assert distance <= float(rough.fitted_.proof.intercept_reach[0]) + 1e-4


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_shift_of_all_rows_changes_only_the_intercept(make):
    settings = {"lam": 1e-2, "tol": 1e-9, "regularize_intercept": False, "max_iter": 50_000}
    if make is KernelPegasosClassifier:
        settings["kernel"] = "linear"
    here = make(**settings).fit(X[:, :5], Y)
    there = make(**settings).fit(X[:, :5] + 2.0, Y)
    np.testing.assert_allclose(here.decision_function(X[:, :5]), there.decision_function(X[:, :5] + 2.0), atol=1e-3)


def test_float32_rows_and_several_classes_are_certified():
    rows, y = load_iris(return_X_y=True)
    rows = rows.astype(np.float32)
    for make in (PegasosClassifier, KernelPegasosClassifier):
        model = make(lam=1e-3, regularize_intercept=False, max_iter=5000, random_state=0).fit(rows, y)
        assert model.certificate_.relative_gap <= 1e-3
        assert model.certify(rows, y).relative_gap <= 1.01e-3
        assert model.score(rows, y) > 0.9 if make is KernelPegasosClassifier else model.score(rows, y) > 0.6


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_warm_start_begins_where_the_last_fit_ended(make):
    settings = {"lam": 1e-2, "tol": 1e-4, "regularize_intercept": False, "warm_start": True, "max_iter": 5000}
    model = make(**settings, random_state=0).fit(X, Y)
    first = model.n_steps_
    assert model.fit(X, Y).n_steps_ <= first / 2


def test_a_dual_point_is_balanced_within_its_bounds():
    drawn = problem(0)
    alpha = np.random.default_rng(0).uniform(-1.0, 3.0, 40)
    even = balanced(drawn, alpha)
    assert (even >= 0.0).all()
    assert (even <= drawn.cost).all()
    assert float(np.sum(even * drawn.sign)) == pytest.approx(0.0, abs=1e-12)
    assert not balanced(drawn, np.where(drawn.sign > 0, 1.0, 0.0)).any()


def test_one_kernel_problem_far_from_balance_is_solved():
    random = np.random.default_rng(0)
    rows = random.normal(size=(150, 3))
    sign = np.where(np.arange(150) < 6, 1, -1)
    free = kernel_problem_of(RBF(0.5), rows, sign, lam=1e-3, bias=1.0)
    solution = run(free, FreeIntercept(Decomposition(1e-8), 1e-8), Stop(1e-8, 10_000))
    assert solution.status is Status.CERTIFIED
    assert solution.intercept < 0.0


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_stream_with_a_free_intercept_says_why_there_is_none(make):
    model = make(regularize_intercept=False)
    assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit") as caught:
        model.partial_fit(X, Y, classes=[0, 1])
    assert "unregularized" in str(caught.value.__cause__)
    with pytest.raises(PegasosError, match="does not support an unregularized intercept"):
        make(regularize_intercept=False, solver="pegasos").fit(X, Y)


@pytest.mark.parametrize("length", [1e6, 1e8, 3e9])
@pytest.mark.parametrize("weight", [1.0, 0.0])
def test_a_very_long_row_does_not_come_between_the_model_and_its_certificate(length, weight):
    random = np.random.default_rng(1)
    rows = np.r_[random.normal(size=(200, 3)), [[length, 0.0, 0.0]]]
    y = np.r_[rows[:200, 0] + 1.5 * random.normal(size=200) > 0, True]
    weights = np.r_[np.ones(200), weight]
    model = PegasosClassifier(lam=1e-2, regularize_intercept=False, random_state=0).fit(rows, y, weights)
    again = model.certify(rows, y, weights)
    assert again.primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert again.relative_gap <= 1.1e-3
    near = random.normal(size=(200, 3))
    exact = PegasosClassifier(lam=1e-2, regularize_intercept=False, tol=1e-8, max_iter=50_000)
    with warnings.catch_warnings():  # rounding may end it a little earlier
        warnings.simplefilter("ignore", GapWarning)
        exact.fit(rows, y, weights)
    assert exact.certificate_.relative_gap <= 1e-6
    sure = model.certified(near)
    assert (model.predict(near)[sure] == exact.predict(near)[sure]).all()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_stages_without_progress_end_before_max_iter(seed):
    """Sums of dual variables are exact up to rounding only, which a row as long as this amplifies."""
    random = np.random.default_rng(seed)
    rows = np.r_[random.normal(size=(200, 3)), [[1e10, 0.0, 0.0]]]
    y = np.r_[rows[:200, 0] + 1.5 * random.normal(size=200) > 0, True]
    model = PegasosClassifier(lam=1e-2, regularize_intercept=False, tol=1e-11, max_iter=5000, random_state=0)
    model.fit(rows, y)
    certified = model.certificate_.relative_gap <= 1e-11
    assert certified or "arithmetic of the machine" in model.status_
    assert model.certificate_.relative_gap <= 1e-6
    assert model.n_iter_ < 5000


@dataclass(frozen=True)
class EndsItsFirstStage(Auto):
    """Its first review finds that no further step changes anything."""

    reviews: list = field(default_factory=list)

    def review(self, problem, state, tol):
        found = super().review(problem, state, tol)
        self.reviews.append(found)
        state.is_exhausted = len(self.reviews) == 1
        return found


def test_an_exhausted_stage_is_followed_by_another():
    random = np.random.default_rng(0)
    rows = random.normal(size=(200, 5)) + 2.0
    problem = problem_of(rows, np.where(rows[:, 0] + random.normal(size=200) > 2.5, 1, -1), lam=1e-3, bias=3.0)
    ascent = EndsItsFirstStage(Pegasos(), DualAscent(np.float64), 1e-7, ends_at_once=False)
    solution = run(problem, FreeIntercept(ascent, 1e-7), Stop(1e-7, 10_000))
    assert ascent.reviews[0].certificate.relative_gap > 1e-7
    assert solution.status is Status.CERTIFIED


def test_rows_far_from_the_origin_are_certified_as_they_are_predicted():
    random = np.random.default_rng(0)
    rows = random.normal(size=(300, 4)) + 1e5
    y = rows[:, 0] - 1e5 + 0.5 * random.normal(size=300) > 0.8
    model = PegasosClassifier(lam=1e-4, regularize_intercept=False, tol=0.5, max_iter=300, random_state=0).fit(rows, y)
    assert model.certify(rows, y).primal == pytest.approx(model.certificate_.primal, rel=1e-4)


def test_a_long_row_leaves_others_their_reach():
    random = np.random.default_rng(0)
    rows = random.normal(size=(300, 4))
    y = rows[:, 0] + 0.5 * random.normal(size=300) > 0.8
    rows[0] *= 1e10
    model = PegasosClassifier(lam=1e-3, regularize_intercept=False, random_state=0, max_iter=100, tol=0.9).fit(rows, y)
    if model.certificate_.weight_radius > 1.0:
        assert model.fitted_.proof.intercept_reach[0] > 1e-3


def test_one_sign_alone_leaves_the_intercept_open():
    drawn = problem_of(np.ones((3, 1)), [1, 1, -1], cost=[1.0, 2.0, 0.0])
    assert best_intercepts(drawn, np.zeros(3)) == (1.0, np.inf)
    drawn = problem_of(np.ones((3, 1)), [-1, -1, 1], cost=[1.0, 2.0, 0.0])
    assert best_intercepts(drawn, np.zeros(3)) == (-np.inf, -1.0)
    nothing = problem_of(np.ones((3, 1)), [-1, -1, 1], cost=0.0)
    assert best_intercepts(nothing, np.zeros(3)) == (-np.inf, np.inf)
    assert certify_free(nothing, np.zeros(3))[2] == 0.0
    rows = np.random.default_rng(0).normal(size=(90, 4))
    y = np.arange(90) % 3
    model = PegasosClassifier(multi_class="ovo", regularize_intercept=False, class_weight={0: 0, 1: 0, 2: 1})
    assert model.fit(rows, y).coef_.shape == (3, 4)
    assert not model.certified(rows).any()


def test_callbacks_see_coefficients_of_explicit_features():
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("abc"), 8)) for _ in range(240)]
    items = Spectrum(2).read(words)
    rows = Rows.of(Spectrum(2).map(items)[0], 0.0)
    rows = rows.with_bias(natural_bias(rows.squared_norms))
    sign = np.where([word.count("ab") > 1 for word in words], 1, -1).astype(np.int8)
    solver = FreeMapped(Auto(Pegasos(), DualAscent(), 1e-3), 1e-3)
    seen = []

    def look(epoch, model):
        seen.append(model().weights.shape)
        return False

    run(Problem.plain(rows, sign, 1e-3), solver, Stop(1e-3, 50), watcher=Watcher(on_epoch=look))
    assert set(seen) == {(240,)}


def test_a_budget_on_support_vectors_needs_a_regularised_intercept():
    with pytest.raises(PegasosError, match="max_support=20 needs a regularized intercept"):
        KernelPegasosClassifier(regularize_intercept=False, max_support=20).fit(X, Y)


def test_the_natural_bias_is_finite_where_squares_are_near_the_largest_number():
    squares = np.array([1.2e308, 1.5e308, 1e300, 1.7e308])
    with np.errstate(all="raise"):
        assert natural_bias(squares) == pytest.approx(np.sqrt(1.2e308) * np.sqrt(1.125))
