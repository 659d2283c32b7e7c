"""The picture of a boundary shows what the model predicts, proves and leans on."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.online import KernelPerceptron
from pegasos.plots import BoundaryDisplay

X, Y = make_blobs(60, 2, centers=3, cluster_std=1.5, random_state=0)
WORDS = np.array(["ash", "beech", "oak"])[Y]


def drawn(model, rows=X, y=WORDS, **settings):
    return BoundaryDisplay.from_estimator(model, rows, y, resolution=30, **settings).plot()


def points_of(display):
    return np.column_stack([axis.ravel() for axis in display.grid])


@pytest.mark.parametrize("kind", [PegasosClassifier, KernelPegasosClassifier])
@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_the_lattice_holds_what_the_model_says_of_it(kind, multi_class):
    # A gap that shows: some epochs of Pegasos.
    settings = {"solver": "pegasos", "tol": None, "max_iter": 300} if kind is PegasosClassifier else {}
    model = kind(lam=1e-2, multi_class=multi_class, random_state=0, **settings).fit(X, WORDS)
    display = drawn(model)
    points = points_of(display)
    predicted = model.predict(points)
    np.testing.assert_array_equal(model.classes_[display.codes.ravel()], predicted)
    np.testing.assert_array_equal(display.certified.ravel(), model.certified(points))
    np.testing.assert_array_equal(display.lead.ravel(), model.margin(points, predicted))
    np.testing.assert_array_equal(display.support, X[model.support_])
    assert 0.0 < display.certified.mean() < 1.0
    names = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    share = f"not certified: {1.0 - display.certified.mean():.1%}"
    assert names == ["boundary", "margin", share, "ash", "beech", "oak", "support vectors"]


def test_the_boundary_of_two_classes_is_where_the_score_is_zero():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y == 0)
    line = drawn(model, y=Y == 0).ax_.collections[1].get_paths()[0].vertices
    # Between two points of the lattice |h| is interpolated with the sign of the prediction, which for a plane is exact.
    np.testing.assert_allclose(model.decision_function(line), 0.0, atol=1e-9)


def test_rows_go_through_all_steps_of_a_pipeline():
    model = make_pipeline(StandardScaler(), PegasosClassifier(lam=1e-2, random_state=0)).fit(X, WORDS)
    display = drawn(model)
    np.testing.assert_array_equal(model.classes_[display.codes.ravel()], model.predict(points_of(display)))
    certified = model[-1].certified(model[:-1].transform(points_of(display)))
    np.testing.assert_array_equal(display.certified.ravel(), certified)


def test_any_classifier_with_scores_has_a_boundary():
    rows = X[Y > 0], WORDS[Y > 0]
    search = GridSearchCV(PegasosClassifier(random_state=0), {"lam": [0.1, 0.01]}, cv=2)
    models = [SVC(), KernelPerceptron(random_state=0), search]
    for model in models:
        display = drawn(model.fit(*rows), *rows)
        np.testing.assert_array_equal(model.classes_[display.codes.ravel()], model.predict(points_of(display)))
        assert (display.lead >= 0.0).all()


def test_frames_name_the_axes_and_sparse_rows_are_welcome():
    for frame in (pd.DataFrame(X, columns=["length", "width"]), pl.DataFrame(X, schema=["length", "width"])):
        display = drawn(PegasosClassifier(lam=1e-2, random_state=0).fit(frame, Y), frame, Y)
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("length", "width")
    sparse = sp.csr_array(X)
    assert drawn(PegasosClassifier(lam=1e-2, random_state=0).fit(sparse, Y), sparse, None).labels is None


def test_rows_other_than_those_of_the_fit_are_drawn_without_support_vectors():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, WORDS)
    with pytest.raises(PegasosError, match="among the 60 rows of the fit, got 10 rows; give those of the fit, or mark"):
        drawn(model, X[:10], WORDS[:10])
    assert drawn(model, X[:10], WORDS[:10], mark_support=False).support is None


def test_a_kernel_machine_of_a_stream_shows_the_support_vectors_that_it_keeps():
    model = KernelPegasosClassifier(lam=1e-2, random_state=0)
    for block in (slice(0, 30), slice(30, 60)):
        model.partial_fit(X[block], Y[block], classes=[0, 1, 2])
    np.testing.assert_array_equal(drawn(model, y=Y).support, model.support_vectors_)


def test_what_cannot_be_drawn_raises_an_error():
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, WORDS)
    with pytest.raises(PegasosError, match=r"exactly 2 features, got X of shape \(60, 3\)"):
        drawn(model, np.c_[X, X[:, 0]])
    with pytest.raises(PegasosError, match="two features that are numbers"):
        drawn(model, ["a", "b"])
    with pytest.raises(PegasosError, match="finite"):
        drawn(model, np.full((60, 2), np.nan))
    with pytest.raises(PegasosError, match="the label 'elm', which is not a class of the model"):
        drawn(model, X, np.repeat("elm", 60))
    with pytest.raises(PegasosError, match=r"class of each of the 60 rows, got shape \(3,\)"):
        drawn(model, X, WORDS[:3])
    with pytest.raises(PegasosError, match="resolution must be a whole number of at least 2, got 0"):
        BoundaryDisplay.from_estimator(model, X, resolution=0)
