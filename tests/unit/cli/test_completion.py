"""The command ``pegasos completion``."""

import shutil
import subprocess

import pytest

from pegasos.cli import _commands, main


def completed(script, words):
    """What bash offers for the last word."""
    listed = " ".join(f"'{word}'" for word in words)
    asked = f'{script}\nCOMP_WORDS=({listed}); COMP_CWORD={len(words) - 1}; _pegasos; echo "${{COMPREPLY[*]}}"'
    return subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes_commands_options_and_words(capsys):
    main(["completion", "bash"])
    script = capsys.readouterr().out
    assert completed(script, ["pegasos", ""]) == list(_commands)
    assert completed(script, ["pegasos", "tr"]) == ["train"]
    assert completed(script, ["pegasos", "train", "--max"]) == ["--max-iter", "--max-steps", "--max-support"]
    assert completed(script, ["pegasos", "train", "--sampling", "u"]) == ["uniform"]
    assert completed(script, ["pegasos", "completion", "f"]) == ["fish"]
    assert completed(script, ["pegasos", "train", "data"]) == []  # files, which bash knows


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_scripts_of_other_shells_name_every_command_and_option(shell, capsys):
    main(["completion", shell])
    script = capsys.readouterr().out
    assert all(name in script for name in _commands)
    assert "regularize-intercept" in script


def test_an_unknown_shell_raises_an_error(failing):
    assert "invalid choice: 'tcl'" in failing("completion", "tcl")
