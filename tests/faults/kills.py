"""Kills writers at random moments, with SIGKILL, and looks at the file: ``python -m tests.faults.kills 200``.

Three writers in turn: ``save`` of a model, the checkpoints of ``fit_source``, ``convert`` of a data file. Whenever one
is killed, the file must be one that a writer had finished: the old one or the new one.
"""

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import pegasos
from pegasos import PegasosClassifier, archive
from pegasos.data import ArraySource, convert, open_source
from pegasos.fitting.checkpoint import _KIND

random = np.random.default_rng(0)
X = random.normal(size=(400, 5000))
y = X[:, 0] > 0.3


class Saves:
    """Two models, saved in turn under one name."""

    def __init__(self, folder):
        self.path = folder / "model.pegasos"
        self.models = [PegasosClassifier(lam=lam, random_state=0).fit(X, y) for lam in (1e-1, 1e-2)]
        self.models[0].save(self.path)

    def work(self):
        while True:
            for model in self.models:
                model.save(self.path)

    def which(self):
        found = pegasos.load(self.path)
        matching = [k for k, model in enumerate(self.models) if np.array_equal(found.coef_, model.coef_)]
        assert len(matching) == 1
        return matching[0]


class Checkpoints:
    """A fit that writes one after every chunk, continues from it, and starts over when it is done."""

    def __init__(self, folder):
        self.path = folder / "run.checkpoint"
        self.source = ArraySource(X, y, block_rows=50)
        self.straight = self.fit().coef_
        self.fit(checkpoint=self.path, checkpoint_seconds=0.0)

    def fit(self, **checkpoint):
        model = PegasosClassifier(solver="pegasos", lam=1e-3, tol=None, max_iter=20, random_state=0)
        return model.fit_source(self.source, memory="32M", **checkpoint)

    def work(self):
        while True:
            self.fit(checkpoint=self.path, checkpoint_seconds=0.0)
            self.path.unlink()

    def which(self):
        if not self.path.exists():  # between two runs
            return 0
        step = archive.read(self.path, _KIND).values["walk"]["number"]
        if random.random() < 0.2:  # ends where it would have ended without the kill
            assert np.array_equal(self.fit(checkpoint=self.path, checkpoint_seconds=0.0).coef_, self.straight)
        return step


class Conversions:
    """Two data files, converted in turn into one cache."""

    def __init__(self, folder):
        self.path = folder / "data.pegasos-cache"
        self.texts = [folder / "short.svm", folder / "long.svm"]
        for text, n_rows in zip(self.texts, (200, 400), strict=True):
            rows = (f"{'+1' if label else '-1'} 1:{row[0]:.3f} 7:{row[1]:.3f}" for row, label in zip(X, y, strict=True))
            text.write_text("\n".join(list(rows)[:n_rows]))
        convert(self.texts[0], self.path)

    def work(self):
        while True:
            for text in self.texts:
                convert(text, self.path)

    def which(self):
        source = open_source(self.path)
        n_rows = sum(block.n_rows if hasattr(block, "n_rows") else len(block.y) for block in source)
        assert n_rows == source.n_rows
        return [200, 400].index(n_rows)


def kill(job, seconds):
    """A process that works and is killed after this many seconds; whether it was working."""
    child = os.fork()
    if child == 0:
        try:
            job.work()
        finally:
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(n_kills):
    """Kill, look, and say what was found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        jobs = [Saves(folder), Checkpoints(folder), Conversions(folder)]
        found = {type(job).__name__: {} for job in jobs}
        n_parts = 0
        for number in range(n_kills):
            job = jobs[number % len(jobs)]
            assert kill(job, random.uniform(0.0, 0.6)), "the writer ended by itself"
            which = job.which()
            seen = found[type(job).__name__]
            seen[which] = seen.get(which, 0) + 1
            for part in folder.glob(".*.part"):  # what a killed writer leaves behind
                part.unlink()
                n_parts += 1
        return found, n_parts


if __name__ == "__main__":
    states, n_parts = main(int(sys.argv[1]))
    print(f"{sys.argv[1]} kills, {n_parts} of them in the middle of a file, no broken file")
    for name, seen in states.items():
        print(f"{name}: the file found, and how often: {dict(sorted(seen.items()))}")
