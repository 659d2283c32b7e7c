"""Model files that somebody has tampered with: JSON and arrays changed at random, every checksum right again."""

import contextlib
import copy
import warnings

import numpy as np
import scipy.sparse as sp
from sklearn.svm import SVC, LinearSVC

from pegasos import (
    KernelPegasosClassifier,
    KernelPegasosOneClass,
    KernelPegasosRegressor,
    PegasosClassifier,
    PegasosClassifierCV,
    PegasosOneClass,
    PegasosRegressor,
    export,
    online,
)
from pegasos.kernels import RBF, GlobalAlignment, Mismatch, RandomWalk, Spectrum, WeisfeilerLehman, on
from pegasos.persistence.models import _model_of, _pack_model
from pegasos.persistence.specs import Reader, Writer

random = np.random.default_rng(0)
X = random.normal(size=(12, 3))
three, two = np.arange(12) % 3, np.arange(12) % 2
words = ["ACGT", "CCGA", "TTAC", "GATTA", "ACCA", "TGCA", "AAGT", "CCCA", "TAAC", "GTTGA", "ACGA", "TCCA"]
path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
graphs = [(path if k % 2 else sp.csr_array(path), list("CNO"[k % 3 :] + "CNO"[: k % 3])) for k in range(12)]
series = [random.normal(size=(4 + k % 3, 1)) for k in range(12)]
records = [{"word": word, "size": float(k)} for k, word in enumerate(words)]

_pegasos = {"lam": 1e-2, "solver": "pegasos", "average": "uniform", "tol": None, "max_iter": 2, "random_state": 0}


def sources():
    """Small models of every kind, with rows that they take."""
    prior = PegasosClassifier(lam=1.0, random_state=0).fit(X, three)
    yield PegasosClassifier(**_pegasos, prior=prior, class_weight={0: 2.0}).fit(X, three), X, three
    yield PegasosClassifier(**_pegasos, multi_class="ovo", probability=True).fit(X, three), X, three
    yield PegasosClassifier(**_pegasos, multi_class="crammer_singer").fit(X, three), X, three
    yield PegasosClassifierCV(lams=2, cv=2, random_state=np.random.RandomState(0)).fit(X, two), X, two
    kernel = {"lam": 1e-1, "random_state": 0}
    yield KernelPegasosClassifier(**kernel, prior=(np.ones(3), 0.0)).fit(X, two), X, two
    yield KernelPegasosClassifier(**kernel, prior=prior, multi_class="ovo").fit(sp.csr_array(X), three), X, three
    for each, items in [
        (Spectrum(2), words),
        (Mismatch(3), words),
        (WeisfeilerLehman(1), graphs),
        (RandomWalk(0.05), graphs),
        (GlobalAlignment(1.0), series),
        (on("word", Spectrum(2)) + 0.5 * on(["size"], RBF(0.1)) ** 2, records),
    ]:
        yield KernelPegasosClassifier(each, **kernel).fit(items, two), items, two
    yield KernelPegasosClassifier("precomputed", **kernel).fit(X @ X.T, three), X @ X.T, three
    yield export.from_sklearn(LinearSVC(random_state=0).fit(X, three)), X, three
    yield export.from_sklearn(SVC().fit(X, three)), X, three
    yield online.Perceptron("voted", random_state=0).fit(X, three), X, three
    yield online.Perceptron(random_state=0).fit(sp.csr_array(X), two), X, two
    yield online.ConfidenceWeighted(random_state=0).fit(X, two), X, two
    yield online.KernelPerceptron(budget=4, removal="random", random_state=0).fit(X, three), X, three
    yield online.Norma(tau=5, random_state=0).fit(X, two), X, two
    yield online.PassiveAggressive(random_state=0).fit(X, three), X, three
    yield PegasosRegressor(lam=1e-2, epsilon=0.1, random_state=0).fit(X, X[:, 0]), X, X[:, 0]
    yield KernelPegasosRegressor(lam=1e-2, epsilon=0.1, random_state=0).fit(X, X[:, 0]), X, X[:, 0]
    yield PegasosOneClass(nu=0.3, random_state=0).fit(X + 3.0), X + 3.0, two
    yield KernelPegasosOneClass(nu=0.3, random_state=0).fit(X), X, two


