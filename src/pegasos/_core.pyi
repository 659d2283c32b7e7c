"""The native loops of pegasos: arrays in, arrays changed in place."""

from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class TimeIsUp(Exception):
    pass

def set_deadline(seconds: float | None) -> None:
    """
    Long native calls of this thread raise TimeIsUp this many seconds from now; None: never.
    """

def check_deadline() -> None:
    """Raises TimeIsUp where the deadline of this thread has passed."""

def time_left() -> float | None:
    """The seconds to the deadline of this thread; None where it has none."""

def instruction_set() -> str:
    """The instruction set the loops run on: 'avx512', 'avx2' or 'baseline'."""

class Rows:
    """The user's rows, dense or CSR, or some of them; nothing is copied."""

    @property
    def n_rows(self) -> int: ...

    @property
    def n_features(self) -> int: ...

    @property
    def n_distinct(self) -> int:
        """Number of rows before the same ones follow again."""

    @property
    def threads(self) -> int: ...

    @threads.setter
    def threads(self, arg: int, /) -> None: ...

def dense_rows(values: Annotated[NDArray, dict(device='cpu', writable=False)], bias: float) -> Rows: ...

def gram_rows(values: Annotated[NDArray, dict(device='cpu', writable=False)]) -> Rows: ...

def scored_rows(n_rows: int) -> Rows: ...

def csr_rows(values: Annotated[NDArray, dict(device='cpu', writable=False)], indices: Annotated[NDArray, dict(device='cpu', writable=False)], starts: Annotated[NDArray, dict(device='cpu', writable=False)], n_features: int, bias: float) -> Rows: ...

def are_intact(rows: Rows) -> bool:
    """
    Whether the columns of sparse rows are within the features: another thread may have changed them.
    """

def view_rows(rows: Rows, numbers: Annotated[NDArray, dict(device='cpu', writable=False)], repeats: int = 1) -> Rows:
    """
    A view of some of the rows, by their numbers among all that `rows` looks into. Where it is said that the same rows follow one another several times, passes may read each of them once.
    """

class Problem:
    """The problem as the loops see it."""

def make_problem(rows: Rows, sign: Annotated[NDArray, dict(device='cpu', writable=False)], cost: Annotated[NDArray, dict(device='cpu', writable=False)], offset: Annotated[NDArray, dict(device='cpu', writable=False)], lam: float, total: float, cap: float = 1.0, ridge: float = 0.0) -> Problem: ...

class PegasosCounters:
    """The scalars of a Pegasos state."""

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, arg0: int, arg1: int, arg2: int, arg3: float, arg4: float, arg5: float, arg6: int, /) -> None: ...

    @property
    def step(self) -> int: ...

    @step.setter
    def step(self, arg: int, /) -> None: ...

    @property
    def position(self) -> int: ...

    @position.setter
    def position(self, arg: int, /) -> None: ...

    @property
    def random(self) -> int: ...

    @random.setter
    def random(self, arg: int, /) -> None: ...

    @property
    def scale(self) -> float: ...

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    @property
    def squared_norm(self) -> float: ...

    @squared_norm.setter
    def squared_norm(self, arg: float, /) -> None: ...

    @property
    def scale_sum(self) -> float: ...

    @scale_sum.setter
    def scale_sum(self, arg: float, /) -> None: ...

    @property
    def averaged(self) -> int: ...

    @averaged.setter
    def averaged(self, arg: int, /) -> None: ...

    def __reduce__(self) -> tuple: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def pegasos_advance(problem: Problem, counters: PegasosCounters, weights: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], alphas: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], weight_sums: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')] | None, alpha_sums: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')] | None, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], batch: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], sampling: str, project: bool, radius: float, n_steps: int) -> None:
    """
    n_steps more steps of linear Pegasos; the arrays and counters are changed in place.
    """

