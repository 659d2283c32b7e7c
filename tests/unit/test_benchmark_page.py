"""The page on speed."""

import json

import numpy as np
import pytest

from benchmarks import defaults, endings, measure, page, patch, problems, tables


def test_the_page_on_speed_is_made_of_the_results():
    assert page.PAGE.read_text(encoding="utf8") == page.page()


def test_the_table_of_the_page_on_migration_is_that_of_the_results():
    assert patch.PAGE.read_text(encoding="utf8") == patch.page()


def test_every_fit_of_that_table_has_the_gap_that_the_page_states():
    rows = json.loads(patch.RESULTS.read_text())["rows"]
    assert max(row["gap"] for row in rows) <= 1e-6


NAMES = {
    "a9a": "a9a",
    "covtype": "covtype",
    "mnist": "mnist",
    "fashion_mnist": "fashion_mnist",
    "kddcup99": "kddcup99",
    "generated": "dense_2m",
    "reuters21578": "reuters21578",
    "generated text": "sparse_1m",
}
README = page.PAGE.parents[1] / "README.md"


def shown_panels():
    """The rows of the README's first table of times: data set, lam, and a cell for each solver."""
    text = README.read_text(encoding="utf8")
    header = "| data | lam | pegasos | LIBLINEAR | LinearSVC | Snap ML | fastest rival / pegasos |\n"
    name = None
    for line in text.split(header)[1].split("\n\n")[0].splitlines()[1:]:
        first, lam, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        name = NAMES[first.partition(" (")[0]] if first else name
        yield name, float(lam.removesuffix(" †")), [cell.strip("*").removesuffix(" s") for cell in cells]


def test_the_times_in_the_readme_are_those_of_the_results():
    measured = {(row.problem, row.lam): row for row in tables.read(1e-3)}
    compared = 0
    for name, lam, (ours, liblinear, linear, snap, ratio) in shown_panels():
        row = measured[name, lam]
        snaps = [one for solver, one in row.outcomes.items() if solver.startswith("Snap ML")]
        best = min([one for one in snaps if one.reached] or snaps, key=lambda one: one.seconds)
        pairs = [(ours, row.outcomes["pegasos"]), (liblinear, row.outcomes["LIBLINEAR"])]
        for cell, outcome in [*pairs, (linear, row.outcomes["LinearSVC"]), (snap, best)]:
            assert cell.startswith(">") != outcome.reached, (name, lam, cell)
            assert float(cell.strip("> ")) == pytest.approx(outcome.seconds, rel=0.06), (name, lam, cell)
        assert float(ratio.strip("> ")) == pytest.approx(row.ratio, abs=0.051)
        compared += 1
    assert compared == 10


def test_the_share_of_certified_fits_in_the_readme_is_that_of_the_results():
    text, fits, beside = readme(), results("promise_full_fits"), results("promise_full")
    ours, n = fits["shares"]["fit"]
    assert f"Of {n:,} default fits on {fits['problems']} data sets, {ours:,} ended" in text
    late = [row for row in fits["open"] if row["gap"] <= row["tol"]]
    others = [row for row in fits["open"] if row["gap"] > row["tol"]]
    slowest, fastest = max(row["seconds"] for row in late), min(row["seconds"] for row in late)
    assert f"Of the other {n - ours}, {len(late)} ended within `tol` too" in text
    assert f"after {fastest:.0f} to {slowest:.0f} processor seconds" in text
    assert f"({', '.join(sorted({row['problem'] for row in late}))})" in text
    assert len(others) == 2
    assert all("cannot fall further in the arithmetic" in row["status"] for row in others)
    theirs, n = beside["shares"]["LinearSVC"]
    assert f"On {beside['problems']} of the data sets, `LinearSVC" in text
    assert f"at their defaults, reached the same gap in {theirs} of {n:,} fits." in text


def test_the_page_on_reliability_shows_how_soon_fits_end():
    assert endings.table() in endings.PAGE.read_text(encoding="utf8")


def readme():
    return " ".join(README.read_text(encoding="utf8").split())


def results(name):
    return json.loads((page.RESULTS / f"{name}.json").read_text(encoding="utf8"))


