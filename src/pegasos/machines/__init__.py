"""What rows are, and what a model over them is."""

from pegasos.machines.base import Data, Machine, Model, Plan, known_of
from pegasos.machines.kernel import Kernel, Mapped
from pegasos.machines.kernel_choice import KernelChoice
from pegasos.machines.kernel_model import KernelModel
from pegasos.machines.linear import Linear, LinearModel
from pegasos.machines.settings import Settings

__all__ = [
    "Data",
    "Kernel",
    "KernelChoice",
    "KernelModel",
    "Linear",
    "LinearModel",
    "Machine",
    "Mapped",
    "Model",
    "Plan",
    "Settings",
    "known_of",
]
