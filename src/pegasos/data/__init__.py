"""Data in files: read at once, or block by block."""

from pegasos.data.opening import Table, convert, open_source, read, read_table
from pegasos.data.source import ArraySource, Block, BlockSource
from pegasos.data.svmlight import read_svmlight

__all__ = [
    "ArraySource",
    "Block",
    "BlockSource",
    "Table",
    "convert",
    "open_source",
    "read",
    "read_svmlight",
    "read_table",
]
