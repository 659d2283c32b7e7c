"""Pipelines of scikit-learn's steps in model files."""

import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest, SelectPercentile, VarianceThreshold, f_regression
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import pegasos
from pegasos import PegasosClassifier
from pegasos.errors import PegasosError
from pegasos.persistence import preprocessing

random = np.random.default_rng(3)
X = random.normal(size=(60, 5))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
HOLES = np.where(random.random(X.shape) < 0.1, np.nan, X)
WORDS = ["rain", "sun", "wind", "snow", "hail", "fog"]
TEXTS = [f"{a} {b} and the {c}" for a, b, c in random.choice(WORDS, (60, 3))]
LEVELS = np.column_stack([random.choice(["red", "green", "blue"], 60), random.choice(["S", "M"], 60)]).astype(object)

STEPS = [
    (StandardScaler(with_mean=False), sp.csr_array(X)),
    (RobustScaler(), X),
    (RobustScaler(with_centering=False), X),
    (SimpleImputer(), HOLES),
    (SimpleImputer(strategy="median", add_indicator=True), HOLES),
    (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), LEVELS),
    (OneHotEncoder(), LEVELS),
    (OneHotEncoder(drop="first", sparse_output=False), LEVELS),
    (OneHotEncoder(min_frequency=25, handle_unknown="infrequent_if_exist"), LEVELS),
    (OneHotEncoder(drop="if_binary", max_categories=2, dtype=np.float32), LEVELS),
    (OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), LEVELS),
    (OrdinalEncoder(min_frequency=25), LEVELS),
    (PCA(3, random_state=0), X),
    (PCA(2, whiten=True), X),
    (TruncatedSVD(3, random_state=0), sp.csr_array(X)),
    (TfidfVectorizer(), TEXTS),
    (TfidfVectorizer(ngram_range=(1, 2), min_df=2, stop_words=["and"], dtype=np.float32, sublinear_tf=True), TEXTS),
    (TfidfVectorizer(use_idf=False, analyzer="char_wb"), TEXTS),
    (CountVectorizer(vocabulary=["rain", "sun", "wind"]), TEXTS),
    (make_pipeline(CountVectorizer(binary=True), TfidfTransformer()), TEXTS),
    (HashingVectorizer(n_features=64), TEXTS),
    (make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0), Normalizer()), TEXTS),
    (VarianceThreshold(0.1), X),
    (SelectKBest(k=2), X),
    (SelectKBest(f_regression, k="all"), X),
    (SelectPercentile(percentile=40), X),
    (PolynomialFeatures(2, include_bias=False), X),
    (PolynomialFeatures((2, 3), interaction_only=True), X),
    (PowerTransformer(), X),
    (QuantileTransformer(n_quantiles=10), X),
    (KBinsDiscretizer(3, strategy="uniform"), X),
    (Binarizer(threshold=0.1), X),
    (FunctionTransformer(), X),
    (FeatureUnion([("pca", PCA(2, random_state=0)), ("all", "passthrough")]), X),
    (ColumnTransformer([("some", StandardScaler(), [0, 2])], remainder="passthrough"), X),
    (ColumnTransformer([("some", MinMaxScaler(), slice(0, 2)), ("none", "drop", [3])]), X),
]


@pytest.mark.filterwarnings("ignore:The current default behavior, quantile_method")
@pytest.mark.parametrize(
    ("step", "rows"), STEPS, ids=[f"{k}-{type(step).__name__}" for k, (step, _) in enumerate(STEPS)]
)
def test_a_pipeline_with_a_step_of_the_table_comes_back(tmp_path, step, rows):
    targets = y.copy()
    if getattr(step, "score_func", None) is f_regression:
        targets = (y == "yes").astype(float)
    model = make_pipeline(step, PegasosClassifier(lam=1e-2, random_state=0)).fit(rows, targets)
    pegasos.save(model, tmp_path / "model.pegasos")
    loaded = pegasos.load(tmp_path / "model.pegasos")
    assert np.array_equal(loaded.decision_function(rows), model.decision_function(rows))
    assert repr(loaded) == repr(model)
    assert loaded[-1].certificate_ == model[-1].certificate_
    assert loaded.fit(rows, targets).score(rows, targets) == model.score(rows, targets)


def test_every_class_of_the_table_is_tried():
    def classes(step):
        yield type(step).__name__
        for name in ("steps", "transformer_list", "transformers"):
            for part in getattr(step, name, []):
                yield from classes(part[1])

    tried = {name for step, _ in STEPS for name in classes(step)} | {"Pipeline", "MissingIndicator", "MaxAbsScaler"}
    assert set(preprocessing.steps) <= tried


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline_over_the_columns_of_a_frame_comes_back(tmp_path, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame(
        {"size": X[:, 0], "color": LEVELS[:, 0].astype(str), "note": TEXTS, "weight": X[:, 1], "id": list(range(60))}
    )
    columns = ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["size", "weight"]),
            ("levels", OneHotEncoder(handle_unknown="ignore"), ["color"]),
            ("words", TfidfVectorizer(), "note"),
        ]
    )
    model = Pipeline([("columns", columns), ("machine", PegasosClassifier(lam=1e-2, random_state=0))]).fit(frame, y)
    pegasos.save(model, tmp_path / "model.pegasos")
    loaded = pegasos.load(tmp_path / "model.pegasos")
    other = frame[["note", "id", "weight", "color", "size"]]
    assert np.array_equal(loaded.decision_function(other), model.decision_function(frame))
    assert loaded[0].get_feature_names_out().tolist() == model[0].get_feature_names_out().tolist()


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(np.abs),
        make_pipeline(FunctionTransformer(lambda rows: rows)),
        SelectKBest(lambda rows, targets: np.arange(5.0), k=2),
    ],
    ids=["ufunc", "nested", "score"],
)
def test_a_step_with_a_function_of_the_users_own_is_refused(tmp_path, step):
    model = make_pipeline(step, PegasosClassifier(lam=1e-2, random_state=0)).fit(X, y)
    with pytest.raises(PegasosError, match="code"):
        pegasos.save(model, tmp_path / "model.pegasos")
    assert not list(tmp_path.iterdir())


def test_a_step_outside_the_table_is_refused_with_the_names_of_those_in_it(tmp_path):
    from sklearn.decomposition import NMF

    model = make_pipeline(NMF(2, max_iter=500), PegasosClassifier(lam=1e-2)).fit(np.abs(X), y)
    with pytest.raises(PegasosError, match=r"NMF.*StandardScaler.*joblib"):
        pegasos.save(model, tmp_path / "model.pegasos")


def test_codes_outside_the_categories_are_rejected(tmp_path):
    model = make_pipeline(OneHotEncoder(), PegasosClassifier(lam=1e-2, random_state=0)).fit(LEVELS, y)
    path = tmp_path / "model.pegasos"
    pegasos.save(model, path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    contents = json.loads(members["contents.json"])
    encoder = contents["values"]["model"]["parameters"]["steps"][0]["items"][1]["model"]
    encoder["fitted"]["_n_features_outs"] = [1, 1]
    members["contents.json"] = json.dumps(contents).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(PegasosError, match="_n_features_outs"):
        pegasos.load(path)
