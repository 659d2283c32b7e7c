"""Layout 1 of the model files: which attributes of each estimator a file holds, and how they become a `Fit` again.

The names and shapes in the files are older than `Fit`. `record_of` lays a `Fit` out under those names, and `restore`
reads it back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from pegasos import _core
from pegasos.fitting.probability import Calibration, Isotonic, IsotonicCurve
from pegasos.fitting.result import Fit, Origin, Proof
from pegasos.kernels import Kernel, Mismatch, Precomputed
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.kernel_stream import KernelStream
from pegasos.machines.linear import LinearModel
from pegasos.machines.linear_stream import LinearStream
from pegasos.machines.prior import LinearFormula, LinearPrior, ScoredPrior
from pegasos.persistence import Fitted
from pegasos.persistence.records import (
    certificate,
    kernel_online_state,
    one_certificate,
    one_trace,
    online_state,
    pegasos_state,
    trace,
)
from pegasos.persistence.specs import (
    Array,
    Count,
    Either,
    Flag,
    Many,
    Names,
    Number,
    Optional,
    Reader,
    Record,
    Spec,
    Text,
    Writer,
    require,
)
from pegasos.persistence.values import Kind, Shared, anything
from pegasos.solution import Status, Trace
from pegasos.tasks import CLASSIFICATIONS, STORED_CLASSIFICATIONS, Classification, ManyLabels, OneVsRest, Terms

_FLOATS = "float32 float64"
_FEATURES = "n_features_in_"
_loose = Number(is_finite=False, is_number=False)
_one_each = Array("float64", "n_problems")
_of_classes = Array("float64", "n_classes")


@dataclass(frozen=True)
class StoredTerms:
    """`Terms` and what a file keeps of the task beside the classes."""

    lam: float
    bias: float
    is_free: bool
    factors: npt.NDArray[np.float64] | None
    total: float
    n_classes: int
    C: float | None
    largest_norm: float
    least_cost: float
    multi_class: str
    totals: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    cap: float = 1.0
    ridge: float = 0.0
    lams_found: npt.NDArray[np.float64] | None = None

    @classmethod
    def of(cls, terms: Terms, task: Classification) -> StoredTerms:
        """As they are laid out."""
        of_task = {"factors": task.factors, "totals": task.totals, "counts": task.counts}
        of_task["lams_found"] = None if task.lams_found is None else np.array(task.lams_found)
        values: dict[str, Any] = {**vars(terms), **of_task, "n_classes": task.n_classes, "multi_class": task.name}
        return cls(**values)

    @property
    def terms(self) -> Terms:
        """As a fit has them."""
        return Terms(**{each.name: getattr(self, each.name) for each in fields(Terms)})


@dataclass(frozen=True)
class StoredOrigin:
    """`Origin` and the task."""

    words: str
    multi_class: str


@dataclass(frozen=True)
class StoredLinearStream:
    """`LinearStream`, and how much of each class it has seen."""

    n_rows: int
    totals: npt.NDArray[np.float64]
    counts: npt.NDArray[np.float64]
    weights: Any
    steps: Any
    states: Any
    seed: int
    traces: list[Trace]
    certificates: Any


@dataclass(frozen=True)
class StoredKernelStream:
    """`KernelStream` without states, and how much of each class it has seen."""

    n_rows: int
    totals: npt.NDArray[np.float64]
    seed: int
    steps: Any
    support: Any
    coefficients: Any
    sums: Any
    averaged: int
    traces: list[Trace]


def _tasks() -> dict[str, type[OneVsRest]]:
    """Every task whose models a file may hold, whoever added it."""
    return {**STORED_CLASSIFICATIONS, **CLASSIFICATIONS}


class TaskName(Text):
    """The name of a task that this version knows, whoever added it."""

    def unpack(self, stored: Any, what: str, source: Reader) -> str:
        """One of the tasks."""
        require(stored in _tasks(), what, "a word that is known")
        return str(stored)


class Classes:
    """The labels: of any type, different, in order."""

    def pack(self, value: npt.NDArray[Any], what: str, out: Writer) -> Any:
        """As any array."""
        return anything.pack(value, what, out)

    def unpack(self, stored: Any, what: str, source: Reader) -> npt.NDArray[Any]:
        """Two at least, except for columns of an indicator matrix."""
        labels = anything.unpack(stored, what, source)
        require(isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) >= 1, what, "a list of labels")
        require(bool((labels[:-1] < labels[1:]).all()), what, "a sorted list of different labels")
        source.agree(what, "n_classes", len(labels))
        return np.asarray(labels)


class Source:
    """The prior that a model was given: the parameter itself, or nothing when that was changed afterwards."""

    def pack(self, value: Any, what: str, out: Writer) -> Any:
        """The number of the parameter."""
        return None if out.number_of(value) is None else Shared().pack(value, what, out)

    def unpack(self, stored: Any, what: str, source: Reader) -> Any:
        """The same object."""
        return Shared().unpack(stored, what, source)


class Columns:
    """A table: arrays of one length, by name."""

    def pack(self, value: Mapping[str, Any], what: str, out: Writer) -> dict[str, str]:
        """Each column."""
        return {name: out.array(f"{what}_{name}", column) for name, column in value.items()}

    def unpack(self, stored: Any, what: str, source: Reader) -> dict[str, Any]:
        """Read a table of columns of numbers."""
        require(isinstance(stored, dict), what, "a table")
        column = Array("float64 int32 int64", "n_lams", is_finite=False)
        return {str(name): column.unpack(each, what, source) for name, each in stored.items()}


_DOUBT = "The kernel is not positive semi-definite"  # how `status_` begins where the certificate proves nothing
_above_0 = float(np.finfo(np.float64).smallest_subnormal)


def _check_terms(terms: StoredTerms, lengths: Mapping[str, int]) -> None:
    """What is divided by must not be 0, in any problem."""
    weights = [each for each in (terms.totals, terms.counts, terms.factors) if each is not None]
    require(terms.n_classes > 1 or terms.multi_class == ManyLabels.name, "classes_", "at least two")
    require(all(bool((each >= 0.0).all()) for each in weights), "the weight of a class", "at least 0")
    whole = terms.counts if terms.multi_class == ManyLabels.name else terms.totals
    require(bool(whole.any()), "the weight of all classes", "above 0")
    if terms.lams_found is not None:
        n_problems = _tasks()[terms.multi_class].of(np.arange(terms.n_classes)).n_problems
        require(len(terms.lams_found) == n_problems, "what nu has set", "one number per problem")
        require(bool((terms.lams_found > 0.0).all()), "what nu has set", "above 0")
    require(terms.ridge > 0.0 or terms.cap < np.inf, "the ridge of a loss without a cap", "above 0")


_terms = Record(
    StoredTerms,
    {
        "lam": Number(_above_0),
        "bias": Number(0.0),
        "is_free": Flag(),
        "factors": Optional(_of_classes),
        "total": Number(_above_0),
        "n_classes": Count(1, dimension="n_classes"),
        "C": Optional(Number(0.0, is_finite=False)),
        "largest_norm": Number(0.0),
        "least_cost": Number(0.0, is_finite=False),
        "multi_class": TaskName(),
        "totals": _of_classes,
        "counts": _of_classes,
        "cap": Number(_above_0, is_finite=False),
        "ridge": Number(0.0),
        "lams_found": Optional(Array("float64", None)),
    },
    added=frozenset({"cap", "ridge", "lams_found"}),
    check=_check_terms,
)
_calibration = Record(Calibration, {"slopes": Array("float64", "n_scores"), "shifts": Array("float64", "n_scores")})
_knots = Array("float64", "n_knots")
_curve = Record(IsotonicCurve, {"scores": _knots, "probabilities": _knots}, own=("n_knots",))
_isotonic = Record(Isotonic, {"curves": Many(_curve, "n_scores", kind=tuple)})
_head: dict[str, Spec] = {"classes_": Classes(), "_terms": _terms}
NAMES: dict[str, Spec] = {_FEATURES: Count(1, dimension=_FEATURES), "feature_names_in_": Names(_FEATURES)}
_proof: dict[str, Spec] = {
    "certificate_": certificate,
    "trace_": trace,
    "n_iter_": Count(),
    "n_steps_": Count(),
    "margin_": Either({float: _loose, np.ndarray: Array("float64", "n_problems", is_finite=False)}),
    "_free_intercepts": _one_each,
    "_intercept_reach": Array("float64", "n_problems", is_finite=False),
    "_calibration": Optional(_calibration),
    "_isotonic": Optional(_isotonic),
    "_status": Text(tuple(status.name for status in Status)),
}
# Files of earlier versions have no isotonic probabilities, and name the status only in the words of `status_`.
_together = ("_terms", *(name for name in _proof if name not in ("_isotonic", "_status")))
_coef = Array("float64", "n_scores", _FEATURES)


def _task_of(record: Any) -> OneVsRest:
    """The task of a record, without its costs: enough to determine the lengths of the arrays that follow."""
    told = getattr(record, "_origin", None) or getattr(record, "_terms", None) or record
    return _tasks()[getattr(told, "multi_class", "ovr")].of(record.classes_)


def _lengths(record: Any) -> dict[str, int]:
    task = _task_of(record)
    return {"n_problems": task.n_problems, "n_scores": task.n_problems * task.n_vectors}


def _alpha(record: Any) -> Spec:
    """The dual point: a vector, or one row per problem or class; for pairs of classes, one vector each."""
    lengths = _lengths(record)
    if lengths["n_scores"] == 1:
        return Array(_FLOATS, "n_rows")
    if _task_of(record).name == "ovo":
        return Many(Array(_FLOATS, None), "n_problems")
    return Array(_FLOATS, "n_scores", "n_rows")


def _linear(record: Any) -> dict[str, Spec]:
    is_joint = _task_of(record).n_vectors > 1
    width = "class_width" if is_joint else None
    vectors = ("n_classes", f"{_FEATURES}+1") if is_joint else (f"{_FEATURES}+1",)
    stream = Record(
        StoredLinearStream,
        {
            "n_rows": Count(),
            "totals": _of_classes,
            "counts": _of_classes,
            "weights": Many(Array(_FLOATS, *vectors), "n_problems"),
            "steps": Many(Count(), "n_problems"),
            "states": Many(Optional(pegasos_state(*([width] if width else []))), "n_problems"),
            "seed": Count(),
            "traces": Many(one_trace, "n_problems"),
            "certificates": Many(one_certificate, "n_problems"),
        },
    )
    prior = {"coef": _coef, "intercept": Array("float64", "n_scores")}
    return {
        **NAMES,
        "coef_": _coef,
        "intercept_": Array("float64", "n_scores"),
        "_prior": Optional(Record(LinearPrior, {"source": Source(), **prior})),
        "alpha_": _alpha(record),
        "support_": Array("int64", None),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def _linear_lengths(record: Any) -> dict[str, int]:
    return {**_lengths(record), "class_width": int(_core.class_width(len(record.classes_)))}


# Models trained elsewhere have no terms and no certificate.
_origin = Record(StoredOrigin, {"words": Text(), "multi_class": TaskName()})
_foreign_head: dict[str, Spec] = {"classes_": Classes(), "_origin": _origin}
_of_foreign: dict[str, Spec] = {
    _FEATURES: Count(dimension=_FEATURES),
    "intercept_": Array("float64", "n_scores"),
    "_free_intercepts": Array("float64", "n_scores"),
    "_calibration": Optional(_calibration),
    "status_": Text(),
}


def _foreign(own: Mapping[str, Spec]) -> Fitted:
    """The attributes of a model with these vectors that was trained elsewhere."""
    needed = {**own, **_of_foreign}
    specs = {**needed, "feature_names_in_": NAMES["feature_names_in_"]}
    return Fitted(_foreign_head, lambda _: specs, (*_foreign_head, *needed), lengths=_lengths, restore=restore)


def record_of(model: Any) -> dict[str, Any]:
    """The attributes of a certified classifier under the names of the file."""
    fitted: Fit = model._current
    task, terms, proof, stream = fitted.task, fitted.terms, fitted.proof, fitted.state
    has = {name: value for name, value in vars(model).items() if name != "fitted_"}
    is_isotonic = isinstance(fitted.calibration, Isotonic)
    has |= {"_isotonic" if is_isotonic else "_calibration": fitted.calibration, "_prior": fitted.model.prior}
    if is_isotonic:
        has["_calibration"] = None
    if hasattr(fitted.model, "n_training"):
        has["_n_training"] = fitted.model.n_training
    if fitted.origin is not None:
        origin = StoredOrigin(fitted.origin.words, task.name)
        return has | {"_origin": origin, "_free_intercepts": fitted.model.vectors["intercept"]}
    if terms is not None and proof is not None:
        has |= {"_terms": StoredTerms.of(terms, task), "_status": proof.status.name}
        has |= {"_free_intercepts": proof.intercepts, "_intercept_reach": proof.intercept_reach}
    if stream is not None:
        kind = StoredLinearStream if isinstance(stream, LinearStream) else StoredKernelStream
        values = {**vars(stream), "totals": task.totals, "counts": task.counts}
        has["_stream"] = kind(**{each.name: values[each.name] for each in fields(kind)})
    return has


def restore(model: Any, found: Mapping[str, Any]) -> None:
    """Give an estimator what a file holds."""
    others = {name: value for name, value in found.items() if name in (_FEATURES, "feature_names_in_", *SEARCH)}
    model.__dict__.update(others)
    model._write(_fit_of(found, model))
    model.status_ = found["status_"]  # in the words of the version that wrote the file
    if "support_" not in found:
        model.__dict__.pop("support_", None)


# What a choice of lam leaves besides the fit.
SEARCH: dict[str, Spec] = {
    "lam_": Number(0.0),
    "lams_": Array("float64", "n_lams"),
    "scores_": Array("float64", None, "n_lams", is_finite=False),
    "cv_results_": Columns(),
}


def _fit_of(found: Mapping[str, Any], model: Any) -> Fit:
    origin, stored, stream = found.get("_origin"), found.get("_terms"), found.get("_stream")
    name = next(
        (each.multi_class for each in (origin, stored) if each is not None), getattr(model, "multi_class", "ovr")
    )
    seen = stored or stream
    of_rows = {"class_weight": model.class_weight}
    if seen is not None:
        of_rows |= {"totals": seen.totals, "counts": getattr(seen, "counts", seen.totals)}
        of_rows |= {"factors": getattr(seen, "factors", None)}
        lams = getattr(seen, "lams_found", None)
        of_rows["lams_found"] = None if lams is None else tuple(lams.tolist())
    task = _tasks()[name](classes=found["classes_"], **of_rows)
    return Fit(
        _model_of(found),
        task,
        None if stored is None else stored.terms,
        None if stored is None else _proof_of(found),
        _stream_of(stream),
        found.get("_isotonic") or found.get("_calibration"),
        doubt=found["status_"].startswith(_DOUBT),
        origin=None if origin is None else Origin(origin.words),
    )


def _model_of(found: Mapping[str, Any]) -> Any:
    prior, stream = found.get("_prior"), found.get("_stream")
    if "coef_" in found:
        return LinearModel(found["coef_"], found["intercept_"], prior)
    names = ("kernel", "support", "support_vectors", "dual_coef", "intercept")
    is_of_fit = stream is not None and not stream.traces[0].rows
    values = {name: found[f"{name}_"] for name in names}
    return KernelModel(**values, n_training=found.get("_n_training", 0), prior=prior, indexed=is_of_fit)


def _proof_of(found: Mapping[str, Any]) -> Proof:
    told = found.get("_status")
    status = _status_in(found["status_"]) if told is None else Status[told]
    return Proof(
        status=status,
        certificate=found["certificate_"],
        trace=found["trace_"],
        alpha=found.get("alpha_"),
        n_epochs=found["n_iter_"],
        n_steps=found["n_steps_"],
        intercepts=found["_free_intercepts"],
        intercept_reach=found["_intercept_reach"],
        support=found.get("support_"),
    )


def _status_in(words: str) -> Status:
    """The status in the words of a file of an earlier version."""
    return next((status for status in Status if status.value in words), Status.COMPLETED)


def _stream_of(stored: Any) -> Any:
    if stored is None:
        return None
    kind = LinearStream if isinstance(stored, StoredLinearStream) else KernelStream
    return kind(**{name: value for name, value in vars(stored).items() if name not in ("totals", "counts")})


def lean_linear(has: Mapping[str, Any]) -> dict[str, Any]:
    """A linear model without the arrays that are as long as the training data; a stream continues from its weights."""
    kept = {name: value for name, value in has.items() if name not in ("alpha_", "support_")}
    stream = kept.get("_stream")
    return kept if stream is None else kept | {"_stream": replace(stream, states=[None] * len(stream.states))}


def lean_kernel(has: Mapping[str, Any]) -> dict[str, Any]:
    """A kernel model without its dual point; the coefficients of the support vectors stay."""
    return {name: value for name, value in has.items() if name != "alpha_"}


linear = Fitted(
    _head,
    _linear,
    ("classes_", _FEATURES, "coef_", "intercept_", "_prior", "status_"),
    _together,
    _linear_lengths,
    record=record_of,
    restore=restore,
    lean=lean_linear,
    foreign=_foreign({"coef_": _coef}),
)


def _linear_cv(record: Any) -> dict[str, Spec]:
    return {**_linear(record), **SEARCH}


linear_cv = Fitted(
    _head,
    _linear_cv,
    (*linear.needed, *SEARCH),
    _together,
    _linear_lengths,
    record=record_of,
    restore=restore,
    lean=lean_linear,
)

_items: dict[str, Spec] = {
    "kernel_": Shared(),
    "support_": Array("int64", "n_support"),
    "support_vectors_": Shared(),
    "_n_training": Count(),
}
SUPPORT: dict[str, Spec] = {
    **NAMES,
    **_items,
    "dual_coef_": Array("float64", "n_problems", "n_support"),
    "intercept_": _one_each,
}


def _kernel(record: Any) -> dict[str, Spec]:
    coefficients = Array("float64", "n_scores", "n_support")
    stream = Record(
        StoredKernelStream,
        {
            "n_rows": Count(),
            "totals": _of_classes,
            "seed": Count(),
            "steps": Many(Count(), "n_problems"),
            "support": Shared(),
            "coefficients": coefficients,
            "sums": Optional(coefficients),
            "averaged": Count(),
            "traces": Many(one_trace, "n_problems"),
        },
    )
    mixing = Array("float64", "n_prior_scores", "n_scores")
    columns = Optional(Array("int64", None, below=_FEATURES))
    prior = Record(ScoredPrior, {"source": Source(), "model": Shared(), "mixing": mixing, "columns": columns})
    return {
        **SUPPORT,
        "dual_coef_": coefficients,
        "intercept_": Array("float64", "n_scores"),
        "_prior": Optional(prior),
        "alpha_": _alpha(record),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def check_support(model: Any) -> None:
    """Whether the kernel reads the support vectors, and there are as many as coefficients."""
    kernel, support, vectors = model.kernel_, model.support_, model.support_vectors_
    require(isinstance(kernel, Kernel), "kernel_", "a kernel")
    require(isinstance(model.kernel, str | Kernel), "kernel", "a word or a kernel")
    require(not len(support) or int(support.min()) >= 0, "support_", "a list of numbers of rows")
    if isinstance(kernel, Precomputed):
        require(not len(support) or int(support.max()) < model._n_training, "support_", "within the training rows")
        return
    require(_num_samples(vectors) == len(support), "support_vectors_", "one item for each coefficient")
    if not len(support) or _is_costly(kernel):
        return
    n_features = getattr(model, _FEATURES, None)
    items = kernel.read(vectors)
    require(len(items) == len(support), "support_vectors_", "one item for each coefficient")
    if kernel.takes_vectors:
        require(vectors.shape[1] == n_features, "support_vectors_", "rows of the features of the model")


def _is_costly(kernel: Kernel) -> bool:
    """Whether reading a short text may take long: it is done when the model is used."""
    inner = kernel.get_params(deep=False).values()
    return isinstance(kernel, Mismatch) or any(isinstance(each, Kernel) and _is_costly(each) for each in inner)


def _check_kernel(record: Any) -> None:
    check_support(record)
    stream, support = record._stream, record.support_
    require(stream.support is record.support_vectors_, "_stream", "about the support vectors")
    if record._prior is not None:
        require(hasattr(record._prior.model, "decision_function"), "_prior", "a model")
    if stream.traces[0].rows or not hasattr(record, "alpha_"):
        return
    alphas = record.alpha_ if isinstance(record.alpha_, list) else list(np.atleast_2d(record.alpha_))
    n_problems_per_row = len(record.classes_) - 1 if isinstance(record.alpha_, list) else len(alphas)
    n_entries = sum(len(alpha) for alpha in alphas)
    require(n_entries == record._n_training * n_problems_per_row, "alpha_", "of the training rows")
    require(not len(support) or support.max() < record._n_training, "support_", "of the training rows")


kernel = Fitted(
    _head,
    _kernel,
    ("classes_", "kernel_", "support_", "support_vectors_", "dual_coef_", "intercept_", "_prior", "status_", "_stream"),
    _together,
    _lengths,
    _check_kernel,
    record_of,
    restore,
    lean_kernel,
    replace(_foreign({**_items, "dual_coef_": Array("float64", "n_scores", "n_support")}), check=check_support),
)

_online_head: dict[str, Spec] = {"classes_": Classes()}
_curves: dict[str, Spec] = {
    "_totals": _of_classes,
    "mistakes_": Count(),
    "n_steps_": Count(),
    "n_iter_": Count(),
    "mistake_curve_": Array("int64", None, 2),
    "loss_curve_": Array("float64", None, 2),
}


def _online_lengths(model: Any) -> dict[str, int]:
    return {"n_problems": OneVsRest.of(model.classes_).n_problems}


def _online(model: Any) -> dict[str, Spec]:
    of_weights = Array("float64", "n_problems", _FEATURES)
    vectors = {"coef_": of_weights, "intercept_": _one_each, "variances_": of_weights}
    return {**NAMES, **_curves, **vectors, "_state": online_state}


def _kernel_online(model: Any) -> dict[str, Spec]:
    return {**SUPPORT, **_curves, "rho_": _one_each, "_state": kernel_online_state}


_ALWAYS = ("classes_", "intercept_", "_state", "_totals", "mistakes_", "n_steps_", "mistake_curve_", "loss_curve_")
online = Fitted(_online_head, _online, (*_ALWAYS, _FEATURES, "coef_"), lengths=_online_lengths)
kernel_online = Fitted(
    _online_head,
    _kernel_online,
    (*_ALWAYS, "kernel_", "support_", "support_vectors_", "dual_coef_", "_n_training"),
    lengths=_online_lengths,
    check=check_support,
)


def _check_auto(model: Any) -> None:
    """Whether the winner is a pipeline of steps that ends in a machine, for the same classes and features."""
    pipeline = model.best_estimator_
    require(isinstance(pipeline, Pipeline) and len(pipeline.steps) <= 3, "best_estimator_", "a pipeline")
    machine = pipeline.steps[-1][1]
    require(isinstance(getattr(machine, "_saved", None), Fitted), "best_estimator_", "a pipeline with a machine")
    require(np.array_equal(machine.classes_, model.classes_), "classes_", "those of the winner")
    check_winner(model, pipeline)


def check_winner(model: Any, pipeline: Any) -> None:
    """Whether all steps are about the same features, and the search left a table; columns of a frame come first."""
    steps = [step for _, step in pipeline.steps]
    reads_columns = pipeline.steps[0][0] == "columns"
    for together in ((model, steps[0]), steps[1:]) if reads_columns else ((model, *steps),):
        require(len({getattr(each, _FEATURES, None) for each in together}) == 1, _FEATURES, "that of the winner")
    require(isinstance(model.leaderboard_, list) and isinstance(model.best_params_, dict), "leaderboard_", "a table")


def search_of_settings(model: Any) -> dict[str, Spec]:
    """What a search for settings leaves."""
    texts_and_tables: dict[str, Spec] = {"best_params_": anything, "leaderboard_": anything, "account_": Text()}
    texts_and_tables["scoring_"] = Text()
    counts: dict[str, Spec] = {"best_score_": _loose, "n_rows_fitted_": Count(1)}
    return {**NAMES, "best_estimator_": Shared(), **counts, **texts_and_tables}


auto = Fitted(
    _online_head,
    search_of_settings,
    ("classes_", "best_estimator_", "best_score_", "n_rows_fitted_", "best_params_", "leaderboard_", "account_"),
    check=_check_auto,
)

_formula = Record(
    LinearFormula,
    {"coef": Array("float64", "n_formulas", None), "intercept": Array("float64", "n_formulas")},
    ("n_formulas",),
)
anything.kinds["formula"] = Kind(
    lambda value: isinstance(value, LinearFormula),
    lambda value, what, out: {"parts": _formula.pack(value, what, out)},
    lambda stored, what, source: _formula.unpack(stored.get("parts"), what, source),
)
