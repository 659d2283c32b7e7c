"""The classifier on dask collections, against the one in memory; by dask's own scheduler, without a cluster."""

import pickle

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

import pegasos
from pegasos.dask import PegasosClassifier
from pegasos.solvers import partitioned_newton

TOL = 3e-4


@pytest.fixture(autouse=True)
def _in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def data(n_classes=2, n=600, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 8)) * (random.random((n, 8)) < 0.6)
    scores = X[:, :n_classes] + 0.5 * random.normal(size=(n, n_classes))
    return X, np.array(["ash", "elm", "fir", "oak"])[scores.argmax(axis=1)]


def cut(column, ends):
    return [dask.delayed(part) for part in np.split(column, ends)]


def assert_same_optimum(model, local, tol=TOL):
    """Both are proved to lie this near to one optimum, so near to each other."""
    assert model.certificate_.relative_gap <= tol
    for mine, its in zip(model.certificate_.parts, local.certificate_.parts, strict=True):
        assert its.dual <= mine.primal * (1 + 1e-12)
        assert mine.dual <= its.primal * (1 + 1e-12)
    reach = model.certificate_.weight_radius + local.certificate_.weight_radius
    assert np.linalg.norm(model.coef_ - local.coef_) <= reach


@pytest.mark.parametrize("n_partitions", [1, 2, 8])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_answer_is_that_of_the_fit_in_memory(n_classes, n_partitions):
    X, y = data(n_classes)
    chunks = -(-len(X) // n_partitions)
    settings = {"lam": 0.05, "tol": TOL, "random_state": 0}
    model = PegasosClassifier(**settings).fit(da.from_array(X, chunks=(chunks, 8)), da.from_array(y, chunks=chunks))
    local = pegasos.PegasosClassifier(**settings).fit(X, y)
    assert_same_optimum(model, local)
    assert model.n_partitions_ == n_partitions
    assert model.classes_.tolist() == local.classes_.tolist()
    assert model.status_.startswith("The duality gap reached tol")


@pytest.mark.parametrize(
    "settings",
    [
        {"class_weight": "balanced"},
        {"class_weight": {"ash": 3.0, "elm": 0.5}},
        {"fit_intercept": False},
        {"intercept_scaling": 2.0},
        {"C": 0.5, "lam": 1e-4},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_every_setting_means_what_it_means_in_memory(settings, weighted):
    X, y = data()
    X[:, 0] += 0.3  # unequal classes
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 2.0], len(y)) if weighted else None
    settings = {"lam": 0.05, "tol": TOL, "random_state": 0, **settings}
    parts = {} if weights is None else {"sample_weight": da.from_array(weights, chunks=150)}
    model = PegasosClassifier(**settings).fit(da.from_array(X, chunks=(200, 8)), da.from_array(y, chunks=200), **parts)
    local = pegasos.PegasosClassifier(**settings).fit(X, y, sample_weight=weights)
    assert_same_optimum(model, local)


def collections():
    X, y = data()
    ends = [100, 100, 130, 599]  # one partition has no rows, one has one
    frame = pd.DataFrame(X, columns=list("abcdefgh")).assign(y=y)
    blocks = [frame.iloc[part] for part in np.split(np.arange(len(y)), ends)]
    frames = dd.from_delayed([dask.delayed(block) for block in blocks], meta=frame.iloc[:0])
    csr = [dask.delayed(sp.csr_matrix(part)) for part in np.split(X, ends)]
    bags = db.from_delayed([dask.delayed([sp.csr_matrix(part)]) for part in np.split(X, ends)])
    chunks = (100, 0, 30, 469, 1)
    lengths = da.from_array(X, chunks=(chunks, (5, 3)))
    unknown = da.from_array(X, chunks=(chunks, (8,)))[da.from_array(np.ones(len(y), bool), chunks=(chunks,))]
    sparse = da.from_array(X, chunks=(chunks, (8,))).map_blocks(sp.csr_matrix)
    return {
        "array cut in both directions": (lengths, da.from_array(y, chunks=77)),
        "array of unknown lengths": (unknown, cut(y, ends)),
        "array of sparse blocks": (sparse, da.from_array(y, chunks=(chunks,))),
        "dataframe": (frames.drop(columns="y"), frames["y"]),
        "delayed CSR": (csr, cut(y, ends)),
        "bag of CSR": (bags, cut(y, ends)),
    }


@pytest.mark.parametrize("kind", list(collections()))
def test_every_collection_of_the_same_rows_gives_the_same_model(kind):
    X, y = collections()[kind]
    model = PegasosClassifier(lam=0.05, tol=TOL, random_state=0).fit(X, y)
    rows, labels = data()
    reference = PegasosClassifier(lam=0.05, tol=TOL, random_state=0).fit(*collections()["dataframe"])
    assert model.n_partitions_ == 4
    if "CSR" in kind or "sparse" in kind:  # sums of another order
        assert_same_optimum(model, reference)
    else:
        assert np.array_equal(model.coef_, reference.coef_)
    frame = pd.DataFrame(rows, columns=list("abcdefgh")) if kind == "dataframe" else rows
    assert np.array_equal(model.predict(X).compute(), model.to_local().predict(frame))
    scores = model.to_local().decision_function(frame)
    np.testing.assert_allclose(model.decision_function(X).compute(), scores, rtol=0, atol=1e-12)
    assert model.score(X, y) == pytest.approx(np.mean(model.to_local().predict(frame) == labels), abs=1e-12)


def test_parquet_files_are_read_by_the_workers(tmp_path):
    X, y = data()
    frame = pd.DataFrame(X.astype(np.float32), columns=list("abcdefgh")).assign(label=y, weight=1.5)
    for k in range(3):
        frame.iloc[200 * k : 200 * (k + 1)].to_parquet(tmp_path / f"part.{k}.parquet")
    read = dd.read_parquet(tmp_path)
    model = PegasosClassifier(lam=0.05, random_state=0).fit(read[list("abcdefgh")], read["label"], read["weight"])
    assert model.feature_names_in_.tolist() == list("abcdefgh")
    assert_same_optimum(model, pegasos.PegasosClassifier(lam=0.05).fit(X, y), 1e-3)


def test_partitions_of_one_class_each_and_of_wildly_unequal_sizes_do():
    X, y = data()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    ends = [1, int(np.sum(y == "ash"))]
    model = PegasosClassifier(lam=0.05, tol=TOL, random_state=0).fit(cut(X, ends), cut(y, ends))
    assert_same_optimum(model, pegasos.PegasosClassifier(lam=0.05, tol=TOL).fit(X, y))


def test_the_same_partitions_give_the_same_bits_and_weight_2_is_the_row_twice():
    X, y = data()
    ends, weights = [200, 450], np.full(len(y), 2.0)
    fit = PegasosClassifier(lam=0.05, tol=TOL, random_state=3).fit
    first, again = fit(cut(X, ends), cut(y, ends)).coef_, fit(cut(X, ends), cut(y, ends)).coef_
    assert np.array_equal(first, again)
    weighted = fit(cut(X, ends), cut(y, ends), cut(weights, ends)).coef_
    twice = fit(cut(X, ends) * 2, cut(y, ends) * 2)
    np.testing.assert_allclose(weighted, twice.coef_, rtol=0, atol=twice.certificate_.weight_radius * 2)


def test_classes_may_be_named_and_one_may_be_absent():
    X, y = data()
    model = PegasosClassifier(lam=0.05, classes=["yew", "elm", "ash"], random_state=0).fit(cut(X, [300]), cut(y, [300]))
    assert model.classes_.tolist() == ["ash", "elm", "yew"]
    assert model.coef_.shape == (3, 8)
    assert set(model.predict(X)) <= {"ash", "elm"}
    assert model.decision_function(cut(X, [300])).compute().shape == (600, 3)


def test_rows_in_memory_are_predicted_at_once():
    X, y = data()
    model = PegasosClassifier(lam=0.05, random_state=0).fit(cut(X, [300]), cut(y, [300]))
    assert isinstance(model.predict(X), np.ndarray)
    assert model.score(X, y) == model.score(cut(X, [300]), cut(y, [300]))


def test_the_local_model_predicts_the_same_and_says_why_it_cannot_be_certified_again():
    X, y = data(4)
    model = PegasosClassifier(lam=0.05, random_state=0).fit(cut(X, [300]), cut(y, [300]))
    local = model.to_local()
    assert type(local) is pegasos.PegasosClassifier
    assert local.certified(X).mean() > 0.2
    with pytest.raises(pegasos.PegasosError, match="stayed on the cluster"):
        local.certify(X, y)
    local.coef_[:] = 0.0
    assert model.coef_.any()
    assert pegasos.PegasosClassifier(**local.get_params()).fit(X, y).certificate_.relative_gap <= 1e-3


def test_a_model_can_be_cloned_stored_and_searched():
    X, y = data()
    model = PegasosClassifier(lam=0.05, random_state=0)
    assert clone(model).get_params() == model.get_params()
    model.fit(cut(X, [300]), cut(y, [300]))
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))
    search = GridSearchCV(model, {"lam": [1e-1, 1e-2]}, cv=KFold(3), error_score="raise")
    search.fit(da.from_array(X, chunks=(150, 8)), da.from_array(y, chunks=150))
    local = GridSearchCV(pegasos.PegasosClassifier(), {"lam": [1e-1, 1e-2]}, cv=KFold(3)).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], local.cv_results_["mean_test_score"], rtol=0, atol=0.01
    )


