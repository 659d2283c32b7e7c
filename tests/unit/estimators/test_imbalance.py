"""Rare classes: costs that balance them, in fits and in streams, and draws that do."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score
from sklearn.svm import LinearSVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError


def rare(n=600, share=0.05, seed=0, n_classes=2):
    """Overlapping clouds; the last class is rare."""
    rng = np.random.default_rng(seed)
    weights = [*[(1 - share) / (n_classes - 1)] * (n_classes - 1), share]
    y = rng.choice(n_classes, size=n, p=weights)
    y[:n_classes] = np.arange(n_classes)
    centres = 2.0 * rng.normal(size=(n_classes, 5))
    return rng.normal(size=(n, 5)) + centres[y], np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 0.3, "b": 7.0}, {"b": 2.5}])
@pytest.mark.parametrize("weighted", [False, True])
def test_costs_are_class_weights_times_sample_weights_as_in_scikit_learn(class_weight, weighted):
    X, y = rare(200)
    sample_weight = np.random.default_rng(1).uniform(0.2, 3.0, 200) if weighted else None
    if class_weight == "balanced":  # scikit-learn counts rows, not their weights
        total = np.ones(200) if sample_weight is None else sample_weight
        factors = {label: total.sum() / (2 * total[y == label].sum()) for label in ("a", "b")}
    else:
        factors = class_weight
    settings = {"C": 0.1, "tol": 1e-8, "max_iter": 100_000, "random_state": 0}
    ours = PegasosClassifier(class_weight=class_weight, **settings).fit(X, y, sample_weight)
    theirs = LinearSVC(loss="hinge", class_weight=factors, **settings).fit(X, y, sample_weight)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    kernel = KernelPegasosClassifier("linear", class_weight=class_weight, **settings).fit(X, y, sample_weight)
    np.testing.assert_allclose(kernel.decision_function(X), theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"a": 0.5, "b": 4.0}])
def test_the_certificate_of_a_block_has_the_costs_of_all_rows_so_far(make, class_weight):
    X, y = rare(120)
    model = make(lam=0.1, class_weight=class_weight, random_state=0)
    model.partial_fit(X[:70], y[:70], classes=["a", "b"]).partial_fit(X[70:], y[70:])
    counts = {label: (y == label).sum() for label in ("a", "b")}
    factors = {
        "balanced": {label: len(y) / (2 * count) for label, count in counts.items()},
        "None": {"a": 1.0, "b": 1.0},
    }.get(str(class_weight), class_weight)
    cost = np.array([factors[label] for label in y[70:]])
    sign = np.where(y[70:] == "b", 1.0, -1.0)
    loss = cost @ np.maximum(0.0, 1.0 - sign * model.decision_function(X[70:])) / 50
    if make is PegasosClassifier:
        square = float(np.square(model.coef_).sum() + np.square(model.intercept_).sum())
    else:
        gram = model.kernel_.block(model.support_vectors_, model.support_vectors_) + 1.0
        square = float((model.dual_coef_ @ gram @ model.dual_coef_.T)[0, 0])
    assert model.certificate_.primal == pytest.approx(loss + 0.05 * square, rel=1e-9)
    assert (model.alpha_ <= cost * (1 + 1e-12)).all()


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_weights_of_classes_and_rows_multiply_in_a_stream(make):
    X, y = rare(80)
    factors, weights = np.where(y == "b", 5.0, 0.5), np.random.default_rng(0).uniform(0.5, 2.0, 80)
    settings = {"lam": 0.1, "batch_size": "all", "solver": "pegasos", "random_state": 0}
    settings |= {"kernel": "linear"} if make is KernelPegasosClassifier else {}
    by_class = make(class_weight={"a": 0.5, "b": 5.0}, **settings)
    by_row = make(**settings)
    by_class.partial_fit(X, y, classes=["a", "b"], sample_weight=weights)
    by_row.partial_fit(X, y, classes=["a", "b"], sample_weight=factors * weights)
    # The costs are the same; the total is that of the sample weights.
    mine, theirs = by_class.decision_function(X), by_row.decision_function(X)
    np.testing.assert_allclose(mine * weights.sum(), theirs * (factors @ weights), rtol=1e-9)


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_after_one_epoch_balanced_draws_are_nearer_to_the_optimum(make, n_classes):
    reached = {"shuffle": [], "balanced": []}
    for seed in range(5):
        X, y = rare(400, 0.03, seed, n_classes)
        settings = {"lam": 1e-3, "solver": "pegasos", "class_weight": "balanced", "tol": None, "max_iter": 1}
        for sampling, primals in reached.items():
            model = make(sampling=sampling, random_state=0, **settings).fit(X, y)
            primals.append(model.certificate_.primal)
            if sampling == "balanced":
                assert balanced_accuracy_score(y, model.predict(X)) > 0.75
    assert np.mean(reached["balanced"]) < 0.8 * np.mean(reached["shuffle"])


@pytest.mark.parametrize("solver", ["auto", "pegasos", "dual"])
def test_balanced_draws_end_at_the_same_optimum(solver):
    X, y = rare(300)
    settings = {"lam": 0.05, "max_iter": 100_000, "random_state": 0}
    exact = PegasosClassifier(tol=1e-8, **settings).fit(X, y)
    model = PegasosClassifier(tol=1e-2, solver=solver, sampling="balanced", **settings).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-2
    assert model.certificate_.dual <= exact.certificate_.primal <= model.certificate_.primal * (1 + 1e-9)


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("batch_size", [1, 5])
def test_a_block_of_one_class_is_learnt_from_all_the_same(make, batch_size):
    X, y = rare(200)
    model = make(lam=0.01, sampling="balanced", batch_size=batch_size, random_state=0)
    model.partial_fit(X[y == "a"], y[y == "a"], classes=["a", "b"])
    assert (model.predict(X) == "a").mean() > 0.9
    model.partial_fit(X[y == "b"], y[y == "b"])
    for _ in range(5):
        model.partial_fit(X, y)
    assert balanced_accuracy_score(y, model.predict(X)) > 0.8


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_all_rows_at_once_are_the_same_however_they_are_drawn(make):
    X, y = rare(100)
    settings = {"lam": 0.1, "solver": "pegasos", "batch_size": "all", "tol": None, "max_iter": 20, "random_state": 0}
    one, other = (make(sampling=sampling, **settings).fit(X, y) for sampling in ("shuffle", "balanced"))
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_a_warm_start_may_change_the_sampling(make):
    X, y = rare(100)
    settings = {"lam": 0.1, "solver": "pegasos", "tol": None, "max_iter": 20, "random_state": 0, "warm_start": True}
    model = make(sampling="shuffle", **settings).fit(X, y)
    for sampling in ("balanced", "uniform", "balanced", "shuffle"):
        before = model.certificate_.primal
        model.set_params(sampling=sampling, max_iter=model.max_iter + 50).fit(X, y)
        assert model.certificate_.primal < 1.2 * before
        assert model.certificate_.relative_gap < 0.2


@pytest.mark.parametrize("make", [PegasosClassifier, KernelPegasosClassifier])
def test_an_unknown_sampling_is_refused(make):
    sentence = "sampling must be one of 'shuffle', 'uniform', 'balanced', 'sequential', got 'even'"
    with pytest.raises(PegasosError, match=sentence):
        make(sampling="even").fit(*rare(20))
    with pytest.raises(PegasosError, match=sentence):
        make(sampling="even").partial_fit(*rare(20), classes=["a", "b"])
