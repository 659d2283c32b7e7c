"""Walks over blocks in plain numpy: the reference of each solver, on the blocks in the order of the walk.

Weights are common to all blocks, dual variables belong to their rows. Dual ascent sweeps what is left of each block
once a walk, each block with a generator and with thresholds of its own; Pegasos visits all rows of a block in an order
shuffled anew.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from tests.reference.dual_ascent import DualAscent
from tests.reference.random import Random


def seed_of(*numbers):
    """Where a generator begins: numpy's own way to make one number of several."""
    return int(np.random.SeedSequence(numbers).generate_state(1, np.uint64)[0])


def order_of(seed, walk, n_blocks):
    return np.random.default_rng([seed, walk]).permutation(n_blocks)


def walks_of_ascent(problem, starts, seed, n_walks):
    """The weights and the dual point after this many walks of dual ascent."""
    blocks = []
    for k, (begin, end) in enumerate(pairwise(starts)):
        columns = {name: getattr(problem, name)[begin:end] for name in ("X", "sign", "cost", "offset")}
        blocks.append(DualAscent(replace(problem, **columns), seed=seed_of(seed, 0, k)))
    w = np.zeros(problem.X.shape[1])
    for walk in range(n_walks):
        for k in order_of(seed, walk, len(blocks)):
            block = blocks[k]
            block.w = w
            for _ in range(len(block.order) or block.problem.n_rows):
                block.visit()
            w = block.w
    return w, np.concatenate([block.alpha for block in blocks])


def rows_of_pegasos(starts, seed):
    """The rows in the order in which Pegasos visits them, without end."""
    random, walk = Random(seed_of(seed, 0)), 0
    while True:
        for k in order_of(seed, walk, len(starts) - 1):
            order = list(range(starts[k + 1] - starts[k]))
            random.shuffle(order)
            yield from (int(starts[k]) + i for i in order)
        walk += 1
