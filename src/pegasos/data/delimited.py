"""CSV text, read by pyarrow."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from io import TextIOWrapper
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from pegasos.data.options import checked_float_type, default_block_bytes
from pegasos.data.origin import FileOrigin, reason
from pegasos.data.source import Block
from pegasos.data.tables import Label, TableSource, pyarrow
from pegasos.data.text import LineFile
from pegasos.errors import PegasosError

_SAMPLE_ROWS = 1000  # rows that tell whether a column holds words or numbers
_FEW_NUMBERS = 0.1  # share of numbers below which a column holds words; with more, the rest are mistakes in numbers
_MISSING = frozenset(("", "#N/A", "#N/A N/A", "#NA", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null", "None"))
_LABEL_KINDS = ("int64", "double", "string")  # possible kinds of labels, from the narrowest


class CsvSource(TableSource):
    r"""Lines of a CSV file, which is read once, from end to end, when it is opened.

    Parameters
    ----------
    origin : FileOrigin
    label, features, weight, match, texts, categories
        As in `TableSource`.
    header : bool or 'auto'
        Whether the first line has names. 'auto': it has if the label is given by name, or no field of it is a number.
    delimiter : str, optional
        Default: a tab where the name of the file ends in .tsv, otherwise a comma. "tab" and "\t" are the tab.
    dtype : float32 or float64
    block_bytes : int
        About how many bytes of the file make a block.
    """

    def __init__(
        self,
        origin: FileOrigin,
        *,
        label: Label = None,
        features: Sequence[str] | None = None,
        weight: str | int | None = None,
        match: Sequence[str] | None = None,
        texts: bool = False,
        categories: Sequence[str] | None = None,
        header: bool | str = "auto",
        delimiter: str | None = None,
        dtype: npt.DTypeLike = np.float32,
        block_bytes: int = default_block_bytes,
    ) -> None:
        pyarrow("csv", origin)
        if header not in ("auto", True, False):
            raise PegasosError(f"header must be True, False or 'auto', got {header!r}.")
        if delimiter is None:
            delimiter = "\t" if ".tsv" in origin.name.lower() else ","
        delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
        if not isinstance(delimiter, str) or len(delimiter) != 1:
            raise PegasosError(f"delimiter must be one character, or 'tab', got {delimiter!r}.")
        self._file, self._delimiter = LineFile(origin, block_bytes), delimiter
        fields, size = self._first_line(origin)
        has_header = header if header != "auto" else isinstance(label, str) or not any(map(_is_number, fields))
        if match is not None and not has_header:
            raise PegasosError(f"{origin.name} has no header, and the model identifies its columns by name: add one.")
        self._names = fields if has_header else [str(j) for j in range(len(fields))]
        begin = size if has_header else 0
        self._sample = self._first_words(begin) if texts else {}
        self._hint = "; read a column of words by categories=[...]" if texts else ""
        of_words: dict[str, Any] = {"texts": texts, "categories": categories}
        super().__init__(origin, self._names, label=label, features=features, weight=weight, match=match, **of_words)
        if not has_header:
            self.feature_names = None
            if self.strings:
                raise PegasosError(
                    f"{origin.name}: column {self.strings[0]} holds words, and such columns are identified by name: "
                    "begin the file with a header."
                )
        self.dtype, self._has_header = checked_float_type(dtype), has_header
        if self.strings:  # a text may go over lines, at whose ends blocks end
            self._file = LineFile(origin, max(1, self._file.size))
        self._survey(begin)

    def _first_words(self, begin: int) -> dict[str, list[str]]:
        """What the columns hold in the first rows."""
        with self._file.origin.path.open("rb") as file:
            file.seek(begin)
            lines = TextIOWrapper(file, "utf-8", "replace", newline="")
            try:
                rows = list(islice(csv.reader(lines, delimiter=self._delimiter), _SAMPLE_ROWS))
            except csv.Error:
                return {}  # the reader of all rows says what is wrong
        return {name: [row[j] for row in rows if j < len(row)] for j, name in enumerate(self._names)}

    def _holds_words(self, name: str) -> bool:
        there = [text for text in self._sample.get(name, []) if text.strip() not in _MISSING]
        return bool(there) and sum(map(_is_number, there)) < _FEW_NUMBERS * len(there)

    def _of_columns(self, features: list[str]) -> CsvSource:
        form: dict[str, Any] = {
            "header": self._has_header,
            "delimiter": self._delimiter,
            "block_bytes": self._file.block_bytes,
        }
        return CsvSource(self.origin, label=False, features=features, dtype=np.float64, **form)

    def _first_line(self, origin: FileOrigin) -> tuple[list[str], int]:
        """The fields of the first line, and its bytes."""
        with origin.path.open("rb") as file:
            line = file.readline()
        try:
            fields = next(csv.reader([line.decode("utf-8-sig")], delimiter=self._delimiter), [])
        except (UnicodeDecodeError, csv.Error) as error:
            raise PegasosError(f"{origin.name}, line 1: it is not CSV text in UTF-8: {reason(error)}.") from error
        if not fields:
            raise PegasosError(f"{origin.name}: the first line is empty.")
        return [field.strip() for field in fields], len(line)

    def _survey(self, begin: int) -> None:
        """Read everything: where blocks with rows start, how many rows they have, and what the labels are."""
        self._places, starts, kind = [], [0], 0
        for place, text in self._file.blocks(begin):
            table = self._table(text, starts[-1])
            if table.num_rows:
                kind = max([kind, *(_kind_of(table[name]) for name in self.labels)])
                self.block_of(table, starts[-1])
                self._places.append((place, len(text)))
                starts.append(starts[-1] + table.num_rows)
        self._kind, self.starts = _LABEL_KINDS[kind], np.array(starts, dtype=np.int64)

    def _read(self, k: int) -> Block:
        table = self._table_of(k)
        block = self.block_of(table, int(self.starts[k]))
        if not self.labels or self._kind == "string":
            return block
        return Block(block.X, table[self.labels[0]].cast(self._kind).to_numpy())

    def _table_of(self, k: int) -> Any:
        return self._table(self._file.read(*self._places[k]), int(self.starts[k]))

    def _table(self, text: bytes, first_row: int) -> Any:
        import pyarrow as pa

        value = pa.from_numpy_dtype(self.dtype)
        types = dict.fromkeys(self.features, value) | dict.fromkeys([*self.labels, *self.strings], pa.string())
        table = self._parsed(text, first_row, types)
        for name in self.labels:
            self._refuse_odd_labels(table[name], first_row)
        return table

    def _parsed(self, text: bytes, first_row: int, types: dict[str, Any]) -> Any:
        """The rows of a text, with columns of these types."""
        import pyarrow as pa

        reader = pyarrow("csv", self.origin)
        try:
            # Only with one thread does an error report its row.
            return reader.read_csv(
                pa.BufferReader(text),
                read_options=reader.ReadOptions(column_names=self._names, use_threads=False, block_size=len(text) + 1),
                parse_options=reader.ParseOptions(delimiter=self._delimiter),
                convert_options=reader.ConvertOptions(column_types=types, include_columns=list(types)),
            )
        except pa.ArrowInvalid as error:
            raise PegasosError(self._sentence(reason(error), first_row)) from None
        except pa.ArrowException as error:  # for example a thread that the system refuses
            if isinstance(error, MemoryError):
                raise
            raise PegasosError(f"{self.origin.name} could not be read: {reason(error)}.") from error

    def _refuse_odd_labels(self, column: Any, first_row: int) -> None:
        for label in column.unique().to_pylist():
            if label.strip() == "" or "\n" in label:
                row = first_row + column.to_pylist().index(label) + 1
                raise PegasosError(
                    f"{self.origin.name}, row {row}: the label {label!r} is empty or contains a line break."
                )

    def _sentence(self, message: str, first_row: int) -> str:
        """The message of pyarrow, with the row of the file and the name of the column."""
        row = re.search(r"Row #(\d+): ", message)
        where = f", row {first_row + int(row[1])}" if row else f", after row {first_row}"
        message = re.sub(r"Row #\d+: ", "", message)
        hint = self._hint if "conversion error" in message else ""
        message = re.sub(r"In CSV column #(\d+)", lambda found: f"column {self._names[int(found[1])]!r}", message)
        return f"{self.origin.name}{where}: {message}{hint}."


def _kind_of(column: Any) -> int:
    """The narrowest kind of labels that these texts can be."""
    import pyarrow as pa

    for kind, name in enumerate(_LABEL_KINDS[:-1]):
        try:
            numbers = column.cast(name).to_numpy()
        except pa.ArrowInvalid:
            continue
        return kind if np.isfinite(numbers).all() else len(_LABEL_KINDS) - 1
    return len(_LABEL_KINDS) - 1


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
