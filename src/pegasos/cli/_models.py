"""Models in files, whichever tool has written them: known by their content, not by their names."""

from __future__ import annotations

import json
import zipfile
import zlib
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.pipeline import Pipeline

from pegasos.cli._files import read_rows_for
from pegasos.errors import PegasosError

if TYPE_CHECKING:
    from pegasos.data import Table

models = "a model of pegasos, LIBLINEAR or LIBSVM"


class Weights(NamedTuple):
    """A linear model of another tool: in scikit-learn's form, one row of coef a class, or one for two classes."""

    coef: Any
    intercept: Any
    classes: Any = None

    @property
    def n_features_in_(self) -> int:
        """Columns of coef."""
        return int(self.coef.shape[1])


def load_model(path: str) -> Any:
    """A fitted estimator."""
    model = load_any(path)
    if isinstance(model, Weights):
        raise PegasosError(f"{path} holds weights alone, which can be certified, but not used to predict.")
    return model


def load_any(path: str) -> Any:
    """A fitted estimator, or `Weights`."""
    start = _first_bytes(path)
    if start[:2] == b"PK":
        return _from_zip(path)
    if start[:6] == b"\x93NUMPY":
        return _weights(path, {"coef": _array(path)})
    if start.lstrip()[:1] == b"{":
        return _from_json(path)
    from pegasos.export import read_model

    return read_model(path)


def with_rows(
    model: Any, path: str, data: str, options: dict[str, Any], *, labelled: bool = True, unknown: str = "ignore"
) -> tuple[Any, Table]:
    """A model and the rows of a file, with labels and weights; one of LIBSVM, read again, has as many features.

    Of a pipeline, the machine at its end, and what its steps make of the rows.
    """
    is_open = _first_bytes(path).startswith(b"svm_type")
    table = read_rows_for(model, data, options, or_more=is_open, labelled=labelled, unknown=unknown)
    if table.X.shape[1] > model.n_features_in_:
        from pegasos.export import read_model

        model = read_model(path, n_features=table.X.shape[1])
    machine, X = machine_and_rows(model, table.X)
    return machine, table._replace(X=X)


def machine_and_rows(model: Any, X: Any) -> tuple[Any, Any]:
    """The machine of a pipeline, which has the names of its features, and what the steps before it make of X."""
    if not isinstance(model, Pipeline):
        return model, X
    steps, machine = model[:-1], copy(model[-1])
    with suppress(AttributeError, ValueError):  # a step without names
        machine.feature_names_in_ = np.asarray(steps.get_feature_names_out(), dtype=object)
    return machine, steps.transform(X)


def _first_bytes(path: str) -> bytes:
    if Path(path).is_dir():
        raise PegasosError(f"{path} is a folder: name the file of a model.")
    with Path(path).open("rb") as file:
        start = file.read(64)
    if not start:
        raise PegasosError(f"{path} is empty: it holds no model.")
    return start


def _from_zip(path: str) -> Any:
    """Ours, or what numpy's savez has written."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
        if "contents.json" not in names and "coef.npy" in names:
            with np.load(path, allow_pickle=False) as arrays:
                parts = {name: arrays[name] for name in ("coef", "intercept", "classes") if name in arrays}
            return _weights(path, parts)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise PegasosError(f"{path} is damaged: {str(error).rstrip('.')}.") from error
    from pegasos import load

    return load(path)


def _from_json(path: str) -> Any:
    """What `pegasos.export.to_json` has written, or weights."""
    try:
        values = json.loads(Path(path).read_bytes())
    except (ValueError, RecursionError) as error:
        raise PegasosError(f"{path} is not JSON: {error}.") from error
    if "format" in values:
        from pegasos.export import read_model

        return read_model(path)
    if "coef" not in values:
        raise PegasosError(
            f"{path} must have the keys coef and intercept, got {', '.join(sorted(values)[:9]) or 'none'}."
        )
    return _weights(path, values)


def _array(path: str) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise PegasosError(f"{path} cannot be read: {str(error).rstrip('.')}.") from error


def _weights(path: str, values: dict[str, Any]) -> Weights:
    """Checked: numbers, finite, and of shapes that agree."""
    try:
        coef = np.atleast_2d(np.asarray(values["coef"], np.float64))
        intercept = np.asarray(values.get("intercept", np.zeros(len(coef))), np.float64).reshape(-1)
        classes = np.asarray(values["classes"]) if "classes" in values else None
    except (TypeError, ValueError) as error:
        raise PegasosError(f"{path}: coef and intercept must be numbers, classes labels.") from error
    if coef.ndim != 2 or not coef.size or intercept.shape != (len(coef),):
        raise PegasosError(f"{path}: intercept must have a number for each row of coef, got {intercept.shape}.")
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        raise PegasosError(f"{path}: coef and intercept must be finite.")
    return Weights(coef, intercept, classes)
