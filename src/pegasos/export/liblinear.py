"""Model files of LIBLINEAR, https://github.com/cjlin1/liblinear.

A header of keys, then ``w`` and one line per feature, with one weight per class. With two classes there is one weight,
whose score is positive for the label that comes first. With a bias above 0 there is one more line, of the weights of a
constant feature of that value.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from pegasos.errors import PegasosError
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.regression import CertifiedRegressor
from pegasos.export.formula import Aim, Formula, Numbers, formula_of, formula_of_numbers
from pegasos.export.importing import check_aim, estimator_of
from pegasos.export.text import Header, ModelText, Path, exactly, in_order, whole_labels, write_bytes

_one_vs_rest, _squared, _joint = "L2R_L1LOSS_SVC_DUAL", "L2R_L2LOSS_SVC_DUAL", "MCSVM_CS"
_classifiers = frozenset(
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
_keys = frozenset(["solver_type", "nr_class", "label", "nr_feature", "bias", "rho"])


def to_liblinear(model: Any, path: Path) -> None:
    """Write a linear model as a model file of LIBLINEAR, with the same scores and classes.

    Parameters
    ----------
    model : fitted linear classifier, or regressor of one target
        Or one with a linear kernel. Labels must be whole numbers. Pairs of classes ("ovo") have no place in the
        format, nor have probabilities, which are left out.
    path : path
        The file, written whole or not at all.

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
        "solver_type": _joint if is_joint else _squared if formula.aim.loss == "squared_hinge" else _one_vs_rest,
        "nr_class": formula.n_classes,
        # Of two classes a score is positive for the first label there, for the second class here.
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
    has_intercept = bool(formula.intercept.any())
    header = {
        "solver_type": "L2R_L2LOSS_SVR_DUAL" if is_squared else "L2R_L1LOSS_SVR_DUAL",
        "nr_class": 2,  # as LIBLINEAR writes it
        "nr_feature": formula.n_features,
        "bias": exactly(1.0 if has_intercept else -1.0),
    }
    return _text_of(header, np.column_stack([coef, formula.intercept]) if has_intercept else coef)


def _with_bias(coef: Numbers, formula: Formula) -> tuple[float, Numbers]:
    """The value of the constant feature, and the weights with its own."""
    if formula.aim.intercept == "none" and not formula.intercept.any():
        return -1.0, coef
    bias = formula.aim.intercept_scaling
    return bias, np.column_stack([coef, formula.intercept / bias])


def from_liblinear(path: Path, *, C: float | None = None, lam: float | None = None) -> PegasosClassifier:
    """Read a model file of LIBLINEAR: an estimator with the same scores and classes.

    Parameters
    ----------
    path : path
        A file of a classifier. Models of regression and of one class are refused.
    C, lam : float, optional
        What the model was trained with, which the file does not say: ``certify(X, y)`` needs it. Give one of the two;
        lam is 1 / (C N).

    Returns
    -------
    PegasosClassifier
        ``certify(X, y)`` solves the dual problem of these rows and says how far the weights of the file are from the
        best possible: for the squared hinge, where the solver is L2R_L2LOSS_SVC or L2R_L2LOSS_SVC_DUAL, and else for
        the hinge, which is that of L2R_L1LOSS_SVC_DUAL and MCSVM_CS.
    """
    check_aim(lam, C)
    text = ModelText.read(path)
    header, end = text.header("w", _keys)
    line, (kind,) = text.words(header, "solver_type", 1, end)
    if kind not in _classifiers:
        raise text.fault(
            line, f"{kind} is not a classifier of LIBLINEAR; expected one of {', '.join(sorted(_classifiers))}"
        )
    n_classes = text.count(header, "nr_class", 2, end)
    labels = text.labels(header, n_classes, end)
    bias = text.number(header, "bias", end)
    n_vectors = 1 if n_classes == 2 and kind != _joint else n_classes
    weights = _weights(text, header, end, n_vectors, has_bias=bias >= 0.0)
    n_features = text.count(header, "nr_feature", 0, end)
    coef, intercept = weights[:, :n_features], weights[:, n_features:].sum(axis=1) * max(bias, 0.0)
    order = in_order(labels)
    if n_classes == 2:
        coef, intercept = _of_the_second(coef, order), _of_the_second(intercept, order)
    else:
        coef, intercept = coef[order], intercept[order]
    multi_class = "crammer_singer" if kind == _joint else "ovr"
    intercept_kind = "regularised" if bias > 0.0 else "none"
    loss = "squared_hinge" if kind in (_squared, "L2R_L2LOSS_SVC") else "hinge"
    aim = Aim(lam, C, intercept_kind, bias if bias > 0.0 else 1.0, loss=loss)
    classes = np.array(labels)[order]
    formula = Formula(classes, multi_class, n_features, intercept, np.ascontiguousarray(coef), aim=aim)
    return estimator_of(formula, f"a LIBLINEAR file ({kind})")


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
