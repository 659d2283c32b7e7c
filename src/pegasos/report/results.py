"""How the model does on the rows: what is confused with what, thresholds, margins, and the hardest rows."""

from __future__ import annotations

import numpy as np

from pegasos.report import charts
from pegasos.report.charts import Chart
from pegasos.report.curves import calibration_error, reliability
from pegasos.report.excerpts import excerpt, rows_shown
from pegasos.report.markup import Markup, card, chart, count, grid, number, paragraph, section, share, table, text
from pegasos.report.outcome import ClassOutcome, curves_shown
from pegasos.report.subject import ClassSubject

_MATRIX_SHOWN = 20  # classes up to which the confusion matrix is shown whole
_WIDE_MATRIX = 6  # classes from which on it needs the width of the page
_CLASSES_SHOWN = 50
_CONFUSIONS_SHOWN = 20


def performance(subject: ClassSubject, outcome: ClassOutcome, drawn: dict[str, Chart]) -> str:
    """How the model does on the rows."""
    cards = [_confusion(subject, outcome), _by_class(subject, outcome)]
    drawn["margins"] = charts.margins(subject, outcome)
    cards.append(
        chart(
            "margins",
            "Margins",
            "How far samples lie on the right side of the boundary. Margins beyond the chart are counted in its "
            "outermost bars.",
            wide=True,
        )
    )
    return section("results", "Results on the data given", grid(*cards, *_curves(subject, outcome, drawn)))


def _confusion(subject: ClassSubject, outcome: ClassOutcome) -> str:
    if subject.n_classes > _MATRIX_SHOWN:
        return _worst_confusions(subject, outcome)
    matrix = outcome.confusion.toarray()
    sums = np.maximum(matrix.sum(axis=1, keepdims=True), 1)
    steps = np.ceil(10.0 * matrix / sums).astype(int)
    names = [subject.class_name(k) for k in range(subject.n_classes)]
    rows = []
    for k, name in enumerate(names):
        cells = [
            Markup(f'<td class="heat{step}{" own" if j == k else ""}">{count(int(n))}</td>')
            for j, (n, step) in enumerate(zip(matrix[k], steps[k], strict=True))
        ]
        rows.append((name, *cells))
    return card(
        "Confusion matrix",
        table(
            "Rows of each class (down) by the class predicted (across)", ["true", *names], rows, classes="numbers heat"
        ),
        wide=subject.n_classes > _WIDE_MATRIX,
    )


def _worst_confusions(subject: ClassSubject, outcome: ClassOutcome) -> str:
    found = outcome.confusion.tocoo()
    wrong = [(n, true, said) for true, said, n in zip(found.row, found.col, found.data, strict=True) if true != said]
    wrong.sort(key=lambda one: -one[0])
    rows = [(subject.class_name(i), subject.class_name(j), count(n)) for n, i, j in wrong[:_CONFUSIONS_SHOWN]]
    return card(
        "Most frequent confusions",
        table(f"Of {subject.n_classes} classes", ["true", "predicted", "rows"], rows, classes="numbers"),
    )


def _by_class(subject: ClassSubject, outcome: ClassOutcome) -> str:
    rows = np.asarray(outcome.confusion.sum(axis=1)).ravel()
    said = np.asarray(outcome.confusion.sum(axis=0)).ravel()
    right = outcome.confusion.diagonal()
    recall, precision = right / np.maximum(rows, 1), right / np.maximum(said, 1)
    order = list(range(subject.n_classes))
    if subject.n_classes > _CLASSES_SHOWN:
        order = sorted(order, key=lambda k: float(recall[k]))[:_CLASSES_SHOWN]
    lines = [
        (
            subject.class_name(k),
            count(int(rows[k])),
            share(float(recall[k])) if rows[k] else "no rows",
            share(float(precision[k])) if said[k] else "never predicted",
        )
        for k in order
    ]
    few = subject.n_classes <= _CLASSES_SHOWN
    which = "Each class" if few else f"The {_CLASSES_SHOWN} classes with the lowest recall"
    return card(
        "By class",
        table(which, ["class", "rows", "recall", "precision"], lines, classes="numbers"),
        wide=_WIDE_MATRIX < subject.n_classes <= _MATRIX_SHOWN,
    )


def _curves(subject: ClassSubject, outcome: ClassOutcome, drawn: dict[str, Chart]) -> list[str]:
    found = charts.thresholds(subject, outcome)
    if found is None:
        return [card("ROC and precision-recall", paragraph("Not defined: the data given hold rows of one class only."))]
    drawn["roc"], drawn["precision"] = found
    which = (
        f"“{subject.class_name(1)}” is the positive class."
        if subject.n_classes == 2
        else "One class against the rest"
        + (f"; of the {curves_shown} most frequent classes." if subject.n_classes > curves_shown else ".")
    )
    return [
        chart("roc", "ROC curve", f"Each point is a threshold on the score. {which}"),
        chart(
            "precision", "Precision and recall", f"Precision is the share of the rows selected that are right. {which}"
        ),
        _calibration(subject, outcome, drawn),
    ]


def _calibration(subject: ClassSubject, outcome: ClassOutcome, drawn: dict[str, Chart]) -> str:
    if outcome.probabilities is not None:
        is_true = subject.codes == 1 if subject.n_classes == 2 else subject.codes == outcome.predicted
        bins = reliability(outcome.probabilities, is_true, np.linspace(0.0, 1.0, 11))
        drawn["calibration"] = charts.probabilities(subject, bins)
        said = f"Mean difference between predicted and observed probability: {calibration_error(bins):.3f}."
        if subject.n_classes == 2:
            said += f" Brier score: {np.mean(np.square(outcome.probabilities - is_true)):.4f}."
        return chart("calibration", "Calibration", said, wide=True)
    if subject.n_classes == 2:
        drawn["calibration"] = charts.scores_by_bins(subject, outcome)
        name = subject.class_name(1)
        return chart(
            "calibration",
            "Scores and classes",
            f"The share of “{name}” among rows of similar score, one point per tenth of the rows. The model "
            "has no probabilities; probability=True fits them.",
            wide=True,
        )
    return card(
        "Calibration",
        paragraph("Left out: the model was fitted without probabilities; probability=True fits them."),
        wide=True,
    )


def hardest(subject: ClassSubject, outcome: ClassOutcome) -> str:
    """The rows with the smallest margins."""
    n = min(rows_shown, subject.n_rows)
    first = np.argpartition(outcome.margins, n - 1)[:n]
    order = first[np.argsort(outcome.margins[first], kind="stable")]
    rows = [
        (
            f"{k}",
            subject.class_name(subject.codes[k]),
            subject.class_name(outcome.predicted[k]),
            number(outcome.margins[k]),
            Markup(f'<td class="words">{text(excerpt(subject, int(k)))}</td>'),
        )
        for k in order
    ]
    return section(
        "hardest",
        "Hardest rows",
        paragraph(
            "The rows with the smallest margins; rows are counted from 0. Where a margin is below 0 the prediction is "
            "wrong: a wrong label, a rare case, or something the features do not show."
        ),
        card(
            "Least margins first",
            table("Rows of the data given", ["row", "true", "predicted", "margin", "what it is"], rows),
            wide=True,
        ),
    )
