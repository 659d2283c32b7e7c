"""What the page says of a one-class model: how many rows are outside, the scores, the most unusual rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pegasos.report.charts import Chart, as_numbers, axis
from pegasos.report.curves import counted, curves_of
from pegasos.report.excerpts import excerpt, rows_shown
from pegasos.report.markup import Markup, card, chart, grid, number, paragraph, section, share, table, text, tile
from pegasos.report.outcome import NoveltyOutcome
from pegasos.report.sections import Parts
from pegasos.report.subject import NoveltySubject
from pegasos.report.words import rows_of_fit

_BINS = 40


def parts_of(subject: NoveltySubject, outcome: NoveltyOutcome, drawn: dict[str, Chart]) -> Parts:
    """All of it."""
    outside = float(np.mean(outcome.decisions < 0.0))
    return Parts(
        tiles=_tiles(subject, outcome, outside),
        settled="",
        performance=_performance(subject, outcome, drawn),
        hardest=_most_unusual(subject, outcome),
        result=("outside", f"{share(outside)} of the data given"),
        limits=list(_limits(subject)),
    )


def _tiles(subject: NoveltySubject, outcome: NoveltyOutcome, outside: float) -> str:
    nu, support = float(subject.model.nu), len(subject.model.support_) / max(rows_of_fit(subject.model), 1)
    tiles = [
        tile(share(outside), "of the data given are outside", f"at most nu = {share(nu)} of the training data are"),
        tile(share(support), "of the training rows are support vectors", f"at least nu = {share(nu)} of them are"),
    ]
    if subject.is_typical is not None:
        curves = curves_of(subject.is_typical, outcome.decisions)
        if curves is not None:
            tiles.append(tile(f"{curves.roc.area:.4f}", "area under the ROC curve", "1 ranks every novel row last"))
        for kind, name in ((~subject.is_typical, "novel"), (subject.is_typical, "typical")):
            if kind.any():
                found = float(np.mean(outcome.decisions[kind] < 0.0))
                tiles.append(tile(share(found), f"of the {name} rows are outside", "by the y given"))
    return "".join(tiles)


def _performance(subject: NoveltySubject, outcome: NoveltyOutcome, drawn: dict[str, Chart]) -> str:
    scores = outcome.decisions + float(subject.model.offset_)
    low, high = np.quantile(scores, [0.001, 0.999])
    offset = float(subject.model.offset_)
    low, high = min(float(low), offset), max(float(high), offset)
    room = 0.02 * (high - low) or 0.5
    edges = np.linspace(low - room, high + room, _BINS + 1)
    groups = [("rows", "rows", np.ones(subject.n_rows, bool))]
    if subject.is_typical is not None:
        groups = [("typical", "typical (y = 1)", subject.is_typical), ("novel", "novel (y = -1)", ~subject.is_typical)]
    columns = {key: counted(scores[mine], edges).tolist() for key, _, mine in groups}
    drawn["scores"] = {
        "kind": "bars",
        "label": "Histogram of scores",
        "x": [axis("edges", "score: below the offset a row is outside")],
        "y": axis("y", "rows"),
        "series": [{"key": key, "name": name} for key, name, _ in groups],
        "sets": [
            {
                "name": "all rows",
                "columns": {"edges": as_numbers(edges), **columns},
                "marks": [{"x": offset, "label": f"offset: {number(offset)}"}],
            }
        ],
    }
    said = "How typical the rows are. Scores beyond the chart are counted in its outermost bars."
    return section("results", "Results on the data given", grid(chart("scores", "Scores", said, wide=True)))


def _most_unusual(subject: NoveltySubject, outcome: NoveltyOutcome) -> str:
    order = np.argsort(outcome.decisions, kind="stable")[:rows_shown]
    rows = [
        (
            str(i),
            number(float(outcome.decisions[i])),
            "outside" if outcome.decisions[i] < 0.0 else "inside",
            Markup(f'<td class="words">{text(excerpt(subject, int(i)))}</td>'),
        )
        for i in order
    ]
    return section(
        "hardest",
        "Most unusual rows",
        paragraph("The rows with the smallest scores; rows are counted from 0."),
        card(
            "Least typical first",
            table("Rows of the data given", ["row", "score less offset", "side", "what it is"], rows),
            wide=True,
        ),
    )


def _limits(subject: NoveltySubject) -> Iterator[str]:
    yield "Outside means unlike most of the training data, not wrong or harmful; nu, not the data, sets how many are."
    if subject.is_typical is None:
        yield "It is not known which of the rows given are novel: the page cannot say how many the model finds."
