"""How far a fit is, in numbers and in lines."""

import io
import math
import sys

import pytest

from pegasos import PegasosClassifier
from pegasos.cli._progress import Progress, _clock, _display, _Lines
from pegasos.solution import TraceRow


def row(gap, epoch=1.0):
    return TraceRow(step=1, epoch=epoch, seconds=0.1, primal=1.0, dual=1.0 - gap, gap=gap)


def shown_after(*looks, n_problems=1, **parameters):
    seen = []
    progress = Progress(PegasosClassifier(**parameters), lambda *numbers: seen.append(numbers))
    for k, look in looks:
        progress.tell(k, n_problems, look)
    return seen[-1]


def test_the_way_to_tol_is_measured_in_logarithms():
    share, epoch, gap, *_ = shown_after((0, row(0.1)), (0, row(0.01, 5.0)), tol=1e-3, max_iter=10**6)
    assert (share, epoch, gap) == (pytest.approx(0.5), 5.0, 0.01)


def test_without_tol_and_near_the_last_epoch_epochs_are_the_way():
    assert shown_after((0, row(0.5, 30.0)), tol=None, max_iter=100)[0] == pytest.approx(0.3)
    assert shown_after((0, row(0.9)), (0, row(0.8, 90.0)), tol=1e-9, max_iter=100)[0] == pytest.approx(0.9)


def test_of_several_problems_the_mean_of_the_ways_and_the_largest_gap_are_shown():
    share, _, gap, *_ = shown_after((0, row(1e-4)), (1, row(0.1)), n_problems=4, tol=1e-3, max_iter=10**6)
    assert (share, gap) == (pytest.approx(0.25, abs=1e-5), 0.1)


def test_what_is_reached_at_once_or_never_is_not_an_error():
    assert shown_after((0, row(0.0)), tol=1e-3)[0] == 1.0
    assert 0.0 <= shown_after((0, row(math.inf)), tol=1e-3, max_iter=100)[0] <= 1.0


def test_lines_come_every_few_seconds_only(capsys):
    lines = _Lines()
    for seconds in (0.1, 4.0, 5.5, 6.0, 11.0):
        lines(0.5, 3.0, 1e-2, seconds, 65.0)
    assert capsys.readouterr().err.splitlines() == [
        "     6 s  epoch 3.0  relative gap 1.0e-02  left 0:01:05",
        "    11 s  epoch 3.0  relative gap 1.0e-02  left 0:01:05",
    ]


def test_there_is_a_bar_on_a_terminal_and_none_elsewhere(monkeypatch):
    pytest.importorskip("rich")
    with _display() as show:
        assert isinstance(show, _Lines)
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with _display() as show:
        show(0.5, 12.0, 3e-4, 1.0, 61.0)
    assert "epoch 12.0  gap 3.0e-04" in terminal.getvalue()


def test_times_are_read_like_a_clock():
    assert [_clock(seconds) for seconds in (0.4, 61, 3661, math.nan, 1e9)] == [
        "0:00:00",
        "0:01:01",
        "1:01:01",
        "?",
        "?",
    ]