@pytest.fixture
def _rows_stay_where_they_are(monkeypatch):
    """Data as small as this would be gathered as a whole."""
    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_passes_and_seconds_are_limits_and_the_warning_says_so():
    X, y = data()
    model = PegasosClassifier(lam=1e-4, tol=1e-9, max_iter=4, random_state=0)
    with pytest.warns(pegasos.GapWarning, match="max_iter"):
        model.fit(cut(X, [100, 300]), cut(y, [100, 300]))
    assert model.n_iter_ == 4
    assert model.certificate_.primal < 1.0
    with pytest.warns(pegasos.GapWarning, match="time_budget"):
        model.set_params(time_budget=0.0, max_iter=1000).fit(cut(X, [100, 300]), cut(y, [100, 300]))
    assert model.n_iter_ <= 3
    model.set_params(time_budget=None, tol=None, max_iter=5).fit(cut(X, [300]), cut(y, [300]))
    assert model.status_.startswith("All max_iter epochs")


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_an_interrupt_leaves_the_last_model_and_its_certificate(monkeypatch):
    from pegasos.dask import _rounds

    X, y = data()
    calls = []

    def interrupted(*arguments, answer=_rounds.answer):
        calls.append(1)
        if len(calls) == 16:
            raise KeyboardInterrupt
        return answer(*arguments)

    monkeypatch.setattr(_rounds, "answer", interrupted)
    model = PegasosClassifier(lam=1e-4, tol=1e-9, random_state=0)
    with pytest.warns(pegasos.GapWarning, match="interrupted"):
        model.fit(cut(X, [100, 300]), cut(y, [100, 300]))
    assert model.certificate_.primal < 1.0


