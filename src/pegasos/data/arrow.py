"""Tables: Parquet, Arrow (Feather) and CSV, read by pyarrow.

A table becomes a dense block: one of its columns holds the labels, the others numbers.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.data.arrays import float_type
from pegasos.data.source import Block, FileBlocks, Origin, reason
from pegasos.data.text import LineFile, default_block_bytes
from pegasos.errors import PegasosError

Label = str | int | None
_kinds = ("int64", "double", "string")  # what labels of text can be, from the narrowest


class TableSource(FileBlocks):
    """Blocks of dense rows that come from tables.

    Parameters
    ----------
    origin : Origin
    names : sequence of str
        The columns of the file.
    label : str or int
        The name or the number of the column with the labels; -1 is the last.
    features : sequence of str, optional
        The columns that X is made of, in this order; default: all but the label.
    """

    is_sparse = False

    def __init__(self, origin: Origin, names: Sequence[str], label: Label, features: Sequence[str] | None) -> None:
        self.origin = origin
        repeated = {name for name in names if names.count(name) > 1}
        if repeated:
            raise PegasosError(f"{origin.name}: several columns are called {sorted(repeated)[0]!r}: rename them.")
        self.label = _column(origin.name, names, label)
        self.features = list(features) if features is not None else [name for name in names if name != self.label]
        for name in self.features:
            if name not in names or name == self.label:
                raise PegasosError(f"{origin.name}: {name!r} is no column of features; {_listed(names)}.")
        self.n_features = len(self.features)

    def _block_of(self, table: Any, first_row: int) -> Block:
        """The numbers of a table, whose first row has this number in the file."""
        X = np.empty((table.num_rows, self.n_features), dtype=self.dtype)
        for j, name in enumerate(self.features):
            self._refuse_nulls(table[name], name, first_row)
            X[:, j] = table[name].to_numpy()
        self._refuse_nulls(table[self.label], self.label, first_row)
        return Block(X, self._labels_of(table[self.label]))

    def _labels_of(self, column: Any) -> npt.NDArray[Any]:
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        labels = np.asarray(column.to_numpy())
        if labels.dtype == object:
            labels = labels.astype(str) if len(labels) else np.empty(0, dtype="U1")
        if labels.dtype.kind not in "fiubU":
            raise PegasosError(f"{self.origin.name}: labels must be numbers or texts; {self.label!r} is {column.type}.")
        return labels

    def _refuse_nulls(self, column: Any, name: str, first_row: int) -> None:
        if column.null_count:
            row = first_row + int(np.argmax(column.is_null().to_numpy())) + 1
            place = f"{self.origin.name}, row {row}"
            raise PegasosError(f"{place}: column {name!r} has no value; fill it in or drop the row.")


class ParquetSource(TableSource):
    """The row groups of a Parquet file."""

    def __init__(self, origin: Origin, *, label: Label = None, features: Sequence[str] | None = None) -> None:
        parquet = _pyarrow("parquet", origin)
        try:
            file = parquet.ParquetFile(origin.path)
        except (OSError, ValueError) as error:
            raise PegasosError(f"{origin.name} is no whole Parquet file: {reason(error)}.") from error
        schema, self._metadata = file.schema_arrow, file.metadata
        super().__init__(origin, schema.names, label, features)
        self.dtype = _common_type(origin, schema, self.features)
        groups = range(file.num_row_groups)
        rows = [self._metadata.row_group(k).num_rows for k in groups]
        self._groups = [k for k in groups if rows[k]]
        self.starts = np.cumsum([0, *filter(None, rows)], dtype=np.int64)

    def _read(self, k: int) -> Block:
        parquet = _pyarrow("parquet", self.origin)
        try:
            # A file of its own for each call: readers are not made for several threads.
            with parquet.ParquetFile(self.origin.path, metadata=self._metadata) as file:
                table = file.read_row_group(self._groups[k], columns=[*self.features, self.label])
        except (OSError, ValueError) as error:
            raise PegasosError(f"{self.origin.name}: row group {self._groups[k]} cannot be read: {reason(error)}.") from error
        return self._block_of(table, int(self.starts[k]))


class ArrowSource(TableSource):
    """The record batches of an Arrow (Feather) file, which is mapped into memory."""

    def __init__(self, origin: Origin, *, label: Label = None, features: Sequence[str] | None = None) -> None:
        with self._opened(origin) as file:
            super().__init__(origin, file.schema.names, label, features)
            self.dtype = _common_type(origin, file.schema, self.features)
            rows = [file.get_batch(k).num_rows for k in range(file.num_record_batches)]
        self._batches = [k for k, n_rows in enumerate(rows) if n_rows]
        self.starts = np.cumsum([0, *filter(None, rows)], dtype=np.int64)

    def _read(self, k: int) -> Block:
        import pyarrow as pa

        with self._opened(self.origin) as file:
            return self._block_of(pa.Table.from_batches([file.get_batch(self._batches[k])]), int(self.starts[k]))

    @staticmethod
    def _opened(origin: Origin) -> Any:
        ipc = _pyarrow("ipc", origin)
        try:
            return ipc.open_file(_pyarrow("", origin).memory_map(str(origin.path)))
        except (OSError, ValueError) as error:
            raise PegasosError(f"{origin.name} is no whole Arrow file: {reason(error)}.") from error


class CsvSource(TableSource):
    """Lines of a CSV file, which is read once, from end to end, when it is opened.

    Parameters
    ----------
    origin : Origin
    label, features
        As of `TableSource`.
    header : bool or 'auto'
        Whether the first line has names. 'auto': it has if the label is given by name, or no field of it is a number.
    delimiter : str
    dtype : float32 or float64
    block_bytes : int
        About how many bytes of the file make a block.
    """

    def __init__(
        self,
        origin: Origin,
        *,
        label: Label = None,
        features: Sequence[str] | None = None,
        header: bool | str = "auto",
        delimiter: str = ",",
        dtype: npt.DTypeLike = np.float32,
        block_bytes: int = default_block_bytes,
    ) -> None:
        _pyarrow("csv", origin)
        if header not in ("auto", True, False):
            raise PegasosError(f"header must be True, False or 'auto', got {header!r}.")
        if len(delimiter) != 1:
            raise PegasosError(f"delimiter must be one character, got {delimiter!r}.")
        self._file, self._delimiter = LineFile(origin, block_bytes), delimiter
        fields, size = self._first_line(origin)
        has_header = header if header != "auto" else isinstance(label, str) or not any(map(_is_number, fields))
        self._names = fields if has_header else [str(j) for j in range(len(fields))]
        super().__init__(origin, self._names, label, features)
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float32, np.float64):
            raise PegasosError(f"dtype must be float32 or float64, got {self.dtype}.")
        self._survey(size if has_header else 0)

    def _first_line(self, origin: Origin) -> tuple[list[str], int]:
        """Its fields, and how many bytes it has."""
        with origin.path.open("rb") as file:
            line = file.readline()
        try:
            fields = next(csv.reader([line.decode("utf-8-sig")], delimiter=self._delimiter), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise PegasosError(f"{origin.name}, line 1: it is no CSV text in UTF-8: {reason(error)}.") from error
        if not fields:
            raise PegasosError(f"{origin.name}: the first line is empty.")
        return [field.strip() for field in fields], len(line)

    def _survey(self, begin: int) -> None:
        """Read all of it: where blocks with rows begin, how many rows they have, and what the labels are."""
        self._places, starts, kind = [], [0], 0
        for place, text in self._file.blocks(begin):
            table = self._table(text, starts[-1])
            if table.num_rows:
                kind = max(kind, _kind_of(table[self.label]))
                self._block_of(table, starts[-1])
                self._places.append((place, len(text)))
                starts.append(starts[-1] + table.num_rows)
        self._kind, self.starts = _kinds[kind], np.array(starts, dtype=np.int64)

    def _read(self, k: int) -> Block:
        table = self._table(self._file.read(*self._places[k]), int(self.starts[k]))
        block = self._block_of(table, int(self.starts[k]))
        labels = table[self.label].cast(self._kind)
        return block if self._kind == "string" else Block(block.X, labels.to_numpy())

    def _table(self, text: bytes, first_row: int) -> Any:
        import pyarrow as pa

        reader = _pyarrow("csv", self.origin)
        value = pa.from_numpy_dtype(self.dtype)
        types = {**{name: value for name in self.features}, self.label: pa.string()}
        try:
            # One thread: only then does an error say which row it is in.
            table = reader.read_csv(
                pa.BufferReader(text),
                read_options=reader.ReadOptions(column_names=self._names, use_threads=False, block_size=len(text) + 1),
                parse_options=reader.ParseOptions(delimiter=self._delimiter),
                convert_options=reader.ConvertOptions(column_types=types, include_columns=list(types)),
            )
        except pa.ArrowInvalid as error:
            raise PegasosError(self._sentence(reason(error), first_row)) from None
        self._refuse_odd_labels(table[self.label], first_row)
        return table

    def _refuse_odd_labels(self, column: Any, first_row: int) -> None:
        for label in column.unique().to_pylist():
            if label.strip() == "" or "\n" in label:
                row = first_row + column.to_pylist().index(label) + 1
                raise PegasosError(f"{self.origin.name}, row {row}: the label {label!r} is empty or goes over a line.")

    def _sentence(self, message: str, first_row: int) -> str:
        """What pyarrow says, with the row of the file and the name of the column."""
        row = re.search(r"Row #(\d+): ", message)
        where = f", row {first_row + int(row[1])}" if row else f", after row {first_row}"
        message = re.sub(r"Row #\d+: ", "", message)
        message = re.sub(r"In CSV column #(\d+)", lambda found: f"column {self._names[int(found[1])]!r}", message)
        return f"{self.origin.name}{where}: {message}."


def _column(name: str, names: Sequence[str], label: Label) -> str:
    if label is None:
        raise PegasosError(f"{name}: say which column holds the labels, label='name' or label=0; {_listed(names)}.")
    if isinstance(label, int) and -len(names) <= label < len(names):
        return names[label]
    if label not in names:
        raise PegasosError(f"{name}: there is no column {label!r} for the labels; {_listed(names)}.")
    return str(label)


def _listed(names: Sequence[str]) -> str:
    some = ", ".join(map(repr, names[:8]))
    return f"the columns are {some}{', ...' if len(names) > 8 else ''}"


def _common_type(origin: Origin, schema: Any, features: Sequence[str]) -> np.dtype[Any]:
    import pyarrow as pa

    found = np.dtype(np.float32)
    for name in features:
        of = schema.field(name).type
        if not (pa.types.is_integer(of) or pa.types.is_floating(of) or pa.types.is_boolean(of)):
            raise PegasosError(
                f"{origin.name}: column {name!r} holds {of}, not numbers; encode it, or leave it out of features=[...]."
            )
        found = np.promote_types(found, float_type(np.dtype(of.to_pandas_dtype()), name))
    return found


def _kind_of(column: Any) -> int:
    """The narrowest kind of labels that these texts can be."""
    import pyarrow as pa

    for kind, name in enumerate(_kinds[:-1]):
        try:
            numbers = column.cast(name).to_numpy()
        except pa.ArrowInvalid:
            continue
        return kind if np.isfinite(numbers).all() else len(_kinds) - 1
    return len(_kinds) - 1


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _pyarrow(part: str, origin: Origin) -> Any:
    from importlib import import_module

    try:
        return import_module(f"pyarrow.{part}" if part else "pyarrow")
    except ImportError as error:
        raise PegasosError(
            f'{origin.name} is read by pyarrow, which is not installed: run pip install "pegasos[data]".'
        ) from error
