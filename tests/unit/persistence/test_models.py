"""Model files: what is loaded is what was saved, bit for bit, and training continues from it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler
from sklearn.svm import SVC

import pegasos
from pegasos import (
    KernelPegasosClassifier,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosError,
    export,
    online,
    persistence,
)
from pegasos.data import ArraySource
from pegasos.estimators.assembly import with_fit
from pegasos.kernels import (
    RBF,
    Category,
    ChiSquared,
    DynamicTimeWarping,
    Exp,
    Fourier,
    GlobalAlignment,
    IndefiniteKernelWarning,
    Intersection,
    Laplacian,
    Linear,
    Mismatch,
    Polynomial,
    Precomputed,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Standardized,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    Words,
    on,
)
from pegasos.persistence.items import known_kernels

X, codes = make_classification(120, 6, n_informative=4, n_classes=3, random_state=0)
names = np.array(["left", "middle", "right"])[codes]
two = codes > 0
random = np.random.default_rng(0)


def reloaded(model, folder):
    path = folder / "model.pegasos"
    model.save(path)
    return pegasos.load(path)


def same(mine, theirs):
    """Whether two answers are equal, of the same types, to the last bit."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and (mine == theirs).all()


def shown(model):
    """The parameters as text; of a generator, what it would draw."""
    return {
        name: value.get_state()[1].tolist() if isinstance(value, np.random.RandomState) else repr(value)
        for name, value in model.get_params().items()
    }


def assert_same_model(model, loaded, X, y):
    assert type(loaded) is type(model)
    assert shown(loaded) == shown(model)
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            assert same(getattr(loaded, method)(X), getattr(model, method)(X)), method
    if hasattr(model, "certify"):
        assert same(loaded.certified(X, region="ball"), model.certified(X, region="ball"))
        assert loaded.certify(X, y) == model.certify(X, y)
        assert same(loaded.certified(X), model.certified(X))  # the rows of the fit are known again
        assert loaded.certificate_ == model.certificate_
        assert loaded.trace_ == model.trace_
        assert same(loaded.margin(X, y), model.margin(X, y))
    not_stored = {"_states"}  # of kernel Pegasos: they are as large as the data
    assert vars(loaded).keys() == vars(model).keys() - not_stored


LINEAR = [
    {},
    {"solver": "pegasos", "average": "tail", "sampling": "balanced"},
    {"solver": "dual", "regularize_intercept": False},
    {"multi_class": "ovo", "solver": "pegasos"},
    {"multi_class": "crammer_singer", "solver": "pegasos", "average": "uniform"},
    {"multi_class": "crammer_singer"},
    {"probability": True, "class_weight": {"left": 2.0, "middle": np.float32(0.5)}},
    {"C": 1.0, "random_state": np.random.RandomState(3), "tol": np.float64(1e-2)},
]


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
@pytest.mark.parametrize("parameters", LINEAR, ids=" ".join)
@pytest.mark.parametrize("y", [names, two], ids=["three", "two"])
def test_a_linear_model_comes_back(tmp_path, parameters, y):
    parameters = {"lam": 1e-2 if "C" not in parameters else 1e-4, "random_state": 0, "max_iter": 30} | parameters
    if y is two and "class_weight" in parameters:
        parameters["class_weight"] = {False: 2.0}
    if y is names and parameters.get("sampling") == "balanced":
        parameters |= {"multi_class": "ovr"}
    model = PegasosClassifier(**parameters).fit(X, y)
    assert_same_model(model, reloaded(model, tmp_path), X, y)


@pytest.mark.parametrize("parameters", [{}, *LINEAR[1:2], *LINEAR[3:6]], ids=" ".join)
def test_a_stream_continues_as_if_it_had_not_been_saved(tmp_path, parameters):
    model = PegasosClassifier(lam=1e-2, random_state=0, **parameters)
    model.partial_fit(X[:60], names[:60], classes=np.unique(names))
    loaded = reloaded(model, tmp_path)
    for each in (model, loaded):
        each.partial_fit(X[60:], names[60:])
    assert same(model.coef_, loaded.coef_)
    assert model.certificate_ == loaded.certificate_


