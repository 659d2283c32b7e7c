"""Kernels on vectors, strings, graphs and time series, and their algebra."""

from pegasos.kernels.base import Kernel, TokenKernel
from pegasos.kernels.callables import FunctionKernel, as_kernel
from pegasos.kernels.composition import Exp, Normalized, On, Power, Product, Scaled, Sum, on
from pegasos.kernels.graphs import RandomWalk, ShortestPath, WeisfeilerLehman
from pegasos.kernels.mercer import MercerReport, check_mercer
from pegasos.kernels.precomputed import Precomputed
from pegasos.kernels.series import DynamicTimeWarping, Fourier, GlobalAlignment, IndefiniteKernelWarning
from pegasos.kernels.strings import Mismatch, Spectrum, Subsequence, WeightedDegree
from pegasos.kernels.tables import Category, Standardized, Words, for_frame
from pegasos.kernels.vector import RBF, ChiSquared, Intersection, Laplacian, Linear, Polynomial

__all__ = [
    "RBF",
    "Category",
    "ChiSquared",
    "DynamicTimeWarping",
    "Exp",
    "Fourier",
    "FunctionKernel",
    "GlobalAlignment",
    "IndefiniteKernelWarning",
    "Intersection",
    "Kernel",
    "Laplacian",
    "Linear",
    "MercerReport",
    "Mismatch",
    "Normalized",
    "On",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomWalk",
    "Scaled",
    "ShortestPath",
    "Spectrum",
    "Standardized",
    "Subsequence",
    "Sum",
    "TokenKernel",
    "WeightedDegree",
    "WeisfeilerLehman",
    "Words",
    "as_kernel",
    "check_mercer",
    "for_frame",
    "on",
]
