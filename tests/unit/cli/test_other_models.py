"""Commands with regressors and one-class models."""

import json

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_diabetes

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
