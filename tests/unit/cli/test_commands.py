"""The command line as a whole: help, errors, exit codes."""

import subprocess
import sys
import warnings

import pytest

import pegasos.cli
from pegasos.cli import main
from pegasos.errors import PegasosError


def test_help_names_every_command(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in pegasos.cli._commands)


@pytest.mark.parametrize("name", pegasos.cli._commands)
def test_every_command_has_help_with_an_example(name, capsys):
    with pytest.raises(SystemExit) as ended:
        main([name, "--help"])
    assert ended.value.code == 0
    assert f"\npegasos {name}" in capsys.readouterr().out


def test_an_error_is_one_sentence_and_an_exit_code(monkeypatch, capsys):
    def fail(arguments):
        raise PegasosError("lam must be above 0, got -1: choose a positive number.")

    monkeypatch.setattr("pegasos.cli.demo.run", fail)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == "pegasos demo: lam must be above 0, got -1: choose a positive number.\n"
    with pytest.raises(PegasosError):
        main(["demo", "--debug"])


def test_the_module_runs_as_a_program():
    done = subprocess.run([sys.executable, "-m", "pegasos", "nonsense"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "invalid choice: 'nonsense'" in done.stderr


def test_the_version_is_that_of_the_package(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"pegasos {pegasos.__version__}\n"


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FileNotFoundError(2, "No such file or directory", "a.svm"), "a.svm: No such file or directory."),
        (ValueError("Input X contains NaN.\nA long explanation."), "Input X contains NaN."),
        (ImportError('run pip install "pegasos[onnx]".'), 'run pip install "pegasos[onnx]".'),
        (MemoryError(), "there is not enough memory; train --memory reads block by block."),
    ],
)
def test_every_expected_error_is_one_line(error, line, monkeypatch, capsys):
    def fail(arguments):
        raise error

    monkeypatch.setattr("pegasos.cli.demo.run", fail)
    assert main(["demo"]) == 2
    assert capsys.readouterr().err == f"pegasos demo: {line}\n"


def test_a_warning_is_a_line_without_a_place_in_the_source(monkeypatch, capsys):
    monkeypatch.setattr("pegasos.cli.demo.run", lambda arguments: warnings.warn("the prior has no name.", stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert main(["demo"]) == 0
    assert capsys.readouterr().err == "pegasos demo: the prior has no name.\n"


def test_a_reader_that_goes_away_ends_the_command_quietly(tmp_path):
    script = tmp_path / "talkative.py"
    script.write_text(
        "import sys, pegasos.cli, pegasos.cli.demo\n"
        "pegasos.cli.demo.run = lambda arguments: print('line\\n' * 100_000)\n"
        "sys.exit(pegasos.cli.main(['demo']))\n"
    )
    command = f"{sys.executable} {script} | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (141, "line\n", "")


def test_a_folder_that_cannot_be_made_is_noticed_before_the_demo(rows, failing):
    pytest.importorskip("matplotlib")
    assert "File exists" in failing("demo", rows)
