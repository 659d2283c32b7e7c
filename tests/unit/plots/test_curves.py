"""Pictures of several learners, and of several solvers, have a curve for each."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import PegasosClassifier, PegasosError
from pegasos.online import Norma, PassiveAggressive, Perceptron
from pegasos.plots import MistakesDisplay, SolversDisplay

X, Y = make_blobs(200, 3, centers=3, cluster_std=2.0, random_state=0)
RESULTS = Path(__file__).parents[3] / "benchmarks" / "results" / "0.001.json"


def named(drawn):
    return {line.get_label(): line for line in drawn.lines_}


def test_the_curves_are_the_mistakes_counted_so_far_or_their_share():
    learners = [Perceptron(random_state=0), make_pipeline(StandardScaler(), Perceptron(random_state=1)), Norma()]
    learners = [learner.fit(X, Y) for learner in learners]
    display = MistakesDisplay.from_estimators(learners)
    lines = named(display.plot())
    assert list(lines) == ["Perceptron 1", "Perceptron 2", "Norma"]
    seen, mistakes = learners[0].mistake_curve_.T
    np.testing.assert_array_equal(lines["Perceptron 1"].get_ydata(), mistakes[seen > 0])
    np.testing.assert_allclose(named(display.plot(share=True))["Perceptron 1"].get_ydata(), (mistakes / seen)[seen > 0])
    assert lines["Norma"].get_ydata()[-1] == learners[2].mistakes_


def test_one_learner_and_named_learners_are_welcome():
    learner = PassiveAggressive(random_state=0).fit(X, Y)
    assert list(MistakesDisplay.from_estimator(learner).curves) == ["PassiveAggressive"]
    assert list(MistakesDisplay.from_estimators({"PA": learner}).curves) == ["PA"]


def test_the_gap_of_each_solver_is_drawn_against_its_clock():
    models = {word: PegasosClassifier(lam=1e-2, solver=word, random_state=0).fit(X, Y) for word in ("auto", "dual")}
    drawn = SolversDisplay.from_estimators(models).plot()
    trace = models["dual"].trace_
    np.testing.assert_array_equal(named(drawn)["dual"].get_xdata(), trace["seconds"])
    np.testing.assert_array_equal(named(drawn)["dual"].get_ydata(), trace["gap"] / trace["primal"])
    by_epoch = SolversDisplay.from_traces({"a": trace}, by="epoch").plot(looks={"a": {"linewidth": 7}})
    assert by_epoch.lines_[0].get_linewidth() == 7
    np.testing.assert_array_equal(by_epoch.lines_[0].get_xdata(), trace["epoch"])


def test_of_measured_runs_the_fastest_counts_and_the_worse_are_left_out():
    runs = [(0.1, 3.0, 0.5), (0.1, 2.0, 0.5), (0.01, 4.0, 0.05), (0.02, 5.0, 0.06), (0.0, 9.0, 0.0)]
    x, y = SolversDisplay.from_runs({"made up": runs, "never ran": []}).curves["made up"]
    np.testing.assert_array_equal(x, [2.0, 4.0, 9.0])
    np.testing.assert_array_equal(y, [0.5, 0.05, 1e-7])


def test_the_results_of_the_benchmark_can_be_drawn():
    if not RESULTS.exists():
        pytest.skip("the results are not part of this copy")
    row = json.loads(RESULTS.read_text())["rows"][1]
    drawn = SolversDisplay.from_results(RESULTS, row["problem"], lam=row["lam"]).plot()
    assert set(named(drawn)) == {name for name, runs in row["runs"].items() if runs}
    assert drawn.ax_.get_title() == f"{row['problem']}, lam = {row['lam']:g}"


def test_what_cannot_be_drawn_raises_an_error(tmp_path):
    model = PegasosClassifier(lam=1e-2, random_state=0).fit(X, Y)
    with pytest.raises(PegasosError, match=r"PegasosClassifier\) counts no mistakes; use a learner of pegasos.online"):
        MistakesDisplay.from_estimators(model)
    with pytest.raises(PegasosError, match="give at least one model"):
        MistakesDisplay.from_estimators([])
    with pytest.raises(PegasosError, match=r"'a' must have two columns, rows and mistakes, got shape \(3,\)"):
        MistakesDisplay({"a": [1, 2, 3]})
    with pytest.raises(PegasosError, match=r"online \(Perceptron\) has no trace of a run"):
        SolversDisplay.from_estimators({"online": Perceptron().fit(X, Y)})
    with pytest.raises(PegasosError, match="two vectors of one length"):
        SolversDisplay({"a": ([1.0, 2.0], [1.0])})
    with pytest.raises(PegasosError, match=r"have no 'mnist' with lam=None; they have a9a \(lam=0.1\)"):
        SolversDisplay.from_results({"rows": [{"problem": "a9a", "lam": 0.1, "runs": {}}]}, "mnist")
    broken = tmp_path / "results.json"
    for text in ("{", "[]", "{}", '{"rows": [3]}'):
        broken.write_text(text)
        with pytest.raises(PegasosError, match=r"results.json holds no results of a benchmark"):
            SolversDisplay.from_results(broken, "a9a")
    with pytest.raises(PegasosError, match="by must be one of"):
        SolversDisplay.from_estimators(model, by="hours")


@pytest.mark.parametrize("trace", [3, {"gap": [1.0]}, {"seconds": [1.0], "primal": ["?"], "gap": [1.0]}])
def test_what_is_not_a_trace_raises_an_error(trace):
    with pytest.raises(PegasosError, match="mine: a trace has the columns seconds, primal and gap"):
        SolversDisplay.from_traces({"mine": trace})
