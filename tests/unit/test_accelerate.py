"""sklearn.svm with the estimators of pegasos.svm in it."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import sklearn.svm
from sklearn.datasets import load_iris

import pegasos
import pegasos.svm
from pegasos.accelerate import main

THEIRS = sklearn.svm.SVC


def test_a_patch_replaces_names_and_gives_them_back():
    with pegasos.patch_sklearn():
        assert sklearn.svm.SVC is pegasos.svm.SVC
        pegasos.patch_sklearn()  # a second one changes nothing
        assert sklearn.svm.LinearSVR is pegasos.svm.LinearSVR
    assert sklearn.svm.SVC is THEIRS
    pegasos.patch_sklearn(["LinearSVC"])
    assert sklearn.svm.SVC is THEIRS
    assert sklearn.svm.LinearSVC is pegasos.svm.LinearSVC
    pegasos.unpatch_sklearn()
    assert sklearn.svm.LinearSVC is not pegasos.svm.LinearSVC


def test_an_unknown_name_changes_nothing():
    with pytest.raises(pegasos.PegasosError, match="no estimator 'SVM'; it has SVC"):
        pegasos.patch_sklearn(["SVC", "SVM"])
    assert sklearn.svm.SVC is THEIRS


def test_the_patch_ends_with_an_error():
    with pytest.raises(ZeroDivisionError), pegasos.patch_sklearn():
        raise ZeroDivisionError
    assert sklearn.svm.SVC is THEIRS


def test_a_pickle_made_under_the_patch_is_read_without_it():
    X, y = load_iris(return_X_y=True)
    with pegasos.patch_sklearn():
        text = pickle.dumps(sklearn.svm.SVC().fit(X, y))
    np.testing.assert_array_equal(pickle.loads(text).predict(X), THEIRS().fit(X, y).predict(X))


def test_a_script_runs_under_the_patch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom sklearn.svm import SVC\nassert __name__ == '__main__'\n"
        "model = SVC().fit([[0.0], [1.0]], [0, 1])\nprint(type(model).__module__, sys.argv[1:])\n"
    )
    run = [sys.executable, "-m", "pegasos.accelerate", str(script), "--fast", "3"]
    found = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert found.split("\n")[0] == "pegasos.svm.kernel_machines ['--fast', '3']"


def test_without_a_script_it_says_how_it_is_used(capsys):
    assert main([]) == 2
    assert "python -m pegasos.accelerate script.py" in capsys.readouterr().out
