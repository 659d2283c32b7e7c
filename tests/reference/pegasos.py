"""Linear Pegasos as the paper writes it, with its dual point; every step touches all of w and all of alpha.

Step t draws a batch A of k rows, finds those that violate (r_i = 1 - sign_i (<w, x_i> + offset_i) > 0), and with
eta = 1/(lam t) sets

    w     <- (1 - 1/t) w     + eta/k (n/total) sum_violators s_i weight_i cost_i sign_i x_i
    alpha <- (1 - 1/t) alpha + n/(t k) s_i weight_i cost_i        for each violator i
    w, alpha <- both scaled down to |w| <= radius                 when projecting

s_i = phi'(r_i) is the slope of the loss, 1 for the hinge; where cap is infinite it is that of the end of the step,
r_i / (ridge + eta (n/total) weight_i cost_i |x_i|^2).

The weights are 1; where the two signs are drawn in turn, 1/n over the probability 1/(2 n_c) of a row, of whose sign
there are n_c.
"""

from itertools import islice

import numpy as np

from tests.reference.random import Random


def draw_rows(sampling, n_rows, seed, sign=None):
    """The rows in the order in which they are visited, without end; an epoch may end within a batch."""
    random = Random(seed)
    if sampling == "balanced":
        yield from draw_in_turn(sides_of(sign), [random.shuffle] * 2)
    order = list(range(n_rows))
    while True:
        if sampling == "uniform":
            yield random.below(n_rows)
        else:
            if sampling == "shuffle":
                random.shuffle(order)
            yield from order


def sides_of(sign):
    """The negative rows and the positive ones, if there are any."""
    sides = [np.flatnonzero(sign < 0).tolist(), np.flatnonzero(sign > 0).tolist()]
    return [side for side in sides if side]


def draw_in_turn(sides, shuffles):
    """One row of each side in turn, a side shuffled whenever it is used up."""
    left = [[] for _ in sides]
    while True:
        for side, rest, shuffle in zip(sides, left, shuffles, strict=False):
            if not rest:
                shuffle(side)
                rest.extend(side)
            yield rest.pop(0)


def weights_of(sampling, sign):
    """1/n over the probability of drawing each row."""
    if sampling != "balanced" or len(sides_of(sign)) == 1:
        return np.ones(len(sign))
    return np.array([2.0 * np.mean(sign == own) for own in sign])


class Pegasos:
    """The iterate w after t steps, its dual point alpha, and the sums of the iterates before it."""

    def __init__(self, problem, *, batch_size=1, sampling="shuffle", projection=False, average="uniform", seed=0):
        self.problem = problem
        self.batch_size = batch_size
        self.projection = projection
        self.average = average
        self.rows = draw_rows(sampling, problem.n_rows, seed, problem.sign)
        self.push = problem.cost * weights_of(sampling, problem.sign)
        self.t = 0
        self.w = np.zeros(problem.X.shape[1])
        self.alpha = np.zeros(problem.n_rows)
        self.closest = np.inf  # how near to 1 a margin has come: nearer than rounding, and either answer is right
        # Steps after 1, 2, 4, ... whole epochs: there the tail begins.
        self.tails = {-(-(2**power) * problem.n_rows // batch_size) for power in range(40)}
        self._restart_average()

    def step(self):
        p, n, k = self.problem, self.problem.n_rows, self.batch_size
        if self.average == "tail" and self.t in self.tails:
            self._restart_average()
        self.w_sum += self.w
        self.alpha_sum += self.alpha
        self.averaged += 1

        self.t += 1
        eta = 1.0 / (p.lam * self.t)
        batch = np.array(list(islice(self.rows, k)))
        margin = p.sign[batch] * (p.X[batch] @ self.w + p.offset[batch])
        violators = batch[margin < 1.0]
        self.closest = min(self.closest, np.abs(margin - 1.0).min())

        push = self.push[violators] * self._slopes(violators, 1.0 - margin[margin < 1.0], eta)

        self.w *= 1.0 - 1.0 / self.t
        self.alpha *= 1.0 - 1.0 / self.t
        self.w += eta / k * (n / p.total) * (push * p.sign[violators]) @ p.X[violators]
        np.add.at(self.alpha, violators, n / (self.t * k) * push)  # a row may be drawn twice
        if self.projection:
            self._project()

    def _slopes(self, violators, r, eta):
        p = self.problem
        if np.isfinite(p.cap):
            return np.array([p.slope(one) for one in r])
        rates = eta * (p.n_rows / p.total) * self.push[violators]
        return r / (p.ridge + rates * (p.X[violators] ** 2).sum(axis=1))

    def mean(self):
        """The average of the iterates w_1, w_2, ... (w_1 = 0) that a step has been taken from, and of their alphas."""
        return self.w_sum / self.averaged, self.alpha_sum / self.averaged

    def _project(self):
        norm, radius = np.linalg.norm(self.w), self.problem.radius()
        if norm > radius:
            self.w *= radius / norm
            self.alpha *= radius / norm

    def _restart_average(self):
        self.w_sum = np.zeros_like(self.w)
        self.alpha_sum = np.zeros_like(self.alpha)
        self.averaged = 0