@pytest.mark.parametrize("parameters", [{}, {"solver": "pegasos"}, {"multi_class": "crammer_singer"}], ids=" ".join)
def test_a_warm_start_continues_as_if_it_had_not_been_saved(tmp_path, parameters):
    model = PegasosClassifier(lam=1e-3, warm_start=True, tol=None, max_iter=3, random_state=0, **parameters)
    model.fit(X, names)
    loaded = reloaded(model, tmp_path)
    assert same(loaded.fit(X, names).coef_, model.fit(X, names).coef_)


@pytest.mark.parametrize(
    "y",
    [
        two,
        two.astype(np.int8),
        two.astype(np.uint64),
        two.astype(float),
        names,
        names.astype(object),
    ],
    ids=lambda y: str(y.dtype),
)
def test_labels_of_every_type_come_back(tmp_path, y):
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, y)
    loaded = reloaded(model, tmp_path)
    assert same(loaded.predict(X), model.predict(X))
    assert type(loaded.classes_[0]) is type(model.classes_[0])


def test_names_of_features_come_back_and_are_asked_for(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"x{k}" for k in range(6)])
    loaded = reloaded(PegasosClassifier(lam=1e-2, random_state=0).fit(frame, two), tmp_path)
    assert loaded.feature_names_in_.tolist() == list(frame.columns)
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"x0": "other"}))


def test_a_model_that_chose_its_lam_comes_back(tmp_path):
    model = PegasosClassifierCV(lams=3, cv=3, random_state=0).fit(X, two)
    loaded = reloaded(model, tmp_path)
    assert_same_model(model, loaded, X, two)
    assert loaded.lam_ == model.lam_
    assert all(same(loaded.cv_results_[name], column) for name, column in model.cv_results_.items())


def test_a_search_comes_back_with_its_pipeline_and_its_leaderboard(tmp_path):
    pytest.importorskip("optuna")
    model = pegasos.AutoPegasos(time_budget=None, n_trials=3, cv=2, random_state=0).fit(X, names)
    loaded = reloaded(model, tmp_path)
    assert_same_model(model, loaded, X, names)
    assert loaded.leaderboard_ == model.leaderboard_
    assert loaded.certificate_ == model.certificate_


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_a_search_over_the_columns_of_a_frame_comes_back(tmp_path, task):
    pytest.importorskip("optuna")
    pandas = pytest.importorskip("pandas")
    notes = [f"this is {'good' if name == 'left' else 'bad'} stuff number {k % 9}" for k, name in enumerate(names)]
    frame = pandas.DataFrame({"size": X[:, 0], "side": [f"s{k % 3}" for k in range(len(X))], "note": notes})
    budget = {"time_budget": None, "n_trials": 2, "cv": 2, "random_state": 0}
    if task == "classes":
        model, y = pegasos.AutoPegasos(**budget), names
    else:
        model, y = pegasos.AutoPegasosRegressor(**budget), X[:, 0]
    model.fit(frame, y)
    loaded = reloaded(model, tmp_path)
    other = frame[["note", "side", "size"]].iloc[::-1]
    assert same(loaded.predict(frame), model.predict(frame))
    assert same(loaded.best_estimator_.predict(other), model.predict(frame)[::-1])
    assert loaded.certify(frame, y) == model.certify(frame, y)
    if task == "classes":
        assert same(loaded.certified(frame), model.certified(frame))


@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler(), MaxAbsScaler(), Normalizer()], ids=str)
def test_a_pipeline_of_a_scaler_and_a_machine_comes_back(tmp_path, scaler):
    model = make_pipeline(clone(scaler), PegasosClassifier(lam=1e-2, random_state=0)).fit(X, names)
    persistence.save(model, tmp_path / "model.pegasos")
    assert same(pegasos.load(tmp_path / "model.pegasos").decision_function(X), model.decision_function(X))


