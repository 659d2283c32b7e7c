"""The same seed, data, version and n_jobs: the same bits, whatever else differs."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.models import fingerprint, fitted, kinds

ROOT = Path(__file__).parents[2]
# Whole problems are what runs in parallel here: their number of threads changes no bit.
SHARED_OUT = ["one against the rest", "one against one", "probabilities", "folds", "source", "stream", "kernel pairs"]
# Loops alone: no BLAS, no exponential of the system, only additions, products, quotients and roots, which are the same
# on every machine. A change of these is a change that users see: say it in the changelog.
STORED = json.loads((Path(__file__).parent / "fingerprints.json").read_text())
PRINT = """
import json
from tests.faults.models import fitted, kinds
print(json.dumps({name: fitted(kinds(n_jobs=2)[name]) for name in %r}))
"""


def fitted_elsewhere(names, **environment):
    """The fingerprints that a new process finds."""
    command = [sys.executable, "-c", PRINT % (list(names),)]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **environment}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", kinds())
def test_the_same_seed_gives_the_same_bits(name):
    kind = kinds(n_jobs=2)[name]
    assert fitted(kind) == fitted(kind)


@pytest.mark.parametrize("name", SHARED_OUT)
def test_the_number_of_threads_changes_no_bit_where_whole_problems_are_shared_out(name):
    assert len({fitted(kinds(n_jobs)[name]) for n_jobs in (None, 2, 3)}) == 1


@pytest.mark.slow
def test_a_new_process_finds_the_same_bits_whatever_it_hashes_strings_by():
    here = {name: fitted(kinds(n_jobs=2)[name]) for name in kinds()}
    assert fitted_elsewhere(here, PYTHONHASHSEED="1") == here


def test_an_estimator_that_has_learnt_something_else_before_gives_the_same_bits():
    make, X, y = kinds()["one against the rest"]
    model = make().fit(X[:100, :3], y[:100])
    assert fingerprint(model.fit(X, y), X) == fitted((make, X, y))


@pytest.mark.skipif(platform.machine().lower() not in {"x86_64", "amd64"}, reason="others contract a * b + c their way")
def test_the_bits_are_those_of_every_other_machine():
    assert fitted_elsewhere(STORED, PEGASOS_INSTRUCTION_SET="baseline") == STORED
