"""Models as plain JSON: keys that a person can read, numbers that any language can predict with.

Only kernels of rows of numbers have a name here. What is read is checked key by key; nothing in it is ever called.
"""

from __future__ import annotations

import json
import math
import os
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos import checks as check
from pegasos.errors import PegasosError
from pegasos.export.formula import (
    Aim,
    Formula,
    KernelTerm,
    Numbers,
    dense_support,
    formula_of,
    formula_of_numbers,
    predicts_numbers,
)
from pegasos.export.importing import estimator_of
from pegasos.export.text import Path, read_bytes, shown, write_bytes
from pegasos.fitting.probability import Calibration
from pegasos.kernels import RBF, ChiSquared, Intersection, Kernel, Laplacian, Linear, Polynomial
from pegasos.losses import REGRESSION_LOSSES
from pegasos.tasks import CLASSIFICATIONS, OneClass, Regression

format_name = "pegasos model 1"
_kernels: dict[str, type[Kernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "rbf": RBF,
    "laplacian": Laplacian,
    "chi2": ChiSquared,
    "intersection": Intersection,
}


def to_json(model: Any, path: Path | None = None) -> str:
    """Write a model as JSON; the text is returned as well.

    Parameters
    ----------
    model : fitted classifier, regressor or one-class model of pegasos
        Linear, or with a kernel on numeric vectors: linear, poly, rbf, laplacian, chi2, intersection.
    path : path, optional
        The file, written atomically.

    Examples
    --------
    >>> import json
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import to_json
    >>> model = PegasosClassifier(lam=0.1).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> found = json.loads(to_json(model))
    >>> found["classes"], len(found["coef"][0]), found["certificate"]["relative_gap"] <= 1e-3
    (['no', 'yes'], 2, True)
    """
    is_classifier = not predicts_numbers(model)
    formula = formula_of(model) if is_classifier else formula_of_numbers(model)
    described: dict[str, Any] = {"format": format_name, "written_by": f"pegasos {version('pegasos')}"}
    if is_classifier:
        described |= {"classes": _labels(formula.classes), "multi_class": formula.multi_class}
    else:
        described["predicts"] = formula.multi_class
    described["n_features"] = formula.n_features
    if formula.feature_names is not None:
        described["feature_names"] = [str(name) for name in formula.feature_names]
    if formula.terms and formula.terms[0].kernel.takes_vectors:
        described |= _kernel_keys(formula.only_term("plain JSON"), formula.n_features)
    elif formula.terms:
        dense_support(formula.terms[0], formula.n_features)  # says why not
    else:
        described["coef"] = _finite(formula.linear_coef())
    described["intercept"] = _finite(formula.intercept)
    if (sigmoids := formula.sigmoids) is not None:
        described["probability"] = {"slopes": _finite(sigmoids.slopes), "shifts": _finite(sigmoids.shifts)}
    described |= {"problem": _aim_keys(formula), "certificate": _certificate_keys(formula)}
    text = json.dumps(described, indent=1, ensure_ascii=False, allow_nan=False)
    if path is not None:
        write_bytes(path, (text + "\n").encode())
    return text


def _labels(classes: npt.NDArray[Any]) -> list[Any]:
    labels: list[Any] = classes.tolist()
    if not all(isinstance(label, str | int | float) for label in labels):
        raise PegasosError(f"labels in JSON are strings or numbers, got {labels[0]!r}; encode y first.")
    return labels


def _finite(numbers: Any) -> Any:
    if not np.isfinite(numbers).all():
        raise PegasosError("the model has weights that are NaN or infinite; there is nothing in it to export.")
    return np.asarray(numbers, np.float64).tolist()


def _kernel_keys(term: KernelTerm, n_features: int) -> dict[str, Any]:
    names = {kind: name for name, kind in _kernels.items()}
    if type(term.kernel) not in names:
        raise PegasosError(f"JSON has the kernels {', '.join(_kernels)}, not {term.kernel}; use to_onnx.")
    parameters = {"gamma": term.kernel.rate} if isinstance(term.kernel, RBF) else term.kernel.get_params()
    parameters = {key: int(value) if key == "degree" else float(value) for key, value in parameters.items()}
    return {
        "kernel": {"name": names[type(term.kernel)]} | parameters,
        "support_vectors": _finite(dense_support(term, n_features)),
        "dual_coef": _finite(term.dual_coef),
    }


def _aim_keys(formula: Formula) -> dict[str, Any]:
    aim = formula.aim
    keys: dict[str, Any] = {"intercept": aim.intercept, "intercept_scaling": aim.intercept_scaling}
    keys |= {name: value for name, value in (("lam", aim.lam), ("C", aim.C)) if value is not None and value < math.inf}
    if formula.multi_class == Regression.name:
        keys["loss"] = aim.loss
    keys |= aim.shape
    if aim.class_weight is not None:
        weight = aim.class_weight
        keys["class_weight"] = weight if isinstance(weight, str) else list(weight.values())
    return keys


def _certificate_keys(formula: Formula) -> dict[str, float] | None:
    proof = formula.certificate
    if proof is None or not (proof.is_finite and math.isfinite(proof.relative_gap)):
        return None
    return {"primal": proof.primal, "dual": proof.dual, "gap": proof.gap, "relative_gap": proof.relative_gap}


def from_json(source: Path) -> Any:
    """Read a model written by `to_json`, or any model in that format.

    Parameters
    ----------
    source : path or str
        A file, or the JSON text itself, which starts with a brace.

    Returns
    -------
    PegasosClassifier, PegasosRegressor, PegasosOneClass, or their kernel versions
        The certificate in the file is not trusted: ``certify(X, y)`` computes a new one.

    Examples
    --------
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import from_json, to_json
    >>> model = PegasosClassifier(lam=0.1, random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> from_json(to_json(model)).predict([[2.0]])
    array([1])
    """
    is_text = isinstance(source, str) and source.lstrip().startswith("{")
    name = "the text" if is_text else os.fspath(source)
    content: Any = source if is_text else read_bytes(source)
    try:
        found = json.loads(content, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise PegasosError(f"{name}, line {error.lineno}: {error.msg}; expected JSON.") from error
    except (ValueError, RecursionError) as error:
        raise PegasosError(f"{name} is not the JSON of a model: {error}.") from error
    return _Keys(name, found).model()


def _refuse_constant(word: str) -> None:
    raise PegasosError(f"{word} is not a JSON number")


class _Keys:
    """The object of a file, whose keys are read one by one."""

    def __init__(self, name: str, found: Any):
        self.name, self.found = name, found

    def fault(self, why: str) -> PegasosError:
        return PegasosError(f"{self.name} cannot be used: {why}.")

    def model(self) -> Any:
        if not isinstance(self.found, dict) or self.found.get("format") != format_name:
            raise self.fault(f"its format is not {format_name!r}")
        if "predicts" in self.found:
            classes, multi_class, n_scores = np.empty(0), *self.of_numbers()
        else:
            classes, multi_class, n_scores = self.of_classes()
        n_features = self.found.get("n_features")
        if not isinstance(n_features, int) or isinstance(n_features, bool) or n_features < 0:
            raise self.fault(f"n_features must be a whole number, got {shown(str(n_features))}")
        formula = Formula(
            classes=classes,
            multi_class=multi_class,
            n_features=n_features,
            intercept=self.numbers(self.found, "intercept", n_scores),
            coef=None if "kernel" in self.found else self.numbers(self.found, "coef", n_scores, n_features),
            terms=(self.term(n_scores, n_features),) if "kernel" in self.found else (),
            calibration=self.calibration(n_scores),
            feature_names=self.names(n_features),
            aim=self.aim(classes, multi_class),
        )
        return estimator_of(formula, "a JSON file")

    def of_classes(self) -> tuple[npt.NDArray[Any], str, int]:
        """The classes, how they are told apart, and the number of scores that it takes."""
        classes = self.classes()
        multi_class = self.found.get("multi_class")
        if multi_class not in tuple(CLASSIFICATIONS):
            raise self.fault(f"multi_class must be one of {', '.join(CLASSIFICATIONS)}, got {shown(str(multi_class))}")
        task = CLASSIFICATIONS[multi_class].of(classes)
        return classes, multi_class, task.n_problems * task.n_vectors

    def of_numbers(self) -> tuple[str, int]:
        """The task of a model without classes, and the number of its scores."""
        what, intercept = self.found["predicts"], self.found.get("intercept")
        if what not in (Regression.name, OneClass.name):
            raise self.fault(f"predicts must be {Regression.name} or {OneClass.name}, got {shown(str(what))}")
        n_scores = len(intercept) if isinstance(intercept, list) else 0
        if n_scores < 1 or (what == OneClass.name and n_scores != 1):
            raise self.fault("intercept must be a list with one number for each target, and one for one_class")
        return what, n_scores

    def classes(self) -> npt.NDArray[Any]:
        labels = self.found.get("classes")
        if not isinstance(labels, list) or len(labels) < 2:
            raise self.fault("classes must be a list of two labels or more")
        kinds = {type(label) for label in labels}
        if kinds not in ({str}, {int}, {float}, {bool}, {int, float}):
            raise self.fault("classes must be all strings or all numbers")
        try:
            classes = np.array(labels)
        except OverflowError as error:
            raise self.fault(f"a class is too large a number: {error}") from error
        if classes.dtype.kind not in "biufU" or (classes[1:] <= classes[:-1]).any():
            raise self.fault("classes must be sorted, each of them once")
        return classes

    def numbers(self, where: Any, key: str, *shape: int) -> Numbers:
        """An array of this shape. It takes the memory that the file has numbers for."""
        try:
            array = np.array(where[key] if isinstance(where, dict) else None)
        except KeyError as error:
            raise self.fault(f"{key} is missing") from error
        except (ValueError, OverflowError) as error:
            raise self.fault(f"{key} must be an array of shape {shape}: {error}") from error
        # No rows at all look like a list without rows.
        array = array.reshape(shape) if array.size == 0 and 0 in shape else array
        if array.dtype.kind not in "iuf" or array.shape != shape or not np.isfinite(array).all():
            raise self.fault(f"{key} must be finite numbers of shape {shape}, got {array.dtype} of {array.shape}")
        return array.astype(np.float64)

    def term(self, n_scores: int, n_features: int) -> KernelTerm:
        described = self.found["kernel"]
        if not isinstance(described, dict) or described.get("name") not in tuple(_kernels):
            raise self.fault(f"kernel must have a name, one of {', '.join(_kernels)}")
        parameters = {key: value for key, value in described.items() if key != "name"}
        try:
            kernel = _kernels[described["name"]](**parameters)
        except (PegasosError, TypeError, OverflowError) as error:
            raise self.fault(f"the kernel has other parameters: {error}".rstrip(".")) from error
        rows = self.found.get("support_vectors")
        n_support = len(rows) if isinstance(rows, list) else 0
        support = self.numbers(self.found, "support_vectors", n_support, n_features)
        return KernelTerm(kernel, support, self.numbers(self.found, "dual_coef", n_scores, n_support))

    def calibration(self, n_scores: int) -> Calibration | None:
        described = self.found.get("probability")
        if described is None:
            return None
        return Calibration(*(self.numbers(described, key, n_scores) for key in ("slopes", "shifts")))

    def names(self, n_features: int) -> npt.NDArray[Any] | None:
        names = self.found.get("feature_names")
        if names is None:
            return None
        if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
            raise self.fault(f"feature_names must be {n_features} strings")
        return np.array(names, dtype=object)

    def aim(self, classes: npt.NDArray[Any], multi_class: str) -> Aim:
        described = self.found.get("problem") or {}
        if not isinstance(described, dict):
            raise self.fault("problem must be an object")
        kind = described.get("intercept", "regularised")
        if kind not in ("regularised", "free", "none"):
            raise self.fault(f"intercept of problem must be regularised, free or none, got {shown(str(kind))}")
        numbers = {key: described.get(key) for key in ("lam", "C", "intercept_scaling")}
        try:
            for key, number in numbers.items():
                if number is not None:
                    check.check_positive(key, number)
        except PegasosError as error:
            raise self.fault(str(error).rstrip(".")) from error
        if numbers["lam"] is not None and numbers["C"] is not None:
            raise self.fault("problem must have lam or C, not both")
        scaling = float(numbers["intercept_scaling"] or 1.0)
        if "predicts" in self.found:
            loss, shape = self.loss_of_numbers(described, multi_class)
            return Aim(numbers["lam"], numbers["C"], kind, scaling, loss=loss, shape=shape)
        weight: Any = None
        if described.get("class_weight") == "balanced":
            weight = "balanced"
        elif described.get("class_weight") is not None:
            factors = self.numbers(described, "class_weight", len(classes)).tolist()
            if min(factors) < 0.0:
                raise self.fault("class_weight must not be negative")
            weight = dict(zip(classes.tolist(), factors, strict=True))
        return Aim(numbers["lam"], numbers["C"], kind, scaling, weight)

    def loss_of_numbers(self, described: dict[str, Any], multi_class: str) -> tuple[str, dict[str, float]]:
        """The loss of a regressor with its numbers; of one class, nu."""
        loss = described.get("loss", "epsilon_insensitive")
        if loss not in tuple(REGRESSION_LOSSES):
            raise self.fault(f"loss must be one of {', '.join(REGRESSION_LOSSES)}, got {shown(str(loss))}")
        limits = {"epsilon": (0.0, math.inf), "quantile": (0.0, 1.0), "delta": (0.0, math.inf)}
        shape = {}
        for key, (low, high) in ({"nu": (0.0, 1.0)} if multi_class == OneClass.name else limits).items():
            number = described.get(key)
            if number is None:
                continue
            if not check.is_number(number) or not (low <= number <= high and number < math.inf):
                raise self.fault(f"{key} must lie between {low:g} and {high:g}, got {shown(str(number))}")
            shape[key] = float(number)
        return loss, shape
