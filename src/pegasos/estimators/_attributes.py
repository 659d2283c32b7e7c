"""The attributes of each fitted estimator, for its file: what each must be, and how they must fit together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import _num_samples

from pegasos import _core
from pegasos.estimators._kernel_stream import KernelStream
from pegasos.estimators._origin import Origin
from pegasos.estimators._prior import LinearPrior, ScoredPrior, _Formula
from pegasos.estimators._probability import Calibration
from pegasos.estimators._schemes import OneVsRest, Scheme, schemes
from pegasos.estimators._stream import Stream
from pegasos.estimators._targets import Terms
from pegasos.kernels import Kernel, Mismatch, Precomputed
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

_floats = "float32 float64"
_features = "n_features_in_"
_loose = Number(is_finite=False, is_number=False)
_one_each = Array("float64", "n_problems")
_of_classes = Array("float64", "n_classes")


class Classes:
    """The labels: of any type, different, in order."""

    def pack(self, value: npt.NDArray[Any], what: str, out: Writer) -> Any:
        """As any array."""
        return anything.pack(value, what, out)

    def unpack(self, stored: Any, what: str, source: Reader) -> npt.NDArray[Any]:
        """Two at least."""
        labels = anything.unpack(stored, what, source)
        require(isinstance(labels, np.ndarray) and labels.ndim == 1 and len(labels) >= 2, what, "a list of labels")
        require(bool((labels[:-1] < labels[1:]).all()), what, "a sorted list of different labels")
        source.settle(what, "n_classes", len(labels))
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
        """Of numbers."""
        require(isinstance(stored, dict), what, "a table")
        column = Array("float64 int32 int64", "n_lams", is_finite=False)
        return {str(name): column.unpack(each, what, source) for name, each in stored.items()}


_above_0 = float(np.finfo(np.float64).smallest_subnormal)


def _check_terms(terms: Terms, lengths: Mapping[str, int]) -> None:
    """What is divided by must not be 0, in any problem."""
    weights = [each for each in (terms.totals, terms.counts, terms.factors) if each is not None]
    require(all(bool((each >= 0.0).all()) for each in weights), "the weight of a class", "at least 0")
    require(bool(terms.totals.any()), "the weight of all classes", "above 0")


_terms = Record(
    Terms,
    {
        "lam": Number(_above_0),
        "bias": Number(0.0),
        "is_free": Flag(),
        "factors": Optional(_of_classes),
        "total": Number(_above_0),
        "n_classes": Count(2, dimension="n_classes"),
        "C": Optional(Number(0.0, is_finite=False)),
        "largest_norm": Number(0.0),
        "least_cost": Number(0.0, is_finite=False),
        "multi_class": Text(tuple(schemes)),
        "totals": _of_classes,
        "counts": _of_classes,
    },
    check=_check_terms,
)
_calibration = Record(Calibration, {"slopes": Array("float64", "n_scores"), "shifts": Array("float64", "n_scores")})
_head: dict[str, Spec] = {"classes_": Classes(), "_terms": _terms}
_names: dict[str, Spec] = {_features: Count(1, dimension=_features), "feature_names_in_": Names(_features)}
_proof: dict[str, Spec] = {
    "certificate_": certificate,
    "trace_": trace,
    "n_iter_": Count(),
    "n_steps_": Count(),
    "margin_": Either({float: _loose, np.ndarray: Array("float64", "n_problems", is_finite=False)}),
    "_free_intercepts": _one_each,
    "_intercept_reach": Array("float64", "n_problems", is_finite=False),
    "_calibration": Optional(_calibration),
}
_together = ("_terms", *_proof)
_coef = Array("float64", "n_scores", _features)


def _scheme_of(model: Any) -> Scheme:
    scheme: Scheme = model._fitted_scheme
    return scheme


def _lengths(model: Any) -> dict[str, int]:
    scheme, n_classes = _scheme_of(model), len(model.classes_)
    n_problems = scheme.n_problems(n_classes)
    return {"n_problems": n_problems, "n_scores": n_problems * scheme.n_vectors(n_classes)}


def _alpha(model: Any) -> Spec:
    """The dual point: a vector, or one row a problem or a class; of pairs, each its own."""
    lengths = _lengths(model)
    if lengths["n_scores"] == 1:
        return Array(_floats, "n_rows")
    if _scheme_of(model) is schemes["ovo"]:
        return Many(Array(_floats, None), "n_problems")
    return Array(_floats, "n_scores", "n_rows")


def _linear(model: Any) -> dict[str, Spec]:
    n_classes = len(model.classes_)
    is_joint = _scheme_of(model).n_vectors(n_classes) > 1
    width = "class_width" if is_joint else None
    vectors = ("n_classes", f"{_features}+1") if is_joint else (f"{_features}+1",)
    stream = Record(
        Stream,
        {
            "n_rows": Count(),
            "totals": _of_classes,
            "counts": _of_classes,
            "weights": Many(Array(_floats, *vectors), "n_problems"),
            "steps": Many(Count(), "n_problems"),
            "states": Many(Optional(pegasos_state(*([width] if width else []))), "n_problems"),
            "seed": Count(),
            "traces": Many(one_trace, "n_problems"),
            "certificates": Many(one_certificate, "n_problems"),
        },
    )
    prior = {"coef": _coef, "intercept": Array("float64", "n_scores")}
    return {
        **_names,
        "coef_": _coef,
        "intercept_": Array("float64", "n_scores"),
        "_prior": Optional(Record(LinearPrior, {"source": Source(), **prior})),
        "alpha_": _alpha(model),
        "support_": Array("int64", None),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def _linear_lengths(model: Any) -> dict[str, int]:
    return {**_lengths(model), "class_width": int(_core.class_width(len(model.classes_)))}


# What others have trained: no terms, no proof.
_origin = Record(Origin, {"words": Text(), "multi_class": Text(tuple(schemes))})
_foreign_head: dict[str, Spec] = {"classes_": Classes(), "_origin": _origin}
_of_foreign: dict[str, Spec] = {
    _features: Count(dimension=_features),
    "intercept_": Array("float64", "n_scores"),
    "_free_intercepts": Array("float64", "n_scores"),
    "_calibration": Optional(_calibration),
    "status_": Text(),
}


def _foreign(own: Mapping[str, Spec]) -> Fitted:
    """Of a model with these vectors."""
    needed = {**own, **_of_foreign}
    specs = {**needed, "feature_names_in_": _names["feature_names_in_"]}
    return Fitted(_foreign_head, lambda _: specs, (*_foreign_head, *needed), lengths=_lengths)


linear = Fitted(
    _head,
    _linear,
    ("classes_", _features, "coef_", "intercept_", "_prior", "status_"),
    _together,
    _linear_lengths,
    foreign=_foreign({"coef_": _coef}),
)


def _linear_cv(model: Any) -> dict[str, Spec]:
    return {
        **_linear(model),
        "lam_": Number(0.0),
        "lams_": Array("float64", "n_lams"),
        "scores_": Array("float64", None, "n_lams", is_finite=False),
        "cv_results_": Columns(),
    }


linear_cv = Fitted(
    _head, _linear_cv, (*linear.needed, "lam_", "lams_", "scores_", "cv_results_"), _together, _linear_lengths
)

_items: dict[str, Spec] = {
    "kernel_": Shared(),
    "support_": Array("int64", "n_support"),
    "support_vectors_": Shared(),
    "_n_training": Count(),
}
_support: dict[str, Spec] = {
    **_names,
    **_items,
    "dual_coef_": Array("float64", "n_problems", "n_support"),
    "intercept_": _one_each,
}


def _kernel(model: Any) -> dict[str, Spec]:
    coefficients = Array("float64", "n_problems", "n_support")
    stream = Record(
        KernelStream,
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
    mixing = Array("float64", "n_prior_scores", "n_problems")
    columns = Optional(Array("int64", None, below=_features))
    prior = Record(ScoredPrior, {"source": Source(), "model": Shared(), "mixing": mixing, "columns": columns})
    return {
        **_support,
        "_prior": Optional(prior),
        "alpha_": _alpha(model),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def _check_support(model: Any) -> None:
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
    n_features = getattr(model, _features, None)
    items = kernel.read(vectors)
    require(len(items) == len(support), "support_vectors_", "one item for each coefficient")
    if kernel.takes_vectors:
        require(vectors.shape[1] == n_features, "support_vectors_", "rows of the features of the model")


def _is_costly(kernel: Kernel) -> bool:
    """Whether reading a short text may take long: it is done when the model is used."""
    inner = kernel.get_params(deep=False).values()
    return isinstance(kernel, Mismatch) or any(isinstance(each, Kernel) and _is_costly(each) for each in inner)


def _check_kernel(model: Any) -> None:
    _check_support(model)
    require(model._stream.support is model.support_vectors_, "_stream", "about the support vectors")
    if model._prior is not None:
        require(hasattr(model._prior.model, "decision_function"), "_prior", "a model")
    if model._stream.traces[0].rows or not hasattr(model, "alpha_"):
        return
    lengths = [len(alpha) for alpha in model._alphas()]
    n_problems_a_row = len(model.classes_) - 1 if isinstance(model.alpha_, list) else len(lengths)
    require(sum(lengths) == model._n_training * n_problems_a_row, "alpha_", "of the training rows")
    require(not len(model.support_) or model.support_.max() < model._n_training, "support_", "of the training rows")


kernel = Fitted(
    _head,
    _kernel,
    ("classes_", "kernel_", "support_", "support_vectors_", "dual_coef_", "intercept_", "_prior", "status_", "_stream"),
    _together,
    _lengths,
    _check_kernel,
    replace(_foreign({**_items, "dual_coef_": Array("float64", "n_scores", "n_support")}), check=_check_support),
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
    return {"n_problems": OneVsRest().n_problems(len(model.classes_))}


def _online(model: Any) -> dict[str, Spec]:
    of_weights = Array("float64", "n_problems", _features)
    vectors = {"coef_": of_weights, "intercept_": _one_each, "variances_": of_weights}
    return {**_names, **_curves, **vectors, "_state": online_state}


def _kernel_online(model: Any) -> dict[str, Spec]:
    return {**_support, **_curves, "rho_": _one_each, "_state": kernel_online_state}


_always = ("classes_", "intercept_", "_state", "_totals", "mistakes_", "n_steps_", "mistake_curve_", "loss_curve_")
online = Fitted(_online_head, _online, (*_always, _features, "coef_"), lengths=_online_lengths)
kernel_online = Fitted(
    _online_head,
    _kernel_online,
    (*_always, "kernel_", "support_", "support_vectors_", "dual_coef_", "_n_training"),
    lengths=_online_lengths,
    check=_check_support,
)


def _check_auto(model: Any) -> None:
    """Whether the winner is a pipeline of scalers that ends in a machine, for the same classes and features."""
    pipeline = model.best_estimator_
    require(isinstance(pipeline, Pipeline) and len(pipeline.steps) <= 2, "best_estimator_", "a pipeline")
    machine = pipeline.steps[-1][1]
    require(isinstance(getattr(machine, "_saved", None), Fitted), "best_estimator_", "a pipeline with a machine")
    require(np.array_equal(machine.classes_, model.classes_), "classes_", "those of the winner")
    n_features = {getattr(each, _features, None) for each in (model, *(step for _, step in pipeline.steps))}
    require(len(n_features) == 1, _features, "that of the winner")
    require(isinstance(model.leaderboard_, list) and isinstance(model.best_params_, dict), "leaderboard_", "a table")


def _auto(model: Any) -> dict[str, Spec]:
    texts_and_tables: dict[str, Spec] = {"best_params_": anything, "leaderboard_": anything, "account_": Text()}
    counts: dict[str, Spec] = {"best_score_": _loose, "n_rows_fitted_": Count(1)}
    return {**_names, "best_estimator_": Shared(), **counts, **texts_and_tables}


auto = Fitted(
    _online_head,
    _auto,
    ("classes_", "best_estimator_", "best_score_", "n_rows_fitted_", "best_params_", "leaderboard_", "account_"),
    check=_check_auto,
)

_formula = Record(
    _Formula,
    {"coef": Array("float64", "n_formulas", None), "intercept": Array("float64", "n_formulas")},
    ("n_formulas",),
)
anything.kinds["formula"] = Kind(
    lambda value: isinstance(value, _Formula),
    lambda value, what, out: {"parts": _formula.pack(value, what, out)},
    lambda stored, what, source: _formula.unpack(stored.get("parts"), what, source),
)
