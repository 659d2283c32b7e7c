"""The quick part of scikit-learn's own tests, in a process of its own; `make test-sklearn` runs all of them."""

import subprocess
import sys


def test_the_tests_of_scikit_learn_pass():
    run = [sys.executable, "-m", "tests.sklearn_contract", "test_svm.py"]
    found = subprocess.run(run, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout[-2000:]
