"""Spark: the optimum of the fit in memory, columns and vectors, pipelines, searches, errors with their partition."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pegasos

pyspark = pytest.importorskip("pyspark")
pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs Java"),
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::ResourceWarning", "ignore::DeprecationWarning"),
    pytest.mark.xdist_group("spark"),
]


def session_of(master, **options):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master(master).appName("pegasos")
    quiet = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2", "spark.driver.host": "127.0.0.1"}
    for name, value in {**quiet, "spark.ui.showConsoleProgress": "false", **options}.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@pytest.fixture(scope="module")
def spark():
    session = session_of("local[2]")
    yield session
    session.stop()


def data(n=400, n_classes=2):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, 4))
    scores = X[:, :n_classes] + 0.4 * random.normal(size=(n, n_classes))
    return X, scores.argmax(axis=1).astype(float)


def vectors(spark, X, y, n_partitions=3):
    """Every third vector is sparse."""
    from pyspark.ml.linalg import Vectors

    places = list(range(X.shape[1]))
    rows = [
        (k, Vectors.dense(x) if k % 3 else Vectors.sparse(len(x), places, x.tolist()), float(label), 1.0 + k % 2)
        for k, (x, label) in enumerate(zip(X, y, strict=True))
    ]
    frame = spark.createDataFrame(rows, ["id", "features", "label", "weight"])
    return frame.repartitionByRange(n_partitions, "id").cache()


def test_a_fit_is_certified_and_adds_its_columns(spark):
    from pegasos.spark import PegasosClassifier

    X, y = data()
    frame = vectors(spark, X, y)
    model = PegasosClassifier(lam=1e-3, tol=1e-4, weightCol="weight").fit(frame)
    local = pegasos.PegasosClassifier(lam=1e-3, tol=1e-6).fit(X, y, 1.0 + np.arange(len(y)) % 2)
    assert model.certificate.relative_gap <= 1e-4
    assert local.certificate_.dual <= model.certificate.primal <= local.certificate_.primal * (1 + 2e-4)
    found = model.transform(frame).orderBy("id").select("prediction", "rawPrediction", "certified").collect()
    np.testing.assert_array_equal([row.prediction for row in found], model.toLocal().predict(X))
    scores = model.toLocal().decision_function(X)
    np.testing.assert_allclose([row.rawPrediction.toArray() for row in found], np.column_stack([-scores, scores]))
    np.testing.assert_array_equal([row.certified for row in found], model.toLocal().certified(X, region="ball"))


@pytest.mark.slow
def test_columns_and_text_labels_do_and_partitions_decide_the_bits(spark, monkeypatch):
    from pegasos import spark as on_spark
    from pegasos.solvers import partitioned_newton
    from pegasos.spark import PegasosClassifier

    monkeypatch.setattr(partitioned_newton, "_ALWAYS_HERE", 1)
    monkeypatch.setattr(on_spark, "_MOST_COLLECTED", 4)  # so that executors merge
    X, y = data(1500, 3)
    names = np.array(["ash", "elm", "fir"])[y.astype(int)]
    rows = [(k, *map(float, x), str(name)) for k, (x, name) in enumerate(zip(X, names, strict=True))]
    frame = spark.createDataFrame(rows, ["id", *"abcd", "label"]).repartitionByRange(10, "id").cache()
    for multi_class in ("ovr", "ovo"):
        settings = {"featuresCol": list("abcd"), "lam": 1e-3, "multiClass": multi_class}
        model, again = (PegasosClassifier(**settings).fit(frame) for _ in range(2))
        assert np.array_equal(model.coefficients, again.coefficients)
        local = pegasos.PegasosClassifier(lam=1e-3, multi_class=multi_class, tol=1e-6).fit(X, names)
        for mine, its in zip(model.certificate.parts, local.certificate_.parts, strict=True):
            assert mine.relative_gap <= 1e-3
            assert its.dual <= mine.primal <= its.primal * (1 + 2e-3)
        found = model.transform(frame).orderBy("id").select("prediction").collect()
        assert np.mean([row.prediction for row in found] == local.predict(X)) > 0.98


@pytest.mark.slow
def test_probabilities_are_those_of_the_local_model(spark):
    from pegasos.spark import PegasosClassifier

    X, y = data(1000)
    frame = vectors(spark, X, y)
    model = PegasosClassifier(lam=1e-3, probability="sigmoid", seed=0).fit(frame)
    local = pegasos.PegasosClassifier(lam=1e-3, probability="sigmoid", random_state=0).fit(X, y)
    found = model.transform(frame).orderBy("id").select("probability").collect()
    mine = np.array([row.probability.toArray() for row in found])
    # Not the same bits: a batch with sparse vectors is a sparse matrix, whose products are summed in another order.
    np.testing.assert_allclose(mine, model.toLocal().predict_proba(X), rtol=1e-10)
    assert np.abs(mine - local.predict_proba(X)).mean() < 0.02


@pytest.mark.slow
def test_a_regressor_predicts_numbers(spark):
    from pegasos.spark import PegasosRegressor

    X, _ = data()
    y = 30.0 + 10.0 * X[:, 0]
    frame = vectors(spark, X, y)
    model = PegasosRegressor(lam=1e-4, epsilon=1.0).fit(frame)
    local = pegasos.PegasosRegressor(lam=1e-4, epsilon=1.0, tol=1e-6).fit(X, y)
    assert model.certificate.relative_gap <= 1e-3
    assert local.certificate_.dual <= model.certificate.primal <= local.certificate_.primal * (1 + 2e-3)
    found = model.transform(frame).orderBy("id").select("prediction").collect()
    np.testing.assert_allclose([row.prediction for row in found], model.toLocal().predict(X), rtol=1e-12)


@pytest.mark.slow
def test_it_works_in_a_pipeline_and_in_a_cross_validator(spark):
    from pyspark.ml import Pipeline
    from pyspark.ml.evaluation import BinaryClassificationEvaluator
    from pyspark.ml.feature import StandardScaler
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    from pegasos.spark import PegasosClassifier

    frame = vectors(spark, *data())
    classifier = PegasosClassifier(featuresCol="scaled", tol=1e-2)
    pipeline = Pipeline(stages=[StandardScaler(inputCol="features", outputCol="scaled"), classifier])
    grid = ParamGridBuilder().addGrid(classifier.lam, [1e-1, 1e-3]).build()
    evaluator = BinaryClassificationEvaluator()
    search = CrossValidator(estimator=pipeline, estimatorParamMaps=grid, evaluator=evaluator, numFolds=2, seed=0)
    found = search.fit(frame)
    assert len(found.avgMetrics) == 2
    assert evaluator.evaluate(found.transform(frame)) > 0.9


@pytest.mark.slow
def test_a_bad_partition_and_bad_parameters_are_named(spark):
    from pegasos.spark import PegasosClassifier

    X, y = data()
    X[390, 2] = np.nan
    with pytest.raises(pegasos.PegasosError, match="In partition 2: X contains NaN"):
        PegasosClassifier().fit(vectors(spark, X, y))
    with pytest.raises(pegasos.PegasosError, match="has no parameter 'lamda'"):
        PegasosClassifier(lamda=1.0)
    with pytest.raises(pegasos.PegasosError, match="lam must be a positive number"):
        PegasosClassifier(lam=-1.0).fit(vectors(spark, *data()))
    with pytest.raises(pegasos.PegasosError, match="'crammer_singer' is one problem"):
        PegasosClassifier(multiClass="crammer_singer").fit(vectors(spark, *data()))


SCRIPT = """
import signal
import sys
import numpy as np
import pegasos
import psutil
from tests.unit.test_spark import data, session_of, vectors
from pegasos.solvers import partitioned_newton
from pegasos.spark import PegasosClassifier, _OnExecutors

