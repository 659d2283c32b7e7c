"""No memory, no threads: a MemoryError and not a crash, and the process goes on; `memory.py` does the work."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KINDS = [
    "fit",
    "fit of CSR",
    "one against the rest",
    "all classes at once",
    "kernel",
    "strings",
    "predict",
    "predict of a kernel",
    "svmlight text",
    "source",
    "archive",
    "writing",
]
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limits are those of Linux")

# Where only little memory is left there is none for the stack of a thread. Of a thread that ended it would be kept.
FEW_THREADS = """
import hashlib, resource, sys, threading
import numpy as np
from pegasos.kernels import RBF, Subsequence
from pegasos.problem import Rows
from tests.faults.memory import addresses
random = np.random.default_rng(0)
X = random.normal(size=(20_000, 5))
texts = ["".join(letters) for letters in random.choice(list("abc"), size=(60, 30))]
if "limited" in sys.argv:
    resource.setrlimit(resource.RLIMIT_AS, (addresses() + (6 << 20), resource.RLIM_INFINITY))
    try:
        threading.Thread(target=print).start()
        raise SystemExit("a thread could be started: the test tests nothing")
    except RuntimeError:
        pass
found = Rows.of(X, 1.0, 4).squared_norms, RBF(0.1).block(X[:300], X[:300]), Subsequence(2).block(texts, texts)
print(hashlib.sha256(b"".join(array.tobytes() for array in found)).hexdigest())
"""


def run(*command, **environment):
    """What a process of its own prints; that it ends well is part of the test."""
    settings = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=settings, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-3000:])
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_too_little_memory_is_an_error_and_not_a_crash(kind):
    outcomes = json.loads(run("-W", "ignore", "-m", "tests.faults.memory", kind))
    assert outcomes["done"] > 0
    assert sum(outcomes.values()) > outcomes["done"]


@pytest.mark.slow
def test_where_no_thread_is_to_be_had_the_results_are_the_same():
    assert run("-c", FEW_THREADS, "limited") == run("-c", FEW_THREADS)


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