def test_verbose_prints_a_line_a_certificate(capsys):
    X, y = data()
    model = PegasosClassifier(lam=0.05, random_state=0, verbose=1).fit(cut(X, [300]), cut(y, [300]))
    assert capsys.readouterr().out.count("relative gap") == len(model.trace_["gap"])


LOSSES = [{"loss": "squared_hinge"}, {"loss": "huber_hinge", "smoothing": 0.3}, {"regularize_intercept": False}]


@pytest.mark.usefixtures("_rows_stay_where_they_are")
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
@pytest.mark.parametrize("options", [{}, *LOSSES, {"class_weight": "balanced", "C": 1.0}], ids=str)
def test_every_task_and_loss_has_the_optimum_of_the_fit_in_memory(multi_class, options):
    X, y = data(3)
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    settings = {"multi_class": multi_class, "random_state": 0, "lam": 1e-3, **options}
    if "C" in settings:
        del settings["lam"]
    ends = [100, 350]
    model = PegasosClassifier(**settings, tol=TOL).fit(cut(X, ends), cut(y, ends), cut(weights, ends))
    local = pegasos.PegasosClassifier(**settings, tol=1e-6).fit(X, y, weights)
    assert_same_optimum(model, local)
    np.testing.assert_array_equal(model.predict(cut(X, ends)).compute(), model.predict(X))
    assert np.mean(model.predict(X) == local.predict(X)) > 0.98


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_a_prior_is_what_it_is_in_memory():
    X, y = data()
    prior = pegasos.PegasosClassifier(lam=0.1).fit(X[:100], y[:100])
    model = PegasosClassifier(lam=0.01, prior=prior, tol=TOL, random_state=0).fit(cut(X, [200]), cut(y, [200]))
    local = pegasos.PegasosClassifier(lam=0.01, prior=prior, tol=1e-6).fit(X, y)
    assert_same_optimum(model, local)


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_a_local_model_is_a_place_to_begin_and_does_not_change_the_optimum():
    X, y = data(n=3000)
    blocks = cut(X, [1000, 2000]), cut(y, [1000, 2000])
    local = pegasos.PegasosClassifier(lam=1e-3, tol=1e-6).fit(X, y)
    cold = PegasosClassifier(lam=1e-3, random_state=0).fit(*blocks)
    warm = PegasosClassifier(lam=1e-3, random_state=0, start=local).fit(*blocks)
    assert warm.n_passes_ < cold.n_passes_
    assert_same_optimum(warm, local, 1e-3)


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_a_path_has_one_certified_model_for_each_lam():
    X, y = data()
    lams = [1e-3, 1e-1, 1e-2]
    models = PegasosClassifier(tol=TOL, random_state=0).path(cut(X, [300]), cut(y, [300]), lams)
    for lam, model in zip(lams, models, strict=True):
        assert_same_optimum(model, pegasos.PegasosClassifier(lam=lam, tol=1e-6).fit(X, y))
        assert model.lam == lam
        assert model.fitted_.terms.lam == lam


@pytest.mark.usefixtures("_rows_stay_where_they_are")
def test_several_classes_share_their_passes():
    X, y = data(4, n=2000)
    model = PegasosClassifier(lam=1e-3, random_state=0).fit(cut(X, [900]), cut(y, [900]))
    assert model.n_passes_ < model.n_steps_
    assert model.n_passes_ >= model.n_iter_


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"multi_class": "crammer_singer"}, "'crammer_singer' is one problem of all classes"),
        ({"C": np.inf}, "C=inf, a hard margin, is not supported on partitions"),
    ],
)
def test_what_partitions_cannot_do_is_said_before_anything_is_read(options, sentence):
    def unreadable():
        raise AssertionError("a partition was read")

    blocks = [dask.delayed(unreadable)()]
    with pytest.raises(pegasos.PegasosError, match=sentence):
        PegasosClassifier(**options).fit(blocks, blocks)
