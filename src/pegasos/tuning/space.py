"""The settings to choose from: scaling, family, its parameters, C and class weights; and the machines they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, Normalizer, StandardScaler

from pegasos.errors import PegasosError
from pegasos.estimators.kernel import KernelPegasosClassifier
from pegasos.estimators.linear import PegasosClassifier
from pegasos.estimators.regression import KernelPegasosRegressor, PegasosRegressor
from pegasos.kernels import Kernel
from pegasos.tuning.families import (
    Choice,
    Families,
    Family,
    Units,
    families_of_graphs,
    families_of_rows,
    families_of_series,
    families_of_strings,
    measure,
)
from pegasos.tuning.kinds import are_like_series
from pegasos.tuning.probe import Probe

_MOST_PAIRED = 30  # classes
_EPSILON = Choice(1e-3, 1.0)  # in units of the spread of the targets
_FIRST_EPSILON = 0.1
_MOST_SCALED = 5000  # rows that the units are measured on
_scalers: dict[str, Any] = {
    "standard": StandardScaler(),
    "min-max": MinMaxScaler(),
    "max-abs": MaxAbsScaler(),
    "unit rows": Normalizer(),
}
_DENSE, _SPARSE = ("standard", "none", "min-max", "unit rows"), ("none", "unit rows", "max-abs")


@dataclass(frozen=True)
class Setting:
    """One choice of everything."""

    family: str
    scaling: str
    C: float  # 1 / (lam N), in units of one over the mean squared length of rows, or over the spread of other items
    chosen: Mapping[str, Any] = field(default_factory=dict)  # of the parameters of the family
    class_weight: str | None = None
    epsilon: float | None = None  # half the width of the tube, in units of the spread of the targets


@dataclass(frozen=True)
class Space:
    """All settings for a collection.

    Attributes
    ----------
    families : the kernels in question, by name
    units : Units of the items, for each scaling in question
    class_weights : those in question
    n_rows : int
        The size of the whole collection, to which ``lam`` refers.
    multi_class : how several classes are handled
    probe : Probe, or None where no family is one of items
        Measures the units of kernels on strings, graphs and series, on a few items.
    spread : float or None
        The spread of the targets of a regression; None for classes.
    """

    families: Families
    units: Mapping[str, Units]
    class_weights: tuple[str | None, ...]
    n_rows: int
    multi_class: str = "ovr"
    probe: Probe | None = None
    spread: float | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        kind: str,
        n_classes: int,
        *,
        class_weights: tuple[str | None, ...],
        rng: np.random.Generator,
        spread: float | None = None,
    ) -> Space:
        """The settings that suit a collection of this kind; ``n_classes`` is 0 for a regression."""
        # Pairs of classes are small problems, quick and easy to fit well; but their number grows as a square.
        multi_class = "ovo" if 2 < n_classes <= _MOST_PAIRED else "ovr"
        if kind == "rows":
            _check_variety(X)
            scalings = _SPARSE if sp.issparse(X) else _DENSE
            sample = X[np.sort(rng.permutation(X.shape[0])[:_MOST_SCALED])]
            units = {scaling: measure(_scaled(sample, scaling), rng) for scaling in scalings}
            families, probe = families_of_rows(sp.issparse(X)), None
            if are_like_series(X):
                families, probe = families | families_of_series(X, rng), Probe.of(X)
            return cls(families, units, class_weights, X.shape[0], multi_class, probe, spread)
        if kind == "series":
            families = families_of_series(X, rng)
        else:
            families = families_of_strings(X) if kind == "strings" else families_of_graphs(X)
        return cls(families, {"none": Units()}, class_weights, len(X), multi_class, Probe.of(X), spread)

    def suggest(self, trial: Any) -> Setting:
        """The setting that a trial of Optuna suggests."""
        name = trial.suggest_categorical("kernel", list(self.families))
        family = self.families[name]
        scaling = "none" if family.is_of_items else trial.suggest_categorical("scaling", list(self.units))
        found = {
            key: trial.suggest_int(f"{name} {key}", int(choice.low), int(choice.high))
            if choice.is_whole
            else trial.suggest_float(f"{name} {key}", choice.low, choice.high, log=True)
            for key, choice in self.numbers(family).items()
        }
        C, epsilon = found.pop("C"), found.pop("epsilon", None)
        balance = trial.suggest_categorical("class_weight", [str(word) for word in self.class_weights])
        return Setting(name, scaling, C, found, None if balance == "None" else balance, epsilon)

    def numbers(self, family: Family) -> dict[str, Choice]:
        """All that is searched for: C, the parameters of the family and, for a regression, epsilon."""
        return family.numbers if self.spread is None else {**family.numbers, "epsilon": _EPSILON}

    def first(self) -> list[dict[str, Any]]:
        """The most promising settings, as Optuna names them: each family's first one, then the second ones, ..."""
        rounds = max(len(family.first) for family in self.families.values())
        found = []
        for turn in range(rounds):
            for name, family in self.families.items():
                if turn < len(family.first):
                    chosen = dict(family.first[turn])
                    balance = self.class_weights[turn % len(self.class_weights)]
                    scaling = "none" if family.is_of_items else list(self.units)[turn % len(self.units)]
                    epsilon = None if self.spread is None else _FIRST_EPSILON
                    found.append(_named(Setting(name, scaling, chosen.pop("C"), chosen, balance, epsilon)))
        return found

    def near(self, setting: Setting) -> list[dict[str, Any]]:
        """The settings beside this one: one number one step up or down, or another scaling."""
        family = self.families[setting.family]
        numbers = {"C": setting.C, **setting.chosen, "epsilon": setting.epsilon}
        scalings = [setting.scaling] if family.is_of_items else list(self.units)
        found = [replace(setting, scaling=scaling) for scaling in scalings if scaling != setting.scaling]
        for key, choice in self.numbers(family).items():
            for value in choice.near(numbers[key]):
                moved = {**numbers, key: value}
                found.append(replace(setting, C=moved.pop("C"), epsilon=moved.pop("epsilon"), chosen=moved))
        return [_named(each) for each in found]

    def lam(self, setting: Setting, n_rows: float) -> float:
        """The lam of a setting for this many rows; larger for a sample, since C, the weight of one row, is the same."""
        family, units = self._parts(setting)
        kernel = self.kernel(setting)
        if kernel is not None and family.is_of_items:
            assert self.probe is not None
            unit = self.probe.look(kernel).spread
        else:
            unit = family.mean_square(units, setting.chosen)
        return unit / (setting.C * n_rows * (self.spread or 1.0))

    def kernel(self, setting: Setting) -> Kernel | None:
        """The kernel of a setting; None is the linear machine."""
        family, units = self._parts(setting)
        return None if family.kernel is None else family.kernel(units, setting.chosen)

    def seconds(self, setting: Setting) -> float:
        """Estimated seconds for the kernel matrix of all items; 0 for rows, whose matrix is never computed at once."""
        kernel = self.kernel(setting)
        if self.probe is None or kernel is None or not self.families[setting.family].is_of_items:
            return 0.0
        return self.probe.look(kernel).seconds(self.n_rows)

    def machine(self, setting: Setting, n_rows: float, **parameters: Any) -> Any:
        """The machine of a setting, to be trained on this many rows, which are scaled already."""
        common: dict[str, Any] = {"lam": self.lam(setting, n_rows), **parameters}
        kernel = self.kernel(setting)
        if self.spread is not None:
            assert setting.epsilon is not None
            # Targets may be far from 0, so their mean must not be penalized.
            common |= {"epsilon": setting.epsilon * self.spread, "regularize_intercept": False}
            return PegasosRegressor(**common) if kernel is None else KernelPegasosRegressor(kernel, **common)
        common |= {"multi_class": self.multi_class, "class_weight": setting.class_weight}
        if kernel is None:
            # A constant feature as long as a typical row: an intercept is then as easy to learn in any unit.
            scale = float(np.sqrt(self.units[setting.scaling].mean_square))
            return PegasosClassifier(intercept_scaling=scale, **common)
        # Kernel values leave little to a regularized intercept: a free one is up to four points better on small tables.
        return KernelPegasosClassifier(kernel, regularize_intercept=False, **common)

    def scaler(self, setting: Setting) -> Any:
        """The scaler of the rows, or None."""
        return None if setting.scaling == "none" else clone(_scalers[setting.scaling])

    def pipeline(self, setting: Setting, n_rows: float, **parameters: Any) -> Pipeline:
        """Scaling and machine as one estimator."""
        scaler, machine = self.scaler(setting), self.machine(setting, n_rows, **parameters)
        steps = [] if scaler is None else [("scaling", scaler)]
        return Pipeline([*steps, ("classifier" if self.spread is None else "regressor", machine)])

    def is_linear(self, setting: Setting) -> bool:
        """Whether the time of a fit is proportional to the number of rows."""
        return self.families[setting.family].kernel is None

    def as_row(self, setting: Setting) -> dict[str, Any]:
        """The setting as columns of a table."""
        kernel = self.kernel(setting)
        gamma = None if kernel is None else kernel.get_params().get("gamma")
        return {
            "kernel": setting.family,
            "scaling": setting.scaling,
            "lam": self.lam(setting, self.n_rows),
            "gamma": gamma,
            **{key: setting.chosen.get(key) for each in self.families.values() for key in each.choices},
            "class_weight": setting.class_weight,
            "epsilon": None if setting.epsilon is None or self.spread is None else setting.epsilon * self.spread,
        }

    def in_words(self, setting: Setting) -> str:
        """The setting as a phrase."""
        family, _ = self._parts(setting)
        row = self.as_row(setting)
        numbers = [f"{key} {row[key]:.3g}" for key in family.choices if key != "width"]
        if row["gamma"] is not None and "width" in family.choices:
            numbers = [f"gamma {row['gamma']:.3g}, {setting.chosen['width']:.2g} times one over the median distance"]
            if setting.family == "rbf":
                numbers = [f"{numbers[0]} squared"]
        scaling = "" if len(self.units) == 1 else f", {_scaling_words[setting.scaling]}"
        balance = ", classes balanced" if setting.class_weight else ""
        if row["epsilon"] is not None:
            balance = f", epsilon {row['epsilon']:.2g}"
        in_brackets = f" ({', '.join(numbers)})" if numbers else ""
        return f"{family.words}{in_brackets}{scaling}, lam {row['lam']:.2g}{balance}"

    def _parts(self, setting: Setting) -> tuple[Family, Units]:
        return self.families[setting.family], self.units[setting.scaling]


