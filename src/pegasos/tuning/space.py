"""What can be chosen for a collection: scaling, family, its parameters, C and class weights; and what that makes."""

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
from pegasos.kernels import Kernel
from pegasos.tuning.families import (
    Families,
    Family,
    Units,
    families_of_graphs,
    families_of_rows,
    families_of_series,
    families_of_strings,
    measure,
)
from pegasos.tuning.probe import Probe

_most_paired = 30  # classes
_most_scaled = 5000  # rows that the units are measured on
_scalers: dict[str, Any] = {
    "standard": StandardScaler(),
    "min-max": MinMaxScaler(),
    "max-abs": MaxAbsScaler(),
    "unit rows": Normalizer(),
}
_dense, _sparse = ("standard", "none", "min-max", "unit rows"), ("none", "unit rows", "max-abs")


@dataclass(frozen=True)
class Setting:
    """One choice of everything."""

    family: str
    scaling: str
    C: float  # 1 / (lam N), in units of one over the mean squared length of rows, or over the spread of other items
    chosen: Mapping[str, Any] = field(default_factory=dict)  # of the parameters of the family
    class_weight: str | None = None


@dataclass(frozen=True)
class Space:
    """All settings for a collection.

    Attributes
    ----------
    families : the kernels in question, by name
    units : Units of the items, for each scaling in question
    class_weights : those in question
    n_rows : int
        Of the whole collection, which ``lam`` is for.
    multi_class : how several classes are dealt with
    probe : Probe, or None for rows
        Looks at kernels of strings, graphs and series, whose units are known when they have been seen.
    """

    families: Families
    units: Mapping[str, Units]
    class_weights: tuple[str | None, ...]
    n_rows: int
    multi_class: str = "ovr"
    probe: Probe | None = None

    @classmethod
    def of(
        cls, X: Any, kind: str, n_classes: int, *, class_weights: tuple[str | None, ...], rng: np.random.Generator
    ) -> Space:
        """The settings that suit a collection of this kind."""
        # Pairs of classes are small problems, quick and easy to fit well; but their number grows as a square.
        multi_class = "ovo" if 2 < n_classes <= _most_paired else "ovr"
        if kind == "rows":
            _check_variety(X)
            scalings = _sparse if sp.issparse(X) else _dense
            sample = X[np.sort(rng.permutation(X.shape[0])[:_most_scaled])]
            units = {scaling: measure(_scaled(sample, scaling), rng) for scaling in scalings}
            return cls(families_of_rows(sp.issparse(X)), units, class_weights, X.shape[0], multi_class)
        if kind == "series":
            families = families_of_series(X, rng)
        else:
            families = families_of_strings(X) if kind == "strings" else families_of_graphs(X)
        return cls(families, {"none": Units()}, class_weights, len(X), multi_class, Probe.of(X))

    def suggest(self, trial: Any) -> Setting:
        """The setting that a trial of Optuna asks for."""
        name = trial.suggest_categorical("kernel", list(self.families))
        family = self.families[name]
        scaling = trial.suggest_categorical("scaling", list(self.units))
        found = {
            key: trial.suggest_int(f"{name} {key}", int(choice.low), int(choice.high))
            if choice.is_whole
            else trial.suggest_float(f"{name} {key}", choice.low, choice.high, log=True)
            for key, choice in family.numbers.items()
        }
        C = found.pop("C")
        balance = trial.suggest_categorical("class_weight", [str(word) for word in self.class_weights])
        return Setting(name, scaling, C, found, None if balance == "None" else balance)

    def first(self) -> list[dict[str, Any]]:
        """The most promising settings, as Optuna names them: each family's first one, then the second ones, ..."""
        rounds = max(len(family.first) for family in self.families.values())
        found = []
        for turn in range(rounds):
            for name, family in self.families.items():
                if turn < len(family.first):
                    chosen = dict(family.first[turn])
                    balance = self.class_weights[turn % len(self.class_weights)]
                    scaling = list(self.units)[turn % len(self.units)]
                    found.append(_named(Setting(name, scaling, chosen.pop("C"), chosen, balance)))
        return found

    def near(self, setting: Setting) -> list[dict[str, Any]]:
        """The settings beside this one: one number a step up or down, or another scaling."""
        numbers = {"C": setting.C, **setting.chosen}
        found = [replace(setting, scaling=scaling) for scaling in self.units if scaling != setting.scaling]
        for key, choice in self.families[setting.family].numbers.items():
            for value in choice.near(numbers[key]):
                moved = {**numbers, key: value}
                found.append(replace(setting, C=moved.pop("C"), chosen=moved))
        return [_named(each) for each in found]

    def lam(self, setting: Setting, n_rows: int) -> float:
        """On a sample of the rows lam is larger: the weight of one row, C, stays what it is."""
        family, units = self._parts(setting)
        kernel = self.kernel(setting)
        if self.probe is None or kernel is None:
            unit = family.mean_square(units, setting.chosen)
        else:
            unit = self.probe.look(kernel).spread
        return unit / (setting.C * n_rows)

    def kernel(self, setting: Setting) -> Kernel | None:
        """The kernel of a setting; None is the linear machine."""
        family, units = self._parts(setting)
        return None if family.kernel is None else family.kernel(units, setting.chosen)

    def seconds(self, kernel: Kernel | None) -> float:
        """About how long the kernel matrix of all items takes; that of rows is never computed as a whole."""
        return 0.0 if self.probe is None or kernel is None else self.probe.look(kernel).seconds(self.n_rows)

    def classifier(self, setting: Setting, n_rows: int, **parameters: Any) -> Any:
        """The machine of a setting, to be trained on so many rows that are scaled already."""
        common = {
            "lam": self.lam(setting, n_rows),
            "multi_class": self.multi_class,
            "class_weight": setting.class_weight,
            **parameters,
        }
        kernel = self.kernel(setting)
        if kernel is None:
            # A constant feature as long as a typical row: an intercept is then as easy to learn in any unit.
            scale = float(np.sqrt(self.units[setting.scaling].mean_square))
            return PegasosClassifier(intercept_scaling=scale, **common)
        return KernelPegasosClassifier(kernel, **common)

    def scaler(self, setting: Setting) -> Any:
        """What scales the rows, or None."""
        return None if setting.scaling == "none" else clone(_scalers[setting.scaling])

    def pipeline(self, setting: Setting, n_rows: int, **parameters: Any) -> Pipeline:
        """Scaling and machine as one estimator."""
        scaler, classifier = self.scaler(setting), self.classifier(setting, n_rows, **parameters)
        steps = [] if scaler is None else [("scaling", scaler)]
        return Pipeline([*steps, ("classifier", classifier)])

    def is_linear(self, setting: Setting) -> bool:
        """Whether a fit takes time in proportion to the rows."""
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
        in_brackets = f" ({', '.join(numbers)})" if numbers else ""
        return f"{family.words}{in_brackets}{scaling}, lam {row['lam']:.2g}{balance}"

    def _parts(self, setting: Setting) -> tuple[Family, Units]:
        return self.families[setting.family], self.units[setting.scaling]


