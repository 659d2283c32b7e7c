"""What the page says of a regressor: errors, bounds of exact predictions, residuals, the rows that fit worst."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pegasos.report import number_charts
from pegasos.report.charts import Chart, parts_shown
from pegasos.report.excerpts import excerpt, rows_shown
from pegasos.report.markup import (
    Markup,
    card,
    chart,
    count,
    details,
    grid,
    number,
    paragraph,
    section,
    share,
    table,
    tile,
)
from pegasos.report.markup import text as escaped
from pegasos.report.number_charts import points_shown, sides_of
from pegasos.report.outcome import NumberOutcome, Numbers
from pegasos.report.sections import Parts
from pegasos.report.subject import NumberSubject


def parts_of(subject: NumberSubject, outcome: NumberOutcome, drawn: dict[str, Chart]) -> Parts:
    """All of it."""
    return Parts(
        tiles=_tiles(subject, outcome),
        settled=_exact(subject, outcome),
        performance=_performance(subject, outcome, drawn),
        hardest=_hardest(subject, outcome),
        result=("R²", f"{_in_words(_r_squared(subject, outcome))} on the data given"),
        limits=list(_limits(subject, outcome)),
    )


def _r_squared(subject: NumberSubject, outcome: NumberOutcome) -> Numbers:
    """1 less the share of the variance that is left, per target; NaN where the targets are all equal."""
    left = np.square(outcome.residuals).sum(axis=0)
    all_ = np.square(subject.targets - subject.targets.mean(axis=0)).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(all_ > 0.0, 1.0 - left / all_, np.nan)


def _in_words(per_target: Numbers) -> str:
    defined = per_target[np.isfinite(per_target)]
    if not len(defined):
        return "not defined"
    return f"{float(defined.mean()):.3f}"


def _tiles(subject: NumberSubject, outcome: NumberOutcome) -> str:
    several = "mean of the targets; " if subject.n_targets > 1 else ""
    absolute = np.abs(outcome.residuals)
    guess = np.abs(subject.targets - np.median(subject.targets, axis=0))
    tiles = [
        tile(_in_words(_r_squared(subject, outcome)), "R² on the data given", f"{several}1 is perfect, 0 is the mean"),
        tile(
            number(float(absolute.mean())),
            "mean absolute error",
            f"{number(float(guess.mean()))} by always guessing the median",
        ),
        tile(
            number(float(np.sqrt(np.square(outcome.residuals).mean()))),
            "root mean square error",
            "large errors count more",
        ),
        _by_loss(subject, outcome),
    ]
    width = _largest_width(outcome)
    if width is not None:
        tiles.append(
            tile(number(width), "the widest bound of an exact prediction", "how far training further could move one")
        )
    return "".join(tiles)


def _by_loss(subject: NumberSubject, outcome: NumberOutcome) -> str:
    """The share of rows on the second side of the loss; of a quantile, on its first."""
    shares = [float(sides_of(subject, outcome.residuals[:, k], k).is_second.mean()) for k in range(subject.n_targets)]
    mean = float(np.mean(shares))
    task = subject.model.fitted_.task
    if task.loss == "quantile":
        return tile(
            share(1.0 - mean), "of the targets are below the prediction", f"the quantile aims at {share(task.quantile)}"
        )
    if task.loss == "huber":
        return tile(share(mean), "of the residuals are beyond delta", f"delta = {number(float(subject.model.delta))}")
    widths = sorted({task.width(k) for k in range(subject.n_targets)})
    return tile(share(mean), "of the rows are outside the tube", "epsilon = " + ", ".join(map(number, widths[:3])))


def _largest_width(outcome: NumberOutcome) -> float | None:
    if outcome.lower is None or outcome.upper is None:
        return None
    return float(np.max(outcome.upper - outcome.lower))


def _exact(subject: NumberSubject, outcome: NumberOutcome) -> str:
    """Where an exact solution of the training problem predicts."""
    heading = "What exact training would predict"
    if outcome.lower is None or outcome.upper is None:
        return card(heading, paragraph("Not available for a precomputed kernel matrix."))
    widths = outcome.upper - outcome.lower
    lines = [
        (
            subject.problem_name(k),
            number(float(np.median(widths[:, k]))),
            number(float(widths[:, k].max())),
            number(float(subject.targets[:, k].std())),
        )
        for k in range(min(subject.n_targets, parts_shown))
    ]
    worst = np.argsort(-widths.max(axis=1), kind="stable")[:rows_shown]
    rows = []
    for i in worst:
        k = int(widths[i].argmax())
        bounds = (outcome.lower[i, k], outcome.predicted[i, k], outcome.upper[i, k])
        rows.append((str(i), *(number(float(each)) for each in bounds)))
    return card(
        heading,
        paragraph(
            "The certificate bounds each prediction of the exact solution of the training problem: the gray bars of "
            "the first chart. This is not a statistical interval; it says nothing about how far the true target may "
            "be. A smaller tol narrows it."
        ),
        table(
            "Widths of the bounds",
            ["", "median width", "largest width", "standard deviation of the targets"],
            lines,
            classes="numbers",
        ),
        details(
            f"The {len(rows)} rows with the widest bounds",
            table("The widest bounds", ["row", "lower", "predicted", "upper"], rows, classes="numbers"),
        ),
    )


def _performance(subject: NumberSubject, outcome: NumberOutcome, drawn: dict[str, Chart]) -> str:
    drawn["predictions"] = number_charts.predictions(subject, outcome)
    drawn["residuals"] = number_charts.residuals(subject, outcome)
    drawn["spread"] = number_charts.spread(subject, outcome)
    some = f" {points_shown} of {count(subject.n_rows)} rows are shown." if subject.n_rows > points_shown else ""
    cards = [
        chart(
            "predictions",
            "Predictions against targets",
            f"On the diagonal a prediction is right; lines beside it are edges of the tube, if there is one.{some}",
        ),
        chart(
            "residuals",
            "Residuals",
            f"Targets minus predictions. A trend or a growing spread is something the model does not describe.{some}",
        ),
        chart(
            "spread",
            "How large the errors are",
            "Residuals beyond the chart are counted in its outermost bars.",
            wide=True,
        ),
    ]
    if subject.n_targets > 1:
        cards.append(_by_target(subject, outcome))
    return section("results", "Results on the data given", grid(*cards))


def _by_target(subject: NumberSubject, outcome: NumberOutcome) -> str:
    r_squared = _r_squared(subject, outcome)
    lines = [
        (
            subject.problem_name(k),
            _in_words(r_squared[k : k + 1]),
            number(float(np.abs(outcome.residuals[:, k]).mean())),
            number(float(np.sqrt(np.square(outcome.residuals[:, k]).mean()))),
        )
        for k in range(min(subject.n_targets, parts_shown))
    ]
    heads = ["target", "R²", "mean absolute error", "root mean square error"]
    return card("By target", table("Each target", heads, lines, classes="numbers"), wide=True)


def _hardest(subject: NumberSubject, outcome: NumberOutcome) -> str:
    """The rows with the largest residuals, in units of the spread of their target."""
    unit = np.maximum(subject.targets.std(axis=0), np.finfo(float).tiny)
    sizes = (np.abs(outcome.residuals) / unit).max(axis=1)
    order = np.argsort(-sizes, kind="stable")[:rows_shown]
    rows = []
    for i in order:
        k = int((np.abs(outcome.residuals[i]) / unit).argmax())
        cells = (subject.targets[i, k], outcome.predicted[i, k], outcome.residuals[i, k])
        line = Markup(f'<td class="words">{escaped(excerpt(subject, int(i)))}</td>')
        rows.append((str(i), subject.problem_name(k), *(number(float(each)) for each in cells), line))
    return section(
        "hardest",
        "Hardest rows",
        paragraph(
            "The rows with the largest residuals; rows are counted from 0. A wrong target, a rare case, or something "
            "the features do not show."
        ),
        card(
            "Largest residuals first",
            table("Rows of the data given", ["row", "which", "target", "predicted", "residual", "what it is"], rows),
            wide=True,
        ),
    )


def _limits(subject: NumberSubject, outcome: NumberOutcome) -> Iterator[str]:
    yield (
        "The bounds of exact predictions come from the optimization alone; for an interval that holds the target with "
        "a given probability, fit two quantiles and check their coverage on held-out data."
    )
    if subject.is_linear:
        yield "Outside the range of the data a linear model extrapolates: predictions there are guesses."
    else:
        yield "Far from its support vectors, what a kernel model predicts is decided by the kernel, not by the data."
    if not np.isfinite(_r_squared(subject, outcome)).all():
        yield "A target of the data given is constant: R² is not defined for it."
