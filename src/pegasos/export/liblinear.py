"""Model files of LIBLINEAR, https://github.com/cjlin1/liblinear.

A header of keys, then ``w`` and one line per feature, with one weight per class. With two classes there is one weight,
whose score is positive for the label that comes first. With a bias above 0 there is one more line, of the weights of a
constant feature of that value.
"""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np

from pegasos.errors import PegasosError
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.one_class import PegasosOneClass, TrainedOneClass
from pegasos.estimators.regression import CertifiedRegressor, PegasosRegressor
from pegasos.export.formula import Aim, Formula, Numbers, formula_of, formula_of_numbers
from pegasos.export.importing import check_aim, estimator_of
from pegasos.export.text import Header, ModelText, Path, exactly, in_order, whole_labels, write_bytes
from pegasos.tasks import OneClass, Regression

_ONE_VS_REST, _SQUARED, _JOINT = "L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVC_DUAL", "MCSVM_CS"
_CLASSIFIERS = frozenset(
    [
        "L2R_LR",
        "L2R_L2LOSS_SVC_DUAL",
        "L2R_L2LOSS_SVC",
        "L2R_L1LOSS_SVC_DUAL",
        "MCSVM_CS",
        "L1R_L2LOSS_SVC",
        "L1R_LR",
        "L2R_LR_DUAL",
    ]
)
_regressors = {
    "L2R_L2LOSS_SVR": "squared_epsilon_insensitive",
    "L2R_L2LOSS_SVR_DUAL": "squared_epsilon_insensitive",
    "L2R_L1LOSS_SVR_DUAL": "epsilon_insensitive",
}
_ONE_CLASS = "ONECLASS_SVM"
_KEYS = frozenset(["solver_type", "nr_class", "label", "nr_feature", "bias", "rho"])


def to_liblinear(model: Any, path: Path) -> None:
    """Write a linear model as a model file of LIBLINEAR, with the same scores and classes.

    Parameters
    ----------
    model : fitted linear classifier, regressor of one target, or one-class model
        Or one with a linear kernel. Labels must be integers. The format does not support one-vs-one, which raises an
        error, or probabilities, which are omitted.
    path : path
        The file, written atomically.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import from_liblinear, to_liblinear
    >>> model = PegasosClassifier(lam=0.1).fit([[0.0, 1.0], [1.0, 0.0]], [3, 7])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_liblinear(model, pathlib.Path(folder) / "small.model")
    ...     same = from_liblinear(pathlib.Path(folder) / "small.model")
    >>> same.predict([[0.0, 1.0], [1.0, 0.0]])
    array([3, 7])
    """
    if isinstance(model, CertifiedRegressor):
        write_bytes(path, _text_of_regression(model).encode())
        return
    if isinstance(model, TrainedOneClass):
        write_bytes(path, _text_of_one_class(model).encode())
        return
    formula = formula_of(model)
    coef = _linear_coef(formula)
    if formula.multi_class == "ovo" and formula.n_classes > 2:
        raise PegasosError(
            "LIBLINEAR has no pairs of classes: fit with multi_class='ovr' or 'crammer_singer', or use to_libsvm."
        )
    labels = whole_labels(formula.classes, "LIBLINEAR")
    is_joint = formula.multi_class == "crammer_singer" and formula.n_classes > 2
    bias, weights = _with_bias(coef, formula)
    header = {
        "solver_type": _JOINT if is_joint else _SQUARED if formula.aim.loss == "squared_hinge" else _ONE_VS_REST,
        "nr_class": formula.n_classes,
        # With two classes a score is positive for the first label there, for the second class here.
        "label": " ".join(map(str, labels[::-1] if formula.n_classes == 2 else labels)),
        "nr_feature": formula.n_features,
        "bias": exactly(bias),
    }
    write_bytes(path, _text_of(header, weights).encode())


