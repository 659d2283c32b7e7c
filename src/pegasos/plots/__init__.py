"""Plots as Display classes like scikit-learn's: ``from_estimator`` or another ``from_...``, then ``plot(ax=...)``.

They need matplotlib, ``pip install "pegasos[plots]"``, which is imported when something is drawn. For a pipeline the
last step is shown, for a search its best estimator. Text and axes have the colors of matplotlib's style.
"""

from pegasos.plots.boundary import BoundaryDisplay
from pegasos.plots.certified import CertifiedShareDisplay
from pegasos.plots.convergence import ConvergenceDisplay
from pegasos.plots.kernel_matrix import KernelMatrixDisplay
from pegasos.plots.lam_path import LamPathDisplay
from pegasos.plots.loss import LossDisplay
from pegasos.plots.margins import MarginDisplay
from pegasos.plots.mistakes import MistakesDisplay
from pegasos.plots.novelty import NoveltyDisplay
from pegasos.plots.predictions import PredictionsDisplay
from pegasos.plots.solvers import SolversDisplay
from pegasos.plots.tube import TubeDisplay
from pegasos.plots.weights import WeightsDisplay

__all__ = [
    "BoundaryDisplay",
    "CertifiedShareDisplay",
    "ConvergenceDisplay",
    "KernelMatrixDisplay",
    "LamPathDisplay",
    "LossDisplay",
    "MarginDisplay",
    "MistakesDisplay",
    "NoveltyDisplay",
    "PredictionsDisplay",
    "SolversDisplay",
    "TubeDisplay",
    "WeightsDisplay",
]
