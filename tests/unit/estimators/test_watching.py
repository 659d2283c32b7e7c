"""Looking on: verbose lines, scikit-learn's callbacks, interrupts and budgets."""

import signal
import time

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_classification

from pegasos import GapWarning, PegasosClassifier
from pegasos.data import ArraySource
from pegasos.fitting.watching import listening

X, Y = make_classification(500, 20, random_state=0)
DIGITS, LABELS = load_digits(return_X_y=True)
# Enough work for seconds, so that an interrupt finds something to interrupt.
LONG_X = np.random.default_rng(0).normal(size=(200_000, 30)).astype(np.float32)
LONG_Y = np.random.default_rng(1).integers(0, 2, 200_000)

callback = pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")


class Recorder:
    """A callback that remembers its calls and can ask to stop."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.scores, self.stop_after = [], [], [], stop_after

    def setup(self, estimator, context):
        self.tree = context

    def teardown(self, estimator, context):
        self.torn_down = True

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.ended.append(context.task_name)
        if fitted_estimator is not None:
            self.scores.append(fitted_estimator.score(X, y))
        return self.stop_after is not None and self.ended.count("epoch") >= self.stop_after


def test_callbacks_see_each_epoch_and_a_model_that_predicts():
    recorder = Recorder()
    model = PegasosClassifier(lam=0.01, random_state=0)
    model.set_callbacks(recorder).fit(X, Y)
    assert recorder.begun[0] == "fit"
    assert recorder.ended[-1] == "fit"
    assert sorted(recorder.begun) == sorted(recorder.ended)
    assert 1 <= recorder.ended.count("epoch") <= model.n_iter_
    assert recorder.scores[-1] == model.score(X, Y)
    assert recorder.torn_down


def test_a_callback_can_stop_the_fit():
    model = PegasosClassifier(solver="pegasos", random_state=0).set_callbacks(Recorder(stop_after=3)).fit(X, Y)
    assert model.n_iter_ == 3
    assert model.status_.startswith("A callback asked to stop")


@pytest.mark.parametrize(("multi_class", "noun", "n_problems"), [("ovr", "class", 10), ("ovo", "pair", 45)])
def test_several_classes_are_tasks_of_their_own(multi_class, noun, n_problems):
    recorder = Recorder()
    model = PegasosClassifier(multi_class=multi_class, n_jobs=2, random_state=0)
    model.set_callbacks(recorder).fit(DIGITS, LABELS)
    assert {f"{noun} {k}" for k in range(n_problems)} <= set(recorder.ended)


def test_scikit_learns_progress_bar_works():
    pytest.importorskip("rich")
    PegasosClassifier(random_state=0).set_callbacks(callback.ProgressBar()).fit(X, Y)


def test_verbose_prints_a_line_for_each_certificate(capsys):
    model = PegasosClassifier(verbose=1, random_state=0).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(model.trace_)
    assert all("relative gap" in line for line in lines)


@pytest.fixture
def interrupts_arrive():
    """A shell that starts a job in the background tells it to ignore interrupts."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts_arrive")
@pytest.mark.parametrize("labels", [LONG_Y, LONG_Y + 2 * (np.arange(200_000) % 2)])
def test_an_interrupt_leaves_a_certified_model(labels):
    model = PegasosClassifier(solver="pegasos", tol=0.0, max_iter=10**6, n_jobs=2, random_state=0)
    heard = []

    def interrupt_once(*certificate):
        heard.append(certificate)
        if len(heard) == 1:
            signal.raise_signal(signal.SIGINT)

    with listening(interrupt_once), pytest.warns(GapWarning, match="interrupted"):
        model.fit(LONG_X, labels)
    assert model.n_steps_ > 0
    assert model.certify(LONG_X, labels).gap == pytest.approx(model.certificate_.gap)
    assert model.predict(LONG_X[:5]).shape == (5,)


def test_a_time_budget_is_kept():
    begun = time.perf_counter()
    with pytest.warns(GapWarning, match="time_budget ended"):
        model = PegasosClassifier(solver="pegasos", max_iter=10**6, time_budget=0.3, random_state=0).fit(LONG_X, LONG_Y)
    # No assertion on the clock of a shared machine beyond "it ended at all, long before max_iter".
    assert time.perf_counter() - begun < 60
    assert model.n_iter_ < 10**6
    assert np.isfinite(model.certificate_.gap)


def test_a_listener_hears_of_every_certificate_of_every_problem():
    heard = []
    labels = np.arange(len(Y)) % 3
    with listening(lambda k, n, row: heard.append((k, n, row))):
        model = PegasosClassifier(n_jobs=2, random_state=0).fit(X, labels)
    PegasosClassifier(random_state=0).fit(X, Y)  # nobody listens any more
    for k, part in enumerate(model.trace_.parts):
        assert [row for problem, n, row in heard if problem == k and n == 3] == part.rows
    assert len(heard) == sum(len(part) for part in model.trace_.parts)


def test_a_listener_hears_of_a_fit_on_blocks():
    heard = []
    with listening(lambda k, n, row: heard.append(row)):
        model = PegasosClassifier(0.01, random_state=0).fit_source(ArraySource(X, Y, block_rows=50))
    assert heard == model.trace_.rows
