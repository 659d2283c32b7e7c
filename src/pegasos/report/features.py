"""What a model looks at: the strongest features of a linear one, the support vectors of a kernel one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pegasos.report import charts
from pegasos.report.charts import Chart, parts_shown
from pegasos.report.markup import bar, card, chart, count, grid, number, paragraph, share, table, text
from pegasos.report.outcome import Outcome
from pegasos.report.subject import Subject, shortened
from pegasos.report.words import rows_of_fit

_OF_TWO = 20  # features shown where there is one weight vector
_OF_EACH = 10


def strongest(subject: Subject, outcome: Outcome) -> str:
    """The features that move scores most, for each weight vector."""
    coef = np.atleast_2d(np.asarray(subject.model.coef_))
    spreads = outcome.spreads if outcome.spreads is not None else np.ones(coef.shape[1])
    n_shown = _OF_TWO if len(coef) == 1 else _OF_EACH
    blocks = []
    for k in range(min(len(coef), parts_shown)):
        name = subject.vector_name(k)
        blocks.append((name, _table(subject, name, coef[k], spreads, n_shown)))
    how = paragraph(
        "Features by weight times spread: how much a score moves when the feature moves by its standard deviation on "
        f"the data given. Bars to the right speak for {subject.favoured}, to the left against."
    )
    if len(blocks) == 1:
        return how + card("Strongest features", blocks[0][1], wide=True)
    options = "".join(f"<option>{text(name)}</option>" for name, _ in blocks)
    chosen = f'<label class="choose" hidden>Weights of <select data-choose="features">{options}</select></label>'
    inner = "".join(f'<div data-of="features">{block}</div>' for _, block in blocks)
    left_out = len(coef) - len(blocks)
    more = paragraph(f"{left_out} more are left out.") if left_out else ""
    return how + card("Strongest features", chosen, inner, more, wide=True)


def _table(
    subject: Subject, name: str, weights: npt.NDArray[np.float64], spreads: npt.NDArray[np.float64], n_shown: int
) -> str:
    effects = weights * spreads
    n = min(n_shown, len(effects))
    first = np.argpartition(-np.abs(effects), n - 1)[:n]
    order = first[np.argsort(-np.abs(effects[first]), kind="stable")]
    largest = float(np.abs(effects[order]).max(initial=0.0))
    rows = [
        (subject.feature_name(j), bar(float(effects[j]), largest), number(effects[j]), number(weights[j]))
        for j in order
        if effects[j] != 0.0
    ]
    heads = ["feature", "against | for", "weight times spread", "weight"]
    return table(f"{name}: {len(rows)} of {count(len(effects))} features", heads, rows, classes="numbers bars")


def support(subject: Subject, drawn: dict[str, Chart]) -> str:
    """How many rows the model is made of, and how much each has to say."""
    model = subject.model
    n_support, n_trained = len(model.support_), rows_of_fit(model)
    drawn["coefficients"] = charts.coefficients(subject)
    said = (
        f"The kernel is {shortened(str(model.kernel_), 200)}. {count(n_support)} of {count(n_trained)} training rows "
        f"({share(n_support / max(n_trained, 1))}) are support vectors: a score is a weighted sum of the "
        "row's kernel values with them."
    )
    picture = chart(
        "coefficients",
        "Coefficients of the support vectors",
        f"Positive ones speak for {subject.favoured}, negative ones against.",
    )
    return grid(card("Support vectors", paragraph(said)), picture)
