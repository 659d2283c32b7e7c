"""The picture of a run shows its trace, and the bound that the paper proves of it."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, PegasosError
from pegasos.online import Perceptron
from pegasos.plots import ConvergenceDisplay
from pegasos.theory import suboptimality_bound

X, Y = make_blobs(60, 3, centers=3, random_state=0)


def fitted(y, **settings):
    return PegasosClassifier(lam=1e-2, random_state=0, **settings).fit(X, y)


def by_pegasos(y, **settings):
    return fitted(y, solver="pegasos", tol=None, max_iter=20, **settings)


def named(drawn):
    return {line.get_label(): line for line in drawn.lines_}


@pytest.mark.parametrize("by", ["step", "epoch", "seconds"])
def test_the_curves_of_one_problem_are_the_columns_of_its_trace(by):
    model = by_pegasos(Y == 0)
    lines = named(ConvergenceDisplay.from_estimator(model).plot(by=by))
    for column in ("primal", "gap"):
        np.testing.assert_array_equal(lines[column].get_xdata(), model.trace_[by])
        np.testing.assert_array_equal(lines[column].get_ydata(), model.trace_[column])
    longest = np.sqrt((X**2).sum(axis=1).max() + 1.0)  # with the constant column
    bound = suboptimality_bound(model.trace_["step"], 1e-2, longest)
    np.testing.assert_allclose(lines["Pegasos bound"].get_ydata(), bound)


def test_a_dual_that_is_not_above_zero_is_left_out():
    columns = {"epoch": [1.0, 2.0], "seconds": [0.1, 0.2], "step": [1, 2], "primal": [1.0, 0.5]}
    drawn = ConvergenceDisplay.from_trace(columns | {"dual": [-0.1, 0.4], "gap": [1.1, 0.1]}).plot()
    np.testing.assert_array_equal(named(drawn)["dual"].get_ydata(), [np.nan, 0.4])
    assert list(named(drawn)) == ["primal", "dual", "gap"]


@pytest.mark.parametrize(
    ("multi_class", "names"),
    [
        ("ovr", ["0 against the rest", "1 against the rest", "2 against the rest", "Pegasos bound"]),
        ("ovo", ["1 against 0", "2 against 0", "2 against 1"]),
        ("crammer_singer", ["primal", "dual", "gap"]),
    ],
)
def test_of_several_problems_the_gap_of_each_is_drawn(multi_class, names):
    model = by_pegasos(Y, multi_class=multi_class)
    lines = named(ConvergenceDisplay.from_estimator(model).plot())
    assert list(lines) == names
    if multi_class != "crammer_singer":
        np.testing.assert_array_equal(lines[names[1]].get_ydata(), model.trace_.parts[1]["gap"])


def test_one_part_of_several_is_drawn_in_full():
    drawn = ConvergenceDisplay.from_estimator(fitted(Y), part=2).plot()
    assert drawn.ax_.get_title() == "2 against the rest"
    assert "primal" in named(drawn)


@pytest.mark.parametrize(
    "settings", [{"class_weight": "balanced"}, {"loss": "squared_hinge"}, {"prior": fitted(Y == 0)}]
)
def test_where_the_paper_proves_nothing_there_is_no_bound(settings):
    assert "Pegasos bound" not in named(ConvergenceDisplay.from_estimator(by_pegasos(Y == 0, **settings)).plot())


@pytest.mark.parametrize("settings", [{}, {"solver": "dual"}, {"regularize_intercept": False}])
def test_the_bound_of_pegasos_is_not_drawn_over_another_solver(settings):
    assert "Pegasos bound" not in named(ConvergenceDisplay.from_estimator(fitted(Y == 0, **settings)).plot())


def test_pipelines_searches_kernels_and_streams_have_a_run_too(plt):
    inner = PegasosClassifierCV(3, cv=2, random_state=0)
    stream = PegasosClassifier(lam=1e-2, random_state=0).partial_fit(X, Y == 0, classes=[False, True])
    models = [make_pipeline(StandardScaler(), inner), KernelPegasosClassifier(lam=1e-2, random_state=0)]
    _, ax = plt.subplots()
    for model in [*(model.fit(X, Y == 0) for model in models), stream]:
        drawn = ConvergenceDisplay.from_estimator(model).plot(ax)
        assert drawn.ax_ is ax
        assert drawn.figure_ is ax.figure


def test_what_cannot_be_drawn_raises_an_error():
    with pytest.raises(PegasosError, match=r"Perceptron\) has no trace of a run; fit a PegasosClassifier"):
        ConvergenceDisplay.from_estimator(Perceptron().fit(X, Y))
    with pytest.raises(NotFittedError):
        ConvergenceDisplay.from_estimator(PegasosClassifier())
    with pytest.raises(PegasosError, match="a fitted estimator is needed, got 3"):
        ConvergenceDisplay.from_estimator(3)
    with pytest.raises(PegasosError, match=r"part must be one of 0\.\.2, got 3"):
        ConvergenceDisplay.from_estimator(fitted(Y), part=3)
    with pytest.raises(PegasosError, match="by must be one of 'step', 'epoch', 'seconds', got 'time'"):
        ConvergenceDisplay.from_estimator(fitted(Y)).plot(by="time")
    with pytest.raises(PegasosError, match="ax must be axes of matplotlib, got str"):
        ConvergenceDisplay.from_estimator(fitted(Y)).plot("here")
    with pytest.raises(PegasosError, match="has the columns step, epoch, seconds, primal, dual and gap"):
        ConvergenceDisplay.from_trace({"step": [1]})
    with pytest.raises(PegasosError, match="has the columns step"):
        ConvergenceDisplay.from_trace(None)
    for length in (0, 2):
        columns = {key: [1.0] * length for key in dict(fitted(Y).trace_)}
        with pytest.raises(PegasosError, match="vectors of one length above 0"):
            ConvergenceDisplay.from_trace(columns | {"gap": [1.0] * (length % 2)})
