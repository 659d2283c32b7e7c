"""Model files of LIBSVM, https://github.com/cjlin1/libsvm.

A header of keys, then ``SV`` and one line a support vector: its coefficients, and its entries as index:value, numbered
from 1. Always one against one, laid out as `pairs` says; a score is sum_j coef_j k(z_j, x) - rho and positive for the
label that comes first.
"""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.one_class import KernelPegasosOneClass, TrainedOneClass
from pegasos.estimators.regression import KernelPegasosRegressor, TrainedRegressor
from pegasos.export.formula import Aim, Formula, KernelTerm, Numbers, formula_of
from pegasos.export.importing import check_aim, estimator_of
from pegasos.export.pairs import by_class, by_pair, reordered
from pegasos.export.text import Header, ModelText, Path, exactly, in_order, shown, whole_labels, write_bytes
from pegasos.fitting.probability import Calibration
from pegasos.kernels import RBF, Kernel, Linear, Polynomial, Precomputed
from pegasos.tasks import OneClass, Regression

_KEYS = frozenset(
    [
        "svm_type",
        "kernel_type",
        "degree",
        "gamma",
        "coef0",
        "nr_class",
        "total_sv",
        "rho",
        "label",
        "probA",
        "probB",
        "prob_density_marks",
        "nr_sv",
    ]
)
_CLASSIFIERS = ("c_svc", "nu_svc")
_REGRESSORS = ("epsilon_svr", "nu_svr")
_ONE_CLASS = "one_class"
_MOST_BYTES = 1 << 30  # of coefficients: a row for each pair of classes, where the file has one for each class


def to_libsvm(model: Any, path: Path) -> None:
    """Write a model as a model file of LIBSVM, with the same scores.

    Parameters
    ----------
    model : fitted classifier, regressor or one-class model of pegasos
        A classifier with two classes, or one-vs-one, whose labels are integers; a regressor with one target.
        Kernels: linear, polynomial, RBF, precomputed; linear models too.
    path : path
        The file, written atomically.

    Notes
    -----
    If the votes of three classes or more tie, LIBSVM predicts the class that comes first in the file, pegasos the one
    with the larger sum of scores.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import KernelPegasosClassifier
    >>> from pegasos.export import to_libsvm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> to_libsvm(KernelPegasosClassifier(gamma=1.0, C=1.0, random_state=0).fit([[0.0], [1.0]], [0, 1]), path)
    >>> path.read_text().splitlines()[:2]
    ['svm_type c_svc', 'kernel_type rbf']
    """
    if isinstance(model, TrainedRegressor | TrainedOneClass):
        write_bytes(path, _text_of_numbers(model).encode())
        return
    formula = formula_of(model)
    if not formula.is_pairwise:
        raise PegasosError(
            f"LIBSVM classifies {formula.n_classes} classes one-vs-one, and this model does not: fit with "
            "multi_class='ovo', or use to_onnx or to_json."
        )
    labels = whole_labels(formula.classes, "LIBSVM")
    term = _as_term(formula)
    # Backwards, a score is positive for the first label, and a score of 0 decides as it does here.
    backwards = np.arange(formula.n_classes)[::-1]
    places = by_class(reordered(-term.dual_coef, backwards), formula.n_classes)
    text = io.StringIO()
    text.write("svm_type c_svc\n")
    text.writelines(f"{key} {value}\n" for key, value in _kernel_lines(term.kernel).items())
    text.write(f"nr_class {formula.n_classes}\ntotal_sv {len(places.numbers)}\n")
    _write_list(text, "rho", reordered(formula.intercept, backwards))
    text.write(f"label {' '.join(map(str, labels[::-1]))}\n")
    if (sigmoids := formula.sigmoids) is not None:
        # There the probability of the first label is 1 / (1 + exp(A score + B)).
        _write_list(text, "probA", _slopes(sigmoids.slopes, backwards))
        _write_list(text, "probB", reordered(sigmoids.shifts, backwards))
    text.write(f"nr_sv {' '.join(map(str, places.n_support))}\nSV\n")
    entries = _entries(term)
    for number, coefficients in zip(places.numbers.tolist(), places.dual_coef.T.tolist(), strict=True):
        text.write(" ".join(map(exactly, coefficients)) + " " + entries(number) + "\n")
    write_bytes(path, text.getvalue().encode())


