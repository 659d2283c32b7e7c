"""Commands with regressors and one-class models."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_diabetes

import pegasos
from pegasos import KernelPegasosOneClass, KernelPegasosRegressor, PegasosRegressor
from pegasos.cli import main

X, Y = load_diabetes(return_X_y=True)
X = 20.0 * X


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    path = tmp_path_factory.mktemp("numbers") / "numbers.svm"
    dump_svmlight_file(X, Y, str(path), zero_based=False)
    return str(path)


@pytest.mark.parametrize("kind", [PegasosRegressor, KernelPegasosRegressor])
def test_a_regressor_predicts_is_certified_and_reported(kind, numbers, tmp_path, capsys):
    model, path = kind(C=1.0, epsilon=20.0, random_state=0).fit(X, Y), str(tmp_path / "m.pegasos")
    model.save(path)
    assert main(["predict", path, numbers]) == 0
    shown = capsys.readouterr()
    assert np.array(shown.out.split(), float) == pytest.approx(model.predict(X))
    assert shown.err == f"r2 {model.score(X, Y):.4f} on 442 rows\n"
    assert main(["predict", path, numbers, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["r2"] == pytest.approx(model.score(X, Y))
    assert main(["certify", path, numbers, "--quiet"]) == 0
    assert f"r2 {model.score(X, Y):.4f} on 442 rows" in capsys.readouterr().out
    assert main(["report", path, numbers, "-o", str(tmp_path / "page.html")]) == 0
    assert "mean absolute error" in (tmp_path / "page.html").read_text("utf8")


def test_a_linear_regressor_is_certified_for_another_lam(numbers, tmp_path, capsys):
    PegasosRegressor(lam=1e-3, epsilon=20.0, random_state=0).fit(X, Y).save(tmp_path / "m.pegasos")
    assert main(["certify", str(tmp_path / "m.pegasos"), numbers, "--lam", "1e-1", "--quiet"]) == 1
    assert "above the best possible" in capsys.readouterr().out


def test_scores_of_a_regressor_are_refused(numbers, tmp_path, failing):
    PegasosRegressor(lam=1e-3, random_state=0).fit(X, Y).save(tmp_path / "m.pegasos")
    assert "it predicts numbers" in failing("predict", tmp_path / "m.pegasos", numbers, "--scores")


def test_a_one_class_model_predicts_and_is_reported_whatever_the_labels_are(numbers, rows, tmp_path, capsys, failing):
    path = str(tmp_path / "m.pegasos")
    model = KernelPegasosOneClass(gamma=0.1, nu=0.3, random_state=0).fit(X)
    model.save(path)
    assert main(["predict", path, numbers]) == 0
    shown = capsys.readouterr()
    clear = np.abs(model.decision_function(X)) > 1e-6  # the file has the numbers in decimals
    assert np.array_equal(np.array(shown.out.split(), int)[clear], model.predict(X)[clear])
    assert shown.err == ""
    assert main(["report", path, numbers, "-o", str(tmp_path / "page.html")]) == 0
    assert "It is not known which" in (tmp_path / "page.html").read_text("utf8")
    capsys.readouterr()
    assert main(["certify", path, numbers, "--quiet"]) == 0
    assert "certified" in capsys.readouterr().out


def test_numbers_are_learnt_when_the_task_or_the_loss_asks_for_them(numbers, tmp_path, capsys):
    path, page = str(tmp_path / "m.pegasos"), tmp_path / "page.html"
    options = ["--epsilon", "20", "--C", "1", "--random-state", "0", "--hold-out", "0.25", "--quiet"]
    assert main(["train", numbers, "--task", "regression", *options, "-o", path, "--report", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "Certified: the objective" in printed
    assert "r2       0." in printed
    assert "classes" not in printed
    assert "mean absolute error" in page.read_text("utf8")
    model = pegasos.load(path)
    assert isinstance(model, PegasosRegressor)
    assert model.epsilon == 20.0
    loss = ["--loss", "quantile", "--quantile", "0.9", "--lam", "1e-4", "--json", "--quiet"]
    assert main(["train", numbers, *loss, "-o", path, "--test", numbers]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["status"] == "certified"
    assert values["parameters"]["quantile"] == 0.9
    assert "r2" in values
    assert "classes" not in values
    is_above = pegasos.load(path).predict(X) < Y
    assert is_above.mean() == pytest.approx(0.1, abs=0.03)


def test_a_kernel_regressor_is_the_one_that_python_trains(numbers, tmp_path):
    path = str(tmp_path / "m.pegasos")
    options = ["--kernel", "rbf", "--gamma", "0.1", "--epsilon", "20", "--C", "10", "--random-state", "0", "--quiet"]
    assert main(["train", numbers, "--loss", "epsilon_insensitive", *options, "--dtype", "float64", "-o", path]) == 0
    expected = KernelPegasosRegressor("rbf", C=10.0, gamma=0.1, epsilon=20.0, random_state=0).fit(X, Y)
    assert pegasos.load(path).predict(X) == pytest.approx(expected.predict(X), rel=1e-2)


def test_a_regressor_is_trained_out_of_core(numbers, tmp_path, capsys):
    path = str(tmp_path / "m.pegasos")
    options = ["--task", "regression", "--epsilon", "20", "--lam", "1e-3", "--memory", "100M", "--random-state", "0"]
    assert main(["train", numbers, *options, "-o", path, "--quiet", "--test", numbers]) == 0
    assert "r2       0." in capsys.readouterr().out


@pytest.mark.parametrize("kind", [[], ["--kernel", "rbf", "--gamma", "0.1"]])
def test_a_one_class_machine_is_trained_without_labels(kind, tmp_path, capsys):
    usual = X + 3.0  # a plane can separate them from the origin
    np.save(tmp_path / "X.npy", usual)
    path, page = str(tmp_path / "m.pegasos"), tmp_path / "page.html"
    options = ["--task", "one-class", "--nu", "0.2", "--random-state", "0", "--quiet", "--report", str(page)]
    assert main(["train", str(tmp_path / "X.npy"), *options, *kind, "-o", path]) == 0
    assert "ertified" in capsys.readouterr().out
    model = pegasos.load(path)
    assert model.nu == 0.2
    assert (model.predict(usual) == -1).mean() == pytest.approx(0.2, abs=0.05)
    assert "It is not known which" in page.read_text("utf8")


def test_words_are_not_targets_and_options_belong_to_their_task(numbers, tmp_path, failing):
    pytest.importorskip("pyarrow")
    (tmp_path / "t.csv").write_text("a,b\n1,x\n2,y\n3,x\n")
    output = ["-o", tmp_path / "m.pegasos", "--quiet"]
    regression = ["--task", "regression", "--label", "b"]
    assert "must be numbers for --task regression" in failing("train", tmp_path / "t.csv", *regression, *output)
    wrong = failing("train", numbers, "--epsilon", "0.1", *output)
    assert "--epsilon is a parameter of --task regression, and not of classification." in wrong
    wrong = failing("train", numbers, "--task", "one-class", "--C", "1", *output)
    assert "--C is a parameter of --task classification and regression, and not of one-class." in wrong
    wrong = failing("train", numbers, "--task", "regression", "--gamma", "1", *output)
    assert "--gamma is a parameter of kernel machines: give --kernel as well." in wrong
    wrong = failing("train", numbers, "--task", "one-class", "--memory", "1G", *output)
    assert "a one-class machine needs all rows in memory" in wrong
    assert "loss" in failing("train", numbers, "--task", "classification", "--loss", "huber", *output)