_scaling_words = {
    "none": "rows as they are",
    "standard": "columns standardized",
    "min-max": "columns from 0 to 1",
    "max-abs": "columns divided by their largest entry",
    "unit rows": "rows of length 1",
}


def _named(setting: Setting) -> dict[str, Any]:
    """A setting by Optuna's names of the parameters."""
    of_setting = {"C": setting.C, **setting.chosen}
    if setting.epsilon is not None:
        of_setting["epsilon"] = setting.epsilon
    numbers = {f"{setting.family} {key}": value for key, value in of_setting.items()}
    words = {"kernel": setting.family, "scaling": setting.scaling, "class_weight": str(setting.class_weight)}
    return words | numbers


def _scaled(X: Any, scaling: str) -> Any:
    return X if scaling == "none" else clone(_scalers[scaling]).fit_transform(X)


def _check_variety(X: Any) -> None:
    """Refuse rows that are all the same, and rows whose squared lengths overflow."""
    highest, lowest = (each.toarray() if sp.issparse(each) else each for each in (X.max(axis=0), X.min(axis=0)))
    largest = float(max(highest.max(), -lowest.min()))
    if largest > np.sqrt(np.finfo(X.dtype).max / X.shape[1]):
        raise PegasosError(f"X has entries of size {largest:.3g}, whose squares overflow; scale it down.")
    if np.array_equal(highest, lowest):
        raise PegasosError(
            f"every one of the {X.shape[1]} columns of X is constant: no row differs from another, so there is "
            "nothing to learn from; check how X was read."
        )
