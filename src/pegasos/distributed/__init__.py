"""Rows in partitions on many machines, whichever engine moves them."""

from pegasos.distributed.partitions import Summary, advance, code, hits, losses, predicted, read, summarise, terms_of
from pegasos.distributed.summary import Whole

__all__ = ["Summary", "Whole", "advance", "code", "hits", "losses", "predicted", "read", "summarise", "terms_of"]