KERNEL_ROWS = {
    "fashion_mnist 0 against 6 (12,000 x 784), C = 1": ("fashion_mnist", 1.0),
    "the same, C = 10": ("fashion_mnist", 10.0),
    "mnist (10,000 x 784), 10 classes, C = 10": ("mnist", 10.0),
    "usps (7,291 x 256), 10 classes, C = 10": ("usps", 10.0),
    "a9a (32,561 x 123), C = 1": ("a9a", 1.0),
}


def test_the_times_of_kernels_in_the_readme_are_those_of_the_results():
    measured = {(row["problem"], row["C"]): row["outcomes"] for row in results("kernels")["rows"]}
    header = "| data | pegasos | scikit-learn-intelex | LIBSVM | ratios |\n"
    lines = README.read_text(encoding="utf8").split(header)[1].split("\n\n")[0].splitlines()[1:]
    shown = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [name for name, *_ in shown] == list(KERNEL_ROWS)
    for name, ours, intelex, libsvm, ratios in shown:
        found = measured[KERNEL_ROWS[name]]
        for cell, solver in ((ours, "pegasos"), (intelex, "scikit-learn-intelex"), (libsvm, "LIBSVM")):
            assert cell.startswith(">") != found[solver]["reached"]
            assert float(cell.strip("*> ").removesuffix(" s").strip("*")) == pytest.approx(
                found[solver]["seconds"], rel=0.05
            )
        for ratio, solver in zip(ratios.split(", "), ("scikit-learn-intelex", "LIBSVM"), strict=True):
            expected = found[solver]["seconds"] / found["pegasos"]["seconds"]
            assert float(ratio.strip("> ")) == pytest.approx(expected, rel=0.05, abs=0.051)


def test_the_summary_of_the_linear_times_in_the_readme_is_that_of_the_results():
    ratios = [row.ratio for row in page.panel(1e-3)]
    mean = tables.geometric_mean(ratios)
    assert f"({min(ratios):.1f} to {max(ratios):.0f} times as fast, geometric mean {mean:.1f})" in readme()


def test_the_steps_of_pegasos_on_its_page_are_those_of_the_results():
    steps = {row["rows"]: row["steps"] for row in results("growth")["rows"]}
    few, many, most = (f"{steps[n]:,.0f}" for n in (10_000, 300_000, 10_000_000))
    text = " ".join((page.PAGE.parent / "algorithms" / "pegasos.md").read_text(encoding="utf8").split())
    assert f"{few} steps for 10,000 samples, {many} for 300,000 and {most} for 10,000,000" in text


def test_what_the_readme_says_on_defaults_is_in_the_results():
    text, rows = readme(), results("defaults")["rows"]
    names = ("LinearSVC", "SGDClassifier", "PegasosClassifier", "SVC", "KernelPegasosClassifier")
    found = {name: [row["estimators"][name] for row in rows] for name in names}
    reached = {name: sum(one["gap"] <= 1e-3 for one in each) for name, each in found.items()}
    means = {name: f"{sum(one['accuracy'] for one in each) / len(each):.3f}" for name, each in found.items()}
    assert f"on {len(rows)} data sets of up to 10,000 samples" in text
    assert f"within 1e-3 of its optimum on {reached['LinearSVC']} of them" in text
    assert reached["SGDClassifier"] == 0
    assert f"`PegasosClassifier()` on {reached['PegasosClassifier']}." in text
    assert f"is {means['LinearSVC']}, {means['SGDClassifier']} and {means['PegasosClassifier']}:" in text
    assert reached["SVC"] == reached["KernelPegasosClassifier"]
    assert f"both reach {reached['SVC']}, with {means['SVC']} and {means['KernelPegasosClassifier']}" in text
    small = [row["estimators"] for row in rows if row["data"] in ("iris", "wine", "breast_cancer")]
    theirs, ours = (sorted(1e3 * one[name]["seconds"] for one in small) for name in ("LinearSVC", "PegasosClassifier"))
    said = f"takes {theirs[0]:.1f} to {theirs[-1]:.1f} ms, `PegasosClassifier()` {ours[0]:.1f} to {ours[-1]:.1f} ms"
    assert said in text


