"""The time of a step of kernel Pegasos against the number of rows: it should be linear.

A step evaluates one column of the kernel matrix, n values, and adds it to the n scores if it finds a violation. Each
run takes the same thousand steps on rows drawn without repetition, so no column serves twice, with room for all
columns whatever n is; certificates are not part of it. Rows are random ones of covtype, or generated where PEGASOS_DATA
is not set.
"""

import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.kernels.problems import covtype
from pegasos.gram import KernelRows
from pegasos.kernels import RBF
from pegasos.problem import Problem
from pegasos.solvers.kernel_pegasos import KernelPegasos
from pegasos.solvers.pegasos import Pegasos

sizes = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
_N_STEPS = 1_000
_TURNS = 15  # of a second or less each
_LAM = 1e-4
_GAMMA = 1.0
_image = Path(__file__).parents[2] / "docs" / "images" / "kernel_growth.png"


def measure(sizes: tuple[int, ...] = sizes) -> dict[str, Any]:
    """Seconds a step for each number of rows, all sizes taking turns, and the slope of their logarithms."""
    X, y = covtype(max(sizes)) if "PEGASOS_DATA" in os.environ else _generated(max(sizes))
    taken: dict[int, list[float]] = {n: [] for n in sizes}
    for _ in range(_TURNS):
        for n in sizes:
            taken[n].append(_seconds(X[:n], y[:n]))
            print(f"  {n:,} rows: {taken[n][-1] / _N_STEPS * 1e6:.1f} microseconds per step", flush=True)
    per_step = [min(taken[n]) / _N_STEPS for n in sizes]
    slope, shift = np.polyfit(np.log(sizes), np.log(per_step), 1)
    return {
        "problem": "covtype" if "PEGASOS_DATA" in os.environ else "generated",
        "n_features": X.shape[1],
        "n_steps": _N_STEPS,
        "lam": _LAM,
        "gamma": _GAMMA,
        "repeat": _TURNS,
        "n_rows": list(sizes),
        "seconds_per_step": per_step,
        "slope": float(slope),
        "shift": float(shift),
    }


def render(found: dict[str, Any]) -> str:
    """Markdown, and the slope."""
    lines = ["| rows | microseconds per step |", "| --- | --- |"]
    pairs = zip(found["n_rows"], found["seconds_per_step"], strict=True)
    lines += [f"| {n:,} | {seconds * 1e6:.1f} |" for n, seconds in pairs]
    return "\n".join([*lines, "", f"Time of a step ~ rows^{found['slope']:.2f}."])


def draw(found: dict[str, Any], path: Path = _image) -> None:
    """Both axes logarithmic, with the fitted line."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    n = np.array(found["n_rows"])
    figure, axes = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    fitted = np.exp(found["shift"]) * n ** found["slope"] * 1e6
    axes.loglog(n, fitted, color="#E69F00", label=f"fitted line, slope {found['slope']:.2f}", zorder=1)
    axes.loglog(n, np.array(found["seconds_per_step"]) * 1e6, "o", color="#0072B2", label="measured", zorder=2)
    axes.set_xticks(n, [f"{each:,}" for each in n])
    axes.minorticks_off()
    axes.set(xlabel="training samples", ylabel="microseconds per step")
    axes.set_title(f"Kernel Pegasos on {found['problem']}, RBF, {found['n_features']} features")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _seconds(X: np.ndarray, y: np.ndarray) -> float:
    """The steps alone, on a kernel of which nothing is in memory yet."""
    kernel = RBF(gamma=_GAMMA)
    rows = KernelRows.of(kernel, kernel.read(X), 1.0, cache_bytes=4.0 * len(y) ** 2, double=False)
    problem = Problem.plain(rows, y, _LAM)
    solver = KernelPegasos(Pegasos())
    state = solver.start(problem, 0)
    start = time.perf_counter()
    solver.advance_to(problem, state, _N_STEPS)
    return time.perf_counter() - start


def _generated(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    rows = rng.random((n_rows, 54), dtype=np.float32)
    return rows, np.where(rows[:, 0] + rng.standard_normal(n_rows) > 0.5, 1, -1).astype(np.int8)