@pytest.mark.parametrize(
    "learner",
    [
        online.Perceptron(),
        online.Perceptron("voted"),
        online.PassiveAggressive(class_weight="balanced"),
        online.ConfidenceWeighted(),
        online.KernelPerceptron(budget=20, removal="random"),
        online.Norma(nu=0.5, tau=10),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_an_online_learner_comes_back_and_continues(tmp_path, learner, rows):
    model = clone(learner).set_params(random_state=0).partial_fit(rows[:80], names[:80], classes=np.unique(names))
    loaded = reloaded(model, tmp_path)
    assert_same_model(model, loaded, rows, names)
    for each in (model, loaded):
        each.partial_fit(rows[80:], names[80:])
    assert_same_model(model, loaded, rows, names)


words = ["".join(letters) for letters in random.choice(list("ACGT"), size=(16, 8))]
series = [random.normal(size=(n, 2)) for n in random.integers(4, 9, size=16)]
path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
graphs = [(sp.csr_array(path) if k % 3 else path, list(random.choice(list("CNO"), 3))) for k in range(15)]
graphs.append((path, None))
records = [{"word": word, "size": float(k), "place": (k, -k)} for k, word in enumerate(words)]
labels = np.arange(16) % 2
with pytest.warns(IndefiniteKernelWarning):
    warping = DynamicTimeWarping(0.1)

KERNELS = [
    (Linear(), X[:16]),
    (Polynomial(2, 0.5), X[:16].astype(np.float32)),
    (RBF(sigma=2.0), sp.csr_array(X[:16])),
    (RBF(gamma=np.float64(0.1)), sp.csr_matrix(X[:16])),
    (Laplacian(0.3), X[:16]),
    (ChiSquared(0.3), np.abs(X[:16])),
    (Intersection(), np.abs(X[:16])),
    (Spectrum(2), words),
    (Spectrum(2), np.array(words)),
    (Spectrum(2), [word.encode() for word in words]),
    (Mismatch(3, 1), words),
    (Subsequence(2).normalized(), np.array(words, dtype=object)),
    (WeightedDegree(2), words),
    (WeisfeilerLehman(2), graphs),
    (ShortestPath(), graphs),
    (RandomWalk(0.05), graphs),
    (GlobalAlignment(1.0), series),
    (Fourier(8), series),
    (warping, series),
    (Exp(0.1 * Linear()) + 2.0 * RBF(0.1) * Polynomial(2, 0.1) ** 2, X[:16]),
    (on("word", Spectrum(2).normalized()) + on(["size"], RBF(0.01)), records),
    (on("word", Category()) + on("word", Words()), records),
    (Standardized(RBF(0.1), X[:16].mean(axis=0).tolist(), X[:16].std(axis=0).tolist()), X[:16]),
    (on(0, Spectrum(2)) + on(1, RBF(0.01)), [(record["word"], record["size"]) for record in records]),
]


@pytest.mark.filterwarnings("ignore::pegasos.kernels.IndefiniteKernelWarning")
@pytest.mark.parametrize(("kernel", "items"), KERNELS, ids=[type(kernel).__name__ for kernel, _ in KERNELS])
def test_a_model_of_every_kernel_and_every_kind_of_item_comes_back(tmp_path, kernel, items):
    model = KernelPegasosClassifier(kernel, lam=1e-2, random_state=0).fit(items, labels)
    loaded = reloaded(model, tmp_path)
    assert loaded.kernel_ == model.kernel_
    assert_same_model(model, loaded, items, labels)
    for each in (model, loaded):
        each.partial_fit(items, labels)
    assert same(model.decision_function(items), loaded.decision_function(items))


def test_every_kernel_is_among_those_above():
    def inside(kernel):
        inner = [each for each in kernel.get_params(deep=False).values() if isinstance(each, pegasos.kernels.Kernel)]
        return {type(kernel).__name__}.union(*map(inside, inner))

    assert known_kernels.keys() - {"Precomputed"} <= set().union(*(inside(kernel) for kernel, _ in KERNELS))


def test_a_precomputed_matrix_comes_back_without_items(tmp_path):
    matrix = X @ X.T
    model = KernelPegasosClassifier(Precomputed(), lam=1e-2, random_state=0).fit(matrix, names)
    loaded = reloaded(model, tmp_path)
    assert same(loaded.decision_function(matrix), model.decision_function(matrix))
    assert loaded.certify(matrix, names) == model.certify(matrix, names)


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_a_kernel_model_of_several_classes_comes_back_with_probabilities(tmp_path, multi_class):
    parameters = {"lam": 1e-2, "probability": True, "multi_class": multi_class, "random_state": 0}
    model = KernelPegasosClassifier(**parameters).fit(X, names)
    assert_same_model(model, reloaded(model, tmp_path), X, names)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_mixed_records_come_back(tmp_path, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"word": words, "size": np.arange(16.0)})
    kernel = on("word", Spectrum(2)) + on("size", RBF(0.01))
    model = KernelPegasosClassifier(kernel, lam=1e-2, random_state=0).fit(frame, labels)
    loaded = reloaded(model, tmp_path)
    assert type(loaded.support_vectors_) is type(frame)
    assert_same_model(model, loaded, frame, labels)


def test_graphs_of_networkx_come_back(tmp_path):
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.path_graph(k) for k in range(2, 8)] + [networkx.star_graph(k) for k in range(2, 8)]
    for graph in graphs:
        networkx.set_node_attributes(graph, {node: node % 2 for node in graph}, "label")
    model = KernelPegasosClassifier(WeisfeilerLehman(2), lam=1e-2).fit(graphs, [0] * 6 + [1] * 6)
    assert_same_model(model, reloaded(model, tmp_path), graphs, [0] * 6 + [1] * 6)


