"""Model files: an estimator in one archive of JSON and arrays, read back without trust.

The file names a class; the class, not the file, defines which attributes exist and what each must be (`Fitted`).
Parameters are checked as in a fit, shapes against each other, and nothing in a file is ever executed.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import SimpleNamespace
from typing import Any

from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from pegasos import archive
from pegasos.errors import PegasosError
from pegasos.persistence import preprocessing
from pegasos.persistence.specs import Reader, Spec, Writer, require
from pegasos.persistence.values import Kind, Shared, anything

_KIND = "model"
_LAYOUT = 1  # version of the archive's layout

# The classes that a file may name, and their modules.
_homes = {
    "AutoPegasos": "pegasos.tuning.auto",
    "AutoPegasosRegressor": "pegasos.tuning.auto_regressor",
    "ConfidenceWeighted": "pegasos.online",
    "KernelPegasosClassifier": "pegasos.estimators.kernel",
    "KernelPegasosOneClass": "pegasos.estimators.one_class",
    "KernelPegasosRegressor": "pegasos.estimators.regression",
    "KernelPerceptron": "pegasos.online",
    "Norma": "pegasos.online",
    "PassiveAggressive": "pegasos.online",
    "PegasosClassifier": "pegasos.estimators.linear",
    "PegasosClassifierCV": "pegasos.estimators.linear_cv",
    "PegasosOneClass": "pegasos.estimators.one_class",
    "PegasosRegressor": "pegasos.estimators.regression",
    "PegasosRegressorCV": "pegasos.estimators.regression_cv",
    "Perceptron": "pegasos.online",
    **{name: step.home for name, step in preprocessing.steps.items()},
}


def _no_lengths(model: Any) -> Mapping[str, int]:
    return {}


def _no_check(model: Any) -> None:
    pass


def _all_attributes(model: Any) -> Mapping[str, Any]:
    """The attributes of a fitted estimator."""
    found: Mapping[str, Any] = vars(model)
    return found


def _as_it_is(has: Mapping[str, Any]) -> Mapping[str, Any]:
    return has


def _set_all(model: Any, found: Mapping[str, Any]) -> None:
    model.__dict__.update(found)


@dataclass(frozen=True)
class Fitted:
    """The attributes of a fitted estimator in a file, as data.

    A *record* is a namespace of what a file holds: the parameters of the estimator, and the attributes by their names
    in the file.

    Attributes
    ----------
    head
        Specs of what comes first: the other lengths follow from it.
    lengths
        Those lengths, for a record that has its head.
    rest
        Specs of the others, for a record that has its head.
    needed
        Attributes without which there is no model.
    together
        Attributes of which either all are there or none.
    check
        Raises PegasosError when the attributes of a record do not fit together.
    record
        From a fitted estimator to its attributes in the file.
    restore
        Gives an estimator the attributes of a record.
    lean
        The attributes without the dual point, and what else is as long as the training rows.
    foreign
        The attributes instead where there is an ``_origin``: the model was trained elsewhere.
    """

    head: Mapping[str, Spec]
    rest: Callable[[Any], Mapping[str, Spec]]
    needed: tuple[str, ...]
    together: tuple[str, ...] = ()
    lengths: Callable[[Any], Mapping[str, int]] = field(default=_no_lengths)
    check: Callable[[Any], None] = field(default=_no_check)
    record: Callable[[Any], Mapping[str, Any]] = field(default=_all_attributes)
    restore: Callable[[Any, Mapping[str, Any]], None] = field(default=_set_all)
    lean: Callable[[Mapping[str, Any]], Mapping[str, Any]] = field(default=_as_it_is)
    foreign: Fitted | None = None

    def of(self, names: Collection[str]) -> Fitted:
        """The record of a model with attributes of these names."""
        return self.foreign if self.foreign is not None and "_origin" in names else self

    def pack(self, model: Any, out: Writer) -> dict[str, Any]:
        """The attributes that the model has."""
        has = self.record(model)
        mine = self.of(has)
        if not out.dual:
            has = mine.lean(has)
        missing = mine._missing_in(has)
        if missing is not None:
            raise PegasosError(
                f"a model file holds what a fit leaves, and this {type(model).__name__} has no {missing}; fit it "
                "again, or keep it with joblib."
            )
        specs = {**mine.head, **mine.rest(SimpleNamespace(**has))}
        return {name: spec.pack(has[name], name, out) for name, spec in specs.items() if name in has}

    def unpack_into(self, model: Any, stored: Mapping[str, Any], source: Reader) -> None:
        """Give the model its attributes; raises a PegasosError if they do not fit together."""
        missing = self._missing_in(stored)
        if missing is not None:
            raise PegasosError(f"it lacks {missing}")
        parameters = model.get_params(deep=False)
        record = SimpleNamespace(**parameters)
        _unpack(record, self.head, stored, source)
        for name, length in self.lengths(record).items():
            source.agree(name, name, length)
        rest = self.rest(record)
        strange = sorted(stored.keys() - self.head.keys() - rest.keys())
        if strange:
            raise PegasosError(f"{type(model).__name__} of this version of pegasos has no attribute {strange[0]!r}")
        _unpack(record, rest, stored, source)
        self.check(record)
        self.restore(model, {name: value for name, value in vars(record).items() if name not in parameters})

    def _missing_in(self, names: Collection[str]) -> str | None:
        missing = [name for name in self.needed if name not in names]
        if not missing and any(name in names for name in self.together):
            missing = [name for name in self.together if name not in names]
        return min(missing, default=None)


def _unpack(record: Any, specs: Mapping[str, Spec], stored: Mapping[str, Any], source: Reader) -> None:
    for name, spec in specs.items():
        if name in stored:
            setattr(record, name, spec.unpack(stored[name], name, source))


def save(model: Any, path: str | os.PathLike[str], *, dual: bool = True) -> None:
    """Write a fitted estimator of pegasos, or a pipeline that ends in one, into a model file.

    Parameters
    ----------
    model : fitted estimator, or pipeline of steps of scikit-learn and one of ours
        Scalers, encoders, imputers, vectorizers, ColumnTransformer, FeatureUnion, PCA and others. A step with a
        function of your own raises an error: a file contains data, never code.
    path : path of the file, usually with the suffix ``.pegasos``
        It appears complete or not at all; an existing file is replaced at the end.
    dual : bool, default=True
        Whether to keep the dual point, ``alpha_``: one number per training row and problem. Without it the model
        predicts the same and has its certificate, but `certify` and a warm start have nothing to start from, and a
        linear model has no ``support_``. A stream continues from its weights and step count.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_iris(return_X_y=True)
    >>> pipeline = make_pipeline(StandardScaler(), pegasos.PegasosClassifier(random_state=0)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.pegasos")
    ...     pegasos.save(pipeline, path, dual=False)
    ...     bool((pegasos.load(path).predict(X) == pipeline.predict(X)).all())
    True
    """
    _check_path(path)
    out = Writer(dual=dual)
    packed = _pack_model(model, type(model).__name__, out)
    archive.write(path, _KIND, {"layout": _LAYOUT, "model": packed}, out.arrays)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model file.

    The file may come from an untrusted source: it contains data, never code, and everything in it is validated before
    use.

    Parameters
    ----------
    path : path of a file that ``save`` of an estimator wrote

    Returns
    -------
    the estimator, fitted, with the parameters, the certificate and the trace that it had

    Raises
    ------
    PegasosError
        If the file is not a model file, is damaged, or holds an impossible model; the message says what is wrong.
    FileNotFoundError
        If the file does not exist.

    Examples
    --------
    >>> import os, tempfile
    >>> import pegasos
    >>> model = pegasos.PegasosClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "model.pegasos")
    ...     model.save(path)
    ...     print(pegasos.load(path).predict([[0.9]]))
    ['yes']
    """
    _check_path(path)
    stored = archive.read(path, _KIND)
    try:
        layout = stored.values.get("layout")
        if layout != _LAYOUT:
            raise PegasosError(f"its layout is {layout!r}, and this version of pegasos reads {_LAYOUT}")
        return _model_of(stored.values.get("model"), "the model", Reader(stored.arrays))
    except PegasosError as error:
        raise PegasosError(f"{path} cannot be used: {str(error).rstrip('.')}{_by_whom(stored)}.") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        whose = _by_whom(stored)
        raise PegasosError(f"{path} cannot be used: its parts do not fit together ({error}){whose}.") from error


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        raise PegasosError(f"the path of a model file must be a str or a Path, got {path!r}.")


def _by_whom(stored: archive.Archive) -> str:
    """A hint if another version wrote the file."""
    here = version("pegasos")
    return "" if stored.version == here else f"; version {stored.version} of pegasos wrote it, and this is {here}"


class Saved:
    """Base class of estimators that can be saved; `_saved` describes their attributes."""

    _saved: Fitted

    def save(self, path: str | os.PathLike[str], *, dual: bool = True) -> None:
        """Write the fitted model into a file, which `pegasos.load` reads: JSON and arrays, never a pickle.

        Parameters
        ----------
        path : path of the file, usually with the suffix ``.pegasos``
            It appears complete or not at all; an existing file is replaced at the end.
        dual : bool, default=True
            False leaves out ``alpha_``, one number per training row and problem: the file is smaller, predictions and
            the certificate stay, but `certify` and a warm start have nothing to start from.
        """
        save(self, path, dual=dual)


def _class_of(name: Any) -> Any:
    if not isinstance(name, str) or name not in _homes:
        raise PegasosError(f"it names a class that this version of pegasos does not have, {name!r}")
    return getattr(importlib.import_module(_homes[name]), name)


def _is_known(value: Any) -> bool:
    name = type(value).__name__
    return name in _homes and _class_of(name) is type(value)


def _fitted_of(known: Any) -> Fitted:
    if issubclass(known, Saved):
        fitted: Fitted = known._saved
        return fitted
    step = preprocessing.steps[known.__name__]
    return Fitted({}, lambda _: step.attributes, (), restore=lambda model, found: _restore(model, found, step))


def _restore(model: Any, found: Mapping[str, Any], step: preprocessing.Step) -> None:
    _set_all(model, found)
    step.check(model)


def _pack_model(model: Any, what: str, out: Writer, *, is_part: bool = False) -> dict[str, Any]:
    """A fitted model; a part of one may be a step that is not fitted, from which its owner has made fitted ones."""
    if isinstance(model, type) or not _is_known(model):
        whose = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise PegasosError(
            f"{what} is {whose}, and a model file holds estimators of pegasos and pipelines that end in one, of these "
            f"steps of scikit-learn: {', '.join(preprocessing.steps)}; keep it with joblib or skops."
        )
    is_template = is_part and not isinstance(model, Saved) and not _is_fitted(model)
    if not is_template and not _is_fitted(model):
        raise PegasosError(f"{what} is not fitted, and there is nothing to save; call fit first.")
    if isinstance(model, Saved):
        model._check_parameters()  # type: ignore[attr-defined]
    given = model.get_params(deep=False)
    parameters = {name: Shared().pack(value, name, out) for name, value in given.items()}
    fitted = {} if is_template else _fitted_of(type(model)).pack(model, out)
    packed = {"name": type(model).__name__, "parameters": parameters, "fitted": fitted}
    return {**packed, "template": True} if is_template else packed


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _model_of(stored: Any, what: str, source: Reader) -> Any:
    require(isinstance(stored, dict), what, "a model")
    known = _class_of(stored.get("name"))
    given, fitted = stored.get("parameters"), stored.get("fitted")
    require(isinstance(given, dict) and isinstance(fitted, dict), what, "a model with parameters and attributes")
    unknown = sorted(given.keys() - set(known._get_param_names()))
    if unknown:
        raise PegasosError(f"{known.__name__} of this version of pegasos has no parameter {unknown[0]!r}")
    with source.scope(new=True):
        model = known(**{name: Shared().unpack(value, name, source) for name, value in given.items()})
        if isinstance(model, Saved):
            model._check_parameters()  # type: ignore[attr-defined]
        if stored.get("template") is not True or isinstance(model, Saved):
            _fitted_of(known).of(fitted).unpack_into(model, fitted, source)
    return model


def _pack_inner(model: Any, what: str, out: Writer) -> dict[str, Any]:
    return {"model": _pack_model(model, what, out, is_part=True)}


def _inner_of(stored: Mapping[str, Any], what: str, source: Reader) -> Any:
    return _model_of(stored.get("model"), what, source)


def _is_estimator(value: Any) -> bool:
    """Whether it is in the table of classes, or is a step, for which the error message names those of the table."""
    return _is_known(value) or (hasattr(value, "get_params") and hasattr(value, "transform"))


anything.kinds["model"] = Kind(_is_estimator, _pack_inner, _inner_of)
