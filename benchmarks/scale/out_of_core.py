"""Training on a file that is larger than the memory, beside merely reading it.

    python -m benchmarks.scale.out_of_core [--gigabytes 8] [--memory 1G] [--folder DIR]

The file is a cache of dense float32 rows: two classes, noisy, of 100 features. Each run is a process of its own, whose
memory besides mapped files is limited by the system (RLIMIT_DATA); before each, the file is dropped from the system's
cache, as far as an ordinary user may ask for that (POSIX_FADV_DONTNEED). Reading is what `cat` does: one pass, nothing
kept. What is reported is the time of a whole `fit_source`, labels, checks and certificate included, to a certified
relative gap of 1e-2 and of 1e-3, how much of it processors worked (the reader beside the trainer; where the machine is
busy with other things, the clock on the wall measures those too), and the largest memory of the process.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

title = "Out of core: a file larger than the memory"
_N_FEATURES, _BLOCK_ROWS = 100, 40_000
_LIMIT_BESIDE = 1 << 30  # bytes for the interpreter, its libraries, and temporary arrays of about 20 bytes per row

_PROGRAM = """
import json, resource, sys, time
path, memory, tol, limit = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
from pegasos import PegasosClassifier
begun, used = time.perf_counter(), time.process_time()
model = PegasosClassifier(tol=tol, random_state=0).fit_source(path, memory=memory)
seconds, processor = time.perf_counter() - begun, time.process_time() - used
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
gap, epochs = model.certificate_.relative_gap, float(model.trace_["epoch"][-1])
print(json.dumps({"seconds": seconds, "processor": processor, "peak": peak, "gap": gap, "epochs": epochs}))
"""


def run(gigabytes: float = 8.0, memory: int = 1 << 30, folder: str | None = None) -> list[dict[str, object]]:
    """Rows of a table: reading alone, and training to two gaps."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "rows.cache"
        n_rows = write_rows(path, gigabytes)
        reading = _read(path)
        rows: list[dict[str, object]] = [_row("reading", path, n_rows, {"seconds": reading}, reading)]
        for tol in (1e-2, 1e-3):
            rows.append(_row(f"training to {tol:g}", path, n_rows, _train(path, memory, tol), reading))
    return rows


def write_rows(path: Path, gigabytes: float) -> int:
    """A cache of that size, written block by block; how many rows it has."""
    from pegasos.data.cache import write_cache

    source = _Generated(max(1, round(gigabytes * 1e9 / (4 * _N_FEATURES * _BLOCK_ROWS))))
    write_cache(path, source, "generated")
    return source.n_rows


class _Generated:
    """Rows made up block by block, the same ones each time."""

    is_sparse, n_features, dtype, fingerprint = False, _N_FEATURES, np.dtype(np.float32), "generated"

    def __init__(self, n_blocks: int) -> None:
        self.n_blocks, self.n_rows = n_blocks, n_blocks * _BLOCK_ROWS
        self.starts = np.arange(n_blocks + 1, dtype=np.int64) * _BLOCK_ROWS
        self.truth = np.random.default_rng(0).normal(size=_N_FEATURES).astype(np.float32)

    def block(self, k: int):
        from pegasos.data import Block

        random = np.random.default_rng([1, k])
        X = random.standard_normal((_BLOCK_ROWS, _N_FEATURES), dtype=np.float32) / np.float32(np.sqrt(_N_FEATURES))
        noise = 0.5 * random.standard_normal(_BLOCK_ROWS, dtype=np.float32)
        return Block(X, (X @ self.truth + noise > 0).astype(np.int64))

    def __iter__(self):
        return (self.block(k) for k in range(self.n_blocks))


def _read(path: Path) -> float:
    _drop(path)
    begun = time.perf_counter()
    with path.open("rb") as file, open(os.devnull, "wb") as nowhere:
        subprocess.run(["cat"], stdin=file, stdout=nowhere, check=True)
    return time.perf_counter() - begun


def _train(path: Path, memory: int, tol: float) -> dict[str, float]:
    _drop(path)
    arguments = [str(path), str(memory), str(tol), str(memory + _LIMIT_BESIDE)]
    done = subprocess.run([sys.executable, "-c", _PROGRAM, *arguments], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def _drop(path: Path) -> None:
    """Ask the system to forget what it has in memory of the file."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _row(what: str, path: Path, n_rows: int, found: dict[str, float], reading: float) -> dict[str, object]:
    return {
        "what": what,
        "GB": round(path.stat().st_size / 1e9, 2),
        "rows": n_rows,
        "seconds": round(found["seconds"], 1),
        "of them on processors": round(found["processor"], 1) if "processor" in found else "",
        "of reading": round(found["seconds"] / reading, 2),
        "peak memory, GB": round(found["peak"] / 1e9, 2) if "peak" in found else "",
        "certified gap": f"{found['gap']:.1e}" if "gap" in found else "",
        "epochs": round(found["epochs"], 1) if "epochs" in found else "",
    }


def main() -> None:
    """Measure a file of the size asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--memory", type=int, default=1 << 30, help="bytes")
    parser.add_argument("--folder", default=None, help="where the file is made; it is deleted afterwards")
    arguments = parser.parse_args()
    for row in run(arguments.gigabytes, arguments.memory, arguments.folder):
        print("  ".join(f"{name} {value}" for name, value in row.items() if value != ""), flush=True)


if __name__ == "__main__":
    main()
