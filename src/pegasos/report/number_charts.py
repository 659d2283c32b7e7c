"""The charts of a regressor: predictions against targets, residuals against predictions, how residuals are spread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pegasos.report.charts import Chart, as_numbers, axis, parts_shown, span
from pegasos.report.curves import counted
from pegasos.report.markup import number
from pegasos.report.outcome import NumberOutcome, Numbers
from pegasos.report.subject import NumberSubject

points_shown = 400
_BINS = 40


class Sides(NamedTuple):
    """The two kinds of rows that a loss tells apart, and the residuals between them."""

    names: tuple[str, str]
    is_second: npt.NDArray[np.bool_]
    edges: tuple[float, ...]  # residuals at which a row changes sides


def sides_of(subject: NumberSubject, residuals: Numbers, k: int) -> Sides:
    """How the loss of the fit divides the rows of target k."""
    task = subject.model.fitted_.task
    if task.loss == "quantile":
        return Sides(("target below the prediction", "target above"), residuals > 0.0, (0.0,))
    if task.loss == "huber":
        delta = float(subject.model.delta)
        return Sides(("residual up to delta", "beyond delta"), np.abs(residuals) > delta, (-delta, delta))
    width = float(task.width(k))
    names = ("inside the tube: no loss", "outside the tube")
    return Sides(names, np.abs(residuals) > width, (-width, width) if width > 0.0 else (0.0,))


def predictions(subject: NumberSubject, outcome: NumberOutcome) -> Chart:
    """Predicted against true, with the bounds of exact predictions."""
    sets = []
    for k in _targets(subject):
        true, said, kept = subject.targets[:, k], outcome.predicted[:, k], _kept(subject.n_rows)
        low, high = _room(np.append(true, said))
        marks: list[dict[str, Any]] = [{"ends": [low, low, high, high]}]
        sides = sides_of(subject, outcome.residuals[:, k], k)
        for edge in sides.edges:
            if 0.0 < abs(edge) < high - low:  # target = prediction + edge
                begin, end = max(low, low + edge), min(high, high + edge)
                marks.append({"ends": [begin, begin - edge, end, end - edge]})
        columns = {"target": as_numbers(true[kept]), "row": kept.tolist(), **_by_side(sides, said, kept)}
        columns.update(_bounds(outcome, said, k, kept))
        shown = {"x": span(low, high), "y": span(low, high)}
        sets.append({"name": subject.problem_name(k), "columns": columns, "marks": marks, "span": shown})
    return _points(subject, "Predictions against targets", ("target", "prediction"), sets)


def residuals(subject: NumberSubject, outcome: NumberOutcome) -> Chart:
    """Targets less predictions, against predictions."""
    sets = []
    for k in _targets(subject):
        said, rest, kept = outcome.predicted[:, k], outcome.residuals[:, k], _kept(subject.n_rows)
        sides = sides_of(subject, rest, k)
        marks = [{"y": 0.0, "label": ""}]
        marks += [{"y": edge, "label": number(edge)} for edge in sides.edges if edge != 0.0]
        columns = {"prediction": as_numbers(said[kept]), "row": kept.tolist(), **_by_side(sides, rest, kept)}
        sets.append({"name": subject.problem_name(k), "columns": columns, "marks": marks})
    return _points(subject, "Residuals against predictions", ("prediction", "target minus prediction"), sets)


def spread(subject: NumberSubject, outcome: NumberOutcome) -> Chart:
    """How many rows have which residual."""
    sets = []
    for k in _targets(subject):
        rest = outcome.residuals[:, k]
        sides = sides_of(subject, rest, k)
        low, high = np.quantile(rest, [0.001, 0.999])
        reach = max(abs(float(low)), abs(float(high)), 1e-12 * float(np.abs(outcome.predicted[:, k]).max()), 1e-300)
        edges = np.linspace(-reach, reach, _BINS + 1)
        columns = {"edges": as_numbers(edges), "rows": counted(rest, edges).tolist()}
        marks = [{"x": edge, "label": number(edge)} for edge in sides.edges]
        sets.append({"name": subject.problem_name(k), "columns": columns, "marks": marks})
    return {
        "kind": "bars",
        "label": "Histogram of residuals",
        "x": [axis("edges", "target minus prediction")],
        "y": axis("y", "rows"),
        "series": [{"key": "rows", "name": "rows"}],
        "choose": "Target",
        "sets": sets,
    }


def _points(subject: NumberSubject, label: str, axes: tuple[str, str], sets: list[dict[str, Any]]) -> Chart:
    names = sides_of(subject, np.zeros(1), 0).names
    chart: Chart = {
        "kind": "points",
        "label": label,
        "x": [axis(axes[0], axes[0])],
        "y": axis("y", axes[1]),
        "series": [{"key": f"side{side}", "name": name} for side, name in enumerate(names)],
        "choose": "Target",
        "sets": sets,
    }
    if "lower" in sets[0]["columns"]:
        chart["whiskers"] = ["lower", "upper"]
    return chart


def _targets(subject: NumberSubject) -> range:
    return range(min(subject.n_targets, parts_shown))


def _kept(n_rows: int) -> npt.NDArray[np.intp]:
    """Rows in equal steps, as many as a picture shows."""
    return np.unique(np.linspace(0, n_rows - 1, min(n_rows, points_shown)).astype(np.intp))


def _by_side(sides: Sides, values: Numbers, kept: npt.NDArray[np.intp]) -> dict[str, list[float | None]]:
    """A column for each side, empty where a row is on the other."""
    chosen = sides.is_second[kept]
    return {
        "side0": as_numbers(np.where(chosen, np.nan, values[kept])),
        "side1": as_numbers(np.where(chosen, values[kept], np.nan)),
    }


def _bounds(outcome: NumberOutcome, said: Numbers, k: int, kept: npt.NDArray[np.intp]) -> dict[str, Any]:
    if outcome.lower is None or outcome.upper is None:
        return {}
    # A bound may be without limit, where nothing useful is proved: it ends at the border of the picture.
    low, high = _room(np.append(said, said + outcome.residuals[:, k]))
    return {
        name: as_numbers(np.clip(bound[kept, k], low, high))
        for name, bound in (("lower", outcome.lower), ("upper", outcome.upper))
    }


def _room(values: Numbers) -> tuple[float, float]:
    """The range of some numbers, and a little more."""
    low, high = float(values.min()), float(values.max())
    room = 0.03 * (high - low) or 0.5 * abs(low) or 0.5
    return low - room, high + room
