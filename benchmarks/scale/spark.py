"""Spark ML's LinearSVC beside pegasos.spark, on the same DataFrame: the objective against passes and seconds.

    python -m benchmarks.scale.run spark

Both minimize lam/2 |w|^2 + (1/N) sum_i max(0, 1 - y_i <w, x_i>), without an intercept, which the two regularize
differently. LinearSVC makes one pass per iteration, and some more for its line searches; its objectives are those that
it reports. Needs Java.
"""

import os
import sys
from time import perf_counter

import numpy as np
import scipy.sparse as sp

from benchmarks.scale.problems import LAM, covtype, text

title = "pegasos.spark and Spark ML's LinearSVC, local[2], lam = 1e-5"
ITERATIONS = (10, 50, 200, 1000)


def frame_of(spark, X, y):
    from pyspark.ml.linalg import Vectors

    if sp.issparse(X):
        rows = [
            (Vectors.sparse(X.shape[1], X.indices[a:b], X.data[a:b].astype(float)), float(label > 0))
            for a, b, label in zip(X.indptr, X.indptr[1:], y, strict=False)
        ]
    else:
        rows = [(Vectors.dense(x), float(label > 0)) for x, label in zip(X, y, strict=True)]
    frame = spark.createDataFrame(rows, ["features", "label"]).repartition(4).cache()
    frame.count()
    return frame


def run():
    """One row for each problem and method."""
    from pyspark.ml.classification import LinearSVC
    from pyspark.sql import SparkSession

    from pegasos.spark import PegasosClassifier

    os.environ["PYSPARK_PYTHON"] = sys.executable
    quiet = {"spark.ui.enabled": "false", "spark.driver.memory": "4g", "spark.driver.host": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]")
    for name, value in quiet.items():
        builder = builder.config(name, value)
    spark, rows = builder.getOrCreate(), []
    spark.sparkContext.setLogLevel("OFF")
    for name, (X, y) in {"covtype": covtype(100_000), "text": text(50_000)}.items():
        frame = frame_of(spark, X, y)
        PegasosClassifier(lam=LAM, fitIntercept=False).fit(frame)  # starts the processes
        begun = perf_counter()
        model = PegasosClassifier(lam=LAM, fitIntercept=False).fit(frame)
        seconds = perf_counter() - begun
        found = {"problem": name, "method": "pegasos.spark", "passes": model.numPasses, "seconds": round(seconds, 1)}
        rows.append(
            {**found, "objective": f"{model.certificate.primal:.6f}", "lower bound": f"{model.certificate.dual:.6f}"}
        )
        for n in ITERATIONS:
            svc = LinearSVC(regParam=LAM, fitIntercept=False, standardization=False, maxIter=n, tol=1e-9)
            begun = perf_counter()
            fitted = svc.fit(frame)
            seconds = perf_counter() - begun
            weights = np.asarray(fitted.coefficients)
            scores = np.asarray(X @ weights).ravel() * np.where(y > 0, 1, -1)
            primal = 0.5 * LAM * weights @ weights + np.maximum(0.0, 1.0 - scores).mean()
            found = {"problem": name, "method": f"LinearSVC, {n} iterations", "passes": n, "seconds": round(seconds, 1)}
            rows.append({**found, "objective": f"{primal:.6f}", "lower bound": ""})
            print(rows[-1], flush=True)  # a thousand iterations take minutes
        frame.unpersist()
    spark.stop()
    return rows
