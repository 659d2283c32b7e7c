"""Blocks of rows: the step count continues, weights and classes are counted as they arrive."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError

from pegasos import PegasosClassifier, PegasosError

X, Y = make_classification(600, 10, n_informative=6, class_sep=1.5, random_state=0)
BLOCKS = [slice(begin, begin + 100) for begin in range(0, 600, 100)]


def stream(form=np.asarray, blocks=BLOCKS, sample_weight=None, **settings):
    model = PegasosClassifier(random_state=0, **settings)
    for block in blocks:
        weights = None if sample_weight is None else sample_weight[block]
        model.partial_fit(form(X[block]), Y[block], classes=[0, 1], sample_weight=weights)
    return model


def test_the_step_count_continues():
    assert [stream(blocks=BLOCKS[:k], solver="pegasos").n_steps_ for k in (1, 2, 6)] == [100, 200, 600]
    assert stream(batch_size=30, solver="pegasos").n_steps_ == 6 * 4
    assert stream(batch_size="all", solver="pegasos").n_steps_ == 6


def test_a_stream_begins_at_the_step_count_that_zero_weights_are_worth():
    squared = np.mean(np.square(X[:100]).sum(axis=1)) + 1.0  # of the first block, with the constant column
    first, whole = (stream(blocks=BLOCKS[:k], lam=1e-3) for k in (1, 6))
    assert first.n_steps_ == int(squared / (2 * 1e-3)) + 100
    assert whole.n_steps_ == first.n_steps_ + 500
    assert stream(blocks=BLOCKS[:1], lam=1e-3, batch_size=10).n_steps_ == int(squared / (2 * 1e-3) / 10) + 10


@pytest.mark.parametrize("lam", [1e-3, 1e-5])
@pytest.mark.parametrize("average", ["uniform", "tail"])
def test_one_pass_comes_near_the_optimum_and_nearer_than_the_paper(lam, average):
    optimum = PegasosClassifier(lam=lam).fit(X, Y).score(X, Y)
    ours, paper = (stream(lam=lam, average=average, solver=solver) for solver in ("auto", "pegasos"))
    assert ours.score(X, Y) > optimum - 0.02
    assert ours.certificate_.primal < paper.certificate_.primal


def test_a_stream_learns():
    model = stream(lam=0.01)
    for _ in range(4):
        for block in BLOCKS:
            model.partial_fit(X[block], Y[block])
    whole = PegasosClassifier(lam=0.01).fit(X, Y)
    assert model.score(X, Y) > whole.score(X, Y) - 0.03
    assert len(model.trace_) == 30


def test_dense_and_sparse_streams_agree():
    assert np.allclose(stream().coef_, stream(sp.csr_matrix).coef_)


def test_a_fit_continues_as_a_stream():
    model = PegasosClassifier(solver="pegasos", lam=0.01, tol=None, max_iter=5, random_state=0).fit(X, Y)
    before = model.coef_.copy()
    model.partial_fit(X[:50], Y[:50])
    assert model.n_steps_ == 5 * 600 + 50
    # Steps are of length 1/(lam t): fifty more of them cannot move far.
    assert 0 < np.abs(model.coef_ - before).max() < 0.5 * np.abs(before).max()


def test_a_certified_fit_continues_as_a_stream():
    model = PegasosClassifier(lam=0.01, random_state=0).fit(X, Y)
    accuracy, steps = model.score(X, Y), model.n_steps_
    model.partial_fit(X[:50], Y[:50])
    assert model.n_steps_ > steps + 50  # as many as the fit is worth
    assert model.score(X, Y) > accuracy - 0.01


def test_a_block_without_weight_is_skipped():
    model = stream()
    before = model.coef_.copy()
    model.partial_fit(X[:20], Y[:20], sample_weight=np.zeros(20))
    assert np.array_equal(model.coef_, before)
    empty = PegasosClassifier().partial_fit(X[:20], Y[:20], classes=[0, 1], sample_weight=np.zeros(20))
    assert set(empty.predict(X)) == {0}
    assert "No row had a weight" in empty.status_
    assert empty.partial_fit(X, Y).score(X, Y) > 0.6


def test_equal_weights_do_not_matter():
    assert np.allclose(stream().coef_, stream(sample_weight=np.full(600, 7.0)).coef_)


def test_balanced_weights_follow_the_running_totals():
    rare = np.r_[np.flatnonzero(Y == 0), np.flatnonzero(Y == 1)[:30]]
    rare = np.random.default_rng(0).permutation(rare)
    plain = PegasosClassifier(lam=0.01, random_state=0)
    even = PegasosClassifier(lam=0.01, class_weight="balanced", random_state=0)
    for _ in range(10):
        for block in np.array_split(rare, 5):
            plain.partial_fit(X[block], Y[block], classes=[0, 1])
            even.partial_fit(X[block], Y[block], classes=[0, 1])
    recall = [model.predict(X[Y == 1]).mean() for model in (plain, even)]
    assert recall[1] > recall[0]
    seen = even.fitted_.task.totals
    assert seen.tolist() == [10 * np.sum(Y[rare] == 0), 10 * 30]
    # A mistake on a rare row costs N/(2 N_rare): the dual variable may go up to that.
    assert even.alpha_.max() <= seen.sum() / (2 * seen[1]) + 1e-12


def test_many_classes_come_as_a_stream_in_any_number_of_threads():
    labels = np.digitize(X[:, 0], [-1.0, 1.0])
    models = []
    for n_jobs in (1, 2):
        model = PegasosClassifier(lam=0.01, n_jobs=n_jobs, random_state=0)
        for block in BLOCKS:
            model.partial_fit(X[block], labels[block], classes=[0, 1, 2])
        models.append(model)
    assert models[0].coef_.shape == (3, 10)
    assert np.array_equal(models[0].coef_, models[1].coef_)


def test_a_uniform_average_is_the_mean_of_the_iterates():
    smooth = stream(lam=0.1, average="uniform", batch_size="all")
    # With one step per block the iterates can be read off: the average takes w_1 .. w_T, the one before each step.
    iterates = [np.zeros(10)] + [stream(lam=0.1, batch_size="all", blocks=BLOCKS[:k]).coef_[0] for k in range(1, 6)]
    assert np.allclose(smooth.coef_[0], np.mean(iterates, axis=0))


def test_the_tail_average_forgets_the_beginning():
    uniform, tail = (stream(lam=1e-3, average=average, solver="pegasos") for average in ("uniform", "tail"))
    assert tail.certificate_.primal < uniform.certificate_.primal


def test_the_certificate_of_a_block_is_honest():
    model = stream(lam=0.1)
    best = PegasosClassifier(lam=0.1, tol=1e-8).fit(X[BLOCKS[-1]], Y[BLOCKS[-1]]).certificate_
    proof = model.certificate_
    assert proof.dual <= best.primal <= proof.primal
    assert model.certify(X[BLOCKS[-1]], Y[BLOCKS[-1]]).dual == pytest.approx(proof.dual)


def test_a_block_that_overflows_changes_nothing():
    model = stream(blocks=BLOCKS[:2])
    before, seen = model.coef_.copy(), model.fitted_.task.totals.copy()
    with pytest.raises(PegasosError, match="left the range of the machine"):
        model.partial_fit(X[:20] * 1e200, Y[:20])
    assert np.array_equal(model.coef_, before)
    assert np.array_equal(model.fitted_.task.totals, seen)
    whole = stream(blocks=BLOCKS[:3])
    assert np.array_equal(model.partial_fit(X[BLOCKS[2]], Y[BLOCKS[2]]).coef_, whole.coef_)


def test_certify_knows_the_running_totals_of_a_stream():
    weights = np.where(np.arange(600) < 100, 5.0, 1.0)
    model = stream(blocks=BLOCKS[:2], sample_weight=weights, class_weight="balanced", lam=0.1)
    last = BLOCKS[1]
    assert model.certify(X[last], Y[last], weights[last]) == model.certificate_


def test_before_any_row_counts_there_is_nothing_to_prove():
    empty = PegasosClassifier().partial_fit(X[:20], Y[:20], classes=[0, 1], sample_weight=np.zeros(20))
    with pytest.raises(NotFittedError):
        empty.certified(X)
    assert empty.set_params(warm_start=True).fit(X, Y).score(X, Y) > 0.7


def test_the_tail_average_fades_and_is_never_that_of_a_few_rows_alone():
    # The ninth block begins a new tail, of two rows.
    blocks = [slice(begin, begin + 70) for begin in range(0, 560, 70)] + [slice(560, 562)]
    before, after = (stream(lam=1e-4, average="tail", blocks=blocks[:k]) for k in (8, 9))
    moved = np.linalg.norm(after.coef_ - before.coef_)
    assert 0 < moved < 0.1 * np.linalg.norm(before.coef_)
