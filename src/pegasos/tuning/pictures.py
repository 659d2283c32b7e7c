"""Pictures of a search: the score against time, against lam and against the width of the kernel."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from pegasos.plots._style import colours, faint, marks, matplotlib_module

_WIDTHS = ("width", "gamma", "sigma", "k", "h", "degree", "decay")
_LOGARITHMIC = {"lam", "width", "gamma", "sigma", "decay"}
_words = {"ended_at": "seconds", "width": "width: gamma in units of the median distance"}


def draw_search(auto: Any) -> Any:
    """A figure of a fitted `AutoPegasos`.

    From left to right: the score of each setting when it had been tried and the best so far; the score against lam;
    and against the width of the kernel, or what stands in its place, where one was searched for. Full marks are
    settings examined on all folds; hollow ones were given up. The dashed line is the winner.

    Parameters
    ----------
    auto : AutoPegasos, fitted

    Returns
    -------
    matplotlib.figure.Figure
        To be saved with ``savefig``, or shown by a notebook.
    """
    Figure = matplotlib_module("figure").Figure
    rows = auto.leaderboard_
    width = next((name for name in _WIDTHS if any(row.get(name) is not None for row in rows)), None)
    panels = ["ended_at", "lam", *([width] if width else [])]
    figure = Figure(figsize=(4.2 * len(panels), 3.8), layout="constrained")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    families = list(dict.fromkeys(row["kernel"] for row in sorted(rows, key=lambda row: row["trial"])))
    for place, column in zip(axes, panels, strict=True):
        for number, family in enumerate(families):
            _draw_family(place, column, [row for row in rows if row["kernel"] == family], number)
        place.grid(True, alpha=0.25)
    _label(axes, panels, rows, auto)
    return figure


def _draw_family(axes: Any, column: str, rows: list[dict[str, Any]], number: int) -> None:
    colour, marker = colours[number % len(colours)], marks[number % len(marks)]
    for is_whole in (True, False):
        mine = [row for row in rows if row[column] is not None and row["finished"] == is_whole]
        axes.plot(
            [row[column] for row in mine],
            [row["score"] for row in mine],
            linestyle="none",
            marker=marker,
            markersize=6,
            color=colour,
            markerfacecolor=colour if is_whole else "none",
            alpha=0.9 if is_whole else 0.6,
            label=rows[0]["kernel"] if is_whole else None,
        )


def _label(axes: Any, panels: list[str], rows: list[dict[str, Any]], auto: Any) -> None:
    finished = sorted((row for row in rows if row["finished"]), key=lambda row: row["ended_at"])
    seconds, best = [row["ended_at"] for row in finished], list(accumulate((row["score"] for row in finished), max))
    axes[0].step(seconds, best, where="post", color=faint, linewidth=1.2, label="best so far")
    axes[0].set_ylabel(getattr(auto, "scoring_", None) or str(auto.scoring or "accuracy"))
    # Settings far below would squeeze those that matter into a corner.
    scores = sorted(row["score"] for row in rows)
    low, high = scores[len(scores) // 4], scores[-1]
    floor = low - 0.3 * (high - low) - 1e-3
    axes[0].set_ylim(floor, high + 0.15 * (high - low) + 1e-3)
    for place, column in zip(axes, panels, strict=True):
        place.set_xlabel(_words.get(column, column))
        shown = [row[column] for row in rows if row[column] is not None and row["score"] >= floor]
        if column in _LOGARITHMIC and shown:
            place.set_xscale("log")
            place.set_xlim(min(shown) / 2.0, max(shown) * 2.0)
        if column != "ended_at" and rows[0][column] is not None:
            place.axvline(rows[0][column], color=faint, linewidth=1.0, linestyle="--")
    handles, _ = axes[0].get_legend_handles_labels()
    # Above the panels: within them it would hide settings.
    axes[0].figure.legend(handles=handles, loc="outside upper center", ncols=len(handles), frameon=False, fontsize=8)