partitioned_newton._ALWAYS_HERE = 1
url, deaths = sys.argv[1], int(sys.argv[2])
spark = session_of(url, **{"spark.executor.memory": "512m", "spark.executor.cores": "1"})
whole, passes = _OnExecutors.answers, []


def executors():
    mine = f":{spark.sparkContext.getConf().get('spark.driver.port')}"
    lines = [(each, " ".join(each.info["cmdline"] or [])) for each in psutil.process_iter(["cmdline"])]
    return [each for each, line in lines if "CoarseGrainedExecutorBackend" in line and mine in line]


def pass_with_a_death(self, asked):
    passes.append(asked)
    if len(passes) == 3 and deaths:
        executors()[0].send_signal(signal.SIGKILL)
        print("KILLED")
    return whole(self, asked)


_OnExecutors.answers = pass_with_a_death
frame = vectors(spark, *data(1000), n_partitions=4)
model = PegasosClassifier(lam=1e-4).fit(frame)
print("EXECUTORS", len(executors()))
# The certificate again, from the rows as the driver collects them.
rows = frame.select("features", "label").collect()
X, sign = np.array([row.features.toArray() for row in rows]), np.where([row.label > 0 for row in rows], 1.0, -1.0)
w, b = model.coefficients[0], model.intercepts[0]
primal = 0.5e-4 * (w @ w + b * b) + np.maximum(0.0, 1.0 - sign * (X @ w + b)).mean()
best = pegasos.PegasosClassifier(lam=1e-4, tol=1e-9).fit(X, sign).certificate_
agrees = abs(model.certificate.primal - primal) <= 1e-10 * primal and model.certificate.dual <= best.primal
print("BITS", model.coefficients.tobytes().hex(), model.certificate.relative_gap <= 1e-3 and agrees)
spark.stop()
"""


@pytest.mark.slow
def test_the_number_of_workers_does_not_change_a_bit_even_if_one_dies(tmp_path):
    home = Path(pyspark.__file__).parent
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    launch = [str(home / "bin" / "spark-class")]
    master = "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"
    worker = "org.apache.spark.deploy.worker.Worker", "--cores", "1", "--memory", "600m", "--webui-port", "0"
    log = (tmp_path / "log").open("w")
    quiet = {"stdout": log, "stderr": log, "env": environment, "cwd": tmp_path}
    processes = [subprocess.Popen([*launch, *master], **quiet)]
    try:
        wait_for(port)
        work = [str(tmp_path / name) for name in ("first", "second")]
        processes += [subprocess.Popen([*launch, *worker, "--work-dir", where, url], **quiet) for where in work]
        runs = ("local[1]", 0), ("local[4]", 0), (url, 0), (url, 1)
        alone, four, two, with_a_death = (bits_of(*run, environment) for run in runs)
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait(30)
        log.close()
    assert "EXECUTORS 2" in two
    assert "KILLED" in with_a_death
    assert alone[-1] == four[-1] == two[-1] == with_a_death[-1]
    assert alone[-1].endswith("True")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait_for(port, seconds=90.0):
    end = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return
        except OSError:
            assert time.monotonic() < end, "the master does not listen"
            time.sleep(0.5)


def bits_of(url, deaths, environment):
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", SCRIPT, url, str(deaths)]
    captured = {"capture_output": True, "text": True}
    run = subprocess.run(command, check=False, env=environment, cwd=root, timeout=300, **captured)
    assert run.returncode == 0, run.stderr[-3000:]
    return [line for line in run.stdout.splitlines() if line.startswith(("BITS", "KILLED", "EXECUTORS"))]
