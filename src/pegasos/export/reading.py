"""A model file of any kind that this package reads, recognized by how it begins."""

from __future__ import annotations

import os
from typing import Any

from pegasos.errors import PegasosError
from pegasos.estimators.parameters import DEFAULT_LAM
from pegasos.export.importing import check_aim
from pegasos.export.liblinear import from_liblinear
from pegasos.export.libsvm import from_libsvm
from pegasos.export.plain import from_json
from pegasos.export.svmlight import BEGINNING, from_svmlight
from pegasos.export.text import Path, shown

_LOOKED_AT = 4096  # bytes
_LIBLINEAR = ("solver_type", "nr_class", "label", "nr_feature", "bias")
_LIBSVM = ("svm_type", "kernel_type")


def read_model(path: Path, *, C: float | None = None, lam: float | None = None, n_features: int | None = None) -> Any:
    """Read a model file of LIBLINEAR, LIBSVM or SVM-Light, or JSON of `to_json`.

    The format is detected from the content.

    Parameters
    ----------
    path : path
    C, lam : float, optional
        The regularization of the fit, if the file does not contain it; `certify` needs it.
    n_features : int, optional
        The number of features of the data that a LIBSVM or SVM-Light model is to predict; see `from_libsvm`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from pegasos import PegasosClassifier
    >>> from pegasos.export import read_model, to_json
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> _ = to_json(PegasosClassifier(lam=0.1, random_state=0).fit([[0.0], [1.0]], [0, 1]), path)
    >>> read_model(path).predict([[2.0]])
    array([1])
    """
    check_aim(lam, C)
    try:
        with open(path, "rb") as file:
            begin = file.read(_LOOKED_AT)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise PegasosError(f"{os.fspath(path)} could not be read: {error.strerror or error}.") from error
    words = begin.decode("ascii", "replace").split(maxsplit=1)
    first = words[0] if words else ""
    if first in _LIBSVM:
        return from_libsvm(path, C=C, lam=lam, n_features=n_features)
    if first == BEGINNING:
        return from_svmlight(path, C=C, lam=lam, n_features=n_features)
    if first in _LIBLINEAR:
        return from_liblinear(path, C=C, lam=lam)
    if first.startswith("{"):
        model = from_json(path)
        if (lam is not None or C is not None) and "lam" in model.get_params():
            model.set_params(lam=DEFAULT_LAM if lam is None else lam, C=C)
        return model
    if begin.startswith(b"PK"):
        raise PegasosError(f"{os.fspath(path)} is an archive: models of pegasos are read by pegasos.load.")
    raise PegasosError(
        f"{os.fspath(path)} is neither a model file of LIBLINEAR, LIBSVM or SVM-Light nor JSON: it begins with "
        f"{shown(first)}."
    )
