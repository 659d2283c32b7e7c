"""Joachims' Algorithm 1 with one slack (Training linear SVMs in linear time, KDD 2006), as the paper states it.

The quadratic programme over the planes, in the weights and the slack, is left to an interior-point solver.
"""

import clarabel
import numpy as np
import scipy.sparse as sp


class CuttingPlane:
    """All planes cut so far; none is ever dropped."""

    def __init__(self, plain):
        self.plain = plain
        self.shares = []  # alpha of each plane
        self.w = np.zeros(plain.X.shape[1])
        self.alpha = np.zeros(len(plain.X))

    def cut(self):
        """Find the most violated constraint at w, add it, and move to the optimum over all constraints."""
        plain = self.plain
        violated = plain.sign * (plain.X @ self.w + plain.offset) < 1.0
        self.shares.append(np.where(violated, plain.cost, 0.0))
        shares = np.array(self.shares)
        normals = (shares * plain.sign) @ plain.X
        constants = shares @ (1.0 - plain.sign * plain.offset)
        beta = _multipliers(normals / plain.total, constants / plain.total, plain.lam)
        self.alpha = beta @ shares
        self.w = beta @ normals / (plain.lam * plain.total)


def _multipliers(normals, constants, lam):
    """Of  min lam/2 |w|^2 + slack  such that  slack >= 0,  slack >= constant_j - <normal_j, w>."""
    n, d = normals.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    quadratic = sp.block_diag([lam * sp.eye(d), sp.csc_matrix((1, 1))], format="csc")
    linear = np.append(np.zeros(d), 1.0)
    constraints = -sp.csc_matrix(np.vstack([np.column_stack([normals, np.ones(n)]), linear]))
    bounds = -np.append(constants, 0.0)
    cones = [clarabel.NonnegativeConeT(n + 1)]
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, bounds, cones, settings).solve()
    return np.array(solution.z)[:n]
