"""LIBLINEAR itself; how it is matched is said at its class."""

from pegasos.cli.rivals import Liblinear

SOLVERS = (Liblinear(),)