def packed_models():
    """What the files of those models hold, with rows and labels to try them on."""
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model, rows, labels in sources():
            out = Writer()
            found.append((_pack_model(model, "model", out), out.arrays, rows, labels))
    return found


_ODD = [None, True, False, 0, 1, -1, 2, 3, 7, 624, 10**4, 2**31, 2**53, 2**63, 2**64, 10**40, 0.0, -0.5, 1e308, 1e-320]
_ODD += [float("nan"), float("inf"), "", "a", "pegasos", "ovo", "voted", "shuffle", "same", [], {}, [[]], [0], ["a"]]
_ODD += [{"is": "same", "number": 0}, {"is": "tuple", "items": [1, 2]}, {"is": "dict", "pairs": [[1, 2]]}]


def _places(node):
    """Every container of a tree of JSON with each of its keys."""
    items = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(items):
        yield node, key
        if isinstance(value, dict | list):
            yield from _places(value)


def tampered(packed, arrays, choose):
    """A copy with one to three changes; ``choose(n)`` is a number below n."""
    root, arrays = [copy.deepcopy(packed)], {name: array.copy() for name, array in arrays.items()}
    for _ in range(1 + choose(3)):
        if choose(3) and arrays:
            name = list(arrays)[choose(len(arrays))]
            arrays[name] = _changed_array(arrays[name], choose)
            continue
        places = list(_places(root))
        node, key = places[choose(len(places))]
        what = choose(4)
        if what == 0 and isinstance(node, dict) and node is not root:
            del node[key]
        elif what == 1:
            other, at = places[choose(len(places))]
            node[key] = copy.deepcopy(other.get(at) if isinstance(other, dict) else other[at])
        elif what == 2 and arrays:
            node[key] = list(arrays)[choose(len(arrays))]
        else:
            node[key] = copy.deepcopy(_ODD[choose(len(_ODD))])
    return root[0], arrays


def _changed_array(array, choose):
    what = choose(5)
    if what == 0:
        return array[: choose(len(array) + 1)] if array.ndim else array[None]
    if what == 1:
        return np.concatenate([array, array]) if array.ndim else array
    if what == 2 and array.dtype.kind in "biuf":
        return array.astype([np.float32, np.int64, np.int32, np.uint8, ">f8", np.float64, "U3"][choose(7)])
    if what == 3:
        return array.reshape([(-1,), (1, -1), (-1, 1)][choose(3)])
    if array.size and array.dtype.kind in "iuf":
        limits = np.finfo(array.dtype) if array.dtype.kind == "f" else np.iinfo(array.dtype)
        values = [limits.max, limits.min, 0, 1, 2, 100] + ([np.nan, np.inf] if array.dtype.kind == "f" else [])
        array.flat[choose(array.size)] = values[choose(len(values))]
    return array


def use(packed, arrays, rows, labels):
    """Load a tampered file and use the result: at most an error; True if it could be loaded."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = _model_of(packed, "the model", Reader(arrays))
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
            return False  # `load` turns it into an error message
        calls = [
            ("predict", (rows,)),
            ("certify", (rows, labels)),
            ("certified", (rows,)),
            ("margin", (rows, labels)),
            ("predict_proba", (rows,)),
            ("partial_fit", (rows, labels)),
            ("predict", (rows,)),
        ]
        for name, arguments in calls:
            method = getattr(model, name, None)  # not every model has each
            if method is not None:
                with contextlib.suppress(ValueError):  # a PegasosError is one
                    method(*arguments)
        for write in (export.to_json, export.to_sklearn):
            with contextlib.suppress(ValueError):
                write(model)
        repr(model), str(model.get_params())
    return True
