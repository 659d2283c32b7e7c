"""Threads of the core end well even where they should never have begun."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*command, **environment):
    """What a process of its own prints; that it ends well is part of the test."""
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    "call",
    [
        "RBF(0.1).block(np.ones((300, 2)), np.ones((300, 2)))",
        "Subsequence(2).block(['ab'] * 90, ['ab'] * 90)",
        "WeightedDegree(2).block(['ab'] * 9000, ['ab'] * 9)",
    ],
)
def test_an_instruction_set_that_is_not_there_is_found_out_before_threads_begin(call):
    lines = ["import numpy as np", "from pegasos.kernels import *", "try:", f"    {call}"]
    code = "\n".join([*lines, "except RuntimeError as error:", "    print(error)"])
    assert "unset it, or use 'baseline'" in run("-c", code, PEGASOS_INSTRUCTION_SET="abacus")