_scaling_words = {
    "none": "rows as they are",
    "standard": "columns standardised",
    "min-max": "columns from 0 to 1",
    "max-abs": "columns divided by their largest entry",
    "unit rows": "rows of length 1",
}


def _named(setting: Setting) -> dict[str, Any]:
    """A setting by Optuna's names of the parameters."""
    numbers = {f"{setting.family} {key}": value for key, value in {"C": setting.C, **setting.chosen}.items()}
    words = {"kernel": setting.family, "scaling": setting.scaling, "class_weight": str(setting.class_weight)}
    return words | numbers


def _scaled(X: Any, scaling: str) -> Any:
    return X if scaling == "none" else clone(_scalers[scaling]).fit_transform(X)


def _check_variety(X: Any) -> None:
    """Refuse rows that are all the same, and those whose lengths no number holds."""
    highest, lowest = (each.toarray() if sp.issparse(each) else each for each in (X.max(axis=0), X.min(axis=0)))
    largest = float(max(highest.max(), -lowest.min()))
    if largest > np.sqrt(np.finfo(X.dtype).max / X.shape[1]):
        raise PegasosError(f"X has entries of size {largest:.3g}, whose squares exceed every number; scale it down.")
    if np.array_equal(highest, lowest):
        raise PegasosError(
            f"every one of the {X.shape[1]} columns of X is constant: no row differs from another, so there is "
            "nothing to learn from; check how X was read."
        )
