"""The parts of the page, each from the subject and its outcome."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from pegasos.certificate import Certificate
from pegasos.report import charts, words
from pegasos.report.charts import Chart
from pegasos.report.curves import calibration_error, reliability, wilson
from pegasos.report.features import strongest, support
from pegasos.report.markup import (
    Markup,
    card,
    chart,
    count,
    details,
    grid,
    number,
    pairs,
    paragraph,
    seconds,
    section,
    share,
    table,
    text,
    tile,
)
from pegasos.report.outcome import Outcome, curves_shown
from pegasos.report.subject import Subject, shortened

_matrix_shown = 20  # classes up to which the confusion matrix is shown whole
_wide_matrix = 6  # classes from which on it needs the width of the page
_classes_shown = 50
_confusions_shown = 20
_rows_shown = 10
_values_shown = 4
_excerpt = 160  # characters


def summary(subject: Subject, outcome: Outcome) -> str:
    """The verdict, and the numbers to be seen first."""
    said = words.verdict(subject)
    sign = {"reached": "✓", "partly": "!", "open": "✗"}[said.standing]
    hits = int(outcome.confusion.trace())
    low, high = wilson(hits, subject.n_rows)
    counts = np.bincount(subject.codes, minlength=subject.n_classes)
    model = subject.model
    tiles = [
        tile(
            share(hits / subject.n_rows),
            "accuracy on the data given",
            f"95 % interval {share(low)} to {share(high)}",
        ),
        tile(share(_balanced(outcome)), "mean recall of the classes", "unmoved by how frequent they are"),
        tile(share(float(counts.max()) / subject.n_rows), "the largest class", "what guessing it would get"),
    ]
    if outcome.is_sure is not None:
        sure = float(outcome.is_sure.mean())
        tiles.append(tile(share(sure), "of the predictions are settled", "no exact solution predicts otherwise"))
    took = max((float(part["seconds"].max(initial=0.0)) for part in (model.trace_, *model.trace_.parts)), default=0.0)
    tiles.append(tile(seconds(took), "to train", count(model.n_iter_, "epoch")))
    return section(
        "summary",
        "In short",
        f'<div class="verdict {said.standing}"><p class="headline"><span class="sign" aria-hidden="true">{sign}</span>'
        f"{text(said.headline)}</p>{paragraph(said.explanation)}</div>",
        f'<ul class="tiles">{"".join(tiles)}</ul>',
        f'<p class="which">{text(words.which_rows(subject, outcome))}</p>',
    )


def _balanced(outcome: Outcome) -> float:
    rows = np.asarray(outcome.confusion.sum(axis=1)).ravel()
    right = outcome.confusion.diagonal()
    return float(np.mean(right[rows > 0] / rows[rows > 0]))


def proof(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> str:
    """The certificate in numbers, and how it came about."""
    proved = subject.certificate
    columns: list[tuple[str, Certificate]] = [("at the end of the fit", proved)]
    if outcome.again is not None:
        columns.append(("computed again, now", outcome.again))
    lines = (
        ("objective reached (primal)", "primal"),
        ("lower bound of every objective (dual)", "dual"),
        ("gap", "gap"),
        ("gap over objective", "relative_gap"),
        ("the best weights are at most this far away", "weight_radius"),
    )
    numbers = table(
        "The certificate",
        ["", *(name for name, _ in columns)],
        [(line, *(f"{getattr(each, key):.7g}" for _, each in columns)) for line, key in lines],
        classes="numbers",
    )
    parts = ""
    if len(proved.parts) > 1:
        order = np.argsort([-part.relative_gap for part in proved.parts], kind="stable")[: charts.parts_shown]
        parts = details(
            f"The {len(proved.parts)} problems, the least proved first",
            table(
                "Certificates of the problems",
                ["problem", "primal", "dual", "gap over objective"],
                [
                    (subject.problem_name(k), number(part.primal), number(part.dual), f"{part.relative_gap:.2e}")
                    for k in order
                    for part in [proved.parts[k]]
                ],
                classes="numbers",
            ),
        )
    graph = charts.convergence(subject)
    picture = paragraph("This model keeps no trace of its fit.")
    if graph is not None:
        drawn["convergence"] = graph
        picture = chart(
            "convergence",
            "How the proof came about",
            "The objective falls, its lower bound rises; the best possible is always between the two.",
            wide=True,
        )
    return section("proof", "The proof", grid(picture, card("In numbers", numbers, parts), _settled(outcome)))


def _settled(outcome: Outcome) -> str:
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
    )


def results(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> str:
    """How the model does on the rows."""
    cards = [_confusion(subject, outcome), _by_class(subject, outcome)]
    drawn["margins"] = charts.margins(subject, outcome)
    cards.append(
        chart(
            "margins",
            "Margins",
            "How far rows are on the right side of the boundary. The outermost rows in a thousand are counted in the "
            "bars at the ends.",
            wide=True,
        )
    )
    return section("results", "Results on the data given", grid(*cards, *_curves(subject, outcome, drawn)))


def _confusion(subject: Subject, outcome: Outcome) -> str:
    if subject.n_classes > _matrix_shown:
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
        wide=subject.n_classes > _wide_matrix,
    )


def _worst_confusions(subject: Subject, outcome: Outcome) -> str:
    found = outcome.confusion.tocoo()
    wrong = [(n, true, said) for true, said, n in zip(found.row, found.col, found.data, strict=True) if true != said]
    wrong.sort(key=lambda one: -one[0])
    rows = [(subject.class_name(i), subject.class_name(j), count(n)) for n, i, j in wrong[:_confusions_shown]]
    return card(
        "Most frequent confusions",
        table(f"Of {subject.n_classes} classes", ["true", "predicted", "rows"], rows, classes="numbers"),
    )


def _by_class(subject: Subject, outcome: Outcome) -> str:
    rows = np.asarray(outcome.confusion.sum(axis=1)).ravel()
    said = np.asarray(outcome.confusion.sum(axis=0)).ravel()
    right = outcome.confusion.diagonal()
    recall, precision = right / np.maximum(rows, 1), right / np.maximum(said, 1)
    order = list(range(subject.n_classes))
    if subject.n_classes > _classes_shown:
        order = sorted(order, key=lambda k: float(recall[k]))[:_classes_shown]
    lines = [
        (
            subject.class_name(k),
            count(int(rows[k])),
            share(float(recall[k])) if rows[k] else "no rows",
            share(float(precision[k])) if said[k] else "never predicted",
        )
        for k in order
    ]
    which = "Each class" if subject.n_classes <= _classes_shown else f"The {_classes_shown} classes of least recall"
    return card(
        "By class",
        table(which, ["class", "rows", "recall", "precision"], lines, classes="numbers"),
        wide=_wide_matrix < subject.n_classes <= _matrix_shown,
    )


def _curves(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> list[str]:
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
        chart("roc", "ROC curve", f"What every threshold on the score does. {which}"),
        chart("precision", "Precision and recall", f"Of the rows found, how many are right. {which}"),
        _calibration(subject, outcome, drawn),
    ]


def _calibration(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> str:
    if outcome.probabilities is not None:
        is_true = subject.codes == 1 if subject.n_classes == 2 else subject.codes == outcome.predicted
        bins = reliability(outcome.probabilities, is_true, np.linspace(0.0, 1.0, 11))
        drawn["calibration"] = charts.probabilities(subject, bins)
        said = f"Mean distance of what was said and what was true: {calibration_error(bins):.3f}."
        if subject.n_classes == 2:
            said += f" Brier score: {np.mean(np.square(outcome.probabilities - is_true)):.4f}."
        return chart("calibration", "Calibration", said, wide=True)
    if subject.n_classes == 2:
        drawn["calibration"] = charts.scores_by_bins(subject, outcome)
        name = subject.class_name(1)
        return chart(
            "calibration",
            "Scores and classes",
            f"The share of “{name}” among rows of similar score, a tenth of the rows a point. The model has no "
            "probabilities; probability=True fits them.",
            wide=True,
        )
    return card(
        "Calibration",
        paragraph("Left out: the model was fitted without probabilities; probability=True fits them."),
        wide=True,
    )


def model_part(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> str:
    """What the model looks at."""
    found = strongest(subject, outcome) if subject.is_linear else support(subject, drawn)
    heading = "What the model looks at" if subject.is_linear else "What the model is made of"
    return section("model", heading, found)


def hardest(subject: Subject, outcome: Outcome) -> str:
    """The rows with the smallest margins."""
    n = min(_rows_shown, subject.n_rows)
    first = np.argpartition(outcome.margins, n - 1)[:n]
    order = first[np.argsort(outcome.margins[first], kind="stable")]
    rows = [
        (
            f"{k}",
            subject.class_name(subject.codes[k]),
            subject.class_name(outcome.predicted[k]),
            number(outcome.margins[k]),
            Markup(f'<td class="words">{text(_excerpt_of(subject, int(k)))}</td>'),
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


def _excerpt_of(subject: Subject, k: int) -> str:
    """A row in a line: a text cut short, or a few values; of a frame those that the user knows."""
    raw, row = _safe_indexing(subject.raw, [k]), _safe_indexing(subject.X, [k])
    values: list[tuple[str, Any]]
    if hasattr(raw, "columns"):
        values = list(zip(map(str, raw.columns), np.asarray(raw)[0], strict=True))
    elif not sp.issparse(raw) and isinstance(raw[0], str):
        return shortened(raw[0], _excerpt)
    elif sp.issparse(row):
        order = np.argsort(-np.abs(row.data), kind="stable")[: _values_shown + 1]
        values = [(subject.feature_name(int(row.indices[j])), row.data[j]) for j in order]
    elif hasattr(subject.model, "n_features_in_"):
        line = np.asarray(row)[0][: _values_shown + 1]
        values = [(subject.feature_name(j), value) for j, value in enumerate(line)]
    else:
        return shortened(repr(raw[0]), _excerpt)
    listed = [f"{shortened(name, 40)} = {_value(value)}" for name, value in values[:_values_shown]]
    return ", ".join([*listed, "…"] if len(values) > _values_shown else listed) or "all 0"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else shortened(str(value), 40)


def choice(subject: Subject, drawn: dict[str, Chart]) -> str:
    """How the parameters were chosen, where the model chose them itself."""
    model, given = subject.model, subject.given
    if hasattr(given, "account_"):
        return section("choice", "How the model was chosen", card("The search", paragraph(given.account_), wide=True))
    if not hasattr(model, "lams_"):
        return ""
    drawn["choice"] = charts.choice_of_lam(model)
    said = f"lam = {number(model.lam_)} was chosen by cross-validation, of {len(model.lams_)}."
    return section("choice", "How lam was chosen", grid(chart("choice", "Scores of the folds", said, wide=True)))


def run(subject: Subject) -> str:
    """How the fit went, with which parameters and versions."""
    settings = words.parameters(subject.model)
    return section(
        "run",
        "The run",
        grid(
            card("Details", pairs(words.run_details(subject))),
            card("Parameters", pairs(settings)),
        ),
    )


def model_card(subject: Subject, outcome: Outcome) -> str:
    """What the model is, in short, for those who will use it."""
    model = subject.model
    hits = int(outcome.confusion.trace())
    n_trained = words.rows_of_fit(model)
    classes = ", ".join(subject.class_name(k) for k in range(min(subject.n_classes, 12)))
    trained = count(n_trained, "row")
    items: list[tuple[str, Any]] = [
        ("model", f"{type(model).__name__}, solver {model.solver!r}: {_formula(subject)}"),
        ("classes", classes + (f", … ({subject.n_classes} in all)" if subject.n_classes > 12 else "")),
        ("trained on", f"{subject.trained_on} ({trained})" if subject.trained_on else trained),
        ("shown on", f"{count(subject.n_rows, 'row')}, {words.kind_of_rows(subject.X)}"),
    ]
    if hasattr(model, "n_features_in_"):
        items.append(("features", count(model.n_features_in_)))
    items.append(("accuracy", f"{share(hits / subject.n_rows)} on the data given"))
    items.append(("proved", words.verdict(subject).headline))
    limits = "".join(f"<li>{text(one)}</li>" for one in words.limits(subject, outcome))
    return section(
        "card",
        "Model card",
        grid(
            card("The model", pairs(items)),
            card("Limits", f"<ul>{limits}</ul>"),
            card(
                "To fit it again",
                f'<pre tabindex="0"><code>{text(words.code(subject))}</code></pre>',
                paragraph(words.on_repeating(subject)),
                wide=True,
            ),
        ),
    )


def _formula(subject: Subject) -> str:
    kernel = "" if subject.is_linear else f", kernel {shortened(str(subject.model.kernel_), 80)}"
    kind = {
        "binary": "two classes",
        "ovr": "each class against the rest",
        "ovo": "each pair of classes",
        "crammer_singer": "all classes at once",
    }[subject.multi_class]
    return f"a support vector machine, {kind}{kernel}"