def _text_of_numbers(model: TrainedRegressor | TrainedOneClass) -> str:
    """A file whose score is the prediction of a regressor, or the score of a one-class model."""
    check_is_fitted(model, "fitted_")
    found = model.fitted_.model
    if len(found.intercept) > 1:
        raise PegasosError(f"LIBSVM predicts one number, and this model {len(found.intercept)}; export one fit each.")
    coef = found.vectors.get("coef")
    if coef is None and found.prior is not None:
        raise PegasosError("LIBSVM has one kernel and no other weights, and this model adds a prior; fit without one.")
    if coef is not None:
        term = KernelTerm(Linear(), coef, np.ones((1, 1)))
    else:
        vectors = found.vectors
        is_matrix = isinstance(vectors["kernel"], Precomputed)
        support = vectors["support"] if is_matrix else vectors["support_vectors"]
        term = KernelTerm(vectors["kernel"], support, vectors["dual_coef"])
    text = io.StringIO()
    text.write(f"svm_type {'epsilon_svr' if isinstance(model, TrainedRegressor) else 'one_class'}\n")
    text.writelines(f"{key} {value}\n" for key, value in _kernel_lines(term.kernel).items())
    text.write(f"nr_class 2\ntotal_sv {term.dual_coef.shape[1]}\n")
    _write_list(text, "rho", -np.asarray(found.intercept, np.float64))
    text.write("SV\n")
    entries = _entries(term)
    for number, coefficient in enumerate(term.dual_coef[0].tolist()):
        text.write(f"{exactly(coefficient)} {entries(number)}\n")
    return text.getvalue()


def _write_list(text: io.StringIO, key: str, numbers: Numbers) -> None:
    text.write(f"{key} {' '.join(map(exactly, numbers.tolist()))}\n")


def _slopes(slopes: Numbers, order: npt.NDArray[np.intp]) -> Numbers:
    """A slope does not change its sign with the order of a pair, so that of the formula is put back."""
    signs = np.sign(reordered(np.ones(len(slopes)), order))
    return np.asarray(-reordered(slopes, order) * signs)


def _as_term(formula: Formula) -> KernelTerm:
    """The scores of pairs as one kernel; of a linear machine each vector of weights is a support vector."""
    if formula.terms and formula.coef is None and len(formula.terms) == 1:
        return formula.terms[0]
    coef = formula.linear_coef()
    if coef is not None:
        return KernelTerm(Linear(), coef, np.eye(len(coef)))
    return formula.only_term("LIBSVM")


def _kernel_lines(kernel: Kernel) -> dict[str, str]:
    if isinstance(kernel, Linear):
        return {"kernel_type": "linear"}
    if isinstance(kernel, RBF):
        return {"kernel_type": "rbf", "gamma": exactly(kernel.rate)}
    if isinstance(kernel, Precomputed):
        return {"kernel_type": "precomputed"}
    if isinstance(kernel, Polynomial):
        numbers = {"gamma": exactly(kernel.gamma), "coef0": exactly(kernel.coef0)}
        return {"kernel_type": "polynomial", "degree": str(kernel.degree)} | numbers
    raise PegasosError(f"LIBSVM has linear, polynomial and RBF kernels, not {kernel}; use to_onnx or to_json.")


def _entries(term: KernelTerm) -> Any:
    """What is written of a support vector, by its number."""
    if isinstance(term.kernel, Precomputed):
        return lambda number: f"0:{int(term.support[number]) + 1}"
    rows = sp.csr_array(term.support)

    def of_row(number: int) -> str:
        begin, end = rows.indptr[number : number + 2]
        each = zip(rows.indices[begin:end].tolist(), rows.data[begin:end].tolist(), strict=True)
        return " ".join(f"{column + 1}:{exactly(value)}" for column, value in each)

    return of_row


