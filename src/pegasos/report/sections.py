"""The parts of the page, each from the subject and its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pegasos.certificate import Certificate
from pegasos.report import charts, words
from pegasos.report.charts import Chart
from pegasos.report.features import strongest, support
from pegasos.report.markup import (
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
    table,
    text,
    tile,
)
from pegasos.report.outcome import Outcome
from pegasos.report.subject import Subject, shortened


class Parts(NamedTuple):
    """What depends on what the model predicts: classes, numbers, or whether a row belongs."""

    tiles: str
    settled: str  # a card: what an exact solution would predict
    performance: str
    hardest: str
    result: tuple[str, str]  # of the model card
    limits: Sequence[str]


def summary(subject: Subject, outcome: Outcome, parts: Parts) -> str:
    """The verdict, and the numbers to be seen first."""
    took = tile(seconds(words.seconds_of(subject.model)), "to train", count(subject.model.n_iter_, "epoch"))
    said = words.verdict(subject)
    sign = {"reached": "✓", "partly": "!", "open": "✗"}[said.standing]
    return section(
        "summary",
        "In short",
        f'<div class="verdict {said.standing}"><p class="headline"><span class="sign" aria-hidden="true">{sign}</span>'
        f"{text(said.headline)}</p>{paragraph(said.explanation)}</div>",
        f'<ul class="tiles">{parts.tiles}{took}</ul>',
        f'<p class="which">{text(words.which_rows(subject, outcome))}</p>',
    )


def proof(subject: Subject, outcome: Outcome, drawn: dict[str, Chart], parts: Parts) -> str:
    """The certificate in numbers, and how it came about."""
    graph = charts.convergence(subject)
    picture = card("How the proof came about", paragraph("This model keeps no trace of its fit."), wide=True)
    if graph is not None:
        drawn["convergence"] = graph
        picture = chart(
            "convergence",
            "How the proof came about",
            "The objective falls, its lower bound rises; the best possible is always between the two.",
            wide=True,
        )
    numbers = card("In numbers", _numbers(subject, outcome), _parts(subject))
    return section("proof", "The proof", grid(picture, numbers, parts.settled))


def _numbers(subject: Subject, outcome: Outcome) -> str:
    columns: list[tuple[str, Certificate]] = [("at the end of the fit", subject.certificate)]
    if outcome.again is not None:
        columns.append(("computed again, now", outcome.again))
    lines = (
        ("objective reached (primal)", "primal"),
        ("lower bound on every objective (dual)", "dual"),
        ("gap", "gap"),
        ("gap over objective", "relative_gap"),
        ("the best weights are at most this far away", "weight_radius"),
    )
    return table(
        "The certificate",
        ["", *(name for name, _ in columns)],
        [(line, *(f"{getattr(each, key):.7g}" for _, each in columns)) for line, key in lines],
        classes="numbers",
    )


def _parts(subject: Subject) -> str:
    """The certificates of several problems, the least proved first."""
    parts = subject.certificate.parts
    if len(parts) == 1:
        return ""
    order = np.argsort([-part.relative_gap for part in parts], kind="stable")[: charts.parts_shown].tolist()
    rows = [
        (subject.problem_name(k), number(parts[k].primal), number(parts[k].dual), f"{parts[k].relative_gap:.2e}")
        for k in order
    ]
    heads = ["problem", "primal", "dual", "gap over objective"]
    return details(
        f"The {len(parts)} problems, the largest relative gap first",
        table("Certificates of the problems", heads, rows, classes="numbers"),
    )


def model_part(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> str:
    """What the model looks at."""
    found = strongest(subject, outcome) if subject.is_linear else support(subject, drawn)
    heading = "What the model looks at" if subject.is_linear else "What the model is made of"
    return section("model", heading, found)


def choice(subject: Subject, drawn: dict[str, Chart]) -> str:
    """How the parameters were chosen, where the model chose them itself."""
    model, given = subject.model, subject.given
    if hasattr(given, "account_"):
        return section("choice", "How the model was chosen", card("The search", paragraph(given.account_), wide=True))
    if not hasattr(model, "lams_"):
        return ""
    drawn["choice"] = charts.choice_of_lam(model)
    said = f"lam = {number(model.lam_)} was chosen by cross-validation from {len(np.unique(model.lams_))} values."
    if len(drawn["choice"]["sets"]) > 1:
        chosen = f"lam = {number(model.lam_)} and epsilon = {number(float(model.epsilon_))}"
        said = f"{chosen} were chosen by cross-validation from {len(model.lams_)} pairs."
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


def model_card(subject: Subject, outcome: Outcome, parts: Parts) -> str:
    """What the model is, in short, for those who will use it."""
    model = subject.model
    trained = count(words.rows_of_fit(model), "row")
    items: list[tuple[str, Any]] = [
        ("model", f"{type(model).__name__}, solver {getattr(model, 'solver', 'auto')!r}: {_formula(subject)}"),
        ("predicts", subject.listed),
        ("trained on", f"{subject.trained_on} ({trained})" if subject.trained_on else trained),
        ("shown on", f"{count(subject.n_rows, 'row')}, {words.kind_of_rows(subject.X)}"),
    ]
    if hasattr(model, "n_features_in_"):
        items.append(("features", count(model.n_features_in_)))
    items += [parts.result, ("proved", words.verdict(subject).headline)]
    limits = "".join(f"<li>{text(one)}</li>" for one in words.limits(subject, outcome, parts.limits))
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
    return f"a support vector machine, {subject.kind}{kernel}"
