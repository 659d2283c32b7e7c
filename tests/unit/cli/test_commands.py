"""The command line as a whole: help, errors, exit codes."""

import subprocess
import sys

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
