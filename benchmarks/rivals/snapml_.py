"""IBM Snap ML, on one thread and on two; how it is matched is said at its class."""

from pegasos.cli.rivals import SnapMl

SOLVERS = (SnapMl(1, "Snap ML x1"), SnapMl(2, "Snap ML x2"))
