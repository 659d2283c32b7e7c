"""Parquet and Arrow (Feather) files, read by pyarrow."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from pegasos.data.arrays import float_type
from pegasos.data.origin import FileOrigin, reason
from pegasos.data.source import Block
from pegasos.data.tables import Label, TableSource, pyarrow
from pegasos.errors import PegasosError


class DescribedSource(TableSource):
    """A file in parts whose schema has the type of every column."""

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
    ) -> None:
        self._schema, rows = self._described(origin)
        of_words: dict[str, Any] = {"texts": texts, "categories": categories}
        names = self._schema.names
        super().__init__(origin, names, label=label, features=features, weight=weight, match=match, **of_words)
        self.dtype = _common_type(origin, self._schema, self.features)
        self._parts = [k for k, n_rows in enumerate(rows) if n_rows]
        self.starts = np.cumsum([0, *filter(None, rows)], dtype=np.int64)

    @abstractmethod
    def _described(self, origin: FileOrigin) -> tuple[Any, list[int]]:
        """The schema, and the number of rows of each part."""

    def _of_columns(self, features: list[str]) -> Self:
        return type(self)(self.origin, label=False, features=features)

    def _holds_words(self, name: str) -> bool:
        return _are_words(self._schema.field(name).type)

    def _read(self, k: int) -> Block:
        return self.block_of(self._table_of(k), int(self.starts[k]))


class ParquetSource(DescribedSource):
    """The row groups of a Parquet file."""

    def _described(self, origin: FileOrigin) -> tuple[Any, list[int]]:
        parquet = pyarrow("parquet", origin)
        try:
            file = parquet.ParquetFile(origin.path)
        except (OSError, ValueError) as error:
            raise PegasosError(f"{origin.name} is not a complete Parquet file: {reason(error)}.") from error
        self._metadata = file.metadata
        return file.schema_arrow, [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]

    def _table_of(self, k: int) -> Any:
        parquet = pyarrow("parquet", self.origin)
        try:
            # Each call opens its own file, because readers are not thread-safe.
            with parquet.ParquetFile(self.origin.path, metadata=self._metadata) as file:
                return file.read_row_group(self._parts[k], columns=[*self.columns, *self.labels])
        except (OSError, ValueError) as error:
            place = f"{self.origin.name}, row group {self._parts[k]}"
            raise PegasosError(f"{place}: it cannot be read: {reason(error)}.") from error


class ArrowSource(DescribedSource):
    """The record batches of an Arrow (Feather) file, which is mapped into memory."""

    def _described(self, origin: FileOrigin) -> tuple[Any, list[int]]:
        with self._opened(origin) as file:
            return file.schema, [file.get_batch(k).num_rows for k in range(file.num_record_batches)]

    def _table_of(self, k: int) -> Any:
        import pyarrow as pa

        with self._opened(self.origin) as file:
            return pa.Table.from_batches([file.get_batch(self._parts[k])])

    @staticmethod
    def _opened(origin: FileOrigin) -> Any:
        ipc = pyarrow("ipc", origin)
        try:
            return ipc.open_file(pyarrow("", origin).memory_map(str(origin.path)))
        except (OSError, ValueError) as error:
            raise PegasosError(f"{origin.name} is not a complete Arrow file: {reason(error)}.") from error


def _are_words(of: Any) -> bool:
    """Whether a column of this type holds words: texts, or a dictionary of anything."""
    import pyarrow as pa

    is_text = pa.types.is_string(of) or pa.types.is_large_string(of) or pa.types.is_string_view(of)
    return bool(is_text or pa.types.is_dictionary(of))


def _common_type(origin: FileOrigin, schema: Any, features: Sequence[str]) -> np.dtype[Any]:
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