class DualCounters:
    """The scalars of a dual ascent state."""

    def __init__(self) -> None: ...

    @property
    def random(self) -> int: ...

    @random.setter
    def random(self, arg: int, /) -> None: ...

    @property
    def alpha_sum(self) -> float: ...

    @alpha_sum.setter
    def alpha_sum(self, arg: float, /) -> None: ...

    @property
    def visits(self) -> int: ...

    @property
    def active(self) -> int: ...

    @property
    def position(self) -> int: ...

    @property
    def sweep_gap(self) -> float: ...

    def recall_all_rows(self) -> None:
        """The next sweep visits every row again."""

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

class Rests:
    """Where the rows of each level stand in an order."""

    def __init__(self) -> None: ...

    @property
    def n_left(self) -> int: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def dual_advance(problem: Problem, counters: DualCounters, weights: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], squared_norms: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], n_visits: int, rests: Rests | None = None, levels: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')] | None = None, goal: float = 0.0) -> None:
    """
    n_visits more coordinate steps of dual ascent, or fewer, up to the sweep whose estimate of the relative gap is at most `goal`; the arrays and counters are changed in place.
    """

def recall_rows(counters: DualCounters, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], chosen: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rests: Rests | None = None) -> None:
    """
    The next sweeps visit the chosen rows alone; all of them, if there is none.
    """

class OnlineCounters:
    """The scalars of an online learner's state."""

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, arg0: int, arg1: int, arg2: float, arg3: float, arg4: float, /) -> None: ...

    @property
    def step(self) -> int: ...

    @step.setter
    def step(self, arg: int, /) -> None: ...

    @property
    def mistakes(self) -> int: ...

    @mistakes.setter
    def mistakes(self, arg: int, /) -> None: ...

    @property
    def loss(self) -> float: ...

    @loss.setter
    def loss(self, arg: float, /) -> None: ...

    @property
    def scale(self) -> float: ...

    @scale.setter
    def scale(self, arg: float, /) -> None: ...

    @property
    def scale_sum(self) -> float: ...

    @scale_sum.setter
    def scale_sum(self, arg: float, /) -> None: ...

    def __reduce__(self) -> tuple: ...

def online_advance(rows: Rows, codes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cost: Annotated[NDArray, dict(device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin: int, end: int, max_moves: int, rule: str, size: float, lam: float, nu: float, counters: OnlineCounters, weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], rho: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')] | None, variances: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')] | None, scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], moves: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')] | None) -> int:
    """
    Visits the rows at the places begin..end of the order, up to max_moves that move something; the arrays and counters are changed in place. Returns the place that comes next.
    """

def shuffle(order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], random: int) -> int:
    """Shuffles in place; returns the generator's next state."""

def dual_sums(problem: Problem, alpha: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> tuple[float, float, float, float, float]:
    """
    Writes w(alpha), alpha clipped to its bounds; returns gain, spent, wander, climbed and ridge of objective.h.
    """

def losses(problem: Problem, weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> tuple[float, float]:
    """
    The sum of the costs times the losses, and the least margin of the rows that cost anything.
    """

def losses_of_zero(problem: Problem) -> float:
    """The sum of the costs times the losses, of weights 0."""

def scores(rows: Rows, weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """Writes the score of each row under each weight vector."""

def checked_scores(rows: Rows, weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> tuple[int, int, int, int]:
    """
    Writes the scores of rows that were not inspected; returns what `inspect` returns.
    """

def inspect(rows: Rows, squared_norms: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int, int, int]:
    """
    Writes |x_i|^2 + bias^2; returns the first row (or -1) out of bounds, unsorted, not finite, and with a square beyond the type of the squares.
    """

def long_scores(rows: Rows, begin: int, end: int, weights: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], scores: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Writes the scores of the rows begin..end in long doubles, without the constant column, and the sums of their absolute terms.
    """

def add_long(rows: Rows, begin: int, end: int, coefficients: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], sums: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], sizes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], room: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Adds the rows begin..end times their coefficients to sums, without the constant column, and the absolute terms to sizes; room is 0 before and after.
    """

class JointProblem:
    """The problem of all classes at once, as the loops see it."""

class JointCounters(DualCounters):
    """The scalars of a state of dual ascent on all classes."""

    def __init__(self) -> None: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def class_width(n_classes: int) -> int:
    """The number of columns of the weights of this many classes."""

def make_joint_problem(rows: Rows, codes: Annotated[NDArray, dict(device='cpu', writable=False)], cost: Annotated[NDArray, dict(device='cpu', writable=False)], offset: Annotated[NDArray, dict(device='cpu', writable=False)], n_classes: int, lam: float, total: float) -> JointProblem: ...

def joint_pegasos_advance(problem: JointProblem, counters: PegasosCounters, weights: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], alphas: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], weight_sums: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')] | None, alpha_sums: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')] | None, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], batch_size: int, sampling: str, project: bool, radius: float, n_steps: int) -> None:
    """
    n_steps more steps of Pegasos on all classes; the arrays and counters are changed in place.
    """

