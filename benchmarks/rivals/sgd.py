"""scikit-learn's SGDClassifier, plain and averaged; how it is matched is said at its class."""

from pegasos.cli.rivals import ScikitSgd

SOLVERS = (ScikitSgd("SGD", average=False), ScikitSgd("SGD averaged", average=True))