@pytest.mark.parametrize("Model", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("pair", [False, True], ids=["model", "pair"])
def test_a_prior_comes_back_and_the_stream_with_it(tmp_path, Model, pair):
    prior = (np.ones(6), 0.5) if pair else PegasosClassifier(lam=1.0, random_state=0).fit(X, two)
    model = Model(lam=1e-1, prior=prior, random_state=0).fit(X[:60], two[:60])
    loaded = reloaded(model, tmp_path)
    assert loaded.fitted_.model.prior.source is loaded.prior
    assert same(loaded.decision_function(X), model.decision_function(X))
    assert loaded.certify(X[:60], two[:60]) == model.certify(X[:60], two[:60])
    for each in (model, loaded):
        each.partial_fit(X[60:], two[60:])
    assert same(loaded.decision_function(X), model.decision_function(X))


def test_a_prior_of_another_library_is_refused_and_a_linear_model_can_go_without(tmp_path):
    prior = LogisticRegression().fit(X, two)
    model = PegasosClassifier(lam=1e-2, prior=prior, random_state=0).fit(X, two)
    with pytest.raises(PegasosError, match=r"prior is a LogisticRegression.*cannot hold"):
        model.save(tmp_path / "model.pegasos")
    loaded = reloaded(model.set_params(prior=None), tmp_path)
    assert same(loaded.decision_function(X), model.decision_function(X))
    assert loaded.certify(X, two) == model.certify(X, two)


def foreign(kind, folder):
    """A model that others have trained."""
    if kind == "LIBLINEAR":
        export.to_liblinear(PegasosClassifier(lam=0.01, multi_class="crammer_singer").fit(X, codes), folder / "a")
        return export.from_liblinear(folder / "a")
    if kind == "LIBSVM":
        export.to_libsvm(KernelPegasosClassifier(lam=0.01, multi_class="ovo").fit(X, codes), folder / "a")
        return export.from_libsvm(folder / "a", C=2.0)
    if kind == "JSON":
        return export.from_json(export.to_json(PegasosClassifier(lam=0.01, probability=True).fit(X, codes)))
    if kind == "precomputed":
        return export.from_sklearn(SVC(kernel="precomputed").fit(X @ X.T, codes))
    return export.from_sklearn(SVC().fit(X, codes))


@pytest.mark.parametrize("kind", ["LIBLINEAR", "LIBSVM", "JSON", "precomputed", "scikit-learn"])
def test_a_model_that_others_have_trained_comes_back_without_a_certificate(tmp_path, kind):
    model = foreign(kind, tmp_path)
    model.set_params(multi_class="ovr")  # which is not what it is read with
    loaded, rows = reloaded(model, tmp_path), X @ X.T if kind == "precomputed" else X
    np.testing.assert_array_equal(loaded.decision_function(rows), model.decision_function(rows))
    assert loaded.status_ == model.status_
    assert "read from" in model.status_
    assert not hasattr(loaded, "certificate_")
    assert shown(loaded) == shown(model)
    if kind == "JSON":
        np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    settings = {"random_state": 0} | ({"C": 1.0} if model.C is None and model.lam is None else {})
    proof = model.set_params(**settings).certify(rows, codes)
    assert loaded.set_params(**settings).certify(rows, codes) == proof


def test_a_model_of_a_source_comes_back(tmp_path):
    source = ArraySource(X, names, block_rows=40)
    model = PegasosClassifier(lam=1e-2, random_state=0).fit_source(source, memory="1M")
    assert_same_model(model, reloaded(model, tmp_path), X, names)


def test_a_model_whose_dual_point_stayed_on_a_cluster_comes_back_without_it(tmp_path):
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, names)
    fitted = model.fitted_  # as `to_local` of `pegasos.dask` hands it over
    with_fit(model, replace(fitted, proof=fitted.proof.without_alpha, state=None), X.shape[1])
    assert not hasattr(model, "alpha_")
    loaded = reloaded(model, tmp_path)
    assert same(loaded.decision_function(X), model.decision_function(X))
    assert loaded.certificate_ == model.certificate_


