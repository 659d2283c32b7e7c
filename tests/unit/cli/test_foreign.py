"""Models of other tools, by their files."""

import pytest

from pegasos.cli import main
from pegasos.data import read


def test_a_file_of_liblinear_predicts_and_is_certified(rows, tmp_path, capsys):
    own = pytest.importorskip("liblinear.liblinearutil")
    X, y = read(rows)
    path = str(tmp_path / "liblinear.model")
    own.save_model(path, own.train(y, X, "-s 3 -B 1 -c 0.5 -e 1e-6 -q"))
    assert main(["certify", path, rows, "--C", "0.5"]) == 0
    assert "within tol=0.001" in capsys.readouterr().out
    assert main(["certify", path, rows, "--C", "0.005"]) == 1
    assert main(["predict", path, rows]) == 0
    assert "accuracy" in capsys.readouterr().err


def test_a_file_of_libsvm_is_certified_and_takes_the_features_of_the_rows(tmp_path, capsys):
    own = pytest.importorskip("libsvm.svmutil")
    # The last feature is 0 in every row that the model keeps.
    path, rows = str(tmp_path / "libsvm.model"), tmp_path / "rows.svm"
    lines = [f"{1 if i % 2 else -1} 1:{i % 2} 2:{i / 10}" for i in range(12)]
    rows.write_text("\n".join(lines) + "\n")
    own.svm_save_model(path, own.svm_train(*own.svm_read_problem(str(rows)), "-t 2 -g 0.5 -c 2 -e 1e-6 -q"))
    assert main(["certify", path, str(rows), "--C", "2"]) == 0
    assert "found now" in capsys.readouterr().out
    rows.write_text("\n".join(f"{line} 3:0" for line in lines) + "\n")
    assert main(["predict", path, str(rows)]) == 0
    assert capsys.readouterr().out.split() == [line.split()[0] for line in lines]


def test_a_file_that_does_not_say_its_lam_needs_it(rows, tmp_path, failing):
    path = tmp_path / "liblinear.model"
    path.write_text("solver_type L2R_L1LOSS_SVC_DUAL\nnr_class 2\nlabel 1 -1\nnr_feature 6\nbias 1\nw\n" + "1 \n" * 7)
    assert "give --lam or --C, as in its training." in failing("certify", path, rows)
