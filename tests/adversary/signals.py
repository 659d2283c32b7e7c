"""SIGINT at random moments within native blocks of kernels: answered within half a second."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings

import numpy as np

from pegasos import KernelPegasosClassifier
from pegasos.kernels import GlobalAlignment, RandomWalk, Subsequence

_SOON = 0.5


def hunt(random: np.random.Generator) -> dict[str, int]:
    """One fit, and one signal."""
    kind = int(random.integers(3))
    if kind == 0:
        kernel, items = GlobalAlignment(1.0), [random.normal(size=150) for _ in range(120)]
    elif kind == 1:
        kernel, items = Subsequence(3), ["".join(random.choice(list("acgt"), 800)) for _ in range(60)]
    else:
        matrix = np.roll(np.eye(300), 1, axis=1) + np.roll(np.eye(300), -1, axis=1)
        kernel, items = RandomWalk(0.05), [(matrix, list(random.integers(0, 2, 300).astype(str))) for _ in range(30)]
    fired: list[float] = []

    def fire() -> None:
        time.sleep(random.uniform(0.0, 0.4))
        fired.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=fire)
    ended = 0.0
    try:
        thread.start()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            KernelPegasosClassifier(kernel, lam=1e-4, tol=1e-6, random_state=0).fit(items, np.arange(len(items)) % 2)
        ended = time.perf_counter()
        thread.join()
        time.sleep(0.1)  # where the fit was over before the signal
    except KeyboardInterrupt:
        ended = ended or time.perf_counter()
    thread.join()
    assert ended - fired[0] < _SOON, f"answered after {ended - fired[0]:.2f} s"
    return {"signals": 1}
