"""What the page says of a classifier: accuracy, settled predictions, results, limits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pegasos.report.charts import Chart
from pegasos.report.curves import wilson
from pegasos.report.doubt import least_certain
from pegasos.report.markup import card, count, details, number, paragraph, share, table, tile
from pegasos.report.outcome import ClassOutcome
from pegasos.report.results import hardest, performance
from pegasos.report.sections import Parts
from pegasos.report.subject import ClassSubject


def parts_of(subject: ClassSubject, outcome: ClassOutcome, drawn: dict[str, Chart]) -> Parts:
    """All of it."""
    return Parts(
        tiles=_tiles(subject, outcome),
        settled=_settled(subject, outcome),
        performance=performance(subject, outcome, drawn),
        hardest=hardest(subject, outcome),
        result=("accuracy", f"{share(int(outcome.confusion.trace()) / subject.n_rows)} on the data given"),
        limits=list(_limits(subject, outcome)),
    )


def _limits(subject: ClassSubject, outcome: ClassOutcome) -> Iterator[str]:
    counts = np.bincount(subject.codes, minlength=subject.n_classes)
    if outcome.probabilities is None:
        yield "Scores are not probabilities: a score of 2 does not mean twice as certain as a score of 1."
    if (counts == 0).any():
        missing = int((counts == 0).sum())
        yield f"{count(missing)} of {count(subject.n_classes)} classes do not occur in the data given."
    present = counts[counts > 0]
    if present.max() > 10 * present.min():
        yield (
            f"Classes are imbalanced, from {count(int(present.min()), 'row')} to {count(int(present.max()))}: look at "
            "the recall of each class, not at the accuracy alone."
        )


def _tiles(subject: ClassSubject, outcome: ClassOutcome) -> str:
    hits = int(outcome.confusion.trace())
    low, high = wilson(hits, subject.n_rows)
    largest = np.bincount(subject.codes).max() / subject.n_rows
    tiles = [
        tile(
            share(hits / subject.n_rows), "accuracy on the data given", f"95 % interval {share(low)} to {share(high)}"
        ),
        tile(share(_balanced(outcome)), "mean recall of the classes", "whatever their frequency"),
        tile(share(float(largest)), "the largest class", "what guessing it would get"),
    ]
    if outcome.is_sure is not None:
        sure = float(outcome.is_sure.mean())
        tiles.append(tile(share(sure), "of the predictions are settled", "no exact solution predicts otherwise"))
    return "".join(tiles)


def _balanced(outcome: ClassOutcome) -> float:
    rows = np.asarray(outcome.confusion.sum(axis=1)).ravel()
    right = outcome.confusion.diagonal()
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def _settled(subject: ClassSubject, outcome: ClassOutcome) -> str:
    """Which predictions an exact solution shares."""
    if outcome.is_sure is None:
        return card("Settled predictions", paragraph("Cannot be said of a model whose kernel is a given matrix."))
    sure, right = outcome.is_sure, outcome.margins > 0.0
    rows = [
        (name, *(count(int(np.sum(mine & kind))) for kind in (sure, ~sure)))
        for name, mine in (("predicted rightly", right), ("predicted wrongly", ~right))
    ]
    return card(
        "Settled predictions",
        paragraph(
            f"For {share(float(sure.mean()))} of the rows it is proved that an exact solution of the training problem "
            "predicts the same class. A smaller tol settles more."
        ),
        table("Rows by whether their prediction is settled", ["", "settled", "open"], rows, classes="numbers"),
        _least_certain(subject, outcome),
    )


def _least_certain(subject: ClassSubject, outcome: ClassOutcome) -> str:
    """The rows that an exact solution could most easily decide otherwise."""
    doubts = least_certain(subject, outcome)
    if not doubts:
        return ""
    rows = [(str(d.row), subject.class_name(d.predicted), number(d.least), number(d.most)) for d in doubts]
    heads = ["row", "predicted", "least lead", "largest lead"]
    return details(
        f"The {len(rows)} least certain rows: the lead of their class in any exact solution",
        table("The least certain rows", heads, rows, classes="numbers"),
    )
