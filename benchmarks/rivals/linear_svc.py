"""scikit-learn's LinearSVC; how it is matched is said at its class."""

from pegasos.cli.rivals import ScikitLinearSVC

SOLVERS = (ScikitLinearSVC(),)
