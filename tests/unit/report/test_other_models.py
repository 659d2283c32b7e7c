"""The pages of regressors and of one-class models."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from pegasos import (
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosError,
    PegasosOneClass,
    PegasosRegressor,
    PegasosRegressorCV,
    report,
)
from tests.unit.report.test_page import HOSTILE, Reader, charts_of

ROWS, TARGETS = load_diabetes(return_X_y=True)
ROWS = scale(ROWS)


@pytest.fixture(scope="module")
def model():
    return PegasosRegressor(C=1.0, epsilon=20.0, tol=1e-2, random_state=0).fit(ROWS, TARGETS)


@pytest.fixture(scope="module")
def page(model):
    return model.report(ROWS, TARGETS)


def test_numbers_of_the_page_are_those_of_the_regressor(model, page):
    text, rest = Reader(page.html).text, TARGETS - model.predict(ROWS)
    assert f"{model.score(ROWS, TARGETS):.3f}" in text
    assert f"{np.abs(rest).mean():.4g}mean absolute error" in text
    assert f"{np.sqrt(np.mean(rest**2)):.4g}root mean square error" in text
    assert f"{100 * np.mean(np.abs(rest) > 20.0):.1f} %of the rows are outside the tube" in text
    lower, upper = model.predict_interval(ROWS)
    assert f"{(upper - lower).max():.4g}the widest bound" in text
    assert "are the training data" in text


def test_every_chart_of_a_regressor_shows_its_rows(model, page):
    drawn, said = charts_of(page), model.predict(ROWS)
    columns = drawn["predictions"]["sets"][0]["columns"]
    for key, outside in (("side0", False), ("side1", True)):
        for k, value in zip(columns["row"], columns[key], strict=True):
            if value is not None:
                assert value == pytest.approx(said[k], rel=1e-5)
                assert (abs(TARGETS[k] - said[k]) > 20.0) == outside
    lower, upper = model.predict_interval(ROWS)
    ends = drawn["predictions"]["sets"][0]["span"]["y"]  # where bounds end at the latest
    for key, bound in (("lower", lower), ("upper", upper)):
        np.testing.assert_allclose(columns[key], np.clip(bound, *ends)[columns["row"]], rtol=1e-5)
    residuals = drawn["residuals"]["sets"][0]
    assert [mark["y"] for mark in residuals["marks"]] == [0.0, -20.0, 20.0]
    assert sum(drawn["spread"]["sets"][0]["columns"]["rows"]) == len(TARGETS)


def test_the_hardest_rows_have_the_largest_residuals(model, page):
    table = page.html[page.html.index('id="hardest"') :]
    rows = [int(found) for found in re.findall(r'<tr><th scope="row">(\d+)</th>', table)[:10]]
    assert rows == np.argsort(-np.abs(TARGETS - model.predict(ROWS)), kind="stable")[:10].tolist()


@pytest.mark.parametrize(
    ("settings", "sentence", "n_marks"),
    [
        ({"loss": "quantile", "quantile": 0.9}, "the quantile aims at 90.0 %", 1),
        ({"loss": "huber", "delta": 30.0}, "delta = 30", 2),
        ({"loss": "squared_epsilon_insensitive", "epsilon": 5.0}, "epsilon = 5", 2),
        ({"epsilon": 0.0}, "epsilon = 0", 1),
    ],
)
def test_each_loss_has_its_share(settings, sentence, n_marks):
    model = PegasosRegressor(lam=1e-2, regularize_intercept=False, random_state=0, **settings).fit(ROWS, TARGETS)
    page = model.report(ROWS, TARGETS)
    assert sentence in Reader(page.html).text
    assert len(charts_of(page)["spread"]["sets"][0]["marks"]) == n_marks


@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_several_targets_have_a_choice_of_each(kernel):
    targets = np.column_stack([TARGETS, ROWS[:, 2], np.ones(len(TARGETS))])
    rows = ROWS if kernel == "rbf" else ROWS @ ROWS.T
    model = KernelPegasosRegressor(kernel, C=1.0, random_state=0).fit(rows, targets)
    page = model.report(rows, targets)
    assert [one["name"] for one in charts_of(page)["predictions"]["sets"]] == ["target 0", "target 1", "target 2"]
    assert ("Not available for a precomputed kernel matrix" in page.html) == (kernel == "precomputed")
    assert "R² is not defined for it" in page.html
    assert "By target" in page.html
    assert "are the training data" in page.html
    Reader(page.html)


def test_a_choice_of_lam_and_epsilon_is_shown_for_each_epsilon():
    model = PegasosRegressorCV(lams=3, epsilons=[0.0, 20.0], cv=2, random_state=0).fit(ROWS, TARGETS)
    page = model.report(ROWS, TARGETS)
    sets = charts_of(page)["choice"]["sets"]
    assert sets[0]["name"] == f"{model.epsilon_:.4g}"
    assert len(sets) == 2
    mine = model.cv_results_["param_epsilon"] == model.epsilon_
    np.testing.assert_allclose(sets[0]["columns"]["score"], model.scores_.mean(axis=0)[mine], rtol=1e-5)
    assert "were chosen by cross-validation" in page.html


def test_the_code_on_the_page_fits_the_same_regressor(model, page):
    code = re.search(r"<code>(.*?)</code>", page.html, re.DOTALL).group(1)
    names = {"X": ROWS, "y": TARGETS}
    exec(code.replace("&#x27;", "'"), names)
    np.testing.assert_array_equal(names["model"].coef_, model.coef_)


def test_no_name_of_a_feature_becomes_markup(model):
    names = [HOSTILE, *(f"<b>{k}" for k in range(9))]
    read = Reader(report.make(model, ROWS, TARGETS, feature_names=names, title=HOSTILE).html)
    assert not {"img", "b"} & {tag for tag, _ in read.attributes}
    assert HOSTILE[:40] in read.text


@pytest.mark.parametrize("kind", ["linear", "kernel", "pipeline"])
def test_a_one_class_model_shows_its_scores_and_the_offset(kind):
    rows = np.random.default_rng(0).normal(size=(200, 2)) + 4.0
    model = PegasosOneClass(nu=0.1, random_state=0) if kind == "linear" else KernelPegasosOneClass(gamma=0.5, nu=0.1)
    model = (make_pipeline(StandardScaler(), model) if kind == "pipeline" else model).fit(rows)
    page = report.make(model, rows)
    drawn, text = charts_of(page)["scores"], Reader(page.html).text
    last = model[-1] if kind == "pipeline" else model
    assert drawn["sets"][0]["marks"][0]["x"] == pytest.approx(last.offset_, rel=1e-5)
    assert sum(drawn["sets"][0]["columns"]["rows"]) == 200
    assert f"{100 * np.mean(model.predict(rows) == -1):.3g} %".replace(" %", "") in text
    assert "are the training data" in text
    far = np.concatenate([rows, rows[:40] - 30.0])
    again = Reader(report.make(model, far, np.repeat([1, -1], [200, 40])).html).text
    assert "1.0000area under the ROC curve" in again
    assert "100 %of the novel rows are outside" in again


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (None, "y is missing"),
        (TARGETS[:5], r"1 target\(s\) for each of the 442 rows, got shape \(5,\)"),
        (np.column_stack([TARGETS, TARGETS]), "got shape .*columns that the model was fitted to"),
        (np.where(np.arange(442) == 7, np.nan, TARGETS), "the target .nan. in row 7; impute it or drop the row"),
        (["a"] * 442, "y must be numbers"),
    ],
)
def test_bad_targets_get_a_message_with_the_remedy(model, y, sentence):
    with pytest.raises(PegasosError, match=sentence):
        model.report(ROWS, y)


def test_bad_kinds_of_rows_get_a_message_with_the_remedy():
    rows = np.random.default_rng(0).normal(size=(50, 2)) + 4.0
    with pytest.raises(PegasosError, match=r"1 for rows that belong and -1 .*leave y out"):
        PegasosOneClass(nu=0.1, random_state=0).fit(rows).report(rows, np.arange(50))


def test_many_labels_are_reported_one_at_a_time():
    labels = np.column_stack([ROWS[:, 0] > 0.0, ROWS[:, 1] > 0.0]).astype(int)
    with pytest.raises(PegasosError, match="one label at a time"):
        PegasosClassifier(random_state=0).fit(ROWS, labels).report(ROWS, labels)
