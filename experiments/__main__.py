"""All experiments, one after the other: ``python -m experiments [--quick] [name ...]``."""

import argparse
import subprocess
import sys
from time import perf_counter

names = (
    "training_time",
    "norma",
    "batch_size",
    "growth",
    "toy",
    "bound",
    "mistakes",
    "choosing_c",
    "kernel_perceptron",
    "multiclass",
    "schemes",
    "imbalance",
    "transfer",
    "probabilities",
    "structured_kernels",
    "fashion_pairs",
)


def main() -> None:
    """Each in a process of its own, so that none has the memory of another."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description="Run experiments, all unless named.")
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(names))
    parser.add_argument("--quick", action="store_true", help="little data; nothing is written")
    parser.add_argument("--twin", action="store_true", help="the same on small data that scikit-learn has")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"there is no experiment {unknown[0]!r}; there are {', '.join(names)}.")
    forms = ["--quick"] * options.quick + ["--twin"] * options.twin
    for name in options.names or names:
        begun = perf_counter()
        subprocess.run([sys.executable, "-m", f"experiments.{name}", *forms], check=True)
        print(f"-- {name}: {perf_counter() - begun:.0f} seconds", flush=True)


if __name__ == "__main__":
    main()
