"""Bad input gets one sentence that names the value and the remedy, before any work."""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos import GapWarning, KernelPegasosClassifier, PegasosClassifier, PegasosClassifierCV, PegasosError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = (X[:, 0] > 0).astype(int)


def with_value(value, dtype=np.float64):
    changed = X.astype(dtype)
    changed[3, 1] = value
    return changed


def hand_made(data, indices, indptr):
    matrix = sp.csr_matrix((30, 4))
    matrix.data = np.array(data, dtype=np.float64)
    matrix.indices = np.array(indices, dtype=np.int32)
    matrix.indptr = np.array(indptr, dtype=np.int32)
    return matrix


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_that_are_not_finite_are_refused_with_their_row(value, form, dtype):
    bad = form(with_value(value, dtype))
    with pytest.raises(PegasosError, match=r"NaN or infinity in row 3"):
        PegasosClassifier().fit(bad, Y)
    with pytest.raises(PegasosError, match="in row 3"):
        PegasosClassifier().fit(X, Y).predict(bad)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"lam": 0}, "lam must be a positive number, got 0"),
        ({"lam": -1.0}, r"lam must be a positive number, got -1\.0"),
        ({"lam": np.nan}, "got nan"),
        ({"lam": "small"}, "got 'small'"),
        ({"lam": 0.1, "C": 1.0}, r"give lam or C, not both: got lam=0\.1 and C=1\.0"),
        ({"C": 0}, "C must be a positive number"),
        (
            {"solver": "sgd"},
            "solver must be one of 'auto', 'pegasos', 'dual', 'cutting_plane', 'interior_point', got 'sgd'",
        ),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
        ({"batch_size": 31}, "batch_size=31 exceeds the 30 rows"),
        ({"sampling": "cyclic"}, "sampling must be one of"),
        ({"average": True}, "average must be one of"),
        ({"projection": 3}, "projection must be True or False"),
        ({"multi_class": "cs"}, "multi_class must be one of"),
        (
            {"regularize_intercept": False, "solver": "pegasos"},
            "solver='pegasos' does not support an unregularized intercept",
        ),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be a positive number"),
        ({"tol": -1e-3}, "tol must be None or a number of at least 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1"),
        ({"time_budget": -1}, "time_budget must be None or a number"),
        ({"class_weight": "even"}, "class_weight must be None, 'balanced' or a dict"),
        ({"class_weight": {7: 1.0}}, r"class_weight names class 7, which is not in y; the classes are \[0, 1\]"),
        ({"class_weight": np.ones(2)}, "class_weight must be None, 'balanced' or a dict"),
        (
            {"regularize_intercept": np.False_, "solver": "pegasos"},
            "solver='pegasos' does not support an unregularized intercept",
        ),
        ({"n_jobs": 0}, "n_jobs must be None or a whole number other than 0"),
        ({"n_jobs": "all"}, "n_jobs must be None or a whole number other than 0"),
        ({"C": 1e-320}, "makes lam"),
        ({"class_weight": {0: -1.0}}, "class_weight of class 0 must be a number of at least 0"),
        ({"class_weight": {0: 0.0, 1: 0.0}}, "class_weight is zero for every class"),
    ],
)
def test_settings_are_checked_before_any_work(settings, sentence):
    solver = {"solver": "pegasos"} if "batch_size" in settings else {}
    with pytest.raises(PegasosError, match=sentence):
        PegasosClassifier(**(solver | settings)).fit(X, Y)


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.r_[np.nan, np.ones(29)], "sample_weight contains NaN or infinity in row 0"),
        (np.r_[1.0, np.inf, np.ones(28)], "in row 1"),
        (np.r_[-1.0, np.ones(29)], r"must not be negative, got -1\.0 for row 0"),
        (np.zeros(30), "sample_weight is zero for every row"),
        (np.ones(7), r"must have shape \(30,\), one weight per row, got \(7,\)"),
        (["heavy"] * 30, "sample_weight must be numbers"),
    ],
)
def test_weights_are_checked(weights, sentence):
    with pytest.raises(PegasosError, match=sentence):
        PegasosClassifier().fit(X, Y, weights)


