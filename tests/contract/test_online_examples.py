"""The example from the perceptron to Pegasos runs."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "perceptron_to_pegasos.py"


def test_each_rule_on_the_way_to_pegasos_comes_nearer_to_its_objective(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(EXAMPLE))["main"](str(tmp_path / "mistakes.png"))
    printed = capsys.readouterr().out.splitlines()
    lowest = float(re.search(r"at least ([\d.]+)", printed[0]).group(1))
    objectives = {line[:24].strip(): float(line.split()[-1]) for line in printed[1:]}
    chain = [objectives[name] for name in ("perceptron", "averaged perceptron", "margin, constant step", "Pegasos")]
    assert chain == sorted(chain, reverse=True)
    assert lowest < chain[-1] < 1.02 * lowest
    assert (tmp_path / "mistakes.png").stat().st_size > 10_000
