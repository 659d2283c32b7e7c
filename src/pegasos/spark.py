"""Linear support vector machines on Spark DataFrames: rows that stay in their partitions, and the same certificate.

Needs Spark: ``pip install "pegasos[spark]"``, on the driver and on every executor.

    from pegasos.spark import PegasosClassifier

    model = PegasosClassifier(featuresCol="features", labelCol="label", lam=1e-4).fit(frame)
    print(model.certificate)
    model.transform(frame).select("prediction", "rawPrediction", "certified")

Arrow batches move the columns to the native core once; a partition is kept as a matrix. Then every pass is one Spark
job that returns sums (`pegasos.distributed`). The partitions of the DataFrame determine the result to the last bit; the
number of executors does not, nor does the loss of one.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos.distributed import Asked, Plan, Reading, Whole, answer, code, measure, merge, merge_all, summarize
from pegasos.distributed import read as read_partition
from pegasos.docstrings import documented_by
from pegasos.errors import PegasosError, warn_caller
from pegasos.estimators import linear, regression
from pegasos.estimators.assembly import plan_of, with_fit
from pegasos.estimators.warnings import GapWarning
from pegasos.fitting.cluster import Elsewhere, plans_of_partitions, refuse_elsewhere
from pegasos.solvers.passes import FAN_IN

try:
    import pandas as pd
    import pyarrow as pa
    from pyspark import StorageLevel, TaskContext
    from pyspark.errors import PySparkException
    from pyspark.ml import Estimator, Model
    from pyspark.ml.functions import array_to_vector
    from pyspark.ml.param import Param, Params, TypeConverters, shared
    from pyspark.sql import functions as sql
except ImportError as error:
    raise ImportError(f'pegasos.spark needs Spark, pip install "pegasos[spark]" ({error}).') from error

__all__ = ["PegasosClassificationModel", "PegasosClassifier", "PegasosRegressionModel", "PegasosRegressor"]

_BLOB = "part int, blob binary"  # partition number, and a pickled object
_FEATURES, _LABEL, _WEIGHT = "_features", "_label", "_weight"
_MOST_COLLECTED = 32  # answers that the driver merges itself; more are merged by executors first


def _parameter(name: str, doc: str, convert: Any = TypeConverters.identity) -> Any:
    return Param(Params._dummy(), name, doc, convert)


class _Columns(shared.HasFeaturesCol, shared.HasLabelCol, shared.HasWeightCol, shared.HasPredictionCol):
    """The columns to read and write. ``featuresCol`` is a column of vectors, or a list of numeric columns."""

    featuresCol = _parameter("featuresCol", "a column of vectors, or a list of numeric columns")

    def columns_of_features(self) -> list[str] | None:
        """The numeric feature columns; None for a column of vectors."""
        given = self.getOrDefault("featuresCol")
        return None if isinstance(given, str) else list(given)

    def _features(self) -> list[Any]:
        """The features as columns that Arrow can transfer: numbers, or the parts of a vector."""
        names = self.columns_of_features()
        if names is None:
            return [sql.unwrap_udt(sql.col(self.getOrDefault("featuresCol"))).alias(_FEATURES)]
        return [sql.col(name).cast("double").alias(f"{_FEATURES}{k}") for k, name in enumerate(names)]


class _PegasosEstimator(Estimator, _Columns):
    """Shared by the classifier and the regressor: parameters of the local estimator, and the fit."""

    _local_type: Any
    _model_type: Any
    _shared: tuple[str, ...]

    lam = _parameter("lam", "strength of the regularization", TypeConverters.toFloat)
    C = _parameter("C", "instead of lam: lam = 1 / (C N)", TypeConverters.toFloat)
    loss = _parameter("loss", "as in the estimator of pegasos", TypeConverters.toString)
    fitIntercept = _parameter("fitIntercept", "whether there is an intercept", TypeConverters.toBoolean)
    regularizeIntercept = _parameter("regularizeIntercept", "whether it is regularized", TypeConverters.toBoolean)
    interceptScaling = _parameter("interceptScaling", "value of the constant feature", TypeConverters.toFloat)
    prior = _parameter("prior", "a fitted linear model that the weights are regularized toward")
    start = _parameter("start", "a fitted linear model to begin at")
    tol = _parameter("tol", "relative duality gap at which the fit ends", TypeConverters.toFloat)
    maxIter = _parameter("maxIter", "passes at most", TypeConverters.toInt)
    timeBudget = _parameter("timeBudget", "seconds at most", TypeConverters.toFloat)
    seed = _parameter("seed", "seed of solvers on gathered rows", TypeConverters.toInt)

    def __init__(self, **given: Any):
        super().__init__()
        self._setDefault(lam=1e-4, fitIntercept=True, regularizeIntercept=True, interceptScaling=1.0)
        self._setDefault(tol=1e-3, maxIter=1000, seed=0, prior=None, start=None)
        self.setParams(**given)

    def setParams(self, **given: Any) -> Any:
        """Set parameters by name."""
        for name in given:
            if not self.hasParam(name):
                known = ", ".join(param.name for param in self.params)
                raise PegasosError(f"{type(self).__name__} has no parameter {name!r}; it has {known}.")
        return self._set(**given)

    def _local(self) -> Any:
        """The local estimator with the same parameters."""
        given = {param.name: value for param, value in self.extractParamMap().items() if value is not None}
        chosen = {_snake(name): given[name] for name in (*self._shared, *_COMMON) if name in given}
        return self._local_type(solver="auto", random_state=given["seed"], **chosen)

    def _fit(self, dataset: Any) -> Any:
        local = self._local()
        _, task, settings = plan_of(local)
        refuse_elsewhere(settings, task)
        names = self.columns_of_features()
        reading = Reading(settings.bias, task.name == "regression", bool(settings.probability))
        blobs = self._read(dataset, reading).persist(StorageLevel.MEMORY_AND_DISK)
        try:
            whole = Whole.of(_map(blobs, summarize))
            each = partial(_map, blobs)
            plans = plans_of_partitions(task, settings, whole, each, classes=None, names=names)
            engine = _OnExecutors(blobs, plans, len(whole.parts))
            there = Elsewhere(engine, plans, whole, each(lambda block: measure(code(block, plans))))
            start = self.getOrDefault("start")
            begin = None if start is None else there.start_at(start, names)
            fitted, n_passes = there.fit(settings, start=begin)
        finally:
            blobs.unpersist()
        with_fit(local, fitted, whole.n_features, names)
        if not fitted.is_satisfied:
            warn_caller(local.status_, GapWarning)
        return self._copyValues(self._model_type(local, n_passes))

    def _read(self, dataset: Any, reading: Reading) -> Any:
        """One row per partition: the partition itself, in the form that pegasos reads."""
        columns = [*self._features(), sql.col(self.getOrDefault("labelCol")).alias(_LABEL)]
        if self.isDefined("weightCol") and self.getOrDefault("weightCol"):
            columns.append(sql.col(self.getOrDefault("weightCol")).cast("double").alias(_WEIGHT))
        names = self.columns_of_features()

        def read(batches: Iterator[Any]) -> Iterator[Any]:
            number, kept = TaskContext.get().partitionId(), [batch for batch in batches if batch.num_rows]
            if kept:
                yield _blob(number, _partition(number, pa.Table.from_batches(kept), names, reading))

        return dataset.select(columns).mapInArrow(read, _BLOB)


_COMMON = (
    "lam",
    "C",
    "loss",
    "fitIntercept",
    "regularizeIntercept",
    "interceptScaling",
    "prior",
    "tol",
    "maxIter",
    "timeBudget",
)


class PegasosClassifier(_PegasosEstimator, shared.HasRawPredictionCol, shared.HasProbabilityCol):
    """`pegasos.PegasosClassifier` on a Spark DataFrame.

    Parameters
    ----------
    lam, C, loss, smoothing, multiClass, classWeight, probability, fitIntercept, regularizeIntercept, interceptScaling,
    prior, tol, timeBudget
        As in the local estimator, in Spark's spelling. ``multiClass`` is "ovr" or "ovo", ``classWeight`` is "balanced"
        or a dict.
    start : fitted local model, optional
        The model to start from.
    maxIter : int, optional
        Maximum number of passes over the data.
    seed : int, optional
        Seed of the sample that the fit starts from.
    featuresCol : str or list of str, default="features"
        A column of vectors, or a list of numeric columns.
    labelCol : str, default="label"
        Numbers or strings.
    weightCol : str, optional
        The column of sample weights.
    predictionCol, rawPredictionCol, probabilityCol, certifiedCol : str
        Names of the columns that `transform` adds.

    Examples
    --------
    >>> from pegasos.spark import PegasosClassifier  # doctest: +SKIP
    >>> model = PegasosClassifier(lam=1e-3, featuresCol="features", labelCol="label").fit(frame)  # doctest: +SKIP
    >>> model.transform(frame).select("prediction", "certified").show()  # doctest: +SKIP
    """

    _local_type = linear.PegasosClassifier
    _shared = ("smoothing", "multiClass", "classWeight", "probability")
    smoothing = _parameter("smoothing", "where huber_hinge turns into a line", TypeConverters.toFloat)
    multiClass = _parameter("multiClass", "ovr or ovo", TypeConverters.toString)
    classWeight = _parameter("classWeight", "balanced, or a dict from label to weight")
    probability = _parameter("probability", "whether to fit probabilities: False, True, sigmoid or isotonic")
    certifiedCol = _parameter("certifiedCol", "whether every exact solution predicts the same", TypeConverters.toString)

    def __init__(self, **given: Any):
        super().__init__(**{"loss": "hinge", "certifiedCol": "certified", "multiClass": "ovr", **given})


class PegasosRegressor(_PegasosEstimator):
    """`pegasos.PegasosRegressor` on a Spark DataFrame; ``epsilon``, ``quantile`` and ``delta`` as there.

    Parameters
    ----------
    lam, C, loss, epsilon, quantile, delta, fitIntercept, regularizeIntercept, interceptScaling, prior, tol, timeBudget
        As in the local estimator, in Spark's spelling.
    start, maxIter, seed, featuresCol, weightCol, predictionCol
        As in `PegasosClassifier`.
    labelCol : str, default="label"
        The targets.

    Examples
    --------
    >>> from pegasos.spark import PegasosRegressor  # doctest: +SKIP
    >>> model = PegasosRegressor(lam=1e-3, featuresCol="features", labelCol="label").fit(frame)  # doctest: +SKIP
    >>> model.transform(frame).select("prediction").show()  # doctest: +SKIP
    """

    _local_type = regression.PegasosRegressor
    _shared = ("epsilon", "quantile", "delta")
    epsilon = _parameter("epsilon", "half the width of the tube without loss", TypeConverters.toFloat)
    quantile = _parameter("quantile", "share of targets below the prediction", TypeConverters.toFloat)
    delta = _parameter("delta", "where huber becomes a line", TypeConverters.toFloat)

    def __init__(self, **given: Any):
        super().__init__(**{"loss": "epsilon_insensitive", **given})


class _PegasosModel(Model, _Columns):
    """A fitted model: a local one, and how many passes it took."""

    def __init__(self, local: Any = None, n_passes: int = 0):
        super().__init__()
        self._local, self.numPasses = local, n_passes

    @property
    def certificate(self) -> Any:
        """The certificate of the whole problem."""
        return self._local.certificate_

    @property
    def coefficients(self) -> Any:
        """One row of weights per score."""
        return self._local.coef_

    @property
    def intercepts(self) -> Any:
        """One intercept per score."""
        return self._local.intercept_

    def toLocal(self) -> Any:
        """The local estimator, which predicts the same."""
        return self._local

    def _predicted(self, dataset: Any, function: Any, kind: str) -> Any:
        """A column with the results of a function of the local model and a matrix."""
        names, local = self.columns_of_features(), dataset.sparkSession.sparkContext.broadcast(self._local)

        @sql.pandas_udf(kind)  # type: ignore[untyped-decorator]
        def predict(batches: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
            for batch in batches:
                X = _matrix_of_frame(batch) if names is None else batch.set_axis(names, axis=1)
                yield function(local.value, X)

        return predict(*self._features() if names is None else [sql.struct(*self._features())])


class PegasosClassificationModel(_PegasosModel, shared.HasRawPredictionCol, shared.HasProbabilityCol):
    """A fitted classifier: `transform` adds prediction, scores, probabilities if there are any, and `certified`.

    Parameters
    ----------
    local : PegasosClassifier, optional
        The fitted model without Spark; `fit` of the estimator sets it.
    n_passes : int, default=0
        The number of passes over the data that the fit took.

    Examples
    --------
    >>> from pegasos.spark import PegasosClassifier  # doctest: +SKIP
    >>> model = PegasosClassifier(lam=1e-3, featuresCol="features", labelCol="label").fit(frame)  # doctest: +SKIP
    >>> local = model.toLocal()  # doctest: +SKIP
    """

    certifiedCol = PegasosClassifier.certifiedCol

    def _transform(self, dataset: Any) -> Any:
        is_text, has_proba = self._local.classes_.dtype.kind in "OUS", bool(self._local.probability)
        kind = f"prediction {'string' if is_text else 'double'}, certified boolean, raw array<double>"

        def answers(model: Any, X: Any) -> Any:
            scores = model.decision_function(X)
            raw = np.column_stack([-scores, scores]) if scores.ndim == 1 else scores
            found = model.predict(X).astype(str if is_text else np.float64)
            columns = {"prediction": found, "certified": model.certified(X, region="ball"), "raw": list(raw)}
            return pd.DataFrame(columns | ({"proba": list(model.predict_proba(X))} if has_proba else {}))

        kind += ", proba array<double>" if has_proba else ""
        found = dataset.withColumn("_found", self._predicted(dataset, answers, kind))
        for name, column in {
            "predictionCol": sql.col("_found.prediction"),
            "certifiedCol": sql.col("_found.certified"),
            "rawPredictionCol": array_to_vector("_found.raw"),
            **({"probabilityCol": array_to_vector("_found.proba")} if has_proba else {}),
        }.items():
            found = found.withColumn(self.getOrDefault(name), column)
        return found.drop("_found")


@documented_by(PegasosClassificationModel)
class PegasosRegressionModel(_PegasosModel):
    """A fitted regressor: `transform` adds the prediction.

    Parameters
    ----------
    local : PegasosRegressor, optional
        The fitted model without Spark; `fit` of the estimator sets it.
    n_passes
        As in `PegasosClassificationModel`.

    Examples
    --------
    >>> from pegasos.spark import PegasosRegressor  # doctest: +SKIP
    >>> model = PegasosRegressor(lam=1e-3, featuresCol="features", labelCol="label").fit(frame)  # doctest: +SKIP
    >>> local = model.toLocal()  # doctest: +SKIP
    """

    def _transform(self, dataset: Any) -> Any:
        def answers(model: Any, X: Any) -> Any:
            return pd.DataFrame({"prediction": np.asarray(model.predict(X), np.float64)})

        found = self._predicted(dataset, answers, "prediction double")
        return dataset.withColumn(self.getOrDefault("predictionCol"), found["prediction"])


PegasosClassifier._model_type = PegasosClassificationModel
PegasosRegressor._model_type = PegasosRegressionModel


@dataclass
class _OnExecutors:
    """An `Engine`: every pass is a job over the cached partitions."""

    blobs: Any
    plans: tuple[Plan, ...]
    n_partitions: int

    def answers(self, asked: Sequence[Asked]) -> list[Any]:
        """The merged answers of all partitions; executors merge groups of them where there are many."""
        there = self.blobs.sparkSession.sparkContext.broadcast((self.plans, list(asked)))

        def answers(block: Any) -> Any:
            plans, questions = there.value
            return answer(code(block, plans), questions)

        def merged(table: Any) -> Any:
            parts = sorted(zip(table["part"].to_pylist(), table["blob"].to_pylist(), strict=True))
            found = merge(there.value[1], *(pickle.loads(blob) for _, blob in parts))
            return pa.Table.from_batches([_blob(parts[0][0], found)])

        try:
            found = self.blobs.mapInArrow(_on_each(answers), _BLOB)
            if self.n_partitions > _MOST_COLLECTED:
                found = found.groupBy(sql.floor(sql.col("part") / FAN_IN)).applyInArrow(merged, _BLOB)
            return merge_all(asked, _collected(found))
        finally:
            there.destroy()


def _map(blobs: Any, function: Any) -> list[Any]:
    """Apply a function to every partition that has rows, in their order."""
    return _collected(blobs.mapInArrow(_on_each(function), _BLOB))


def _on_each(function: Any) -> Any:
    def apply(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            for number, blob in zip(batch["part"].to_pylist(), batch["blob"], strict=True):
                yield _blob(number, function(pickle.loads(blob.as_buffer())))

    return apply


def _collected(frame: Any) -> list[Any]:
    """The answers of the partitions, in their order; an error of pegasos on an executor is raised again here."""
    try:
        found = frame.collect()
    except PySparkException as error:
        raise _ours(error) from error
    return [pickle.loads(row["blob"]) for row in sorted(found, key=lambda row: row["part"])]


def _ours(error: Any) -> Exception:
    """The error message of pegasos within a Spark error, or the Spark error itself."""
    found = re.search(r"PegasosError: (.+)", str(error))
    return PegasosError(found[1].strip()) if found else error


def _blob(number: int, value: Any) -> Any:
    blob = pickle.dumps(value, protocol=5)
    return pa.RecordBatch.from_arrays([pa.array([number], pa.int32()), pa.array([blob], pa.binary())], ["part", "blob"])


def _partition(number: int, table: Any, names: list[str] | None, reading: Reading) -> Any:
    """A partition from an Arrow table; the error for a null names its partition."""
    for name in table.column_names:
        if table[name].null_count:
            what = {_LABEL: "the label", _WEIGHT: "the weight"}.get(name, "a feature")
            raise PegasosError(f"In partition {number}: {what} is null in some row; drop or fill it first.")
    labels = table[_LABEL].to_numpy(zero_copy_only=False) if len(table) else np.empty(0)
    weights = table[_WEIGHT].to_numpy() if _WEIGHT in table.column_names else None
    if names is None:
        X = _matrix_of_vectors(table[_FEATURES].combine_chunks())
    else:
        X = np.column_stack([table[f"{_FEATURES}{k}"].to_numpy() for k in range(len(names))])
    return read_partition(number, X, labels, weights, reading)


def _matrix_of_vectors(vectors: Any) -> Any:
    """Rows from vectors of Spark: dense where all of them are, else CSR."""
    kinds = vectors.field("type").to_numpy(zero_copy_only=False)
    values, sizes = vectors.field("values"), vectors.field("size").to_numpy(zero_copy_only=False)
    if len(kinds) == 0:
        return np.empty((0, 1))
    flat, counts = values.flatten().to_numpy(), np.diff(values.offsets.to_numpy())
    if (kinds == 1).all():
        return flat.reshape(len(kinds), -1)
    starts = np.concatenate([[0], np.cumsum(counts)])
    indices = np.empty(len(flat), np.int64)
    given = vectors.field("indices")
    sparse = np.repeat(kinds == 0, counts)
    indices[sparse] = given.flatten().to_numpy()
    within = np.arange(len(flat)) - np.repeat(starts[:-1], counts)
    indices[~sparse] = within[~sparse]
    width = int(max(np.max(sizes[kinds == 0], initial=0), np.max(counts[kinds == 1], initial=0)))
    return sp.csr_matrix((flat, indices, starts), shape=(len(kinds), width))


def _matrix_of_frame(vectors: Any) -> Any:
    """Rows from the parts of vectors, as a function of Spark gets them."""
    kinds = {"type": pa.int8(), "size": pa.int32(), "indices": pa.list_(pa.int32()), "values": pa.list_(pa.float64())}
    columns = [pa.array(vectors[name].where(vectors[name].notna(), None), kind) for name, kind in kinds.items()]
    return _matrix_of_vectors(pa.StructArray.from_arrays(columns, names=list(kinds)))


def _snake(name: str) -> str:
    """The Python spelling of a parameter name."""
    return re.sub(r"([a-z])([A-Z])", lambda found: f"{found[1]}_{found[2].lower()}", name)