def joint_dual_advance(problem: JointProblem, counters: JointCounters, weights: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], alpha: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu')], squared_norms: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], n_visits: int) -> None:
    """
    n_visits more rows of dual ascent on all classes; the arrays and counters are changed in place.
    """

def joint_dual_sums(problem: JointProblem, alpha: Annotated[NDArray, dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> tuple[float, float, float, float]:
    """
    Writes W(alpha), alpha within its bounds; returns gain, spent, wander and climbed of objective.h.
    """

def joint_losses(problem: JointProblem, weights: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)]) -> tuple[float, float]:
    """
    The sum of the costs times the losses of all rows, and the least margin of those that cost anything.
    """

class InteriorCounters:
    def __init__(self) -> None: ...

    @property
    def iterations(self) -> int: ...

    @iterations.setter
    def iterations(self, arg: int, /) -> None: ...

    @property
    def primal(self) -> float: ...

    @primal.setter
    def primal(self, arg: float, /) -> None: ...

    @property
    def dual(self) -> float: ...

    @dual.setter
    def dual(self, arg: float, /) -> None: ...

    @property
    def step(self) -> float: ...

    @step.setter
    def step(self, arg: float, /) -> None: ...

    @property
    def complement(self) -> float: ...

    @complement.setter
    def complement(self, arg: float, /) -> None: ...

    @property
    def stalled(self) -> bool: ...

    @stalled.setter
    def stalled(self, arg: bool, /) -> None: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def outer(problem: Problem, chosen: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """Writes the lower triangle of the matrix of sign_i sign_j <x_i, x_j>."""

def interior_advance(problem: Problem, chosen: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], counters: InteriorCounters, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], fixed: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], slack: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], upper: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], best_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], best_alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], outer: object | None, n_iterations: int, target: float, constant: float) -> None:
    """
    Iterates until the gap of the chosen rows' problem is at most target of its primal, or n_iterations are done.
    """

def face_advance(problem: Problem, chosen: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], most_products: int) -> tuple[int, float, float]:
    """
    Conjugate gradients over the chosen rows, projected on their bounds; returns the products with the rows, the gain of the dual times total, and the change of sum_i alpha_i (1 - sign_i offset_i).
    """

def small_linear(problem: Problem, gap: float, aim: float, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], own: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int, tuple[float, float, float, float, float], float, float]:
    """
    Solves a small problem; returns steps, rows read, what `dual_sums` returns, and what `losses` returns.
    """