def test_support_vectors_in_a_memory_map_or_a_column_come_back(tmp_path):
    polars = pytest.importorskip("polars")
    np.save(tmp_path / "rows.npy", X[:16])
    for kernel, items in [
        (RBF(0.1), np.load(tmp_path / "rows.npy", mmap_mode="r")),
        (Spectrum(2), polars.Series(words)),
    ]:
        model = KernelPegasosClassifier(kernel, lam=1e-2).fit(items, labels)
        assert_same_model(model, reloaded(model, tmp_path), items, labels)


@pytest.mark.parametrize(
    "parameters",
    [{"max_support": 5}, {"C": np.inf}, {"regularize_intercept": False}, {"solver": "pegasos", "average": "tail"}],
    ids=" ".join,
)
@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
def test_kernel_models_of_every_setting_come_back(tmp_path, parameters):
    model = KernelPegasosClassifier(gamma=5.0, random_state=0, max_iter=50, **parameters).fit(X, two)
    assert_same_model(model, reloaded(model, tmp_path), X, two)


def test_a_path_that_is_none_is_refused_and_a_folder_too(tmp_path):
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, two)
    for path in (None, 5, b"model", [], open):
        with pytest.raises(PegasosError, match="must be a str or a Path"):
            model.save(path)
        with pytest.raises(PegasosError, match="must be a str or a Path"):
            pegasos.load(path)
    for path in (tmp_path, tmp_path / "none" / "model.pegasos"):
        with pytest.raises(PegasosError, match="could not be written"):
            model.save(path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_stored_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "model.pegasos"

    def own(x, z):
        return float(x @ z)

    class Mine(PegasosClassifier):
        pass

    refused = {
        "kernel is a function of your own, own": KernelPegasosClassifier(own).fit(X, two),
        "holds data, never code": KernelPegasosClassifier(pegasos.kernels.as_kernel(own) + RBF(1.0)).fit(X, two),
        "scoring is a function of your own": PegasosClassifierCV(lams=2, cv=2, scoring=lambda m, X, y: 1.0).fit(X, two),
        "a Mine": Mine().fit(X, two),
        "not fitted": PegasosClassifier(),
        "lam must be a positive number": PegasosClassifier().fit(X, two).set_params(lam=-1),
    }
    for sentence, model in refused.items():
        with pytest.raises(PegasosError, match=sentence):
            model.save(path)
        assert not path.exists()
