"""The data of the charts, as page.js draws them: columns of numbers, and what they are called.

A chart is {"kind": "lines", "points" or "bars", "x": [{"key", "label", "log"}], "y": {"label", "log"}, "series":
[{"key", "name"}], "sets": [{"name", "columns", "marks", "note"}]}: of several sets the reader chooses one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.certificate import Certificate
from pegasos.report.curves import (
    Bins,
    Curves,
    counted,
    curves_of,
    equal_parts,
    margin_edges,
    most_points,
    reliability,
)
from pegasos.report.markup import number
from pegasos.report.outcome import ClassOutcome
from pegasos.report.subject import ClassSubject, Subject
from pegasos.solution import Trace

parts_shown = 30  # problems with a set of their own
_DIGITS = 6
_WIDE = 30.0  # a range that a logarithmic axis shows better

Chart = dict[str, Any]


def as_numbers(values: npt.ArrayLike) -> list[float | None]:
    """Numbers for JSON, which knows neither infinity nor NaN, with as many digits as are read."""
    return [float(f"{v:.{_DIGITS}g}") if np.isfinite(v) else None for v in np.asarray(values, np.float64).tolist()]


def axis(key: str, label: str, *, log: bool = False, can_be_log: bool = False) -> dict[str, Any]:
    """An axis: the column that it shows, and its label."""
    return {"key": key, "label": label, "log": log, "toggle": can_be_log}


def span(low: float | None = None, high: float | None = None) -> list[float | None]:
    """The ends of an axis; None: those of the data."""
    return [low, high]


def convergence(subject: Subject) -> Chart | None:
    """How primal and dual came together."""
    trace = subject.model.trace_
    if not len(trace):
        return None
    parts, proofs = trace.parts, subject.certificate.parts
    if len(parts) == 1 or len(parts) != len(proofs):
        sets = [_looks(subject.problem_name(0) if len(proofs) == 1 else "all problems, summed", trace)]
        if len(proofs) == 1:
            sets[0]["marks"] = _goal(subject, proofs[0])
    else:
        sets = [_looks("all problems, summed", trace)]
        for k, part in enumerate(parts[:parts_shown]):
            sets.append({**_looks(subject.problem_name(k), part), "marks": _goal(subject, proofs[k])})
    epochs = trace["epoch"][trace["epoch"] > 0.0]
    is_wide = len(epochs) > 1 and bool(epochs[-1] > _WIDE * epochs[0])
    return {
        "kind": "lines",
        "label": "Primal and dual objective and the gap between them, during the fit",
        "x": [
            axis("epoch", "epochs (passes over the rows)", log=is_wide, can_be_log=True),
            axis("seconds", "seconds", log=is_wide, can_be_log=True),
        ],
        "y": axis("y", "objective", log=True, can_be_log=True),
        "series": [
            {"key": "primal", "name": "primal: the objective reached"},
            {"key": "dual", "name": "dual: proved lower bound"},
            {"key": "gap", "name": "gap: at most this far from the best"},
        ],
        "points": True,
        "choose": "Problem",
        "sets": sets,
    }


def _goal(subject: Subject, proof: Certificate) -> list[dict[str, Any]]:
    """The gap at which the fit of a problem ends."""
    goal = proof.primal * (subject.model.tol or 0.0)
    return [{"y": goal, "label": f"requested gap: {number(goal)}"}] if goal > 0.0 else []


def _looks(name: str, trace: Trace) -> dict[str, Any]:
    kept = np.unique(np.linspace(0, len(trace) - 1, min(len(trace), most_points)).astype(int))
    keys = ("epoch", "seconds", "primal", "dual", "gap")
    return {"name": name, "columns": {key: as_numbers(trace[key][kept]) for key in keys}}


def thresholds(subject: ClassSubject, outcome: ClassOutcome) -> tuple[Chart, Chart] | None:
    """The receiver operating characteristic, and precision against recall; of the classes that have both."""
    found: list[tuple[str, float, Curves]] = []
    for code, scores in zip(outcome.shown, outcome.scores.T, strict=True):
        is_positive = subject.codes == code
        curves = curves_of(is_positive, scores)
        if curves is not None:
            found.append((subject.class_name(code), float(is_positive.mean()), curves))
    if not found:
        return None
    roc = _unit_chart(
        "ROC curve", ("false positive rate", "true positive rate"), [(name, c.roc, "AUC") for name, _, c in found]
    )
    precision = _unit_chart(
        "Precision-recall curve",
        ("recall", "precision"),
        [(name, c.precision_recall, "average precision") for name, _, c in found],
    )
    for one, (_, share, _) in zip(precision["sets"], found, strict=True):
        one["marks"] = [{"y": share, "label": f"at random: {number(share)}"}]
    for one in roc["sets"]:
        one["marks"] = [{"diagonal": True, "label": "at random"}]
    return roc, precision


def _unit_chart(label: str, axes: tuple[str, str], curves: list[tuple[str, Any, str]]) -> Chart:
    return {
        "kind": "lines",
        "label": label,
        "x": [axis("x", axes[0])],
        "y": axis("y", axes[1]),
        "series": [{"key": "y", "name": axes[1]}],
        "span": {"x": span(0.0, 1.0), "y": span(0.0, 1.0)},
        "choose": "Class",
        "sets": [
            {
                "name": name,
                "columns": {"x": as_numbers(curve.x), "y": as_numbers(curve.y)},
                "note": f"{measure} {curve.area:.4f}",
            }
            for name, curve, measure in curves
        ],
    }


def probabilities(subject: ClassSubject, bins: Bins) -> Chart:
    """What was said against what was true."""
    of = f"of “{subject.class_name(1)}”" if subject.n_classes == 2 else "of the class predicted"
    chart = _shares(bins, f"predicted probability {of}", "Calibration of the probabilities")
    chart["span"] = {"x": span(0.0, 1.0), "y": span(0.0, 1.0)}
    chart["sets"][0]["marks"] = [{"diagonal": True, "label": "said = true"}]
    return chart


def scores_by_bins(subject: ClassSubject, outcome: ClassOutcome) -> Chart:
    """The share of the second of two classes, by score."""
    scores = outcome.scores[:, 0]
    bins = reliability(scores, subject.codes == 1, equal_parts(scores, 10))
    chart = _shares(bins, "mean score of a tenth of the rows", "Share of the second class by score")
    chart["span"] = {"x": span(), "y": span(0.0, 1.0)}
    chart["sets"][0]["marks"] = [{"x": 0.0, "label": "boundary"}]
    return chart


def _shares(bins: Bins, xlabel: str, label: str) -> Chart:
    return {
        "kind": "lines",
        "label": label,
        "x": [axis("said", xlabel)],
        "y": axis("y", "share of the rows for which it is true"),
        "series": [{"key": "share", "name": "observed share"}],
        "points": True,
        "sets": [
            {
                "name": "all rows",
                "columns": {
                    "said": as_numbers(bins.means),
                    "share": as_numbers(bins.shares),
                    "rows": as_numbers(bins.counts),
                },
            }
        ],
    }


def margins(subject: ClassSubject, outcome: ClassOutcome) -> Chart:
    """How far rows are on the right side; for two classes both in one picture, for more one at a time."""
    edges = margin_edges(outcome.margins)
    marks = [{"x": 0.0, "label": "boundary"}]
    if subject.multi_class != "ovr":  # there the margin is no single problem's
        marks.append({"x": 1.0, "label": "hinge"})
    chart: Chart = {
        "kind": "bars",
        "label": "Histogram of margins",
        "x": [axis("edges", "margin: below 0 the prediction is wrong")],
        "y": axis("y", "rows"),
        "choose": "Class",
    }
    if subject.n_classes == 2:
        keys = [f"class{code}" for code in (0, 1)]
        columns = {key: counted(outcome.margins[subject.codes == k], edges).tolist() for k, key in enumerate(keys)}
        chart["series"] = [{"key": key, "name": subject.class_name(k)} for k, key in enumerate(keys)]
        chart["sets"] = [{"name": "all rows", "columns": {"edges": as_numbers(edges), **columns}, "marks": marks}]
        return chart
    chosen = [("all classes", np.ones(subject.n_rows, bool))]
    chosen += [(subject.class_name(code), subject.codes == code) for code in outcome.shown]
    chart["series"] = [{"key": "rows", "name": "rows"}]
    chart["sets"] = [
        {
            "name": name,
            "columns": {"edges": as_numbers(edges), "rows": counted(outcome.margins[mine], edges).tolist()},
            "marks": marks,
        }
        for name, mine in chosen
    ]
    return chart


def coefficients(subject: Subject) -> Chart:
    """How large the coefficients of the support vectors are."""
    values = np.ravel(subject.model.dual_coef_)
    values = values[values != 0.0]
    reach = float(np.abs(values).max(initial=0.0)) or 1.0
    edges = np.linspace(-reach, reach, 41)
    columns = {"edges": as_numbers(edges), "coefficients": counted(values, edges).tolist()}
    return {
        "kind": "bars",
        "label": "Histogram of the coefficients of the support vectors",
        "x": [axis("edges", "coefficient")],
        "y": axis("y", "support vectors"),
        "series": [{"key": "coefficients", "name": "coefficients"}],
        "sets": [{"name": "all", "columns": columns, "marks": [{"x": 0.0, "label": "0"}]}],
    }


def choice_of_lam(model: Any) -> Chart:
    """The scores of a cross-validation against lam; of several epsilons the chosen one first."""
    scores, lams = np.asarray(model.scores_), np.asarray(model.lams_)
    epsilons = np.asarray(model.cv_results_.get("param_epsilon", np.zeros(len(lams))))
    names = sorted(set(epsilons.tolist()), key=lambda epsilon: epsilon != getattr(model, "epsilon_", 0.0))
    sets: list[dict[str, Any]] = []
    for epsilon in names:
        mine = epsilons == epsilon
        columns = {"lam": as_numbers(lams[mine]), "score": as_numbers(scores.mean(axis=0)[mine])}
        sets.append({"name": number(epsilon) if len(names) > 1 else "all folds", "columns": columns})
    sets[0]["marks"] = [{"x": float(model.lam_), "label": f"chosen: {number(model.lam_)}"}]
    own = "R²" if hasattr(model, "epsilon_") else "accuracy"
    return {
        "kind": "lines",
        "label": "Score of the cross-validation against lam",
        "x": [axis("lam", "lam", log=True)],
        "y": axis("y", own if model.scoring is None else "score"),
        "series": [{"key": "score", "name": "mean of the folds"}],
        "points": True,
        "choose": "epsilon",
        "sets": sets,
    }
