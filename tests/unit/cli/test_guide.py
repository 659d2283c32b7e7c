"""What docs/command-line.md shows is what the commands print, except for the digits of numbers."""

import doctest
import re
import shlex
from pathlib import Path

from pegasos.cli import main

GUIDE = Path(__file__).parents[3] / "docs" / "command-line.md"


def examples():
    """Pieces of Python, and commands with what is shown below them, in order."""
    for language, block in re.findall(r"```(python|console)\n(.*?)```", GUIDE.read_text(encoding="utf8"), re.DOTALL):
        if language == "python":
            yield block, None
        else:
            yield from re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)


def masked(text):
    """Numbers and the blanks around them differ from machine to machine, and so does which rivals are there."""
    return [re.sub(r"\s*-?\d[\d.e+-]*", " #", line) for line in text.splitlines() if "LIBLINEAR" not in line]


def test_the_commands_print_what_the_guide_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    n_commands = 0
    for text, shown in examples():
        if shown is None:
            piece = doctest.DocTestParser().get_doctest(text, {}, "guide", str(GUIDE), 0)
            assert doctest.DocTestRunner().run(piece).failed == 0
            capsys.readouterr()
            continue
        assert main(shlex.split(text)[1:]) in (0, 1)
        printed = capsys.readouterr()
        assert masked(printed.out + printed.err) == masked(shown), text
        n_commands += 1
    assert n_commands >= 8
