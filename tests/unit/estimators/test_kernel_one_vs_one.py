"""One against one with kernels: tables of their own, rows of any kind, and what is refused."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pegasos import KernelPegasosClassifier, PegasosError
from pegasos.estimators.assembly import plan_of
from pegasos.gram import KernelRows
from pegasos.kernels import RBF, Spectrum, WeisfeilerLehman
from pegasos.machines.kernel_solving import jobs_for
from pegasos.tasks import pairs_of

X, Y = make_blobs(150, 4, centers=4, cluster_std=5.0, random_state=1)
X = X / 8.0


def fitted(kernel="rbf", rows=X, labels=Y, **settings):
    return KernelPegasosClassifier(
        kernel, **{"multi_class": "ovo", "lam": 1e-2, "gamma": 0.5, "random_state": 0, **settings}
    ).fit(rows, labels)


def test_a_precomputed_matrix_gives_the_same_machine():
    matrix = RBF(0.5).block(X, X)
    computed, given = fitted(tol=1e-9), fitted("precomputed", matrix, tol=1e-9)
    assert np.array_equal(computed.predict(X), given.predict(matrix))
    np.testing.assert_allclose(computed.decision_function(X), given.decision_function(matrix), atol=1e-4)
    assert given.certify(matrix, Y).gap == pytest.approx(given.certificate_.gap, abs=1e-12)
    one, two = fitted("precomputed", matrix, n_jobs=1), fitted("precomputed", matrix, n_jobs=2)
    assert np.array_equal(one.dual_coef_, two.dual_coef_)


@pytest.mark.parametrize("n", [60, 300])  # below, the kernel matrix; above, explicit features
def test_strings_train_as_their_pairs_do_alone(n):
    random = np.random.default_rng(0)
    labels = np.arange(n) % 3
    letters = np.array([list("aabc"), list("abbc"), list("abcc")])
    words = ["".join(random.choice(letters[label], 12)) for label in labels]
    model = fitted(Spectrum(2), words, labels, tol=1e-8)
    for k, pair in enumerate(pairs_of(3)):
        mine = np.flatnonzero(np.isin(labels, pair))
        alone = KernelPegasosClassifier(Spectrum(2), lam=1e-2, tol=1e-8, random_state=0)
        alone.fit([words[i] for i in mine], labels[mine])
        assert model.certificate_.parts[k].primal == pytest.approx(alone.certificate_.primal, rel=1e-7)
    assert model.certify(words, labels).relative_gap <= 1e-7
    assert model.score(words, labels) > 0.6
    assert model.certified(words).any()


def test_graphs_are_items_like_others():
    def ring(n):
        return np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)

    graphs = [(ring(n), [label] * n) for n in (4, 5, 6) for label in (0, 1, 2)]
    labels = [label for _ in range(3) for label in (0, 1, 2)]
    model = fitted(WeisfeilerLehman(2), graphs, labels)
    assert model.predict(graphs).tolist() == labels


def test_a_pair_that_hangs_on_single_precision_continues_in_double(monkeypatch):
    lam, tol, n_rows = 1e-6, 1e-5, 120
    doubles = []
    of = KernelRows.of.__func__

    def watched(cls, kernel, items, bias, *, double, **settings):
        doubles.append(double)
        return of(cls, kernel, items, bias, double=double, **settings)

    monkeypatch.setattr(KernelRows, "of", classmethod(watched))
    random = np.random.default_rng(0)
    rows = random.normal(size=(n_rows, 3)).astype(np.float32)
    labels = (rows[:, 0] + 0.7 * random.normal(size=n_rows) > 0).astype(int) + (rows[:, 1] > 0.5)
    model = fitted(rows=rows, labels=labels, gamma=1.0, lam=lam, tol=tol, max_iter=10_000)
    assert any(doubles)
    for k, pair in enumerate(pairs_of(3)):
        mine = np.isin(labels, pair)
        wide = rows[mine].astype(np.longdouble)
        kernel = np.exp(-np.square(wide[:, None] - wide[None]).sum(axis=-1)) + 1
        sign, alpha, n = np.where(labels[mine] == pair[1], 1, -1), model.alpha_[k], int(mine.sum())
        scores = kernel @ (sign * alpha / (lam * n))
        square = (sign * alpha / (lam * n)) @ scores
        primal = lam / 2 * square + np.maximum(0, 1 - sign * scores).mean()
        assert float((primal - (alpha.mean() - lam / 2 * square)) / primal) <= tol


def test_threads_keep_to_the_cache_together():
    rows = KernelRows.of(RBF(0.5), RBF(0.5).read(X), 1.0, cache_bytes=1.0, double=True)
    largest = max(np.isin(Y, pair).sum() for pair in pairs_of(4)) ** 2 * 8
    model = KernelPegasosClassifier(multi_class="ovo", n_jobs=3)
    _, _, settings = plan_of(model)
    task = model.fit(X, Y).fitted_.task
    problems = task.problems(rows, Y, None, model.fitted_.terms)
    assert len(task.members(Y)) == len(problems)
    rows.columns.table = rows.columns.table[:0]  # not all columns fit
    for cache, expected in ((0.5, 1), (2.5, 2), (100.0, 3)):
        rows.cache_bytes = cache * largest
        assert jobs_for(problems, settings) == expected


def test_a_small_cache_gives_the_same_machine():
    rich, poor = fitted(tol=1e-8), fitted(tol=1e-8, cache_size=0.01)
    np.testing.assert_allclose(rich.decision_function(X), poor.decision_function(X), atol=1e-4)


def test_a_budget_of_support_vectors_is_refused():
    with pytest.raises(PegasosError, match="max_support=5 is not supported with multi_class='ovo'"):
        fitted(max_support=5)
