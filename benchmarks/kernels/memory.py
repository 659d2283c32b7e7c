"""The memory of one fit: the peak of a process that does nothing else, less what it held before.

The rows it learns from are there before and do not count; copies that a fit makes of them do.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import joblib

_MEGABYTE = 2.0**20
_WARM_ROWS = 200


def of_fit(name: str, arguments: tuple[Any, ...]) -> float:
    """Megabytes that the machine of that name takes to fit: rows, labels, C, gamma, setting."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "arguments"
        joblib.dump((name, arguments), path)
        command = [sys.executable, "-m", "benchmarks.kernels.memory", str(path)]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode:
        raise RuntimeError(f"{name} failed in a process of its own: {answer.stderr[-2000:]}")
    return float(json.loads(answer.stdout.splitlines()[-1]))


def peak() -> float:
    """The most bytes of this process so far, without those of the process that started it where Linux tells."""
    return _of_linux("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _unit()


def resident() -> float:
    """The bytes of this process now; where only the peak is known, that."""
    return _of_linux("VmRSS") or peak()


def _unit() -> int:
    """getrusage counts in bytes on macOS, in kilobytes elsewhere."""
    return 1 if sys.platform == "darwin" else 1024


def _of_linux(name: str) -> float:
    """0 where there is no such file."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0.0)


def _measure(path: str) -> float:
    from benchmarks.kernels.measure import fit
    from benchmarks.kernels.rivals import called

    name, (X, y, *settings) = joblib.load(path)
    solver = called(name)
    # Libraries and threads are not what a fit takes.
    fit(solver, X[:_WARM_ROWS], y[:_WARM_ROWS], *settings)
    before = resident()
    fit(solver, X, y, *settings)
    return (peak() - before) / _MEGABYTE


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1])))
