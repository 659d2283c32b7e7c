"""Reading svmlight text: megabytes a second, against scikit-learn's reader.

Files of about 100 MB are made in a temporary folder; each reader reads each of them whole, into float32 CSR. Both are
told the number of features and the first index. What is compared is processor time in one thread: on a shared machine
the clock on the wall measures the others. `pegasos, wall` is that clock, with a thread for each processor; `convert`
reads the file twice, block by block, and writes its cache.
"""

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file

from pegasos.data import convert, read_svmlight

title = "Reading svmlight text: MB of the file a second"
_N_FEATURES = 50_000


def run(megabytes: int = 100, repeat: int = 5) -> list[dict[str, object]]:
    """A row for each file: its size, and the speed of each reader."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, form in _forms.items():
            path = Path(folder) / f"{name}.svm"
            _write(path, form, megabytes)
            rows.append({"file": name, "MB": round(_megabytes(path)), **_speeds(path, repeat)})
            path.unlink()
    return rows


def _speeds(path: Path, repeat: int) -> dict[str, object]:
    options: dict[str, Any] = {"n_features": _N_FEATURES, "zero_based": False, "dtype": np.float32}
    seconds = {
        "pegasos, wall": _least(lambda: read_svmlight(path, **options), time.perf_counter, repeat),
        "pegasos": _least(lambda: read_svmlight(path, **options, n_jobs=1), time.process_time, repeat),
        "scikit-learn": _least(lambda: load_svmlight_file(str(path), **options), time.process_time, 1),
        "convert": _least(lambda: _convert_anew(path), time.process_time, 1),
    }
    speeds: dict[str, object] = {name: round(_megabytes(path) / took) for name, took in seconds.items()}
    return {**speeds, "pegasos / scikit-learn": round(seconds["scikit-learn"] / seconds["pegasos"], 1)}


def _convert_anew(path: Path) -> None:
    convert(path).path.unlink()


def _least(work: Callable[[], object], clock: Callable[[], float], repeat: int) -> float:
    seconds = []
    for _ in range(repeat):
        begin = clock()
        work()
        seconds.append(clock() - begin)
    return min(seconds)


def _write(path: Path, form: str, megabytes: int) -> None:
    """Rows of 100 features of 50000; some lines are made and repeated, for making them takes longer than reading."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(_N_FEATURES // 100, size=(2000, 100)) + np.arange(100) * _N_FEATURES // 100)
    lines = []
    for i, values in enumerate(rng.random((2000, 100))):
        pairs = zip(columns[i] + 1, values, strict=True)
        lines.append(f"{2 * (i % 2) - 1} " + " ".join(f"{column}:{value:{form}}" for column, value in pairs))
    text = ("\n".join(lines) + "\n").encode()
    with path.open("wb") as file:
        for _ in range(-(-megabytes * 10**6 // len(text))):
            file.write(text)


def _megabytes(path: Path) -> float:
    return os.path.getsize(path) / 1e6


# How the values are written: as most files of data sets have them, all equal to 1, and with all digits of a double.
_forms = {"5 digits": ".5g", "ones": ".0f", "17 digits": ".17g"}
