"""The vote of all the vectors of a perceptron, each weighted by the number of rows it survived.

Freund, Schapire: Large margin classification using the perceptron algorithm. Machine Learning 37, 1999, Fig. 1. The
vectors are prefixes of one sum, v_j = v_0 + sum_(i <= j) factor_i x_i, so the rows of the mistakes are kept
instead: sparse rows stay sparse, and all votes cost one product of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from pegasos.problem import Matrix, Rows

_SCORES_AT_ONCE = 1 << 21


@dataclass
class Votes:
    """v_0, the rows added to it with their factors, and how many rows each of the vectors survived."""

    base: npt.NDArray[np.float64]  # n_features + 1, the last entry for the constant column
    pieces: list[Matrix]  # the rows, in float64; dense or CSR as the first ones were
    factors: npt.NDArray[np.float64]
    lives: npt.NDArray[np.int64]  # one more than factors

    @classmethod
    def begin(cls, n_features: int) -> Votes:
        """Start with the zero vector, which has survived no rows."""
        return cls(np.zeros(n_features + 1), [], np.empty(0), np.zeros(1, np.int64))

    def follow(
        self, rows: Rows, visited: npt.NDArray[np.uint32], factors: npt.NDArray[np.float64], max_votes: int
    ) -> None:
        """Process visited rows, each of which added itself with its factor, or did not (0)."""
        places = np.flatnonzero(factors)
        # The row of a mistake counts for the vector that results from it.
        lives = np.diff(np.concatenate([[0], places, [len(factors)]]))
        self.lives = np.concatenate([self.lives[:-1], [self.lives[-1] + lives[0]], lives[1:]])
        self.factors = np.concatenate([self.factors, factors[places]])
        if len(places):
            self.pieces.append(rows.values[visited[places]].astype(np.float64))
        if len(self.lives) > max_votes:
            self._forget(len(self.lives) - max_votes, rows.bias)

    def _rows(self) -> Matrix:
        """All rows in one matrix, concatenated on first use."""
        if len(self.pieces) > 1:
            if sp.issparse(self.pieces[0]):
                together = sp.vstack([sp.csr_array(piece) for piece in self.pieces], format="csr")
            else:
                together = np.vstack([piece.toarray() if sp.issparse(piece) else piece for piece in self.pieces])
            self.pieces = [together]
        return self.pieces[0]

    def _forget(self, n: int, bias: float) -> None:
        """Drop the votes of the oldest n vectors; the base absorbs the rows that led away from them."""
        rows = self._rows()
        self.base[:-1] += self.factors[:n] @ rows[:n]
        self.base[-1] += bias * self.factors[:n].sum()
        self.pieces, self.factors, self.lives = [rows[n:]], self.factors[n:], self.lives[n:]

    def scores(self, X: Matrix, bias: float) -> npt.NDArray[np.float64]:
        """The fraction of the votes for +1 minus that for -1, for each row of X."""
        total = max(1, int(self.lives.sum()))
        n_at_once = max(1, _SCORES_AT_ONCE // len(self.lives))
        scores = np.empty(X.shape[0])
        for begin in range(0, X.shape[0], n_at_once):
            part = X[begin : begin + n_at_once]
            scores[begin : begin + n_at_once] = np.sign(self._of_each(part, bias)) @ self.lives / total
        return scores

    def _of_each(self, X: Any, bias: float) -> npt.NDArray[np.float64]:
        """The score of each vector, of shape (n_rows, n_vectors)."""
        scores = np.zeros((X.shape[0], len(self.lives)))
        scores[:, 0] = X @ self.base[:-1] + bias * self.base[-1]
        if len(self.factors):
            products = X @ self._rows().T
            dense = products.toarray() if sp.issparse(products) else products
            scores[:, 1:] = (dense + bias * bias) * self.factors
        return np.cumsum(scores, axis=1)
