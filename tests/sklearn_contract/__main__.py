"""scikit-learn's own tests of `sklearn.svm`, those of the installed version, run against `pegasos.svm`.

    python -m tests.sklearn_contract [file ...]

The files are imported from where scikit-learn is installed, while `sklearn.svm` has the names of `pegasos.svm`. Prints
how many tests pass, file by file, and those that are expected to fail with their reasons. The exit status is 0 where
nothing else fails.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path

import pytest
import sklearn

import pegasos

FILES = ("test_svm.py", "test_sparse.py", "test_bounds.py")
EXPECTED = {
    "test_svc_clone_with_callable_kernel": "before 1.9: probabilities of a function as kernel come from other folds",
    "test_svr_errors": "a kernel function that gives a matrix of the wrong shape is refused at fit, not at predict",
    "test_tweak_params": "writes to the private attribute _dual_coef_",
}


class Tally:
    """What became of each test."""

    def __init__(self) -> None:
        self.passed: Counter[str] = Counter()
        self.run: Counter[str] = Counter()
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test once: when it was called, or could not be."""
        if report.when != "call" and not (report.failed or report.skipped):
            return
        name = Path(report.nodeid.split("::")[0]).name
        self.run[name] += 1
        self.passed[name] += report.passed
        if report.failed:
            self.failed.append(report.nodeid.split("::", 1)[1])


def main(files: tuple[str, ...]) -> int:
    """Run the files and print the table."""
    package = Path(sklearn.__file__).parent
    tally = Tally()
    options = ["-c", "/dev/null", "--rootdir", str(package.parent), "-p", "no:cacheprovider", "-p", "no:xdist"]
    with pegasos.patch_sklearn(), warnings.catch_warnings():
        pytest.main(
            [*options, "-q", "--tb=line", "--no-header", "-W", "ignore"]
            + [str(package / "svm" / "tests" / name) for name in files],
            plugins=[tally],
        )
    print(f"\nscikit-learn {sklearn.__version__}, its own tests against pegasos.svm")
    for name in files:
        print(f"{name:16} {tally.passed[name]:4} of {tally.run[name]:4} pass")
    print(f"{'all':16} {tally.passed.total():4} of {tally.run.total():4} pass")
    expected = [name for name in tally.failed if name.split("[")[0] in EXPECTED]
    for name in expected:
        print(f"expected to fail: {name}: {EXPECTED[name.split('[')[0]]}")
    unexpected = [name for name in tally.failed if name not in expected]
    for name in unexpected:
        print(f"FAILED: {name}")
    return int(bool(unexpected) or tally.run.total() == 0)


if __name__ == "__main__":
    sys.exit(main(tuple(sys.argv[1:]) or FILES))