def from_libsvm(
    path: Path, *, C: float | None = None, lam: float | None = None, n_features: int | None = None
) -> KernelPegasosClassifier | KernelPegasosRegressor | KernelPegasosOneClass:
    """Read a model file of LIBSVM: an estimator with the same scores and, except for tied votes, the same classes.

    Parameters
    ----------
    path : path
        A file of a classifier (C-SVC, nu-SVC), a regressor (epsilon-SVR, nu-SVR) or a one-class model, with a linear,
        polynomial, RBF or precomputed kernel.
    C, lam : float, optional
        The regularization of the fit, which the file does not contain and ``certify(X, y)`` needs. Give one of the two.
    n_features : int, optional
        The number of features of the data to predict; by default the largest index in the file, which may be smaller.
        For a precomputed kernel, the number of training samples.

    Returns
    -------
    KernelPegasosClassifier, KernelPegasosRegressor or KernelPegasosOneClass
        With a free intercept, as in LIBSVM. ``certify(X, y)`` solves the dual problem for the given data and states how
        far the model of the file is from the optimum; for a regressor with the parameter ``epsilon``, which the file
        does not contain: it is 0.1, LIBSVM's default; change it with ``set_params``. One-class models are not
        certified: their files lack nu.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import KernelPegasosClassifier
    >>> from pegasos.export import from_libsvm, to_libsvm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> to_libsvm(KernelPegasosClassifier(gamma=1.0, C=1.0, random_state=0).fit([[0.0], [1.0]], [0, 1]), path)
    >>> from_libsvm(path, C=1.0).predict([[-1.0], [2.0]])
    array([0, 1])
    """
    check_aim(lam, C)
    text = ModelText.read(path)
    header, end = text.header("SV", _KEYS)
    line, (kind,) = text.words(header, "svm_type", 1, end)
    if kind not in (*_CLASSIFIERS, *_REGRESSORS, _ONE_CLASS):
        expected = ", ".join([*_CLASSIFIERS, *_REGRESSORS, _ONE_CLASS])
        raise text.fault(line, f"{shown(kind)} is not a type of LIBSVM; expected one of {expected}")
    kernel = _kernel(text, header, end)
    if kind not in _CLASSIFIERS:
        return _read_numbers(text, header, end, kernel, n_features, aim=Aim(lam, C, "free"))
    n_classes = text.count(header, "nr_class", 2, end)
    labels = text.labels(header, n_classes, end)
    n_pairs = n_classes * (n_classes - 1) // 2
    rho = _of_pairs(text, header, "rho", n_pairs, end)
    line, words = text.words(header, "nr_sv", n_classes, end)
    n_support = np.array(text.whole_numbers(line, words), np.int64)
    total = text.count(header, "total_sv", 0, end)
    if (n_support < 0).any() or int(n_support.sum()) != total:
        raise text.fault(line, f"the numbers of support vectors of the classes must add up to total_sv, {total}")
    if 8 * n_pairs * total > _MOST_BYTES:
        raise text.fault(line, f"{n_pairs} pairs of classes with {total} support vectors do not fit in memory")
    dual_coef, support = _support(text, end, total, n_classes)
    order = in_order(labels)
    support, width = _fitting(text, support, kernel, n_features)
    formula = Formula(
        classes=np.array(labels)[order],
        multi_class="ovo",
        n_features=width,
        intercept=reordered(rho, order),
        terms=(KernelTerm(kernel, support, -reordered(by_pair(dual_coef, n_support), order)),),
        calibration=_calibration(text, header, n_pairs, order, end),
        aim=Aim(lam, C, "free"),
    )
    found: KernelPegasosClassifier = estimator_of(formula, f"a LIBSVM file ({kind})")
    return found


def _read_numbers(
    text: ModelText, header: Header, end: int, kernel: Kernel, n_features: int | None, *, aim: Aim
) -> KernelPegasosRegressor | KernelPegasosOneClass:
    """A regressor, whose score is its prediction, or a model of one class: sum_j coef_j k(z_j, x) - rho."""
    _, (kind,) = text.words(header, "svm_type", 1, end)
    rho = text.number(header, "rho", end)
    dual_coef, support = _support(text, end, text.count(header, "total_sv", 0, end), 2)
    support, width = _fitting(text, support, kernel, n_features)
    is_regressor = kind in _REGRESSORS
    formula = Formula(
        classes=np.empty(0),
        multi_class=Regression.name if is_regressor else OneClass.name,
        n_features=width,
        intercept=np.array([-rho]),
        terms=(KernelTerm(kernel, support, dual_coef),),
        aim=replace(aim, loss="epsilon_insensitive") if is_regressor else Aim(intercept="free"),
    )
    found: KernelPegasosRegressor | KernelPegasosOneClass = estimator_of(formula, f"a LIBSVM file ({kind})")
    return found


