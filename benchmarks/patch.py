"""The classes of `pegasos.svm` against those of `sklearn.svm` at their defaults: what a script gains from the patch.

    python -m benchmarks.patch [--repeat 5]

Processor time of one fit in one thread, best of `repeat` runs, with everything that it includes: checks of the input,
labels, certificates. Rows are standardized, without constant features. Regressions predict the first feature from the
others. Besides the data of scikit-learn, SVC and OneClassSVM are measured on small sizes of the kernel benchmark, if
PEGASOS_DATA is set. scikit-learn's `tol` is its default, so its solutions are less exact than ours.
"""

import argparse
import json
import os
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sklearn.svm as theirs
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

from benchmarks import tables
from benchmarks.kernels.grid import CELLS
from pegasos import svm as ours

RESULTS = Path(__file__).parent / "results" / "patch.json"
PAGE = Path(__file__).parents[1] / "docs" / "migration.md"
_BEGIN, _END = "<!-- patch table -->\n", "<!-- end of patch table -->\n"
SIZES = (1000, 3000)  # rows of the kernel benchmark
_SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
_CLASSES: dict[str, dict[str, Any]] = {"SVC": {}, "NuSVC": {"nu": 0.1}, "LinearSVC": {}}
_NUMBERS = ("SVR", "NuSVR", "LinearSVR")
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")


def main() -> None:
    """Measure, print a line per fit, write the numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    repeat = parser.parse_args().repeat
    rows = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for name, data, X, y in fits():
            rows.append(measured(name, data, X, y, repeat))
            print(line(rows[-1]), flush=True)
    content = {"versions": tables.versions(_PACKAGES), "machine": tables.machine(), "rows": rows}
    RESULTS.write_text(json.dumps(content, indent=1) + "\n")
    PAGE.write_text(page(), encoding="utf8")
    print(summary(rows))


def measured(name: str, data: str, X: Any, y: Any, repeat: int) -> dict[str, Any]:
    """The row of a fit: processor seconds of the fastest run of each, in turn, so that both meet the same machine."""
    models = [getattr(module, name)(**_CLASSES.get(name, {})) for module in (theirs, ours)]
    best = [np.inf, np.inf]
    for _ in range(repeat):
        for k, model in enumerate(models):
            begun = time.process_time()
            model.fit(X, y)
            best[k] = min(best[k], time.process_time() - begun)
    gap = models[1].certificate_.relative_gap
    return {"class": name, "data": data, "shape": X.shape, "theirs": best[0], "ours": best[1], "gap": gap}


def fits() -> Iterator[tuple[str, str, Any, Any]]:
    """The class, the data, rows and targets of every fit."""
    for data, load in _SETS.items():
        X, y = load(return_X_y=True)
        X = scale(X[:, np.ptp(X, axis=0) > 0.0])
        for name in _CLASSES:
            yield name, data, X, y
        for name in _NUMBERS:
            yield name, data, np.ascontiguousarray(X[:, 1:]), X[:, 0]
        yield "OneClassSVM", data, X, None
    if "PEGASOS_DATA" not in os.environ:
        return
    for cell in CELLS.values():
        for n in SIZES:
            found = cell.rows(n)
            if found is not None:
                data = f"{cell.data}, {len(np.unique(found[1]))} classes"
                yield "SVC", data, *found
                yield "OneClassSVM", data, found[0], None


def page() -> str:
    """The page with the table of the results."""
    rows = json.loads(RESULTS.read_text())["rows"]
    head = "| class | data | scikit-learn | pegasos | times as fast |\n| --- | --- | --- | --- | --- |\n"
    table = head + "".join(f"{line(row)}\n" for row in rows)
    before, _, rest = PAGE.read_text(encoding="utf8").partition(_BEGIN)
    return f"{before}{_BEGIN}\n{table}\n{summary(rows)}.\n\n{_END}{rest.partition(_END)[2]}"


def line(row: dict[str, Any]) -> str:
    """A row of the table of docs/migration.md."""
    size = " x ".join(f"{n:,}" for n in row["shape"])
    times, seconds = row["theirs"] / row["ours"], (shown(1e3 * row[whose]) for whose in ("theirs", "ours"))
    return f"| `{row['class']}` | {row['data']} ({size}) | {' | '.join(seconds)} | {times:.2g} |"


def shown(milliseconds: float) -> str:
    """Two digits, and all before the point."""
    return f"{milliseconds:.0f}" if milliseconds >= 10.0 else f"{milliseconds:.1f}"


def summary(rows: list[dict[str, Any]]) -> str:
    """How much faster the fits are, in the mean and at least."""
    times = np.array([row["theirs"] / row["ours"] for row in rows])
    faster = int(np.sum(times >= 1.0))
    mean = np.exp(np.mean(np.log(times)))
    return f"Geometric mean of the last column: {mean:.2g}; {faster} of {len(times)} fits are at least as fast"


if __name__ == "__main__":
    main()