def test_where_the_readme_says_it_is_slower_is_where_the_results_show_it():
    text = readme()
    ratios = {}
    for row in results("kernel_grid")["rows"]:
        one = row["rivals"]["LIBSVM"]
        ratios.setdefault(row["n_rows"], {})[row["n_features"], row["n_classes"], row["C"]] = (
            one["seconds"] / one["pegasos_seconds"]
        )
    small = ratios.pop(200).values()
    mean = tables.geometric_mean(list(small))
    assert f"LIBSVM takes {min(small):.1f} to {max(small):.1f} times our processor time, {mean:.1f} on average" in text
    means = sorted(tables.geometric_mean(list(each.values())) for each in ratios.values())
    least = min(ratio for each in ratios.values() for ratio in each.values())
    assert f"always ahead, on average {means[0]:.1f} to {means[-1]:.1f} times, and at least {least:.1f} times" in text
    assert least > 1.0
    sparse = [row.ratio for target in (1e-3, 1e-2) for row in tables.read(target) if row.problem == "sparse_1m"]
    assert f"Snap ML is up to {1.0 / min(sparse):.1f} times as fast" in text
    texts = [row.ratio for row in tables.read(1e-3) if row.problem in ("subjectivity", "sms_spam") and row.lam == 1e-5]
    assert {f"{ratio:.1f}" for ratio in texts} == {"0.8"}
    assert "LIBLINEAR takes 0.8 times our time" in text
    online = results("online")["problems"]["reuters21578"]["ratios"]["perceptron, scikit-learn"]
    assert f"about as fast as scikit-learn's ({online:.2f} times)" in text


def test_the_weakest_way_to_train_in_the_readme_is_that_of_the_results():
    shares = results("promise_coarse")["shares"]
    weakest = min((way for way in shares if way != "LinearSVC"), key=lambda way: shares[way][0] / shares[way][1])
    kept, n = shares[weakest]
    assert f"{weakest} is the weakest, with {kept} of {n}" in readme()


def test_a_defaults_benchmark_measures_the_gap_of_every_estimator():
    row = defaults.measure("iris", defaults.load("iris"), repeat=1)
    gaps = {name: one["gap"] for name, one in row["estimators"].items()}
    assert gaps["LinearSVC"] <= 1e-3
    assert gaps["SGDClassifier"] > 0.1
    assert -1e-9 <= gaps["PegasosClassifier"] <= 1e-3
    assert -1e-9 <= gaps["KernelPegasosClassifier"] <= 1e-3
    assert "iris, 112 x 4, 3 classes" in defaults.render([row])


def test_the_readme_says_when_rivals_were_stopped():
    patience = results("0.001")["patience"]
    assert f"A rival is stopped at {patience:g} times our time" in readme()


@pytest.mark.parametrize(("patience", "limit"), [(None, 60.0), (8.0, 16.0), (0.1, 1.0), (100.0, 60.0)])
def test_a_rival_may_take_the_limit_of_all_or_some_multiple_of_our_time(patience, limit):
    assert measure.Rule(5, 60.0, patience).limit_beside(2.0) == limit


class _Epochs:
    """A rival that needs a tenth of a second per epoch and never arrives."""

    name = "slow"

    def prepare(self, problem):
        return problem

    def ladder(self, target):
        return (1, 2, 4, 100)

    def fit(self, data, lam, setting):
        self.tried = setting
        return np.zeros(data.X.shape[1]), 0.0


def test_a_number_of_epochs_that_would_take_too_long_is_not_tried(monkeypatch):
    monkeypatch.setattr(measure, "optimum", lambda problem, lam: 0.5)
    rival = _Epochs()
    trial = measure.Trial(rival, problems.Problem("two rows", np.eye(2, dtype=np.float32), np.array([1, -1])), 0.1)
    monkeypatch.setattr(trial, "_timed", lambda setting: (0.1 * setting, *rival.fit(trial._data, 0.1, setting)))
    assert trial.climb(1e-3, 1.0) is None
    assert rival.tried == 4
    assert trial.outcome(1e-3, None).seconds == pytest.approx(0.4)