def _of_pairs(text: ModelText, header: Header, key: str, n_pairs: int, end: int) -> Numbers:
    line, words = text.words(header, key, n_pairs, end)
    return np.array(text.numbers(line, words), np.float64)


def _kernel(text: ModelText, header: Header, end: int) -> Kernel:
    line, (word,) = text.words(header, "kernel_type", 1, end)
    if word in ("linear", "precomputed"):
        return Linear() if word == "linear" else Precomputed()
    if word not in ("rbf", "polynomial"):
        raise text.fault(line, f"pegasos has no kernel {shown(word)}; expected linear, polynomial, rbf or precomputed")
    gamma = text.number(header, "gamma", end)
    degree, coef0 = 1, 0.0
    if word == "polynomial":
        degree, coef0 = text.count(header, "degree", 1, end), text.number(header, "coef0", end)
    try:
        return RBF(gamma) if word == "rbf" else Polynomial(degree, gamma, coef0)
    except PegasosError as error:
        raise text.fault(line, str(error).rstrip(".")) from error


def _calibration(
    text: ModelText, header: Header, n_pairs: int, order: npt.NDArray[np.intp], end: int
) -> Calibration | None:
    if "probA" not in header and "probB" not in header:
        return None
    slopes, shifts = (_of_pairs(text, header, key, n_pairs, end) for key in ("probA", "probB"))
    return Calibration(_slopes(slopes, order), reordered(shifts, order))


def _support(text: ModelText, end: int, total: int, n_classes: int) -> tuple[Numbers, sp.csr_array]:
    """Coefficients and entries, line by line; an index 0 is kept in a column of its own, the last."""
    lines = text.lines[end : end + total]
    if len(lines) != total:
        raise text.fault(len(text.lines), f"expected {total} support vectors, got {len(lines)}")
    coefficients, indices, values, starts = [], [], [], [0]
    for number, line in enumerate(lines, end + 1):
        words = line.split()
        coefficients.append(text.numbers(number, words[: n_classes - 1]))
        if len(coefficients[-1]) != n_classes - 1:
            raise text.fault(number, f"expected {n_classes - 1} coefficient(s), got {len(coefficients[-1])}")
        pairs = [word.partition(":") for word in words[n_classes - 1 :]]
        mine = text.whole_numbers(number, [index for index, _, _ in pairs])
        if any(a >= b for a, b in pairwise(mine)) or min(mine, default=0) < 0:
            raise text.fault(number, "indices must rise from 1, or from 0 with a precomputed kernel")
        indices += mine
        values += text.numbers(number, [value for _, _, value in pairs])
        starts.append(len(indices))
    text.check_end(end + total)
    width = max(indices, default=0) + 1
    rows = sp.csr_array((np.array(values, np.float64), np.array(indices, np.int64), np.array(starts)), (total, width))
    return np.array(coefficients, np.float64).reshape(total, n_classes - 1).T, rows


def _fitting(text: ModelText, rows: sp.csr_array, kernel: Kernel, n_features: int | None) -> tuple[Any, int]:
    """The support vectors with this many features; those of a precomputed matrix are its columns."""
    first = np.asarray(rows.indices == 0)
    if isinstance(kernel, Precomputed):
        if n_features is None:
            raise PegasosError(
                f"{text.name} has a precomputed kernel and does not say how many rows there were: give n_features."
            )
        serials = rows.data.astype(np.intp) - 1
        if len(serials) != rows.shape[0] or not first.all() or (serials + 1 != rows.data).any():
            raise PegasosError(f"{text.name}: support vectors of a precomputed kernel must be written as 0:number.")
        if serials.size and not 0 <= serials.min() <= serials.max() < n_features:
            raise PegasosError(f"{text.name} refers to row {serials.max() + 1}, and there are {n_features}.")
        return serials, n_features
    if first.any():
        raise PegasosError(f"{text.name}: indices must rise from 1; 0 is for precomputed kernels.")
    least = rows.shape[1] - 1
    if n_features is not None and n_features < least:
        raise PegasosError(f"{text.name} has {least} features, more than n_features={n_features}.")
    width = max(n_features or least, 1)
    return sp.csr_array((rows.data, rows.indices - 1, rows.indptr), (rows.shape[0], width)), width
