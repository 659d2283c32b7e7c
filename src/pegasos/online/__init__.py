"""Online learners: each row is seen, learned from, and forgotten.

>>> from pegasos.online import PassiveAggressive
>>> model = PassiveAggressive().partial_fit([[0.0, 1.0], [1.0, 0.0]], ["left", "right"], classes=["left", "right"])
>>> model.predict([[0.0, 2.0]]).item()
'left'
"""

from pegasos.online.confidence_weighted import ConfidenceWeighted
from pegasos.online.kernel_perceptron import KernelPerceptron
from pegasos.online.norma import Norma
from pegasos.online.passive_aggressive import PassiveAggressive
from pegasos.online.perceptron import Perceptron

__all__ = ["ConfidenceWeighted", "KernelPerceptron", "Norma", "PassiveAggressive", "Perceptron"]
