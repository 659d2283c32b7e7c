"""Problems for the tests: small, random, and awkward on purpose."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st

from pegasos.gram import KernelRows
from pegasos.joint_problem import JointProblem
from pegasos.problem import Problem, Rows

LAYOUTS = ("dense", "csr int32", "csr int64")

# Type of the rows, type of the weights, and how far rounding may take the weights apart in a thousand steps.
PRECISIONS = {
    "float64": (np.float64, np.float64, 1e-10),
    "float32 rows, float64 weights": (np.float32, np.float64, 1e-10),
    "float32": (np.float32, np.float32, 2e-4),
}


def in_layout(X, layout):
    """The same matrix, dense or CSR with indices of the type named."""
    if layout == "dense":
        return np.ascontiguousarray(X)
    matrix = sp.csr_array(X)
    index = np.dtype(layout.split()[1])
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def problem_of(X, sign, *, cost=1.0, offset=0.0, lam=0.1, total=None, bias=0.0, layout="dense", dtype=np.float64):
    """A problem from anything that numpy can broadcast; the total weight is the number of rows unless given."""
    X = np.asarray(X, dtype=dtype)
    n = len(X)
    cost, offset = (np.broadcast_to(np.asarray(column, dtype=np.float64), (n,)) for column in (cost, offset))
    rows = Rows.of(in_layout(X, layout), bias)
    return Problem(rows, np.asarray(sign, dtype=np.int8), cost, offset, lam, float(n if total is None else total))


def awkward_problem(layout="dense", dtype=np.float64, *, lam=0.02, seed=0, n_rows=41, n_features=87, bias=0.5):
    """Sparse rows, one without any entry, one that is there twice, noisy signs, random costs (one is 0) and offsets.

    The numbers are those of float32 whatever the type; 87 features use every branch of the vector loops.
    """
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows, n_features)) * (random.random((n_rows, n_features)) < 0.3)
    X[3], X[5] = 0.0, X[4]
    sign = np.where(X[:, :5].sum(axis=1) + random.normal(size=n_rows) > 0, 1, -1)
    cost, offset = random.uniform(0.2, 2.0, n_rows), 0.3 * random.normal(size=n_rows)
    cost[7] = 0.0
    total = 0.9 * n_rows
    return problem_of(
        X.astype(np.float32),
        sign,
        cost=cost,
        offset=offset,
        lam=lam,
        total=total,
        bias=bias,
        layout=layout,
        dtype=dtype,
    )


def kernel_problem_of(kernel, items, sign, *, cost=1.0, offset=0.0, lam=0.1, total=None, bias=0.0, **rows):
    """A problem on items known by their kernel; ``cache_bytes`` and ``double`` are those of `KernelRows`."""
    read = kernel.read(items)
    n = len(read)
    cost, offset = (np.broadcast_to(np.asarray(column, dtype=np.float64), (n,)) for column in (cost, offset))
    gram = KernelRows.of(kernel, read, bias, **{"cache_bytes": 1e9, "double": True, **rows})
    return Problem(gram, np.asarray(sign, dtype=np.int8), cost, offset, lam, float(n if total is None else total))


def awkward_kernel_problem(kernel, *, seed=0, n_rows=41, n_features=9, lam=0.02, bias=0.5, dtype=np.float64, **rows):
    """As `awkward_problem`, for any kernel on vectors."""
    linear = awkward_problem(seed=seed, n_rows=n_rows, n_features=n_features, lam=lam, bias=bias)
    columns = {"cost": linear.cost, "offset": linear.offset, "total": linear.total}
    X = linear.rows.values.astype(dtype)
    return kernel_problem_of(kernel, X, linear.sign, lam=lam, bias=bias, **columns, **rows)


def joint_problem_of(
    X, codes, *, n_classes=None, cost=1.0, offset=0.0, lam=0.1, total=None, bias=0.0, layout="dense", dtype=np.float64
):
    """A problem of all classes, from anything that numpy can broadcast."""
    X, codes = np.asarray(X, dtype=dtype), np.asarray(codes, dtype=np.int32)
    n, n_classes = len(X), n_classes or int(codes.max()) + 1
    cost = np.broadcast_to(np.asarray(cost, dtype=np.float64), (n,))
    offset = np.broadcast_to(np.asarray(offset, dtype=np.float64), (n, n_classes))
    rows = Rows.of(in_layout(X, layout), bias)
    return JointProblem(rows, codes, cost, offset, lam, float(n if total is None else total))


def awkward_joint_problem(layout="dense", dtype=np.float64, *, n_classes=5, n_features=87, lam=0.02, seed=0):
    """The rows, costs and total of `awkward_problem`, with classes, one of them absent, and offsets."""
    linear, random = awkward_problem(n_features=n_features), np.random.default_rng(seed)
    X, n = linear.rows.values, linear.rows.n_rows
    scores = X @ random.normal(size=(X.shape[1], n_classes)) + random.normal(size=(n, n_classes))
    codes = scores[:, :-1].argmax(axis=1) if n_classes > 2 else scores.argmax(axis=1)
    columns = {"cost": linear.cost, "offset": 0.3 * random.normal(size=(n, n_classes)), "total": linear.total}
    return joint_problem_of(X, codes, n_classes=n_classes, lam=lam, bias=0.5, layout=layout, dtype=dtype, **columns)


@st.composite
def small_joint_problems(draw):
    """Up to 10 rows of up to 4 classes on a coarse grid; classes without rows, rows of zeros and ties are common."""
    linear, n_classes = draw(small_problems()), draw(st.integers(2, 4))
    n = linear.rows.n_rows
    codes = draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    offset = np.zeros((n, n_classes))
    if draw(st.booleans()):
        values = st.sampled_from((-1.5, 0.0, 0.25, 1.0))
        offset = np.array(draw(st.lists(values, min_size=n * n_classes, max_size=n * n_classes))).reshape(offset.shape)
    kept = {"cost": linear.cost, "lam": linear.lam, "total": linear.total, "bias": linear.rows.bias}
    return joint_problem_of(linear.rows.values, codes, n_classes=n_classes, offset=offset, **kept)


@st.composite
def small_problems(
    draw,
    *,
    costs=(0.0, 0.5, 1.0, 3.0),
    offsets=(-1.5, 0.0, 0.0, 0.25, 1.0),
    biases=(0.0, 1.0, 2.5),
    lams=(0.003, 0.03, 0.2, 1.0),
):
    """Up to 12 rows on a coarse grid, where rows of zeros, equal rows and ties are common."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 5))
    entry = st.sampled_from((-2.0, -1.0, -0.5, 0.0, 0.0, 0.75, 1.0, 3.0))
    X = np.array(draw(st.lists(entry, min_size=n * d, max_size=n * d))).reshape(n, d)

    def column(values):
        return np.array(draw(st.lists(st.sampled_from(values), min_size=n, max_size=n)))

    return problem_of(
        X,
        column((-1, 1)),
        cost=column(costs),
        offset=column(offsets),
        lam=draw(st.sampled_from(lams)),
        total=draw(st.sampled_from((n, 0.7 * n, 1.5 * n))),
        bias=draw(st.sampled_from(biases)),
    )
