"""Data in files: read once, or block by block."""

from pegasos.data.source import ArraySource, Block, BlockSource

__all__ = ["ArraySource", "Block", "BlockSource"]
