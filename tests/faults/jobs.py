"""Jobs that may fail for want of memory or threads: what each does, gives, and must leave as it was."""

import functools
import hashlib
import threading

import numpy as np
import scipy.sparse as sp

import pegasos
from pegasos import KernelPegasosClassifier, PegasosClassifier
from pegasos.data import convert, open_source, read
from pegasos.kernels import RandomWalk, Subsequence, WeightedDegree
from tests.faults.models import fingerprint, kinds, rows, words


class Job:
    """What is done in `work` is tried with too little; the rest is done undisturbed."""

    def __init__(self, name):
        self.name = name
        begun = []
        threading.setprofile(lambda *_: begun.append(None))
        for _ in range(2):  # the first time is not like the others: modules are imported, tables filled
            state = self.begin()
            self.expected = self.digest(state, self.work(state))
        threading.setprofile(None)
        self.starts_threads_of_python = bool(begun)

    def begin(self):
        """What `work` and the others are given."""

    def work(self, state):
        """The job."""

    def digest(self, state, result):
        """All bits of what it gave."""
        return digest_of(result)

    def check_unharmed(self, state):
        """After it has failed."""


class Fit(Job):
    """A model that was fitted before is fitted again; if that fails, it still predicts as before."""

    def __init__(self, name, kind):
        self.make, self.X, self.y = kind
        half = slice(0, len(self.y) // 2)
        self.half = self.X[half], self.y[half]
        self.known = fingerprint(self.make().fit(*self.half), self.X)
        super().__init__(name)

    def begin(self):
        return self.make().fit(*self.half)

    def work(self, state):
        return state.fit(self.X, self.y)

    def digest(self, state, result):
        return fingerprint(result, self.X)

    def check_unharmed(self, state):
        assert fingerprint(state, self.X) == self.known, "a fit that failed changed the model"


class Call(Job):
    """A function that changes nothing."""

    def __init__(self, name, function):
        self.function = function
        super().__init__(name)

    def work(self, state):
        return self.function()


class Write(Job):
    """A file is written over another one: where that fails, the old one is there, and nothing else."""

    def __init__(self, name, path, write, load):
        self.path, self.write, self.load = path, write, load
        write(False)
        self.old = path.read_bytes()
        super().__init__(name)

    def begin(self):
        self.path.write_bytes(self.old)

    def work(self, state):
        self.write(True)

    def digest(self, state, result):
        return digest_of(self.load(self.path))

    def check_unharmed(self, state):
        assert self.path.read_bytes() == self.old
        assert not list(self.path.parent.glob(".*.part"))


def digest_of(value):
    """A digest of arrays, sparse or not, of models, and of tuples of them."""
    digest = hashlib.blake2b(digest_size=12)
    for part in value if isinstance(value, tuple | list) else (value,):
        if sp.issparse(part):
            digest.update(digest_of((part.data, part.indices, part.indptr)).encode())
        elif isinstance(part, tuple | list):
            digest.update(digest_of(part).encode())
        else:
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _fits(n_jobs):
    X, many = rows(20_000, 6)
    two = many % 2
    few = slice(0, 4000)
    settings = {"random_state": 0, "n_jobs": n_jobs}
    return {
        **kinds(n_jobs),
        "newton": (lambda: PegasosClassifier(lam=1e-7, tol=1e-3, **settings), X, two),
        "cutting plane": (lambda: PegasosClassifier(solver="cutting_plane", lam=1e-3, **settings), X, two),
        "dual in threads": (lambda: PegasosClassifier(solver="dual", lam=1e-3, **settings), np.tile(X, 9), two),
        "interior point": (lambda: PegasosClassifier(lam=1e-8, tol=1e-7, **settings), np.tile(X[few], 8), two[few]),
        "free intercept": (
            lambda: PegasosClassifier(lam=1e-3, regularize_intercept=False, **settings),
            X[few],
            two[few],
        ),
        "kernel pegasos": (lambda: KernelPegasosClassifier(solver="pegasos", lam=1e-2, **settings), X[:600], two[:600]),
    }


@functools.cache
def _models(n_jobs):
    X, many = rows(2000, 6)
    settings = {"lam": 1e-3, "random_state": 0, "n_jobs": n_jobs}
    linear = PegasosClassifier(probability=True, **settings).fit(X, many)
    return linear, KernelPegasosClassifier(**settings).fit(X[:600], many[:600])


def _predictions(n_jobs):
    X, _ = rows(20_000, 6)
    texts = words(200)[0]
    letters = [text[:12] for text in texts]
    paths = [(np.eye(12, k=1) + np.eye(12, k=-1), list(text)) for text in letters]
    return {
        "predict": lambda: _models(n_jobs)[0].decision_function(X),
        "predict sparse": lambda: _models(n_jobs)[0].decision_function(sp.csr_array(X)),
        "predict probabilities": lambda: _models(n_jobs)[0].predict_proba(X),
        "predict by kernel": lambda: _models(n_jobs)[1].decision_function(X[:3000]),
        "subsequences": lambda: Subsequence(3).block(texts, texts),
        "weighted degrees": lambda: WeightedDegree(3).block(letters, letters),
        "random walks": lambda: RandomWalk(0.1, n_steps=4).block(paths, paths),
    }


def _files(folder):
    X, many = rows(3000, 12)
    np.savez(folder / "data.npz", X=X, y=many)
    lines = [" ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if v) for row in X]
    (folder / "data.svm").write_text("".join(f"{label} {line}\n" for label, line in zip(many, lines, strict=True)))
    header = ",".join(["label", *(f"x{j}" for j in range(12))])
    table = "\n".join(",".join(map(str, [label, *row])) for label, row in zip(many, X.tolist(), strict=True))
    (folder / "data.csv").write_text(f"{header}\n{table}\n")
    convert(folder / "data.svm", folder / "data.pegasos-cache")
    return {
        "read svmlight": lambda: read(folder / "data.svm"),
        "read csv": lambda: read(folder / "data.csv", label="label"),
        "read cache": lambda: read(folder / "data.pegasos-cache"),
        "read npz": lambda: read(folder / "data.npz"),
        "read blocks": lambda: [tuple(block) for block in open_source(folder / "data.svm", block_bytes=65536)],
    }


def _writers(folder):
    texts = [folder / "data.svm", folder / "short.svm"]
    texts[1].write_text("".join(texts[0].read_text().splitlines(keepends=True)[:1000]))
    model, cache = folder / "model.pegasos", folder / "new.pegasos-cache"
    return {
        "save": (model, lambda new: _wide_model(1e-1 if new else 1e-2).save(model), _coef),
        "convert": (cache, lambda new: convert(texts[new], cache), read),
    }


@functools.cache
def _wide_model(lam):
    X, many = rows(2000, 200)
    return PegasosClassifier(lam=lam, random_state=0).fit(X, many)


def _coef(path):
    return pegasos.load(path).coef_


def makers(folder):
    """Name to a function that makes the job for a number of threads; what jobs read and write is in the folder."""
    files, writers = _files(folder), _writers(folder)
    found = {name: lambda n_jobs, name=name: Fit(name, _fits(n_jobs)[name]) for name in _fits(1)}
    found |= {name: lambda n_jobs, name=name: Call(name, _predictions(n_jobs)[name]) for name in _predictions(1)}
    found |= {name: lambda _, name=name: Call(name, files[name]) for name in files}
    found |= {name: lambda _, name=name: Write(name, *writers[name]) for name in writers}
    return {**found, "load": lambda _: _load(folder / "loaded.pegasos")}


def _load(path):
    _wide_model(1e-1).save(path)
    return Call("load", lambda: _coef(path))
