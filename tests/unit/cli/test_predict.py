"""The command ``pegasos predict``."""

import json

import numpy as np
import pytest

import pegasos
from pegasos.cli import main
from pegasos.data import read


def test_the_predictions_are_those_of_the_model_one_a_line(rows, model, capsys):
    assert main(["predict", model, rows]) == 0
    shown = capsys.readouterr()
    X, y = read(rows)
    expected = pegasos.load(model).predict(X)
    assert shown.out.split("\n") == [*(str(int(label)) for label in expected), ""]
    assert shown.err == f"accuracy {np.mean(expected == y):.4f} on 90 rows\n"


def test_scores_and_certainty_are_columns_of_a_table(rows, model, tmp_path, capsys):
    path = tmp_path / "scores.tsv"
    assert main(["predict", model, rows, "--scores", "--certified", "-o", str(path)]) == 0
    assert capsys.readouterr().out == ""
    head, *lines = path.read_text().splitlines()
    assert head == "prediction\tscore\tcertified"
    scores = [float(line.split("\t")[1]) for line in lines]
    np.testing.assert_array_equal(scores, pegasos.load(model).decision_function(read(rows)[0]))
    assert {line.split("\t")[2] for line in lines} <= {"yes", "no"}


def test_probabilities_have_a_column_a_class(rows, tmp_path, capsys):
    path = str(tmp_path / "m.pegasos")
    assert main(["train", rows, "-o", path, "--probability", "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", path, rows, "--probabilities"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()
    assert head == "prediction\tprobabilities -1\tprobabilities 1"
    assert sum(map(float, first.split("\t")[1:])) == pytest.approx(1.0)


def test_json_has_what_was_asked_for(rows, model, capsys):
    assert main(["predict", model, rows, "--scores", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert len(values["predictions"]) == len(values["scores"]) == 90
    assert values["classes"] == [-1.0, 1.0]


def test_sparse_rows_may_end_before_the_last_feature_and_have_no_known_label(model, tmp_path, capsys):
    path = tmp_path / "short.svm"
    path.write_text("0 1:0.5\n0 2:1.5\n")
    assert main(["predict", model, str(path), "--zero-based", "no"]) == 0
    shown = capsys.readouterr()
    assert len(shown.out.split()) == 2
    assert shown.err == ""


def test_rows_of_numpy_need_no_labels(rows, model, tmp_path, capsys):
    X, y = read(rows)
    np.save(tmp_path / "X.npy", X.toarray())
    np.save(tmp_path / "y.npy", y)
    assert main(["predict", model, str(tmp_path / "X.npy")]) == 0
    bare = capsys.readouterr()
    assert main(["predict", model, str(tmp_path / "X.npy"), "--labels", str(tmp_path / "y.npy")]) == 0
    labelled = capsys.readouterr()
    assert bare.out == labelled.out
    assert (bare.err, labelled.err[:8]) == ("", "accuracy")


@pytest.mark.parametrize("name", ["X.csv", "X.parquet", "X.arrow", "X.npz"])
def test_tables_need_no_labels(rows, model, tmp_path, capsys, name):
    pa = pytest.importorskip("pyarrow")
    X, _ = read(rows)
    table = pa.table({f"x{j}": column for j, column in enumerate(X.toarray().T)})
    path = str(tmp_path / name)
    if name == "X.csv":
        pytest.importorskip("pyarrow.csv").write_csv(table, path)
    elif name == "X.parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    elif name == "X.arrow":
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    else:
        np.savez(path, X=X.toarray())
    assert main(["predict", model, path]) == 0
    shown = capsys.readouterr()
    assert shown.out.split() == [f"{label:.0f}" for label in pegasos.load(model).predict(X)]
    assert shown.err == ""


def test_a_class_called_nan_is_not_the_label_of_rows_without(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    (tmp_path / "train.csv").write_text("a,b,y\n1,2,nan\n2,1,x\n1,3,nan\n3,1,x\n")
    (tmp_path / "new.csv").write_text("a,b\n1,2\n1,3\n")
    assert main(["train", str(tmp_path / "train.csv"), "--label", "y", "-o", str(tmp_path / "m"), "--quiet"]) == 0
    capsys.readouterr()
    assert main(["predict", str(tmp_path / "m"), str(tmp_path / "new.csv")]) == 0
    assert capsys.readouterr().err == ""


def test_a_column_of_labels_that_is_not_named_raises_an_error(model, failing, tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "new.csv").write_text("a,b,c,d,e,f,y\n1,2,3,4,5,6,7\n")
    assert "has 7 features, but the model has 6" in failing("predict", model, tmp_path / "new.csv")
    (tmp_path / "new.csv").write_text("a,b,c,d,e,f,y\n1,2,3,4,5,6,spam\n")
    assert "'y'" in failing("predict", model, tmp_path / "new.csv")


def test_where_it_cannot_be_seen_whether_indices_begin_with_0_that_is_said(model, tmp_path, capsys):
    path = tmp_path / "some.svm"
    path.write_text("1 1:0.5 5:2\n-1 2:1\n")
    assert main(["predict", model, str(path)]) == 0
    first = capsys.readouterr()
    assert "neither index 0 nor 6 occurs; the first feature is taken to have index 1" in first.err
    answers = {}
    for word in ("yes", "no"):
        assert main(["predict", model, str(path), "--scores", "--zero-based", word]) == 0
        shown = capsys.readouterr()
        assert "index" not in shown.err
        answers[word] = [float(line.split("\t")[1]) for line in shown.out.splitlines()[1:]]
    assert answers["yes"] != answers["no"]
    for text in ("1 0:0.5 5:2\n", "1 2:0.5 6:2\n", "1 0:1\n"):  # it can be seen
        path.write_text(text)
        assert main(["predict", model, str(path)]) == 0
        assert "index" not in capsys.readouterr().err


def test_rows_of_another_kind_raise_an_error(model, failing, tmp_path):
    path = tmp_path / "wide.svm"
    path.write_text("1 9:0.5\n")
    assert "has 9 features, but the model has 6" in failing("predict", model, path)


def test_what_the_model_lacks_raises_an_error(rows, model, failing, tmp_path):
    assert "has no probabilities; train it with --probability." in failing("predict", model, rows, "--probabilities")
    assert "does not exist" in failing("predict", model, rows, "-o", tmp_path / "none" / "p.txt")
    assert "give it or -o, not both" in failing("predict", model, rows, "--json", "-o", tmp_path / "p.txt")


@pytest.mark.parametrize("command", ["predict", "report"])
def test_what_is_read_is_not_written_over(rows, model, failing, command):
    for path in (rows, model):
        assert "is an input file and would be overwritten" in failing(command, model, rows, "-o", path)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 and then nothing", b"\x00\x01\x02", b"{}", b"[1, 2]", b"{"])
def test_what_is_not_a_model_raises_an_error(rows, failing, tmp_path, content):
    path = tmp_path / "odd.pegasos"
    path.write_bytes(content)
    assert str(path) in failing("predict", path, rows)


def test_a_model_that_is_not_there_or_is_data_raises_an_error(rows, failing, tmp_path):
    assert "No such file" in failing("predict", tmp_path / "none.pegasos", rows)
    assert "is a folder" in failing("predict", tmp_path, rows)
    assert "rows.svm" in failing("predict", rows, rows)
