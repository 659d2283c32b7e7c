"""The search: fair samples, limits of time, interrupts, and when it ends. Scores and clocks are made up."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegasos.errors import PegasosError
from pegasos.tuning.race import Race
from pegasos.tuning.search import Clock, Search, sampled_order
from pegasos.tuning.space import Space
from pegasos.tuning.trials import Mark

X = np.random.default_rng(0).normal(size=(60, 2))


class Examiner:
    """Scores by a formula: wide is good, and more rows are a little better."""

    def __init__(self, n_rows=60, *, seconds=0.1, interrupted_at=None, is_perfect=False):
        self.space = Space.of(X, "rows", 2, class_weights=(None,), rng=np.random.default_rng(0))
        self.folds = [(np.arange(n_rows), np.arange(10))] * 3
        self.seconds, self.interrupted_at, self.is_perfect = seconds, interrupted_at, is_perfect
        self.calls = []

    def examine(self, setting, fold, n_rows, *, limit, rival):
        self.calls.append((setting, fold, n_rows, limit, rival))
        if len(self.calls) == self.interrupted_at:
            raise KeyboardInterrupt
        score = 1.0 if self.is_perfect else 0.5 + 0.01 * len(setting.family) + 1e-7 * n_rows + 0.001 * fold
        return Mark(score, self.seconds)


class StoppedClock(Clock):
    """Each look takes a second."""

    @property
    def spent(self):
        self.begun += 1.0
        return self.begun


def run(examiner, *, n_trials=12, budget=None, deal=0):
    race = Race(len(examiner.folds), 1.0, deal=deal)
    search = Search(examiner, race, StoppedClock(budget, 0.0), n_trials, 0, lambda trial: False)
    search.run()
    return search


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60), st.integers(0, 9))
def test_every_beginning_of_a_sampled_order_holds_the_classes_in_proportion(codes, seed):
    codes = np.array(codes)
    order = sampled_order(codes, np.random.default_rng(seed))
    assert sorted(order) == list(range(len(codes)))
    classes, counts = np.unique(codes, return_counts=True)
    for n in range(len(classes), len(codes) + 1):
        for code, count in zip(classes, counts, strict=True):
            share = np.count_nonzero(codes[order[:n]] == code)
            assert abs(share - n * count / len(codes)) <= len(classes)
            assert share >= 1


def test_a_search_makes_as_many_trials_as_asked_for_and_says_so():
    search = run(Examiner())
    assert [trial.number for trial in search.race.trials] == list(range(12))
    assert search.reason == "all 12 trials were made"


def test_fewer_trials_than_first_settings_are_the_first_of_them():
    search = run(Examiner(), n_trials=2)
    assert [trial.setting.family for trial in search.race.trials] == ["linear", "poly"]


def test_the_best_of_the_first_settings_goes_through_the_folds_first():
    examiner = Examiner()
    run(examiner, n_trials=4)
    assert [fold for _, fold, *_ in examiner.calls[:4]] == [0, 0, 0, 0]
    assert examiner.calls[4][0].family == "laplacian"
    assert all(setting.family == "laplacian" for setting, *_ in examiner.calls[4:])


def test_where_folds_are_repeated_all_first_settings_finish_one_repetition_before_one_continues():
    examiner = Examiner()
    examiner.folds *= 2
    search = run(examiner, n_trials=4, deal=3)
    folds = [fold for _, fold, *_ in examiner.calls]
    assert folds[:12] == [0, 0, 0, 0, 1, 2, 1, 2, 1, 2, 1, 2]
    assert folds[12:] == [3, 4, 5]
    assert search.race.winner.setting.family == "laplacian"
    assert [len(trial.scores) for trial in search.race.trials] == [3, 3, 3, 6]


def test_when_the_time_ends_in_the_second_deal_the_best_of_the_first_one_wins():
    examiner = Examiner()
    examiner.folds *= 2
    examiner.examine = lambda setting, fold, n_rows, **more: Mark(
        {0: 0.9, 1: 0.5}.get(fold, 0.7) if setting.family == "linear" else 0.8, 0.1
    )
    search = run(examiner, n_trials=2, deal=3)
    linear, poly = search.race.trials
    linear.is_finished = poly.is_finished = False
    linear.scores, poly.scores = [0.9, 0.5, 0.7, 0.7], [0.8, 0.8, 0.8]
    assert search.race.winner is poly


def test_first_settings_whose_kernel_takes_long_wait_until_the_others_have_been_examined(monkeypatch):
    monkeypatch.setattr(Space, "seconds", lambda _, setting: 11.0 if setting.family in ("linear", "poly") else 9.0)
    for budget, slow in ((100.0, ["linear", "poly"]), (200.0, []), (None, [])):
        examiner = Examiner()
        search = run(examiner, n_trials=9, budget=budget)
        families = [trial.setting.family for trial in search.race.trials[:4]]
        assert all((name in families) == (name not in slow) for name in ("linear", "poly"))
        assert {"linear", "poly"} <= {trial.setting.family for trial in search.race.trials}


def test_the_end_of_the_time_ends_the_search_and_bounds_every_fit():
    examiner = Examiner()
    search = run(examiner, n_trials=None, budget=100.0)
    assert search.reason == "the time budget ended"
    assert all(0.0 <= limit <= 10.0 for *_, limit, _ in examiner.calls)
    assert search.race.best.is_finished


def test_without_a_clock_no_fit_is_cut():
    examiner = Examiner()
    run(examiner)
    assert {limit for *_, limit, _ in examiner.calls} == {None}


def test_an_interrupt_keeps_what_has_been_found():
    search = run(Examiner(interrupted_at=9))
    assert search.reason == "it was interrupted"
    assert search.race.winner.setting.family == "laplacian"


@pytest.mark.parametrize("where", ["Optuna", "a callback"])
def test_an_interrupt_between_two_fits_keeps_what_has_been_found(where, monkeypatch):
    looks = []

    def interrupted(*args):
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt
        return False

    on_trial = interrupted if where == "a callback" else lambda trial: False
    if where == "Optuna":
        near = Space.near
        monkeypatch.setattr(Space, "near", lambda self, setting: interrupted() or near(self, setting))
    examiner = Examiner()
    # The later the better, so that each trial is the best when it ends.
    monkeypatch.setattr(examiner, "examine", lambda *args, **kwargs: Mark(0.5 + 0.001 * len(looks), 0.1))
    search = Search(examiner, Race(3, 1.0), StoppedClock(None, 0.0), 12, 0, on_trial)
    search.run()
    assert search.reason == "it was interrupted"
    assert search.race.winner.is_finished
    assert all(trial.verdict and trial.ended_at for trial in search.race.trials)


def test_a_setting_that_fails_is_not_the_end_of_the_search_unless_it_is_the_first():
    examiner = Examiner()
    examine = examiner.examine

    def failing(setting, *args, **kwargs):
        if setting.family == family:
            raise PegasosError("the kernel is too large for a number.")
        return examine(setting, *args, **kwargs)

    examiner.examine = failing
    family = "rbf"
    search = run(examiner)
    assert search.race.winner.setting.family == "laplacian"
    verdicts = {trial.verdict for trial in search.race.trials if trial.setting.family == "rbf"}
    assert verdicts == {"failed: the kernel is too large for a number."}
    family = "linear"
    with pytest.raises(PegasosError, match="too large"):
        run(examiner)


def test_where_the_only_setting_fails_after_its_first_fit_its_error_is_raised():
    examiner = Examiner()
    examine = examiner.examine

    def failing(setting, fold, *args, **kwargs):
        if fold == 1:
            raise PegasosError("the kernel is too large for a number.")
        return examine(setting, fold, *args, **kwargs)

    examiner.examine = failing
    with pytest.raises(PegasosError, match="too large"):
        run(examiner, n_trials=1)


def test_a_perfect_score_ends_the_search():
    search = run(Examiner(is_perfect=True), n_trials=None)
    assert search.reason == "no score could be higher"


def test_many_rows_are_met_in_growing_samples():
    examiner = Examiner(n_rows=50_000)
    search = run(examiner, n_trials=4)
    climbed = {trial.setting.family: [n for n, _ in trial.climbed] for trial in search.race.trials}
    assert climbed["laplacian"] == [2_000, 8_000, 50_000]
    assert climbed["linear"][0] == 20_000


def test_a_kernel_stays_on_a_sample_when_all_rows_would_take_too_long():
    examiner = Examiner(n_rows=50_000, seconds=4.0)  # 8,000 rows take 16 times as long, all of them 39 times that
    search = run(examiner, n_trials=4, budget=1000.0)
    assert search.race.best.setting.family == "laplacian"
    assert search.race.best.n_rows == 8_000


def test_a_fit_is_tightened_only_where_it_may_win():
    examiner = Examiner()
    run(examiner)
    rivals = [rival for *_, rival in examiner.calls]
    assert rivals[0] == math.inf  # nobody has finished: nothing to win against
    assert rivals[-1] == pytest.approx(0.5 + 0.01 * len("laplacian") + 6e-6, abs=0.0021)
