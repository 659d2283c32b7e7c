"""The command ``pegasos train``."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris

import pegasos
from pegasos.cli import main


def test_a_model_is_trained_written_and_described(rows, tmp_path, capsys):
    path = tmp_path / "out.pegasos"
    assert main(["train", rows, "--lam", "0.01", "--random-state", "0", "-o", str(path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("The duality gap reached tol: the result is proved. Certified: ")
    assert f"model    {path}\n" in printed
    model = pegasos.load(path)
    assert model.lam == 0.01
    assert model.certificate_.relative_gap <= 1e-3


def test_json_is_one_object_and_nothing_else(rows, tmp_path, capsys):
    options = ["--C", "0.5", "--hold-out", "0.3", "--random-state", "3", "--json"]
    assert main(["train", rows, "-o", str(tmp_path / "m.pegasos"), *options]) == 0
    values = json.loads(capsys.readouterr().out)
    assert values["status"] == "certified"
    assert values["certificate"]["relative_gap"] <= 1e-3
    assert 0.5 < values["accuracy"] <= 1.0
    assert values["parameters"]["C"] == 0.5
    assert values["classes"] == [-1.0, 1.0]


def test_a_gap_that_was_not_reached_is_the_exit_code_1_and_the_model_is_there(rows, tmp_path, capsys):
    path = tmp_path / "rough.pegasos"
    options = ["--solver", "pegasos", "--max_iter", "1", "--tol", "1e-9"]
    assert main(["train", rows, "-o", str(path), *options]) == 1
    assert "max_iter epochs ended before the gap reached tol" in capsys.readouterr().out
    assert pegasos.load(path).n_iter_ == 1


def test_the_default_name_is_that_of_the_data(rows, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["train", rows, "--quiet"]) == 0
    assert "model    rows.svm.pegasos" in capsys.readouterr().out
    assert (tmp_path / "rows.svm.pegasos").is_file()


def test_a_kernel_machine_and_text_labels(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    X, y = load_iris(return_X_y=True)
    lines = [",".join([*map(str, row), f"kind {label}"]) for row, label in zip(X, y, strict=True)]
    table, path = tmp_path / "iris.csv", tmp_path / "iris.pegasos"
    table.write_text("a,b,c,d,species\n" + "\n".join(lines) + "\n")
    options = [
        "--label",
        "species",
        "--kernel",
        "rbf",
        "--gamma",
        "0.5",
        "--class-weight",
        "kind 0=2,kind 1=1,kind 2=1",
    ]
    assert main(["train", str(table), "-o", str(path), *options]) == 0
    assert "classes  kind 0, kind 1, kind 2" in capsys.readouterr().out
    model = pegasos.load(path)
    assert (model.gamma, model.class_weight["kind 0"]) == (0.5, 2.0)


def test_rows_that_need_not_fit_into_memory_give_the_same_objective(rows, model, tmp_path, capsys):
    path = tmp_path / "large.pegasos"
    assert main(["train", rows, "-o", str(path), "--lam", "0.01", "--memory", "1M", "--test", rows]) == 0
    assert f"on {rows}" in capsys.readouterr().out
    small, large = pegasos.load(model).certificate_, pegasos.load(path).certificate_
    assert large.primal == pytest.approx(small.primal, rel=2e-3)


def test_a_prior_may_be_a_model_or_weights(rows, model, tmp_path, capsys):
    (tmp_path / "w.json").write_text('{"coef": [[1, 0, 0, 0, 0, 0]], "intercept": [0.5]}')
    for prior in (model, tmp_path / "w.json"):
        path = tmp_path / "m.pegasos"
        assert main(["train", rows, "--prior", str(prior), "--lam", "1e6", "-o", str(path)]) == 0
    np.testing.assert_allclose(pegasos.load(path).coef_, [[1, 0, 0, 0, 0, 0]], atol=1e-4)


def test_an_interrupt_writes_the_model_reached(rows, tmp_path, monkeypatch, capsys):
    looks = []

    def interrupt_the_first_time(self, k, n_problems, row):
        looks.append(row)
        if len(looks) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr("pegasos.cli._progress.Progress.tell", interrupt_the_first_time)
    path = tmp_path / "part.pegasos"
    assert main(["train", rows, "-o", str(path), "--tol", "1e-9"]) == 130
    assert "The fit was interrupted; the model is the last one reached." in capsys.readouterr().out
    assert pegasos.load(path).predict([[0.0] * 6]).shape == (1,)


def test_an_interrupt_before_there_is_a_model_writes_nothing(rows, tmp_path, monkeypatch, capsys):
    def interrupt(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("pegasos.data.read_table", interrupt)
    assert main(["train", rows, "-o", str(tmp_path / "m.pegasos")]) == 130
    assert capsys.readouterr().err == "pegasos train: interrupted.\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--lam", "-1"], "lam must be a positive number, got -1.0."),
        (["--lam", "much"], "lam must be a number, got 'much'"),
        (["--max-iter", "1.5"], "max_iter must be a whole number, got '1.5'"),
        (["--kernel", "precomputed"], "dense data is required"),
        (["--lam", "1", "--C", "1"], "give lam or C, not both"),
        (["--solver", "magic"], "solver must be one of auto, "),
        (["--solver", "decomposition"], "solver must be one of 'auto', "),
        (["--gamma", "1"], "--gamma is a parameter of kernel machines: give --kernel as well."),
        (["--kernel", "magic"], "'magic'"),
        (["--kernel", "rbf", "--memory", "1G"], "a kernel machine needs all rows in memory"),
        (["--class-weight", "heavy"], "class_weight must be balanced, or weights such as spam=5,ham=1"),
        (["--random-state", "x"], "random_state must be a whole number, got 'x'"),
        (["--hold-out", "1.5"], "--hold-out must be a share between 0 and 1, got 1.5."),
        (["--hold-out", "0.3", "--test", "@rows"], "give --test or --hold-out, not both."),
        (["--hold-out", "0.3", "--memory", "1G"], "--hold-out needs all rows in memory"),
        (["--memory", "little"], "memory must be a number of bytes"),
        (["--test", "none.svm"], "none.svm cannot be read: there is no such file."),
        (["--prior", "none.pegasos"], "none.pegasos: No such file or directory."),
        (["--report", "none/report.html"], "the folder of none/report.html does not exist; make it first."),
        (["-o", "@rows/m.pegasos"], "rows.svm/m.pegasos does not exist; make it first."),
        (["-o", "@rows"], "is an input file and would be overwritten"),
        (["-o", "."], ". is a folder: name a file in it."),
        (["--format", "xml"], "format must be one of svmlight, "),
        (["--label", "x"], "is read as svmlight, whose options are"),
        (["--magic"], "unrecognized arguments: --magic"),
    ],
)
def test_what_cannot_be_done_raises_an_error(rows, failing, options, sentence, empty_folder):
    assert sentence in failing("train", rows, *(word.replace("@rows", rows) for word in options))
    assert list(empty_folder.iterdir()) == []


def test_a_file_that_is_not_a_checkpoint_is_refused_and_kept(rows, failing, tmp_path):
    state = tmp_path / "run.ckpt"
    state.write_text("no state of a run")
    assert "run.ckpt" in failing("train", rows, "-o", tmp_path / "m.pegasos", "--checkpoint", state)
    assert state.read_text() == "no state of a run"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "holds no rows."),
        ("nonsense here\n", "line 1, column 1"),
        ("1 1:1\n1 1:2\n", "class"),
        ("1 1:1\n-1 1:nan\n", "is not finite"),
    ],
)
def test_a_file_that_cannot_be_trained_on_raises_an_error(failing, tmp_path, text, sentence):
    path = tmp_path / "bad.svm"
    path.write_text(text)
    assert sentence in failing("train", path, "-o", tmp_path / "m.pegasos")


def test_a_file_that_is_not_there_or_is_not_a_file_raises_an_error(failing, tmp_path):
    assert "No such file" in failing("train", tmp_path / "none.svm", "-o", tmp_path / "m.pegasos")
    assert "is a folder or a device" in failing("train", tmp_path, "-o", tmp_path / "m.pegasos")


def test_a_name_that_is_not_text_is_printed_as_it_is(rows, tmp_path):
    name = os.fsencode(tmp_path) + b"/rows\xff.svm"
    try:
        shutil.copyfile(rows, name)
    except OSError:
        pytest.skip("this file system has no such names")
    command = [sys.executable, "-m", "pegasos", "train", name, "--lam", "0.01", "--quiet", "--report", "page.html"]
    done = subprocess.run(command, capture_output=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"model    rows\xff.svm.pegasos\n" in done.stdout
    assert "rows?.svm" in (tmp_path / "page.html").read_text(encoding="utf-8")