@pytest.mark.parametrize(
    ("rows", "labels", "sentence"),
    [
        (X, np.ones(30), r"y has only one class, 1\.0"),
        (X, np.where(Y == 1, np.nan, 0.0), "y contains NaN"),
        (X, X[:, 0], "Unknown label type"),
        (X[:, 0], Y, r"X must be a matrix of rows, got an array of shape \(30,\)"),
        (X[:0], Y[:0], "0 sample"),
        (X[:, :0], Y, "0 feature"),
        (X, Y[:-1], "inconsistent numbers of samples"),
        (X + 1j, Y, "Complex data not supported: X has type complex128"),
        (np.full((30, 2), "a", dtype=object), Y, "could not convert string"),
    ],
)
def test_rows_and_labels_are_checked(rows, labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        PegasosClassifier().fit(rows, labels)


def test_a_class_without_weight_is_not_a_class():
    with pytest.raises(PegasosError, match="only one class, 1 among the rows with a weight above 0"):
        PegasosClassifier().fit(X, Y, (Y == 1).astype(float))


@pytest.mark.parametrize(
    "matrix",
    [
        hand_made(np.ones(30), np.full(30, 7), range(31)),
        hand_made(np.ones(30), np.full(30, -1), range(31)),
        hand_made(np.ones(30), np.ones(30), [0, 30, *[5] * 29]),
        hand_made(np.ones(30), np.ones(30), [*[0] * 30, 99]),
        hand_made(np.ones(30), np.ones(30), [0, -4, *range(2, 31)]),
        hand_made(np.ones(29), np.ones(29), range(30)),
    ],
)
def test_a_broken_sparse_matrix_is_refused_not_read(matrix):
    with pytest.raises(PegasosError, match="X is not a valid CSR matrix"):
        PegasosClassifier().fit(matrix, Y)
    with pytest.raises(PegasosError, match="X is not a valid CSR matrix"):
        PegasosClassifier().fit(X, Y).decision_function(matrix)


def test_repeated_columns_of_a_row_mean_their_sum():
    values = RNG.normal(size=30)
    halves = hand_made(np.repeat(values / 2, 2), np.ones(60), range(0, 61, 2))
    whole = hand_made(values, np.ones(30), range(31))
    labels = (values > 0).astype(int)
    twice, once = (PegasosClassifier(random_state=0).fit(matrix, labels) for matrix in (halves, whole))
    assert twice.certificate_ == once.certificate_
    assert halves.nnz == 60  # the user's matrix is as it was


def test_columns_in_any_order_are_read_right():
    turned = sp.csr_matrix(X)
    for row in range(30):
        part = slice(turned.indptr[row], turned.indptr[row + 1])
        turned.data[part] = turned.data[part][::-1].copy()
        turned.indices[part] = turned.indices[part][::-1].copy()
    turned.has_sorted_indices = False
    straight = PegasosClassifier(random_state=0).fit(sp.csr_matrix(X), Y)
    assert np.allclose(PegasosClassifier(random_state=0).fit(turned, Y).coef_, straight.coef_)


def test_rows_of_zeros_are_fine():
    model = PegasosClassifier(random_state=0).fit(np.vstack([X, np.zeros((5, 4))]), np.r_[Y, [0, 1, 0, 1, 0]])
    assert model.certificate_.relative_gap <= 1e-3


@pytest.mark.parametrize("solver", ["auto", "dual", "pegasos"])
@pytest.mark.parametrize(("size", "dtype"), [(1e30, np.float32), (1e30, np.float64), (1e200, np.float64)])
def test_a_huge_constant_feature_gives_a_truthful_status_and_no_nan(solver, size, dtype):
    huge = np.c_[X, np.full(30, size)].astype(dtype)
    with pytest.warns(GapWarning):
        model = PegasosClassifier(solver=solver, max_iter=30, random_state=0).fit(huge, Y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.certificate_.primal)
    assert model.certificate_.relative_gap > 1e-3
    assert "scale the features" in model.status_.lower()


def test_streams_are_checked():
    with pytest.raises(PegasosError, match="first call of partial_fit needs classes="):
        PegasosClassifier().partial_fit(X, Y)
    with pytest.raises(PegasosError, match=r"C=1\.0 needs the number of samples"):
        PegasosClassifier(C=1.0).partial_fit(X, Y, classes=[0, 1])
    model = PegasosClassifier().partial_fit(X, Y, classes=[0, 1])
    with pytest.raises(PegasosError, match=r"classes must be those of the first call, \[0, 1\], got \[0, 2\]"):
        model.partial_fit(X, Y, classes=[0, 2])
    with pytest.raises(PegasosError, match=r"y contains 5, which is not in the classes \[0, 1\]"):
        model.partial_fit(X, np.full(30, 5))
    with pytest.raises(ValueError, match="X has 2 features"):
        model.partial_fit(X[:, :2], Y)


def test_a_failed_call_leaves_the_last_good_model():
    model = PegasosClassifier(random_state=0).fit(X, Y)
    before, proof = model.coef_.copy(), model.certificate_
    with pytest.raises(PegasosError):
        model.set_params(lam=-1.0).fit(X, Y)
    with pytest.raises(PegasosError):
        model.set_params(lam=1e-4).fit(with_value(np.nan), Y)
    with pytest.raises(PegasosError):
        model.fit(np.ones((30, 9)), np.ones(30))
    assert np.array_equal(model.coef_, before)
    assert model.certificate_ is proof
    assert np.array_equal(model.predict(X), np.where(X @ before[0] + model.intercept_ > 0, 1, 0))


def test_certifying_other_rows_is_refused():
    with pytest.raises(PegasosError, match="alpha_ belongs to the 30 rows of the last fit, got 5 rows"):
        PegasosClassifier().fit(X, Y).certify(X[:5], Y[:5])


@pytest.mark.parametrize("kind", [PegasosClassifier, KernelPegasosClassifier, PegasosClassifierCV])
@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.full((20, 2), 0.5), r"got an array of shape \(20, 2\) instead; pass one column, or for several labels"),
        (np.where(np.arange(20) == 3, np.nan, 1.0), "y contains NaN in row 3; give the row a label, or drop it"),
        (np.where(np.arange(20) == 4, np.inf, 1.0), "y contains infinity in row 4; give the row a label, or drop it"),
        ([[1, 2, 3]] * 20, "pass one column"),
    ],
)
def test_labels_that_are_none_get_a_message_with_the_remedy(kind, y, sentence):
    with pytest.raises(PegasosError, match=sentence):
        kind().fit(np.random.default_rng(0).normal(size=(20, 3)), y)


def test_an_infeasible_nu_names_the_largest_feasible_one():
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.repeat([0, 1], [50, 10])
    for kind in (PegasosClassifier, KernelPegasosClassifier):
        with pytest.raises(PegasosError, match=r"nu=0.9 is infeasible: the largest nu for these rows is 0.333333"):
            kind(nu=0.9, regularize_intercept=False).fit(X, y)