def _text_of(header: dict[str, Any], weights: Numbers) -> str:
    text = io.StringIO()
    text.writelines(f"{key} {value}\n" for key, value in header.items())
    text.write("w\n")
    text.writelines(" ".join(map(exactly, row)) + " \n" for row in weights.T.tolist())
    return text.getvalue()


def _linear_coef(formula: Formula) -> Numbers:
    coef = formula.linear_coef()
    if coef is None:
        raise PegasosError(f"LIBLINEAR has linear models only, and this one has {formula.terms[0]}; use to_libsvm.")
    return coef


def _text_of_regression(model: CertifiedRegressor) -> str:
    """A file whose score is the prediction; the solver is named after the loss, which LIBLINEAR predicts without."""
    formula = formula_of_numbers(model)
    coef, n_targets = _linear_coef(formula), len(formula.intercept)
    if n_targets > 1:
        raise PegasosError(f"LIBLINEAR predicts one number, and this model {n_targets}; export one fit each.")
    is_squared = model.fitted_.task.loss == "squared_epsilon_insensitive"
    bias = formula.aim.intercept_scaling if formula.intercept.any() else -1.0
    header = {
        "solver_type": "L2R_L2LOSS_SVR_DUAL" if is_squared else "L2R_L1LOSS_SVR_DUAL",
        "nr_class": 2,  # as LIBLINEAR writes it
        "nr_feature": formula.n_features,
        "bias": exactly(bias),
    }
    return _text_of(header, np.column_stack([coef, formula.intercept / bias]) if bias > 0.0 else coef)


def _text_of_one_class(model: TrainedOneClass) -> str:
    """A file whose score less rho is negative for what is novel."""
    formula = formula_of_numbers(model)
    coef, (rho,) = _linear_coef(formula), -formula.intercept
    header = {
        "solver_type": _ONE_CLASS,
        "nr_class": 2,  # as LIBLINEAR writes it
        "nr_feature": formula.n_features,
        "bias": -1,
        "rho": exactly(rho),
    }
    return _text_of(header, coef)


def _with_bias(coef: Numbers, formula: Formula) -> tuple[float, Numbers]:
    """The value of the constant feature, and the weights with its own."""
    if formula.aim.intercept == "none" and not formula.intercept.any():
        return -1.0, coef
    bias = formula.aim.intercept_scaling
    return bias, np.column_stack([coef, formula.intercept / bias])


def from_liblinear(
    path: Path, *, C: float | None = None, lam: float | None = None
) -> PegasosClassifier | PegasosRegressor | PegasosOneClass:
    """Read a model file of LIBLINEAR: an estimator with the same scores and predictions.

    Parameters
    ----------
    path : path
        A file of a classifier (-s 0 to 7), a regressor (-s 11, 12, 13) or a one-class model (-s 21).
    C, lam : float, optional
        The regularization of the fit, which the file does not contain and ``certify(X, y)`` needs. Give one of the two;
        lam is 1 / (C N).

    Returns
    -------
    PegasosClassifier, PegasosRegressor or PegasosOneClass
        ``certify(X, y)`` solves the dual problem for the given data and states how far the weights of the file are from
        the optimum: for the squared hinge if the solver is L2R_L2LOSS_SVC or L2R_L2LOSS_SVC_DUAL, otherwise for the
        hinge, as in L2R_L1LOSS_SVC_DUAL and MCSVM_CS; for a regressor with its loss and the parameter ``epsilon``,
        which the file does not contain either: it is 0.1, LIBLINEAR's default; change it with ``set_params``. One-class
        models are not certified: their files lack nu.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import from_liblinear, to_liblinear
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model"
    >>> X, y = [[0.0], [1.0]], [0, 1]
    >>> to_liblinear(PegasosClassifier(lam=0.1, random_state=0).fit(X, y), path)
    >>> model = from_liblinear(path, lam=0.1)
    >>> model.certify(X, y).relative_gap <= 2e-3
    True
    """
    check_aim(lam, C)
    text = ModelText.read(path)
    header, end = text.header("w", _KEYS)
    line, (kind,) = text.words(header, "solver_type", 1, end)
    if kind in _regressors or kind == _ONE_CLASS:
        return _read_numbers(text, header, end, kind, Aim(lam, C))
    if kind not in _CLASSIFIERS:
        known = ", ".join(sorted([*_CLASSIFIERS, *_regressors, _ONE_CLASS]))
        raise text.fault(line, f"{kind} is not a solver of LIBLINEAR; expected one of {known}")
    n_classes = text.count(header, "nr_class", 2, end)
    labels = text.labels(header, n_classes, end)
    bias = text.number(header, "bias", end)
    n_vectors = 1 if n_classes == 2 and kind != _JOINT else n_classes
    weights = _weights(text, header, end, n_vectors, has_bias=bias >= 0.0)
    n_features = text.count(header, "nr_feature", 0, end)
    coef, intercept = weights[:, :n_features], weights[:, n_features:].sum(axis=1) * max(bias, 0.0)
    order = in_order(labels)
    if n_classes == 2:
        coef, intercept = _of_the_second(coef, order), _of_the_second(intercept, order)
    else:
        coef, intercept = coef[order], intercept[order]
    multi_class = "crammer_singer" if kind == _JOINT else "ovr"
    intercept_kind = "regularised" if bias > 0.0 else "none"
    loss = "squared_hinge" if kind in (_SQUARED, "L2R_L2LOSS_SVC") else "hinge"
    aim = Aim(lam, C, intercept_kind, bias if bias > 0.0 else 1.0, loss=loss)
    classes = np.array(labels)[order]
    formula = Formula(classes, multi_class, n_features, intercept, np.ascontiguousarray(coef), aim=aim)
    found: PegasosClassifier = estimator_of(formula, f"a LIBLINEAR file ({kind})")
    return found


