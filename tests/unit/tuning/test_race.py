"""Who may go on, on scores made up for the purpose."""

import math
from types import SimpleNamespace

import pytest

from pegasos.tuning.race import Race
from pegasos.tuning.space import Setting
from pegasos.tuning.trials import Trial


def trial(number, scores=(), climbed=((100, 0.5),), family="rbf", finished=False):
    made = Trial(SimpleNamespace(number=number), Setting(family, "none", 1.0))
    made.scores, made.climbed, made.is_finished = list(scores), list(climbed), finished
    made.n_rows = climbed[-1][0]
    return made


def race_of(*trials, n_folds=4, perfect=1.0):
    return Race(n_folds, perfect, list(trials))


BEST = trial(0, [0.90, 0.92, 0.88, 0.90], finished=True)  # a standard deviation of 0.0163 from fold to fold


def test_the_noise_is_the_spread_from_fold_to_fold():
    assert race_of(BEST).noise == pytest.approx(math.sqrt((0.02**2 + 0.02**2) / 3))


# Behind by 0.0245 after one fold, by 0.0173 after two.
@pytest.mark.parametrize(
    ("scores", "is_lost"), [([0.88], False), ([0.87], True), ([0.89, 0.90], False), ([0.88, 0.90], True)]
)
def test_a_setting_is_given_up_when_it_is_behind_by_more_than_the_noise_of_so_many_folds(scores, is_lost):
    mine = trial(1, scores)
    assert bool(race_of(BEST, mine).lost(mine)) == is_lost


def test_a_setting_that_cannot_win_any_more_is_given_up_whatever_the_noise():
    wild = trial(2, [0.0, 1.0, 0.0, 1.0], finished=True)
    mine = trial(1, [0.79, 0.79, 0.99])
    assert race_of(BEST, wild, mine).lost(mine).endswith("even perfect scores in the others would not win")
    assert race_of(BEST, wild, mine, perfect=math.inf).lost(mine) is None


def test_no_setting_is_dropped_before_one_has_finished():
    ahead, behind = trial(0, [0.9, 0.9]), trial(1, [0.1])
    assert race_of(ahead, behind).lost(behind) is None


def test_a_third_of_each_family_continues_to_more_rows():
    others = [trial(k, climbed=[(100, 0.5 + 0.01 * k)]) for k in range(8)]
    linear = trial(10, climbed=[(100, 0.1)], family="linear")
    assert race_of(*others, linear).may_climb(linear)
    for score, goes_on in ((0.58, True), (0.551, True), (0.545, False)):
        mine = trial(20, climbed=[(100, score)])
        assert race_of(*others, linear, mine).may_climb(mine) == goes_on


def test_of_equal_settings_the_first_one_is_the_best():
    again = trial(5, BEST.scores, finished=True)
    assert race_of(again, BEST).best is BEST


def test_before_any_has_finished_the_best_is_the_one_that_came_farthest():
    one, two = trial(0, [0.9]), trial(1, [0.8, 0.8])
    assert race_of(one, two).best is two


def test_a_setting_that_the_end_cut_short_wins_only_if_it_is_clearly_ahead():
    ahead, barely = trial(1, [0.96, 0.97]), trial(2, [0.905, 0.925])
    assert race_of(BEST, ahead, barely).winner is ahead
    assert race_of(BEST, barely).winner is BEST


def test_what_the_sampler_learns_of_a_setting_given_up_is_its_distance_from_the_best():
    mine = trial(1, [0.80])
    assert race_of(BEST, mine).estimate(mine) == pytest.approx(0.90 - 0.10)
    best = trial(0, [0.9, 0.9, 0.9, 0.9], climbed=[(50, 0.7), (100, 0.9)], finished=True)
    sampled = trial(2, climbed=[(50, 0.6)])
    assert race_of(best, sampled).estimate(sampled) == pytest.approx(0.8)


def test_a_setting_that_failed_never_wins():
    failed = trial(1, [0.99, 0.99])
    failed.verdict = "failed: the kernel is too large for a number."
    assert race_of(BEST, failed).winner is BEST
    behind = trial(2, [0.7])
    assert race_of(failed, behind).winner is behind
    assert race_of(failed).winner is None
