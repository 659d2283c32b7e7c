"""A search for false certificates and crashes, for as long as it is given.

    python -m tests.adversary --seconds 3600 --seed 0

Every problem has a number: the seed printed with a finding makes it again, alone, with ``--only linear --seed N
--problems 1``.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter

import numpy as np

from tests.adversary import files, hostile, kernels, linear, optima, signals

HUNTS = {
    "linear": (linear.hunt, 0.4),
    "optima": (optima.hunt, 0.2),
    "kernels": (kernels.hunt, 0.2),
    "hostile": (hostile.hunt, 0.08),
    "files": (files.hunt, 0.08),
    "signals": (signals.hunt, 0.04),
}


def search(name: str, seconds: float, seed: int, problems: int | None = None) -> tuple[Counter[str], list[str]]:
    """Problem after problem until the time is over; what was checked, and what was found."""
    hunt, counts, found = HUNTS[name][0], Counter[str](), []
    begun, k = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds and (problems is None or k < problems):
        try:
            counts.update(hunt(np.random.default_rng(seed + k)))
        except Exception as error:  # whatever it is, it is a finding
            where = "" if isinstance(error, AssertionError) else traceback.format_exc(limit=-3)
            found.append(f"--only {name} --seed {seed + k} --problems 1: {type(error).__name__}: {error}\n{where}")
        counts[f"problems ({name})"] += 1
        k += 1
    return counts, found


def main() -> int:
    """All searches, or one of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", choices=HUNTS, default=None)
    parser.add_argument("--problems", type=int, default=None)
    given = parser.parse_args()
    seed = int(time.time()) * 1000 % 2**31 if given.seed is None else given.seed
    print(f"seed {seed}, {given.seconds:g} seconds", flush=True)
    counts, found = Counter[str](), []
    for name, (_, share) in HUNTS.items():
        if given.only in (None, name):
            seconds = given.seconds * (1.0 if given.only else share)
            more, wrong = search(name, seconds, seed, given.problems)
            counts.update(more)
            found += wrong
            print("\n".join(wrong) if wrong else f"{name}: nothing found", flush=True)
    for what, count in sorted(counts.items()):
        print(f"{count:10} {what}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
