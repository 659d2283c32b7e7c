"""The problem that every solver in this library solves.

    P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i))
    phi(r) = max over 0 <= a <= cap of  a r - ridge a^2 / 2

Sample weights, class weights, transfer, the intercept and the loss are values of its fields, never branches of a
solver. The hinge has cap 1 and ridge 0; see `losses` for the others. A target other than 1, with the loss
phi(target_i - sign_i score_i), is part of the offset: offset_i = sign_i (1 - target_i).
"""

from pegasos.problem.arrays import Floats, Matrix, constant, inner, largest_of, mean_of
from pegasos.problem.objective import Losses, Objective, RowsLike, added
from pegasos.problem.problem import Problem
from pegasos.problem.reading import check_structure, scores_of
from pegasos.problem.rows import Rows

__all__ = [
    "Floats",
    "Losses",
    "Matrix",
    "Objective",
    "Problem",
    "Rows",
    "RowsLike",
    "added",
    "check_structure",
    "constant",
    "inner",
    "largest_of",
    "mean_of",
    "scores_of",
]
