"""Rows of a problem that are given only by their kernel.

They replace `Rows` in a problem whose weights are w = sum_j coefficient_j phi(x_j): scores are
sum_j coefficient_j (K(x_j, x_i) + bias^2). `KernelRows` has the `KernelValues`, which compute, and the `Columns` of the
kernel matrix that are kept; `sums` has what the certificate needs.
"""

from pegasos.gram.rows import KernelRows
from pegasos.gram.values import Numbers, is_computed, is_quick, with_fast_products

__all__ = ["KernelRows", "Numbers", "is_computed", "is_quick", "with_fast_products"]