def factor(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> bool:
    """
    Cholesky in place, of a lower triangle. Says whether the matrix is positive definite beyond rounding; a pivot that is not is replaced by a huge one.
    """

def solve(matrix: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], vector: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Solves in place, with the factor."""

class FiniteCounters:
    def __init__(self) -> None: ...

    @property
    def steps(self) -> int: ...

    @steps.setter
    def steps(self, arg: int, /) -> None: ...

    @property
    def visits(self) -> int: ...

    @visits.setter
    def visits(self, arg: int, /) -> None: ...

    @property
    def stride(self) -> int: ...

    @stride.setter
    def stride(self, arg: int, /) -> None: ...

    @property
    def primal(self) -> float: ...

    @primal.setter
    def primal(self, arg: float, /) -> None: ...

    @property
    def gap(self) -> float: ...

    @gap.setter
    def gap(self, arg: float, /) -> None: ...

    @property
    def stalled(self) -> bool: ...

    @stalled.setter
    def stalled(self, arg: bool, /) -> None: ...

    def __getstate__(self) -> bytes: ...

    def __setstate__(self, arg: bytes, /) -> None: ...

def finite_newton_advance(problem: Problem, counters: FiniteCounters, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], other: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_steps: int, target: float) -> None:
    """
    Takes steps until the relative gap is at most target, or n_steps are done.
    """

def alpha_of_scores(problem: Problem, scores: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], alpha: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Writes alpha_i = cost_i phi'(r_i), from the scores of the distinct rows.
    """

def residuals(problem: Problem, weights: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Writes r_i = 1 - sign_i (<w, x_i> + offset_i)."""

def slope(problem: Problem, residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], other: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], t: float, softness: float) -> tuple[float, float]:
    """
    First and second derivative in t of the sum of smoothed losses, at t on the line between two residuals.
    """

def smooth(problem: Problem, residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], other: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], t: float, softness: float, alpha: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float, float, int]:
    """
    Moves the residuals along the line and alpha with them, and adds the changes of sum_i alpha_i sign_i x_i; returns the losses, the gap, the sum of alpha and the number of rows that bend the objective.
    """

def arrive(problem: Problem, weights: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], other: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], softness: float, alpha: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], moved: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], sum: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float, float, int, float, float]:
    """
    Writes the residuals of the weights to `other` and their alpha to `moved`, and adds the changes of sum_i alpha_i sign_i x_i; returns what `smooth` returns, then the derivatives that `slope` returns for t = 1.
    """

def bend(problem: Problem, residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], softness: float, vector: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Adds the second derivatives of the sum of smoothed losses, times the vector.
    """

def curvature(problem: Problem, residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], softness: float, every: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the second derivatives of the sum of smoothed losses, lower triangle.
    """

def bent_factor(problem: Problem, residual: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], softness: float, every: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Writes the Cholesky factor of the second derivatives of the smoothed objective.
    """

def weighted_gram(rows: Rows, scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Adds the lower triangle of the sum of scale_i x_i x_i', with the constant column; rows with a scale of 0 or less are left out.
    """

def weighted_sum(rows: Rows, coefficients: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Adds the sum of coefficient_i x_i, with the constant column."""

def squared_reaches(rows: Rows, factor: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], blocks: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Writes |L^-1 z_i|^2 for the lower triangular factor L, where z_i has blocks_k x_i in its block k.
    """

def cut(problem: Problem, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], violated: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], normal: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> tuple[float, float]:
    """
    Writes the plane that touches the sum of the losses at these weights, and which rows are violated; returns its constant and the sum.
    """

class Sequences:
    """Sequences of unequal length, end to end in one array."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Sequence i is values[starts[i]:starts[i + 1]], of shape (positions, channels).
        """

def subsequences(a: Sequences, b: Sequences, k: int, decay: float, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """Writes the gapped subsequence kernel of each pair."""

def alignments(a: Sequences, b: Sequences, scale: float, band: int, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """
    Writes the logarithm of the global alignment kernel of each pair; a band of 0 is none.
    """

def warpings(a: Sequences, b: Sequences, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """
    Writes the dynamic time warping cost of each pair, the least sum of squared distances.
    """

def weighted_degrees(a: Annotated[NDArray[numpy.uint64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.uint64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], length: int, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Writes the weighted degree kernel of each pair of strings, given as planes of bits.
    """

class Graphs:
    """Graphs with labelled nodes, side by side."""

    def __init__(self, labels: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbours: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Graph g has the nodes nodes[g] to nodes[g + 1]; node i has the neighbors links[i] to links[i + 1].
        """

def walks(a: Graphs, b: Graphs, decay: float, n_steps: int, out: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """
    Writes the random-walk kernel of each pair; n_steps of 0 means no limit.
    """

def apply_kernel(shape: str, gamma: float, coef0: float, degree: int, plus: float, values: Annotated[NDArray, dict(shape=(None, None), device='cpu')], left: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], right: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None:
    """
    Turns a block of products into kernel values plus a constant, in place.
    """

def dense_kernel(shape: str, gamma: float, coef0: float, degree: int, plus: float, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], z: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], left: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], right: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray, dict(shape=(None, None), device='cpu')], n_threads: int) -> None:
    """Writes the kernel of each row of x with each row of z."""

def kernel_sums(shape: str, gamma: float, coef0: float, degree: int, plus: float, x: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], z: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], left: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], right: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """
    Adds factors[i] times the kernel of row i of x with row j of z to scores[j], in double.
    """

def products_width(single: bool) -> int:
    """How many vectors csr_products takes at once."""

def csr_products(rows: Rows, transposed: Annotated[NDArray, dict(shape=(None, None), device='cpu')], out: Annotated[NDArray, dict(shape=(None, None), device='cpu')], n_threads: int) -> None:
    """
    Writes the products of CSR rows with the vectors, one row of `out` a vector.
    """

def pair_sums(term: str, left: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], right: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], out: Annotated[NDArray, dict(shape=(None, None), device='cpu')], n_threads: int) -> None:
    """Writes the sum over the features for each pair of dense rows."""

def swap_columns(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], second: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_threads: int) -> None:
    """Exchanges columns in pairs, one pair after the other."""

def mirror(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], old: int, n_threads: int) -> None:
    """Fills the rows from `old` on, left of column `old`, by symmetry."""

def add_columns(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """Adds factors[a] * table[slots[a]] to the scores."""

def add_columns_exactly(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], factors: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], high: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], low: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], n_threads: int) -> None:
    """
    Adds factors[a] * table[slots[a]] to high + low, with about twice the digits of double.
    """

def climb(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], slot_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], place_of: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_kept: int, source: tuple[tuple[str, float, float, int, float], Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, slope: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], down: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], up: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], curvature: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], damping: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None, unit: float, keeps_sum: bool, dual: float, enough: float, share: float, n_steps: int, work: float) -> tuple[int, float, bool, float, int]:
    """
    Ascent of the dual until its gap is small enough; returns the number of steps, the gap, whether no row with a column could gain, the objective and how many columns the table holds now.
    """

def small_solve(table: Annotated[NDArray, dict(shape=(None, None), device='cpu')], source: tuple[tuple[str, float, float, int, float], Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)]] | None, exact: Annotated[NDArray, dict(shape=(None, None), device='cpu', writable=False)] | None, diagonal: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], members: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], upper: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], b: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], units: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], keeps_sum: bool, share: float, fine: float, steps_per_row: int, work: float, steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], n_threads: int, spent: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)] | None = None, widths: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')] | None = None) -> bool:
    """
    Solves small problems about some of the rows each, side by side; writes solutions, scores and steps. Where the sum of each sign is given by `spent`, also writes the width that makes it the solution. Returns whether the deadline of the thread cut it short.
    """

def small_sums(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], alpha: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], mu: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], largest: float, is_free: bool, coefficients: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')], sums: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """
    Writes the coefficients of each problem, and a row of what its certificate is made of: SmallTerms of small_sums.h.
    """

def small_reaches(starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], sign: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], cost: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], offset: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], scores: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], radii: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], intercepts: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu', writable=False)], reaches: Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]) -> None:
    """
    Writes how far the intercept of an exact solution of each problem may be.
    """

def count_svmlight(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, int]:
    """At most how many rows and entries the text has."""

def read_svmlight(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], base: int, n_features: int, allows_not_finite: bool, labels: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], ends: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], columns: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')], values: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu')]) -> tuple[int, int, int, str, int, int]:
    """
    Reads lines of text into the arrays; rows, entries, features, and the first fault: its name, place and column.
    """
