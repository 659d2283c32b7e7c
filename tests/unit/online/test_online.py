"""The five estimators: streams, weights, precision, interrupts, and what they refuse."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from pegasos import PegasosError
from pegasos.kernels import Spectrum
from pegasos.online import ConfidenceWeighted, KernelPerceptron, Norma, PassiveAggressive, Perceptron
from pegasos.online import linear as _linear
from pegasos.solvers import online as solver

LINEAR = [
    Perceptron("last"),
    Perceptron(),
    Perceptron("voted", max_votes=30),
    PassiveAggressive(0.5),
    PassiveAggressive(variant="pa"),
    PassiveAggressive(variant="pa-2", average=True),
    ConfidenceWeighted(),
    ConfidenceWeighted("cw", confidence=0.7),
]
KERNEL = [
    KernelPerceptron(gamma=0.3),
    KernelPerceptron("poly", gamma=0.3, budget=20),
    Norma(gamma=0.3, tau=40),
    Norma(gamma=0.3, nu=0.3, tau=None),
]


def name(model):
    return re.sub(r"\s+", " ", str(model))


every_model = pytest.mark.parametrize("model", LINEAR + KERNEL, ids=name)
linear_models = pytest.mark.parametrize("model", LINEAR, ids=name)


def sample(n_classes=3, n=150, d=8):
    random = np.random.default_rng(5)
    X = random.normal(size=(n, d)) * (random.random((n, d)) < 0.7)
    y = np.array(["ash", "elm", "oak"])[np.argmax(X[:, :n_classes] + 0.1 * random.normal(size=(n, n_classes)), axis=1)]
    return X, y


@every_model
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stream_in_pieces_equals_one_call(model, n_classes):
    X, y = sample(n_classes)
    classes = np.unique(y)
    whole, pieces = clone(model), clone(model)
    whole.partial_fit(X, y, classes=classes)
    for part in np.split(np.arange(len(y)), [1, 2, 40, 41, 100]):
        pieces.partial_fit(X[part], y[part], classes=classes)
    assert pieces.decision_function(X) == pytest.approx(whole.decision_function(X), rel=1e-9, abs=1e-10)
    assert pieces.mistakes_ == whole.mistakes_
    assert (pieces.mistake_curve_ == whole.mistake_curve_).all()
    assert pieces.n_steps_ == len(y)


@every_model
def test_one_pass_in_the_order_given_is_a_stream(model):
    X, y = sample()
    once = clone(model).set_params(max_iter=1, shuffle=False).fit(X, y)
    stream = clone(model).partial_fit(X, y, classes=np.unique(y))
    assert (once.decision_function(X) == stream.decision_function(X)).all()


@every_model
def test_a_fit_continues_as_a_stream(model):
    X, y = sample()
    known = clone(model).set_params(random_state=0).fit(X, y)
    before = known.n_steps_
    known.partial_fit(X[:10], y[:10])
    assert known.n_steps_ == before + 10
    assert known.mistake_curve_[-1].tolist() == [known.n_steps_, known.mistakes_]


@every_model
def test_the_same_seed_gives_the_same_bits_and_the_input_is_untouched(model):
    X, y = sample()
    X.setflags(write=False)
    first, second, other = (clone(model).set_params(random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert (first.decision_function(X) == second.decision_function(X)).all()
    assert (first.decision_function(X) != other.decision_function(X)).any()


@every_model
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_dense_and_sparse_rows_give_the_same_model(model, index):
    X, y = sample()
    matrix = sp.csr_array(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    dense, sparse = (clone(model).set_params(random_state=0).fit(each, y) for each in (X, matrix))
    assert sparse.decision_function(matrix) == pytest.approx(dense.decision_function(X), rel=1e-7, abs=1e-8)


@linear_models
def test_single_precision_rows_are_read_in_place(model, monkeypatch):
    X, y = sample()
    X = X.astype(np.float32)
    seen = []
    read = _linear.read_rows_and_target
    monkeypatch.setattr(_linear, "read_rows_and_target", lambda *a, **k: (seen.append(read(*a, **k)), seen[-1])[1])
    narrow = clone(model).set_params(random_state=0).fit(X, y)
    assert np.shares_memory(seen[0][0].values, X)
    wide = clone(model).set_params(random_state=0).fit(X.astype(np.float64), y)
    assert narrow.decision_function(X) == pytest.approx(wide.decision_function(X), rel=1e-6, abs=1e-7)


@every_model
def test_a_row_of_weight_zero_is_ignored(model):
    X, y = sample()
    weights = (np.arange(len(y)) % 3 > 0).astype(float)
    plain = clone(model).partial_fit(X[weights > 0], y[weights > 0], classes=np.unique(y))
    weighted = clone(model).partial_fit(X, y, classes=np.unique(y), sample_weight=weights)
    assert weighted.decision_function(X) == pytest.approx(plain.decision_function(X), rel=1e-9, abs=1e-10)
    assert weighted.n_steps_ == plain.n_steps_


def test_the_weight_of_a_perceptron_is_the_length_of_the_step():
    X, y = [[1.0, 2.0]], ["b"]
    model = Perceptron("last").partial_fit(X, y, classes=["a", "b"], sample_weight=[2.0])
    assert model.coef_.tolist() == [[2.0, 4.0]]
    assert model.intercept_.tolist() == [2.0]


@pytest.mark.parametrize("model", [PassiveAggressive(0.01), ConfidenceWeighted(r=3.0), Norma(gamma=0.3)], ids=name)
def test_class_weights_are_sample_weights(model):
    X, y = sample()
    weights = np.where(y == "elm", 5.0, 1.0)
    by_class = clone(model).set_params(class_weight={"elm": 5.0}, random_state=0).fit(X, y)
    by_row = clone(model).set_params(random_state=0).fit(X, y, sample_weight=weights)
    plain = clone(model).set_params(random_state=0).fit(X, y)
    assert (by_class.decision_function(X) == by_row.decision_function(X)).all()
    assert (by_class.decision_function(X) != plain.decision_function(X)).any()


@every_model
def test_a_class_absent_from_a_block_does_no_harm(model):
    X, y = sample()
    only = y == "ash"
    stream = clone(model).partial_fit(X[only], y[only], classes=["ash", "elm", "oak"])
    for _ in range(10):
        stream.partial_fit(X[~only], y[~only])
    assert set(stream.predict(X)) <= {"ash", "elm", "oak"}
    assert stream.score(X[~only], y[~only]) > 0.5  # by chance: a third


@every_model
def test_a_block_without_weight_leaves_the_zero_model(model):
    X, y = sample(2)
    stream = clone(model).partial_fit(X, y, classes=["ash", "elm"], sample_weight=np.zeros(len(y)))
    assert not stream.decision_function(X).any()
    assert stream.n_steps_ == 0


@every_model
def test_an_interrupt_leaves_the_model_reached(model, monkeypatch):
    X, y = sample()
    note = solver.Curve.note

    def interrupted(self, now):
        if now.step == 30:
            raise KeyboardInterrupt
        note(self, now)

    first_rows = clone(model).partial_fit(X[:30], y[:30], classes=np.unique(y))
    monkeypatch.setattr(solver.Curve, "note", interrupted)
    reached = clone(model).set_params(shuffle=False)
    with pytest.raises(KeyboardInterrupt):
        reached.fit(X, y)
    assert reached.n_steps_ == 30
    assert reached.decision_function(X) == pytest.approx(first_rows.decision_function(X), rel=1e-9, abs=1e-10)


def test_an_interrupt_before_the_first_row_leaves_the_last_model(monkeypatch):
    X, y = sample()
    model = Perceptron(random_state=0).fit(X, y)
    before = model.coef_.copy()

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(solver.OnlineLearner, "_visit", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :3], y)
    assert (model.coef_ == before).all()
    assert model.n_features_in_ == X.shape[1]


def test_a_budget_bounds_the_support_of_a_stream():
    X, y = sample()
    model = KernelPerceptron(gamma=0.3, budget=7)
    for part in np.array_split(np.arange(len(y)), 9):
        model.partial_fit(X[part], y[part], classes=np.unique(y))
        assert len(model.support_vectors_) <= 7
    assert model.dual_coef_.shape == (3, 7)


def test_strings_come_as_a_stream():
    words = ["abab", "cdcd", "baba", "dcdc", "abba", "cddc"]
    model = KernelPerceptron(Spectrum(2), budget=3)
    for word, label in zip(words * 3, [0, 1] * 9, strict=True):
        model.partial_fit([word], [label], classes=[0, 1])
    assert model.predict(["ababab", "cdc"]).tolist() == [0, 1]


def test_a_function_and_a_precomputed_matrix_are_kernels():
    X, y = sample()
    gram = X @ X.T
    models = [KernelPerceptron(kernel, random_state=0) for kernel in ("linear", "precomputed", lambda a, b: a @ b.T)]
    expected, computed, called = (m.fit(gram if m.kernel == "precomputed" else X, y) for m in models)
    assert computed.decision_function(gram) == pytest.approx(expected.decision_function(X))
    assert called.decision_function(X) == pytest.approx(expected.decision_function(X))
    assert not hasattr(KernelPerceptron("precomputed"), "partial_fit")


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (Perceptron("best"), "prediction must be one of 'last', 'averaged', 'voted', got 'best'."),
        (Perceptron(max_votes=0), "max_votes must be a whole number of at least 1, got 0."),
        (Perceptron(max_iter=0), "max_iter must be a whole number of at least 1, got 0."),
        (Perceptron(shuffle="yes"), "shuffle must be True or False, got 'yes'."),
        (PassiveAggressive(0.0), "C must be a positive number, got 0.0."),
        (PassiveAggressive(-1), "C must be a positive number, got -1."),
        (PassiveAggressive(variant="pa-3"), "variant must be one of 'pa', 'pa-1', 'pa-2', got 'pa-3'."),
        (ConfidenceWeighted("scw"), "method must be one of 'arow', 'cw', got 'scw'."),
        (ConfidenceWeighted(r=0), "r must be a positive number, got 0."),
        (ConfidenceWeighted("cw", confidence=0.4), "confidence must be between 0.5 and 1, got 0.4."),
        (Norma(eta=2.0, lam=0.5), "eta * lam must be below 1, got 1.0; use a smaller eta."),
        (Norma(nu=1.0), "nu must be None or between 0 and 1, got 1.0."),
        (Norma(tau=0), "tau must be a whole number of at least 1, got 0."),
        (Norma("gauss"), "kernel must be one of 'linear', 'poly'"),
        (KernelPerceptron(budget=0), "budget must be a whole number of at least 1, got 0."),
        (KernelPerceptron(removal="newest"), "removal must be one of 'oldest', 'random', got 'newest'."),
        (PassiveAggressive(class_weight="even"), "class_weight must be None, 'balanced' or a dict"),
    ],
    ids=lambda value: name(value)[:40],
)
def test_a_setting_out_of_range_is_refused_with_a_reason(model, sentence):
    X, y = sample()
    for call in (lambda: model.fit(X, y), lambda: model.partial_fit(X, y, classes=np.unique(y))):
        with pytest.raises(PegasosError, match="^" + re.escape(sentence)):
            call()
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize(
    "model", [PassiveAggressive(variant="pa"), ConfidenceWeighted("cw")], ids=["variant='pa'", "method='cw'"]
)
def test_a_rule_without_a_place_for_weights_refuses_them(model):
    X, y = sample()
    with pytest.raises(PegasosError, match=r"does not support weights other than 0 and 1; use"):
        model.fit(X, y, sample_weight=np.full(len(y), 2.0))
    with pytest.raises(PegasosError, match=r"does not support weights other than 0 and 1; use"):
        clone(model).set_params(class_weight="balanced").fit(X, y)


@every_model
def test_a_stream_refuses_what_it_cannot_use_and_keeps_its_model(model):
    X, y = sample()
    stream = clone(model)
    with pytest.raises(PegasosError, match="the first call of partial_fit needs classes="):
        stream.partial_fit(X, y)
    stream.partial_fit(X, y, classes=["ash", "elm", "oak"])
    before = stream.decision_function(X)
    with pytest.raises(PegasosError, match="y contains yew, which is not in the classes"):
        stream.partial_fit(X[:2], ["ash", "yew"])
    with pytest.raises(PegasosError, match="contains NaN or infinity"):
        stream.partial_fit([[np.nan] * X.shape[1]], ["ash"])
    with pytest.raises(PegasosError, match="sample_weight must not be negative"):
        stream.partial_fit(X[:2], y[:2], sample_weight=[1.0, -1.0])
    with pytest.raises(PegasosError, match="sample_weight is zero for every row"):
        stream.fit(X, y, sample_weight=np.zeros(len(y)))
    assert (stream.decision_function(X) == before).all()
    assert stream.n_steps_ == len(y)


def test_a_stream_cannot_change_which_vector_it_returns():
    X, y = sample()
    stream = Perceptron("last").partial_fit(X, y, classes=np.unique(y))
    with pytest.raises(PegasosError, match="began with the last vector and cannot continue with the averaged one"):
        stream.set_params(prediction="averaged").partial_fit(X, y)


def test_numbers_out_of_range_are_refused_and_the_model_stays():
    X, y = sample(2)
    stream = Perceptron("last").partial_fit(X, y, classes=np.unique(y))
    before = stream.coef_.copy()
    a, b = 1e308 * np.eye(len(X[0]))[:2]
    # The second has the score inf - inf, which moves nothing.
    for huge, labels in ((np.sign(X) * 1e308, y), ([a - b, a + b, b - a, a + b], [y[0]] * 4)):
        with pytest.raises(PegasosError, match="left the range of the machine"):
            stream.partial_fit(huge, labels)
        assert (stream.coef_ == before).all()


@pytest.mark.parametrize(
    "model",
    [
        Perceptron("last", max_iter=1000, random_state=0),
        PassiveAggressive(variant="pa", max_iter=10_000, random_state=0),
        KernelPerceptron("rbf", gamma=50.0, max_iter=1000, random_state=0),
    ],
)
def test_a_pass_that_changes_nothing_is_the_last(model):
    random = np.random.default_rng(0)
    rows = random.normal(size=(60, 2))
    y = rows[:, 0] > 0.0
    rows[:, 0] += np.where(y, 0.5, -0.5)
    model.fit(rows, y)
    assert model.n_iter_ < model.max_iter
    assert model.score(rows, y) == 1.0
    assert clone(model).set_params(max_iter=model.n_iter_).fit(rows, y).n_iter_ == model.n_iter_
    before = clone(model).set_params(max_iter=model.n_iter_ - 1).fit(rows, y)
    np.testing.assert_array_equal(before.decision_function(rows), model.decision_function(rows))


def test_norma_fades_at_every_row_and_continues():
    rows = np.array([[1.0], [-1.0]])
    assert Norma(max_iter=7, random_state=0).fit(rows, [1, 0]).n_iter_ == 7
