"""One HTML page about a fitted model: its certificate, its results on given rows, its features, how to repeat it.

The page needs neither the network nor a library, and can be shown to people who train nothing themselves.
"""

from pegasos.report.making import Report, check_path, make, write

__all__ = ["Report", "check_path", "make", "write"]