def _read_numbers(text: ModelText, header: Header, end: int, kind: str, aim: Aim) -> PegasosRegressor | PegasosOneClass:
    """A regressor, whose score is its prediction, or a model of one class, with an offset instead of an intercept."""
    bias, n_features = text.number(header, "bias", end), text.count(header, "nr_feature", 0, end)
    weights = _weights(text, header, end, 1, has_bias=bias >= 0.0)
    coef, intercept = weights[:, :n_features], weights[:, n_features:].sum(axis=1) * max(bias, 0.0)
    aim = replace(aim, intercept="regularised" if bias > 0.0 else "none", intercept_scaling=bias if bias > 0.0 else 1.0)
    if kind == _ONE_CLASS:
        intercept = intercept - text.number(header, "rho", end)
        task, aim = OneClass.name, Aim()
    else:
        task, aim = Regression.name, replace(aim, loss=_regressors[kind])
    formula = Formula(np.empty(0), task, n_features, intercept, np.ascontiguousarray(coef), aim=aim)
    found: PegasosRegressor | PegasosOneClass = estimator_of(formula, f"a LIBLINEAR file ({kind})")
    return found


def _weights(text: ModelText, header: Header, end: int, n_vectors: int, *, has_bias: bool) -> Numbers:
    """One vector a row; no memory is taken for more lines than there are."""
    n_rows = text.count(header, "nr_feature", 0, end) + has_bias
    lines = text.lines[end : end + n_rows]
    rows = []
    for number, line in enumerate(lines, end + 1):
        words = line.split()
        if len(words) != n_vectors:
            raise text.fault(number, f"expected {n_vectors} weight(s), got {len(words)}")
        rows.append(text.numbers(number, words))
    if len(rows) != n_rows:
        raise text.fault(len(text.lines), f"expected {n_rows} lines of weights, got {len(rows)}")
    text.check_end(end + n_rows)
    return np.array(rows, np.float64).reshape(n_rows, n_vectors).T


def _of_the_second(vectors: Numbers, order: Any) -> Numbers:
    """The one score of two classes, positive for the larger label."""
    if len(vectors) == 2:  # one vector for each label
        return np.asarray(vectors[order[1:]] - vectors[order[:1]])
    return vectors if order[0] == 1 else -vectors
