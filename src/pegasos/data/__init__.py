"""Data in files: read once, or block by block."""

from pegasos.data.opening import open_source
from pegasos.data.source import ArraySource, Block, BlockSource
from pegasos.data.svmlight import read_svmlight

__all__ = ["ArraySource", "Block", "BlockSource", "open_source", "read_svmlight"]
