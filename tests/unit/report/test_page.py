"""The page: what it says, that it is complete in itself, and that no text in it can run."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, PegasosError, report
from pegasos.kernels import RBF, Spectrum, on
from pegasos.online import Perceptron
from pegasos.report.markup import share

HOSTILE = '</script><script>document.title="taken"</script>"><img src=x onerror=alert(1)>'
VOID = {"meta", "link", "br", "rect", "line"}


class Reader(HTMLParser):
    """Checks that elements nest, and collects ids, headings, links and header cells."""

    def __init__(self, html):
        super().__init__()
        self.stack, self.ids, self.headings, self.attributes, self.text = [], [], [], [], ""
        self.feed(html)
        assert not self.stack

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.attributes.append((tag, found))
        if "id" in found:
            self.ids.append(found["id"])
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.attributes.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, text):
        if self.stack and self.stack[-1] not in ("script", "style"):
            self.text += text


def charts_of(page):
    return json.loads(re.search(r'id="charts">(.*?)</script>', page.html, re.DOTALL).group(1))


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.fixture(scope="module")
def model(cancer):
    return PegasosClassifier(lam=1e-3, random_state=0).fit(*cancer)


@pytest.fixture(scope="module")
def page(model, cancer):
    return model.report(*cancer)


def test_the_page_is_well_formed_and_can_be_read_aloud(page):
    read = Reader(page.html)
    assert len(read.ids) == len(set(read.ids))
    assert read.headings[0] == 1
    assert all(later <= earlier + 1 for earlier, later in zip(read.headings, read.headings[1:], strict=False))
    tags = [tag for tag, _ in read.attributes]
    assert {"header", "nav", "main", "footer"} <= set(tags)
    assert tags.count("table") == tags.count("caption") > 4
    assert all("scope" in found for tag, found in read.attributes if tag == "th")
    assert all(found.get("href", "#").startswith("#") for _, found in read.attributes)
    assert all(f"{found['href'][1:]}" in read.ids for tag, found in read.attributes if tag == "a")


def test_nothing_but_the_two_digests_may_run_or_load(page):
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', page.html).group(1)
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        source = re.findall(rf"<{tag}>(.*?)</{tag}>", page.html, re.DOTALL)
        assert len(source) == 1
        digest = base64.b64encode(hashlib.sha256(source[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    names = {name for _, found in Reader(page.html).attributes for name in found}
    assert not [name for name in names if name in ("src", "style") or name.startswith("on")]
    assert set(re.findall(r"https?://[^\"'\s]+", page.html)) == {"http://www.w3.org/2000/svg"}


def test_the_proof_is_the_first_thing_said(page, model):
    text = Reader(page.html).text
    percent = re.search(r"at most (\S+ %)", str(model.certificate_)).group(1)
    assert f"Proved within {percent} of the best possible" in text
    assert text.index("Proved within") < text.index("accuracy on the data given")


def test_the_training_data_are_recognised_and_others_too(model, cancer, page):
    X, y = cancer
    assert "are the training data" in page.html
    assert "are not the training data" in model.report(X[:100], y[:100]).html
    assert "are not the training data" in model.report(X[::-1].copy(), y).html


def test_numbers_on_the_page_are_those_of_the_model(model, cancer, page):
    X, y = cancer
    text = Reader(page.html).text
    assert f"{100 * model.score(X, y):.1f} %" in text
    assert share(model.certified(X).mean()) in text
    bars = charts_of(page)["margins"]["sets"][0]["columns"]
    edges = np.array(bars["edges"])
    wrong = sum(np.array(bars[key])[edges[1:] <= 0.0].sum() for key in ("class0", "class1"))
    assert wrong == np.sum(model.predict(X) != y)
    trace = charts_of(page)["convergence"]["sets"][0]["columns"]
    np.testing.assert_allclose(trace["gap"], model.trace_["gap"], rtol=1e-5)


def test_the_hardest_rows_are_those_with_the_least_margins(model, cancer, page):
    table = page.html[page.html.index('id="hardest"') :]
    rows = [int(found) for found in re.findall(r'<tr><th scope="row">(\d+)</th>', table)[:10]]
    assert rows == np.argsort(model.margin(*cancer))[:10].tolist()


def test_the_strongest_feature_has_the_largest_weight_times_spread(model, cancer):
    names = [f"name {j}" for j in range(30)]
    html = report.make(model, *cancer, feature_names=names).html
    table = html[html.index('id="model"') :]
    strongest = np.argmax(np.abs(model.coef_[0]) * cancer[0].std(axis=0))
    assert re.search(r'<tr><th scope="row">(.*?)</th>', table).group(1) == f"name {strongest}"


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"solver": "pegasos", "max_iter": 1, "lam": 1e-6}, "Nothing useful is proved yet"),
        ({"solver": "dual", "max_iter": 4, "tol": 1e-4}, "of the best possible, not the 0.01 % requested"),
        ({"solver": "dual", "max_iter": 20, "tol": None}, "Proved within"),
    ],
)
def test_a_fit_that_fell_short_says_so(cancer, settings, sentence):
    model = PegasosClassifier(**{"lam": 1e-3, "random_state": 0, **settings})
    if settings.get("tol", 1e-3) is not None:
        with pytest.warns(GapWarning):
            model.fit(*cancer)
    else:
        model.fit(*cancer)
    assert sentence in Reader(model.report(*cancer).html).text


def test_hostile_names_are_shown_and_never_become_markup():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(X[:, 0] > 0.0, HOSTILE, "</zzz>&amp;")
    model = PegasosClassifier(random_state=0, prior=None, class_weight={HOSTILE: 1.0}).fit(X, y)
    page = report.make(model, X, y, title=HOSTILE, trained_on=HOSTILE, feature_names=[HOSTILE, "<b>"])
    read = Reader(page.html)
    assert [tag for tag, _ in read.attributes].count("script") == 2
    assert not {"img", "b"} & {tag for tag, _ in read.attributes}
    assert HOSTILE[:40] in read.text
    assert charts_of(page)["margins"]["series"][0]["name"].startswith("</script>")
    assert "<script>" not in page._repr_html_()


def test_the_code_on_the_page_fits_the_same_model(cancer):
    X, y = cancer
    model = make_pipeline(StandardScaler(), PegasosClassifier(lam=0.01, tol=1e-4, random_state=3)).fit(X, y)
    code = re.search(r"<code>(.*?)</code>", report.make(model, X, y).html, re.DOTALL).group(1)
    names = {"X": X, "y": y}
    exec(code.replace("&#x27;", "'"), names)
    np.testing.assert_array_equal(names["model"][-1].coef_, model[-1].coef_)


def test_rows_of_a_frame_are_shown_in_the_units_of_the_frame():
    frame = load_breast_cancer(as_frame=True)
    model = make_pipeline(StandardScaler(), PegasosClassifier(lam=1e-3, random_state=0)).fit(frame.data, frame.target)
    html = report.make(model, frame.data, frame.target).html
    hardest = int(np.argmin(model[-1].margin(model[:-1].transform(frame.data), frame.target)))
    assert f"mean radius = {frame.data['mean radius'][hardest]:.4g}, " in html
    assert "worst concavity" in html  # the pipeline's names of what the model gets


def test_texts_of_a_pipeline_are_shown_as_texts_and_terms_as_features():
    texts = ["win money now", "money money <b>win</b>", "lunch at noon", "see you at lunch"] * 10
    y = ["spam", "spam", "ham", "ham"] * 10
    model = make_pipeline(CountVectorizer(), PegasosClassifier(lam=1e-2, random_state=0)).fit(texts, y)
    text = Reader(report.make(model, texts, y).html).text
    hardest = text[text.index("Least margins first") :]
    assert sum(each in hardest for each in texts[:4]) == 1  # each comes ten times
    assert "money" in text[text.index("Strongest features") : text.index("Least margins first")]


@pytest.mark.parametrize("multi_class", ["ovr", "ovo", "crammer_singer"])
def test_several_classes_have_a_choice_of_each(multi_class):
    X, y = load_digits(n_class=4, return_X_y=True)
    model = PegasosClassifier(lam=1e-2, tol=1e-2, random_state=0, multi_class=multi_class).fit(X / 16.0, y)
    page = model.report(X / 16.0, y)
    drawn = charts_of(page)
    assert [one["name"] for one in drawn["roc"]["sets"]] == ["0", "1", "2", "3"]
    assert len(drawn["convergence"]["sets"]) == {"ovr": 5, "ovo": 7, "crammer_singer": 1}[multi_class]
    assert drawn["margins"]["sets"][0]["columns"]["rows"] != drawn["margins"]["sets"][1]["columns"]["rows"]
    Reader(page.html)


def test_a_parameter_changed_after_the_fit_changes_nothing_on_the_page():
    X, y = load_digits(n_class=3, return_X_y=True)
    model = PegasosClassifier(lam=1e-2, tol=1e-2, random_state=0, multi_class="ovo").fit(X / 16.0, y)
    before = charts_of(model.report(X / 16.0, y))
    assert charts_of(model.set_params(multi_class="ovr").report(X / 16.0, y)) == before
    assert before["convergence"]["sets"][1]["name"] == "1 against 0"


@pytest.mark.parametrize("kernel", ["rbf", "precomputed", "strings"])
def test_a_kernel_model_shows_its_support(kernel, cancer):
    if kernel == "strings":
        X, y = ["abab", "baba", "abba", "cdcd", "dcdc", "cd<c"] * 2, [0, 0, 0, 1, 1, 1] * 2
        model = KernelPegasosClassifier(Spectrum(2), lam=0.1)
    else:
        X, y = cancer[0][:100], cancer[1][:100]
        X = X if kernel == "rbf" else X @ X.T
        model = KernelPegasosClassifier(kernel, lam=1e-2, random_state=0)
    page = model.fit(X, y).report(X, y)
    assert sum(charts_of(page)["coefficients"]["sets"][0]["columns"]["coefficients"]) == len(model.support_)
    assert "are the training data" in page.html
    assert ("Cannot be said" in page.html) == (kernel == "precomputed")
    assert ("cd&lt;c" in page.html) == (kernel == "strings")
    Reader(page.html)


def test_blocks_of_rows_say_what_all_rows_say(model, cancer, page, monkeypatch):
    monkeypatch.setattr("pegasos.report.outcome._blocks", lambda n, _: [slice(0, 1), slice(1, 400), slice(400, n)])
    assert charts_of(model.report(*cancer)) == charts_of(page)


def test_records_of_a_frame_are_shown_by_field():
    frame = pd.DataFrame({"size": np.arange(12.0), "word": ["<ab", "cd"] * 6})
    model = KernelPegasosClassifier(on("size", RBF(0.01)) + on("word", Spectrum(1)), lam=0.1).fit(frame, [0, 1] * 6)
    html = model.report(frame, [0, 1] * 6).html
    assert "word = &lt;ab" in html
    assert re.search(r"size = \d+, word = cd", html)


def test_probabilities_are_compared_with_what_was_true(cancer):
    X, y = cancer
    model = PegasosClassifier(lam=1e-3, probability=True, random_state=0).fit(X, y)
    page = model.report(X, y)
    columns = charts_of(page)["calibration"]["sets"][0]["columns"]
    assert sum(columns["rows"]) == len(y)
    assert f"Brier score: {np.mean((model.predict_proba(X)[:, 1] - y) ** 2):.4f}" in page.html


def test_a_cross_validated_model_shows_the_choice_of_lam(cancer):
    model = PegasosClassifierCV(lams=3, cv=2, random_state=0).fit(*cancer)
    columns = charts_of(model.report(*cancer))["choice"]["sets"][0]["columns"]
    np.testing.assert_allclose(columns["score"], model.scores_.mean(axis=0), rtol=1e-5)


def test_a_stream_says_that_its_proof_is_of_the_last_block(cancer):
    X, y = cancer
    model = PegasosClassifier(lam=1e-2, random_state=0)
    for part in (slice(0, 300), slice(300, 569)):
        model.partial_fit(X[part], y[part], classes=[0, 1])
    html = model.report(X[300:], y[300:]).html
    assert "covers only the last block" in html
    assert "are the training data" in html


def test_rows_of_one_class_have_no_curves_but_a_page(model, cancer):
    X, y = cancer
    page = model.report(X[y == 1], y[y == 1])
    assert "rows of one class only" in page.html
    assert "roc" not in charts_of(page)


def test_the_rows_are_left_as_they_are(model, cancer):
    X, y = cancer[0].copy(), cancer[1].copy()
    model.report(X, y)
    np.testing.assert_array_equal(X, cancer[0])


def test_a_hundred_classes_and_many_features_stay_below_half_a_megabyte():
    random = np.random.default_rng(0)
    y = random.integers(0, 100, 2000)
    rows, columns = np.repeat(np.arange(2000), 5), random.integers(0, 20_000, 10_000)
    X = sp.csr_array((np.ones(10_000), (rows, columns)), shape=(2000, 20_000)) + sp.csr_array(
        (np.ones(2000), (np.arange(2000), y)), shape=(2000, 20_000)
    )
    labels = np.array([f"class {k} " + 70 * "x" for k in range(100)])[y]
    model = PegasosClassifier(lam=1e-2, tol=None, max_iter=2, solver="dual", random_state=0).fit(X, labels)
    names = [f"feature {j} " + 70 * "y" for j in range(20_000)]
    page = report.make(model, X, labels, feature_names=names)
    assert len(page.html) < 500_000
    Reader(page.html)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"y": None}, "y is missing"),
        ({"y": [1, 0]}, "the class of each of the 569 rows"),
        ({"y": np.full(569, 7)}, "y contains 7, which is not in the classes"),
        ({"y": np.full(569, "benign")}, "y"),
        ({"X": None}, "X must be rows in memory, got None"),
        ({"X": "data.csv"}, "read a file with pegasos.data"),
        ({"X": np.zeros((0, 30)), "y": []}, "no rows"),
        ({"X": np.zeros((569, 3))}, "3 features"),
        ({"X": np.full((569, 30), np.nan)}, "NaN"),
        ({"feature_names": ["a"]}, "must name the 30 features, got 1"),
        ({"feature_names": "abc"}, "must be a list of names"),
        ({"title": 3}, "title must be a text, got 3"),
        ({"trained_on": b"x"}, "trained_on must be a text"),
    ],
)
def test_bad_input_raises_an_error(model, cancer, change, sentence):
    given = {"X": cancer[0], "y": cancer[1], **change}
    with pytest.raises(ValueError, match=sentence):
        report.make(model, **given)


def test_models_without_a_proof_are_refused_by_name(cancer):
    for strange in (LogisticRegression(), Perceptron(random_state=0)):
        with pytest.raises(PegasosError, match=f"got {type(strange).__name__}"):
            report.make(strange.fit(*cancer), *cancer)
    with pytest.raises(ValueError, match="not fitted"):
        report.make(PegasosClassifier(), *cancer)


def test_a_file_is_written_whole_or_not_at_all(model, cancer, tmp_path):
    goal = tmp_path / "report.html"
    page = model.report(*cancer, goal)
    assert goal.read_text(encoding="utf-8") == page.html
    assert report.write(model, *cancer, goal) == goal
    for wrong, sentence in ((tmp_path, "is a folder"), (tmp_path / "no" / "x.html", "does not exist"), (3, "got 3")):
        with pytest.raises(PegasosError, match=sentence):
            model.report(*cancer, wrong)
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


def test_the_bound_is_told_from_the_objective_in_words(model, cancer):
    found = re.search(r"of this model is ([\d.e-]+\d)\. .*? have less than ([\d.e-]+): ", model.report(*cancer).html)
    primal, dual = map(float, found.groups())
    assert primal == pytest.approx(model.certificate_.primal, rel=1e-6)
    assert dual == pytest.approx(model.certificate_.dual, rel=1e-6)


@pytest.mark.parametrize("several", [False, True])
def test_the_least_certain_rows_are_those_whose_lead_may_fall_lowest(several):
    X, y = load_digits(return_X_y=True)
    X, y = X[:500] / 16.0, y[:500] if several else y[:500] % 2
    model = PegasosClassifier(lam=1e-3, tol=0.1, solver="dual", random_state=0).fit(X, y)
    html = report.make(model, X, y).html
    table = html[html.index("The least certain rows") :]
    rows = [int(found) for found in re.findall(r'<tr><th scope="row">(\d+)</th>', table)[:10]]
    lower, upper = model.score_interval(X)
    if several:
        n, winner = np.arange(500), model.decision_function(X).argmax(axis=1)
        least, rivals = lower[n, winner], upper.copy()
        rivals[n, winner] = -np.inf
        least = least - rivals.max(axis=1)
    else:
        least = np.where(model.decision_function(X) > 0.0, lower, -upper)
    assert not model.certified(X)[rows].any()
    np.testing.assert_allclose(np.sort(least)[:10], least[rows], rtol=1e-9)
