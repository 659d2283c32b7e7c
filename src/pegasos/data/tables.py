"""Tables: one column holds the labels, the others numbers, and a part of the rows is a dense block."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.data.origin import FileOrigin
from pegasos.data.source import Block, FileBlocks
from pegasos.errors import PegasosError

_INDEX_OF_PANDAS = re.compile(r"__index_level_\d+__")  # the row labels of a frame, which are not data
Label = str | int | bool | None  # the only bool allowed is False


class TableSource(FileBlocks):
    """Blocks of dense rows that come from tables.

    Parameters
    ----------
    origin : FileOrigin
    names : sequence of str
        The columns of the file.
    label : str, int or False
        The name or the number of the column with the labels; -1 is the last. False: there is none, and y is NaN.
    features : sequence of str, optional
        The columns that X is made of, in this order; default: all but the label and the weight.
    weight : str or int, optional
        The column with the sample weights, by its name or number.
    match : sequence of str, optional
        The columns that X must be made of, in this order: those of a model. Other columns raise an error.
    texts : bool
        Whether columns of words are allowed: they are found, and are not part of X but of `strings`.
    categories : sequence of str, optional
        Columns to be read as words, even if they look like numbers.
    """

    is_sparse = False

    def __init__(
        self,
        origin: FileOrigin,
        names: Sequence[str],
        *,
        label: Label,
        features: Sequence[str] | None,
        weight: str | int | None = None,
        match: Sequence[str] | None = None,
        texts: bool = False,
        categories: Sequence[str] | None = None,
    ) -> None:
        self.origin = origin
        name, n_times = Counter(names).most_common(1)[0]
        if n_times > 1:
            raise PegasosError(f"{origin.name}: several columns are called {name!r}: rename them.")
        self.labels = [] if label is False else [_column(origin.name, names, label)]  # the columns of labels
        self.weights = [] if weight is None else [_column(origin.name, names, weight, "sample weights")]
        taken = {*self.labels, *self.weights}
        left = [name for name in names if name not in taken and not _INDEX_OF_PANDAS.fullmatch(name)]
        self.features = left if features is None else list(features)
        if match is not None:
            self.features = matched(origin.name, self.features, match)
        others = {*names} - taken
        unknown = [name for name in self.features if name not in others]
        if unknown:
            raise PegasosError(f"{origin.name}: {unknown[0]!r} is not a column of features; {_listed(names)}.")
        unknown = [name for name in categories or () if name not in self.features]
        if unknown:
            raise PegasosError(f"{origin.name}: {unknown[0]!r} is not a column of features; {_listed(names)}.")
        chosen = frozenset(categories or ())
        self.columns = self.features  # of numbers and of words
        self.strings = [name for name in self.columns if name in chosen or (texts and self._holds_words(name))]
        self.features = [name for name in self.columns if name not in self.strings]
        self.feature_names = self.features
        self.n_features = len(self.features)

    def block_of(self, table: Any, first_row: int) -> Block:
        """The numbers of a table, whose first row has this number in the file."""
        X = np.empty((table.num_rows, self.n_features), dtype=self.dtype)
        for j, name in enumerate(self.features):
            self._refuse_nulls(table[name], name, first_row)
            X[:, j] = table[name].to_numpy()
        y: npt.NDArray[Any] = np.full(len(X), np.nan)
        for name in self.labels:
            self._refuse_nulls(table[name], name, first_row)
            y = self._labels_of(table[name], name)
        return Block(X, y)

    def sample_weights(self) -> npt.NDArray[np.float64] | None:
        """The sample weights of all rows; None where there is no such column."""
        if not self.weights:
            return None
        blocks = self._of_columns(self.weights)
        return np.concatenate([np.empty(0), *(block.X[:, 0].astype(np.float64) for block in blocks)])

    def words(self) -> dict[str, list[str]]:
        """The columns of words, by name, of all rows; a missing value is the empty text."""
        found: dict[str, list[str]] = {name: [] for name in self.strings}
        for k in range(self.n_blocks):
            table = self._table_of(k)
            for name in self.strings:
                found[name] += [text or "" for text in table[name].cast("string").to_pylist()]
        return found

    @abstractmethod
    def _table_of(self, k: int) -> Any:
        """All columns that are read of block k, as pyarrow has them."""

    @abstractmethod
    def _holds_words(self, name: str) -> bool:
        """Whether a column holds words instead of numbers."""

    @abstractmethod
    def _of_columns(self, features: list[str]) -> TableSource:
        """The same file with these columns as X, and no labels."""

    def _labels_of(self, column: Any, name: str) -> npt.NDArray[Any]:
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        labels = np.asarray(column.to_numpy())
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            return labels.astype(str)
        if labels.dtype.kind not in "fiub":
            raise PegasosError(f"{self.origin.name}: labels must be numbers or texts; {name!r} is {column.type}.")
        return labels

    def _refuse_nulls(self, column: Any, name: str, first_row: int) -> None:
        if column.null_count:
            row = first_row + int(np.argmax(column.is_null().to_numpy())) + 1
            place = f"{self.origin.name}, row {row}"
            raise PegasosError(f"{place}: column {name!r} has no value; fill it in or drop the row.")


def matched(name: str, found: Sequence[str], expected: Sequence[str]) -> list[str]:
    """The columns of a model: exactly these must be present."""
    missing = [one for one in expected if one not in found]
    unknown = [one for one in found if one not in expected]
    if missing:
        raise PegasosError(f"{name} has no column {missing[0]!r}, which the model was trained on; {_listed(found)}.")
    if unknown:
        raise PegasosError(
            f"{name} has the column {unknown[0]!r}, which the model was not trained on: give label={unknown[0]!r} if "
            "it holds the labels, say if it holds the sample weights, or choose the columns with features=[...]."
        )
    return list(expected)


def _column(name: str, names: Sequence[str], label: Label, what: str = "labels") -> str:
    if label is None:
        raise PegasosError(f"{name}: say which column holds the labels, label='name' or label=0; {_listed(names)}.")
    if isinstance(label, int) and not isinstance(label, bool) and -len(names) <= label < len(names):
        return names[label]
    if not isinstance(label, str) or label not in names:
        raise PegasosError(f"{name}: there is no column {label!r} for the {what}; {_listed(names)}.")
    return str(label)


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(map(repr, names[:8]))
    return f"the columns are {some}{', ...' if len(names) > 8 else ''}"


def pyarrow(part: str, origin: FileOrigin) -> Any:
    """Import a module of pyarrow, which comes with the extra `data`."""
    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError as error:
        raise PegasosError(
            f'{origin.name} is read by pyarrow, which is not installed: run pip install "pegasos[data]".'
        ) from error
