"""Columns of words in tables: frames for training, and the columns of a model that was trained on one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder

from pegasos.errors import PegasosError

if TYPE_CHECKING:
    from pegasos.data import Table

_MOST_SHOWN = 3  # values that a message names


def frame_of(table: Table) -> Any:
    """All columns of a table with words, as a pandas frame."""
    assert table.words is not None
    assert table.feature_names is not None
    try:
        import pandas as pd
    except ImportError as error:
        name = next(iter(table.words))
        raise PegasosError(
            f"column {name!r} holds words, and such tables need pandas: pip install pandas, or leave it out of "
            "--features."
        ) from error
    numbers = {name: table.X[:, j] for j, name in enumerate(table.feature_names)}
    words = {name: np.array(values, dtype=object) for name, values in table.words.items()}
    return pd.DataFrame({**numbers, **words})[table.column_names]


def columns_of_model(model: Any) -> ColumnTransformer | None:
    """What turns the columns of a table into features, in front of the machine; None where there is none."""
    pipeline = getattr(model, "best_estimator_", model)
    first = pipeline.steps[0][1] if isinstance(pipeline, Pipeline) else None
    has_names = isinstance(first, ColumnTransformer) and hasattr(first, "feature_names_in_")
    return first if has_names else None


def columns_of_words(columns: ColumnTransformer) -> list[str]:
    """The columns that are read as words."""
    return [name for step, names in _parts(columns) if _reads_words(step) for name in names]


def check_levels(path: str, frame: Any, columns: ColumnTransformer, *, unknown: str) -> None:
    """Say which values of a frame a model was not trained on, or refuse them."""
    encoders = [(step, names) for step, names in _parts(columns) if isinstance(step, OneHotEncoder)]
    for encoder, names in encoders:
        for name, levels in zip(names, encoder.categories_, strict=True):
            is_new = ~np.isin(frame[name].to_numpy().astype(str), levels.astype(str))
            if not is_new.any():
                continue
            values = sorted(set(frame[name][is_new]))
            some = ", ".join(map(repr, values[:_MOST_SHOWN])) + (", ..." if len(values) > _MOST_SHOWN else "")
            found = (
                f"{path}: column {name!r} has values in {is_new.sum()} rows that the model was not trained on: {some}"
            )
            if unknown == "error":
                raise PegasosError(f"{found}; --unknown ignore predicts such rows by their other columns.")
            print(
                f"{found}; they match none of the values seen in training. --unknown error makes this an error.",
                file=sys.stderr,
            )


def _parts(columns: ColumnTransformer) -> Iterator[tuple[Any, list[str]]]:
    """Each step that reads columns itself, and their names."""
    for _, step, chosen in columns.transformers_:
        names = np.atleast_1d(np.asarray(columns.feature_names_in_)[_places(columns, chosen)]).tolist()
        yield (step.steps[0][1] if isinstance(step, Pipeline) else step), names


def _places(columns: ColumnTransformer, chosen: Any) -> Any:
    """Columns by their numbers, however a step names them."""
    if isinstance(chosen, slice) or np.asarray(chosen).dtype.kind in "biu":
        return chosen
    return [columns.feature_names_in_.tolist().index(name) for name in np.atleast_1d(np.asarray(chosen)).tolist()]


def _reads_words(step: Any) -> bool:
    """Whether a fitted step was given words."""
    if hasattr(step, "build_analyzer"):
        return True
    values = getattr(step, "categories_", None) or [getattr(step, "statistics_", np.empty(0))]
    return any(value.dtype.kind in "OU" for value in values)
