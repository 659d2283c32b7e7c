"""The picture of a search holds every setting."""

import sys

import numpy as np
import pytest
from sklearn.datasets import make_moons

from pegasos import AutoPegasos, PegasosError
from pegasos.tuning.pictures import draw_search

X, y = make_moons(80, noise=0.2, random_state=0)


def test_every_setting_is_in_the_panels_of_time_and_lam(tmp_path):
    pytest.importorskip("matplotlib")
    auto = AutoPegasos(None, n_trials=8, cv=2, random_state=0).fit(X, y)
    figure = draw_search(auto)
    assert [axes.get_xlabel() for axes in figure.axes] == [
        "seconds",
        "lam",
        "width: gamma in units of the median distance",
    ]
    marks = [line for line in figure.axes[1].lines if line.get_linestyle() == "None"]
    assert sum(len(line.get_xdata()) for line in marks) == 8
    assert set(np.concatenate([line.get_ydata() for line in marks])) == {row["score"] for row in auto.leaderboard_}
    figure.savefig(tmp_path / "search.png")
    assert (tmp_path / "search.png").stat().st_size > 5_000


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(PegasosError, match=r'pip install "pegasos\[plots\]"'):
        draw_search(None)
