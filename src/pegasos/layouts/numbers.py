"""The model files of estimators whose targets are not classes: which attributes a file holds, and how to read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.pipeline import Pipeline

from pegasos.fitting.result import Fit, Proof
from pegasos.layouts import classes as layout
from pegasos.losses import REGRESSION_LOSSES
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.kernel_stream import KernelStream
from pegasos.machines.linear import LinearModel
from pegasos.machines.linear_stream import LinearStream
from pegasos.machines.prior import LinearPrior, ScoredPrior
from pegasos.persistence import Fitted
from pegasos.persistence.records import certificate, one_certificate, one_trace, pegasos_state, trace
from pegasos.persistence.specs import Array, Count, Flag, Many, Number, Optional, Record, Spec, Text, require
from pegasos.persistence.values import Shared
from pegasos.solution import Status
from pegasos.tasks import OneClass, Regression, Terms

_FEATURES = "n_features_in_"
_ABOVE_0 = float(np.finfo(np.float64).smallest_subnormal)
_TASKS = {task.name: task for task in (Regression, OneClass)}


@dataclass(frozen=True)
class StoredTask:
    """A task and its parameters; ``found`` is the lam or epsilon of each problem, where nu has set it."""

    name: str
    n_targets: int
    total: float
    n_rows: int
    found: npt.NDArray[np.float64] | None
    loss: str
    epsilon: float
    quantile: float
    is_matrix: bool

    @classmethod
    def of(cls, task: Any) -> StoredTask:
        """As it is laid out; a task without some of the parameters has the usual ones."""
        found = task.epsilons if isinstance(task, Regression) else task.lams_found
        of_task = {**vars(Regression()), **vars(task), "n_targets": task.n_problems, "name": task.name}
        of_task["found"] = None if found is None else np.array(found)
        return cls(**{each.name: of_task[each.name] for each in fields(cls)})

    @property
    def task(self) -> Any:
        """As a fit has it."""
        found = None if self.found is None else tuple(float(value) for value in self.found)
        if self.name == OneClass.name:
            return OneClass(self.total, self.n_rows, found)
        shape = self.n_targets, self.is_matrix, self.total, self.n_rows
        return Regression(self.loss, self.epsilon, self.quantile, *shape, found)


def _check_terms(terms: Terms, lengths: Mapping[str, int]) -> None:
    require(terms.ridge > 0.0 or terms.cap < np.inf, "the ridge of a loss without a cap", "above 0")


def _check_task(task: StoredTask, lengths: Mapping[str, int]) -> None:
    require(0.0 < task.quantile < 1.0, "quantile", "between 0 and 1")
    require(task.name != OneClass.name or task.n_targets == 1, "n_targets", "1")
    require(task.found is None or bool((task.found >= 0.0).all()), "what nu has set", "at least 0")


_task = Record(
    StoredTask,
    {
        "name": Text(tuple(_TASKS)),
        "n_targets": Count(1, dimension="n_problems"),
        "total": Number(0.0),
        "n_rows": Count(),
        "found": Optional(Array("float64", "n_problems")),
        "loss": Text(REGRESSION_LOSSES),
        "epsilon": Number(0.0),
        "quantile": Number(0.0),
        "is_matrix": Flag(),
    },
    check=_check_task,
)
_terms = Record(
    Terms,
    {
        "lam": Number(_ABOVE_0),
        "bias": Number(0.0),
        "is_free": Flag(),
        "total": Number(_ABOVE_0),
        "C": Optional(Number(0.0)),
        "largest_norm": Number(0.0),
        "least_cost": Number(0.0, is_finite=False),
        "cap": Number(_ABOVE_0, is_finite=False),
        "ridge": Number(0.0),
    },
    check=_check_terms,
)
_head: dict[str, Spec] = {"_task": _task, "_terms": _terms}
_one_each = Array("float64", "n_problems")
_proof: dict[str, Spec] = {
    "certificate_": certificate,
    "trace_": trace,
    "n_iter_": Count(),
    "n_steps_": Count(),
    "_free_intercepts": _one_each,
    "_intercept_reach": Array("float64", "n_problems", is_finite=False),
    "_status": Text(tuple(status.name for status in Status)),
    "_doubt": Flag(),
}
_together = ("_terms", *_proof)


def _alphas(record: Any) -> Spec:
    """The dual points, one per problem."""
    return Many(Array("float32 float64", "n_alpha"), "n_problems")


def _linear(record: Any) -> dict[str, Spec]:
    coef = Array("float64", "n_problems", _FEATURES)
    stream = Record(
        LinearStream,
        {
            "n_rows": Count(),
            "weights": Many(Array("float32 float64", f"{_FEATURES}+1"), "n_problems"),
            "steps": Many(Count(), "n_problems"),
            "states": Many(Optional(pegasos_state()), "n_problems"),
            "seed": Count(),
            "traces": Many(one_trace, "n_problems"),
            "certificates": Many(one_certificate, "n_problems"),
        },
    )
    prior = Record(LinearPrior, {"source": layout.Source(), "coef": coef, "intercept": _one_each})
    return {
        **layout.NAMES,
        "coef_": coef,
        "intercept_": _one_each,
        "_prior": Optional(prior),
        "alpha_": _alphas(record),
        "support_": Array("int64", None),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def _kernel(record: Any) -> dict[str, Spec]:
    coefficients = Array("float64", "n_problems", "n_support")
    stream = Record(
        _stream_of,
        {
            "n_rows": Count(),
            "seed": Count(),
            "steps": Many(Count(), "n_problems"),
            "support": Shared(),
            "coefficients": coefficients,
            "sums": Optional(coefficients),
            "averaged": Count(),
            "traces": Many(one_trace, "n_problems"),
        },
    )
    mixing, columns = Array("float64", "n_prior_scores", "n_problems"), Optional(Array("int64", None, below=_FEATURES))
    prior = Record(ScoredPrior, {"source": layout.Source(), "model": Shared(), "mixing": mixing, "columns": columns})
    return {
        **layout.SUPPORT,
        "_prior": Optional(prior),
        "alpha_": _alphas(record),
        "status_": Text(),
        **_proof,
        "_stream": stream,
    }


def _stream_of(**values: Any) -> KernelStream:
    return KernelStream(**values)


def record_of(model: Any) -> dict[str, Any]:
    """The attributes of an estimator under the names of the file."""
    fitted: Fit = model._current
    has = {name: value for name, value in vars(model).items() if name not in ("fitted_", "epsilon_", "alpha_")}
    has |= {"_task": StoredTask.of(fitted.task), "_prior": fitted.model.prior, "_stream": fitted.state}
    if hasattr(fitted.model, "n_training"):
        has["_n_training"] = fitted.model.n_training
    proof = fitted.proof
    if fitted.terms is not None and proof is not None:
        has |= {"_terms": fitted.terms, "_status": proof.status.name, "_doubt": fitted.doubt, "alpha_": fitted.alphas}
        has |= {"_free_intercepts": proof.intercepts, "_intercept_reach": proof.intercept_reach}
    return has


def restore(model: Any, found: Mapping[str, Any]) -> None:
    """Give an estimator what a file holds."""
    model.__dict__.update({name: found[name] for name in (_FEATURES, "feature_names_in_") if name in found})
    terms = found.get("_terms")
    proof = None if terms is None else _proof_of(found)
    fitted = Fit(
        _model_of(found), found["_task"].task, terms, proof, found["_stream"], doubt=found.get("_doubt", False)
    )
    model._write(fitted)
    model.__dict__.update({name: found[name] for name in layout.SEARCH if name in found})
    model.status_ = found["status_"]  # in the words of the version that wrote the file


def _model_of(found: Mapping[str, Any]) -> Any:
    if "coef_" in found:
        return LinearModel(found["coef_"], found["intercept_"], found["_prior"])
    values = {name: found[f"{name}_"] for name in ("kernel", "support", "support_vectors", "dual_coef", "intercept")}
    is_of_fit = not found["_stream"].traces[0].rows
    return KernelModel(**values, n_training=found["_n_training"], prior=found["_prior"], indexed=is_of_fit)


def _proof_of(found: Mapping[str, Any]) -> Proof:
    alphas = found.get("alpha_")
    return Proof(
        status=Status[found["_status"]],
        certificate=found["certificate_"],
        trace=found["trace_"],
        alpha=None if alphas is None else alphas[0] if len(alphas) == 1 else alphas,
        n_epochs=found["n_iter_"],
        n_steps=found["n_steps_"],
        intercepts=found["_free_intercepts"],
        intercept_reach=found["_intercept_reach"],
        support=found.get("support_"),
    )


def _check_kernel(record: Any) -> None:
    layout.check_support(record)
    support, stream = record.support_, record._stream
    require(stream.support is record.support_vectors_, "_stream", "about the support vectors")
    n = record._n_training
    if not stream.traces[0].rows:
        require(not len(support) or int(support.max()) < n, "support_", "of the training rows")
        # A regression has each row twice.
        require(
            all(len(alpha) in (n, 2 * n) for alpha in getattr(record, "alpha_", ())), "alpha_", "of the training rows"
        )


linear = Fitted(
    _head,
    _linear,
    ("_task", _FEATURES, "coef_", "intercept_", "_prior", "status_", "_stream"),
    _together,
    record=record_of,
    restore=restore,
    lean=layout.lean_linear,
)
linear_cv = Fitted(
    _head,
    lambda record: {**_linear(record), **layout.SEARCH},
    (*linear.needed, *layout.SEARCH),
    _together,
    record=record_of,
    restore=restore,
)
kernel = Fitted(
    _head,
    _kernel,
    ("_task", "kernel_", "support_", "support_vectors_", "dual_coef_", "intercept_", "_prior", "status_", "_stream"),
    _together,
    check=_check_kernel,
    record=record_of,
    restore=restore,
    lean=layout.lean_kernel,
)


def _check_auto(model: Any) -> None:
    pipeline = model.best_estimator_
    require(isinstance(pipeline, Pipeline) and len(pipeline.steps) <= 3, "best_estimator_", "a pipeline")
    task = getattr(getattr(pipeline.steps[-1][1], "fitted_", None), "task", None)
    require(isinstance(task, Regression), "best_estimator_", "a pipeline with a regressor")
    layout.check_winner(model, pipeline)


auto = Fitted(
    {},
    layout.search_of_settings,
    ("best_estimator_", "best_score_", "n_rows_fitted_", "best_params_", "leaderboard_", "account_"),
    check=_check_auto,
)
