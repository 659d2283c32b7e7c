"""Model files of LIBSVM, both ways, against LIBSVM itself."""

from itertools import product

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from pegasos import KernelPegasosClassifier, PegasosError
from pegasos.export import from_libsvm, read_model, to_libsvm
from pegasos.export.pairs import by_class, by_pair
from pegasos.kernels import RBF
from pegasos.machines import Data
from pegasos.tasks import pairs_of
from tests.unit.export.models import MODELS, NEW, NUMBERS, PAIR, X, model_of

svmutil = pytest.importorskip("libsvm.svmutil")


def scores_of(model, rows):
    return model.fitted_.scores(Data(rows)) if hasattr(model, "fitted_") else model._scores(rows)


PAIRWISE = [
    "linear, two",
    "linear, two, no intercept",
    "linear, pairs",
    "linear kernel",
    "rbf, two",
    "rbf, pairs",
    "poly, pairs",
    "probability, pairs",
    "probability, two",
    "passive-aggressive",
    "kernel perceptron",
]


def as_entries(rows):
    """Index and value of each entry, numbered from 1."""
    return [dict(enumerate(row, 1)) for row in np.asarray(rows).tolist()]


def of_libsvm(path, rows, options=""):
    """Labels, and decision values or probabilities."""
    model = svmutil.svm_load_model(str(path))
    with threadpool_limits(1):
        labels, _, decisions = svmutil.svm_predict([], as_entries(rows), model, f"-q {options}")
    return np.array(labels), np.array(decisions), model.get_labels()


def trained(path, options, y, rows=X):
    with threadpool_limits(1):
        model = svmutil.svm_train(y.tolist(), as_entries(rows), f"-q {options}")
    svmutil.svm_save_model(str(path), model)


def of_pairs(decisions, names):
    """Their decision values in the order of ours, positive for the second of two classes in order."""
    order = np.argsort(names)
    rows = {frozenset((i, j)): k for k, (i, j) in enumerate(pairs_of(len(names)))}
    columns = []
    for a, b in pairs_of(len(names)):
        i, j = order[a], order[b]
        column = decisions[:, rows[frozenset((i, j))]]
        columns.append(-column if i < j else column)
    return np.column_stack(columns)


def check_probabilities(model, theirs):
    """Equal, where theirs do not contradict the prediction; of several classes LIBSVM ends its iteration early."""
    agree = model.classes_[theirs.argmax(axis=1)] == model.predict(NEW)
    assert agree.mean() > 0.7
    exact = 1e-9 if len(model.classes_) == 2 else 0.01
    np.testing.assert_allclose(theirs[agree], model.predict_proba(NEW)[agree], atol=exact)


def are_tied(scores, n_classes):
    """Rows of which two classes have the most votes."""
    votes = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(pairs_of(n_classes)):
        votes[:, j] += scores[:, k] > 0
        votes[:, i] += scores[:, k] <= 0
    return (votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1


@pytest.mark.parametrize("name", PAIRWISE)
def test_libsvm_reads_what_we_write(name, tmp_path):
    model = model_of(name)
    to_libsvm(model, tmp_path / "model")
    labels, decisions, names = of_libsvm(tmp_path / "model", NEW)
    assert names == model.classes_[::-1].tolist()
    np.testing.assert_allclose(of_pairs(decisions, names), scores_of(model, NEW), atol=1e-9)
    sure = ~are_tied(scores_of(model, NEW), len(names))
    assert sure.mean() > 0.9
    assert labels[sure].tolist() == model.predict(NEW)[sure].tolist()


@pytest.mark.parametrize("name", ["probability, pairs", "probability, two"])
def test_libsvm_gives_our_probabilities(name, tmp_path):
    model = model_of(name)
    to_libsvm(model, tmp_path / "model")
    _, found, names = of_libsvm(tmp_path / "model", NEW, "-b 1")
    check_probabilities(model, found[:, np.argsort(names)])


@pytest.mark.parametrize("name", PAIRWISE)
def test_a_file_read_back_is_the_same_model(name, tmp_path):
    model = model_of(name)
    to_libsvm(model, tmp_path / "model")
    again = from_libsvm(tmp_path / "model")
    np.testing.assert_allclose(scores_of(again, NEW), scores_of(model, NEW), atol=1e-12)
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()
    if name.startswith("probability"):
        np.testing.assert_allclose(again.predict_proba(NEW), model.predict_proba(NEW), atol=1e-9)


OPTIONS = ["-t 0", "-t 1 -d 2 -g 0.5 -r 1", "-t 2 -g 0.5", "-t 2 -g 0.5 -b 1"]


# With three classes, LIBSVM's own interface writes past its memory when it predicts with nu.
@pytest.mark.parametrize(("options", "y"), [*product(OPTIONS, [PAIR, NUMBERS]), ("-s 1 -n 0.1", PAIR)])
def test_we_read_what_libsvm_writes(options, y, tmp_path):
    trained(tmp_path / "model", options, y)
    labels, decisions, names = of_libsvm(tmp_path / "model", NEW)
    model = read_model(tmp_path / "model")
    scores = scores_of(model, NEW)
    np.testing.assert_allclose(scores, of_pairs(decisions, names), atol=1e-9)
    sure = ~are_tied(scores, len(names))
    assert labels[sure].tolist() == model.predict(NEW)[sure].tolist()
    assert model.margin(X, y).shape == (len(X),)
    if "-b 1" in options:
        _, found, names = of_libsvm(tmp_path / "model", NEW, "-b 1")
        check_probabilities(model, found[:, np.argsort(names)])


@pytest.mark.parametrize("y", [PAIR, NUMBERS], ids=["two", "three"])
@pytest.mark.parametrize("options", ["-t 0", "-t 1 -d 2 -g 0.5 -r 1", "-t 2 -g 0.5"])
def test_the_certificate_of_a_model_of_libsvm_is_true_and_close(options, y, tmp_path):
    trained(tmp_path / "model", f"{options} -c 2 -e 0.0001", y)
    model = from_libsvm(tmp_path / "model", C=2.0)
    proof = model.certify(X, y)
    assert -1e-9 <= proof.relative_gap < 5e-3
    best = KernelPegasosClassifier(model.kernel_, C=2.0, regularize_intercept=False, multi_class="ovo", tol=1e-6).fit(
        X, y
    )
    for part, exact in zip(proof.parts, best.certificate_.parts, strict=True):
        assert part.dual <= exact.primal
        assert part.primal >= exact.dual
    # For rows in another order, or twice, it is as good.
    assert model.certify(X[::-1], y[::-1]).primal == pytest.approx(proof.primal, rel=1e-6)


def test_a_worse_model_of_libsvm_has_a_larger_gap(tmp_path):
    trained(tmp_path / "model", "-t 2 -g 0.5 -c 0.01", PAIR)
    proof = from_libsvm(tmp_path / "model", C=10.0).certify(X, PAIR)
    assert 0.1 < proof.relative_gap < 1.0


def test_a_precomputed_kernel_goes_both_ways(tmp_path):
    matrix, new = RBF(0.5).block(X, X), RBF(0.5).block(NEW, X)
    ours = KernelPegasosClassifier("precomputed", C=1.0, multi_class="ovo", random_state=0).fit(matrix, NUMBERS)
    to_libsvm(ours, tmp_path / "ours")
    serial = np.column_stack([np.arange(1, len(new) + 1), new])
    theirs = svmutil.svm_load_model(str(tmp_path / "ours"))
    _, _, decisions = svmutil.svm_predict([], [dict(enumerate(row)) for row in serial.tolist()], theirs, "-q")
    decisions, names = np.array(decisions), theirs.get_labels()
    np.testing.assert_allclose(of_pairs(decisions, names), scores_of(ours, new), atol=1e-9)
    with pytest.raises(PegasosError, match="does not say how many rows there were: give n_features"):
        from_libsvm(tmp_path / "ours")
    with pytest.raises(PegasosError, match=r"refers to row \d+, and there are 3"):
        from_libsvm(tmp_path / "ours", n_features=3)
    again = from_libsvm(tmp_path / "ours", n_features=len(X), C=1.0)
    np.testing.assert_allclose(scores_of(again, new), scores_of(ours, new), atol=1e-12)
    assert again.certify(matrix, NUMBERS).relative_gap < 0.2


def test_rows_may_have_more_features_than_the_file(tmp_path):
    wide = np.column_stack([X, np.zeros(len(X))])
    trained(tmp_path / "model", "-t 2 -g 0.5", PAIR, X)
    assert from_libsvm(tmp_path / "model").n_features_in_ == 4
    model = from_libsvm(tmp_path / "model", n_features=5)
    labels, _, _ = of_libsvm(tmp_path / "model", wide)
    assert model.predict(wide).tolist() == labels.tolist()
    with pytest.raises(PegasosError, match="has 4 features, more than n_features=3"):
        from_libsvm(tmp_path / "model", n_features=3)


def test_support_vectors_of_any_coefficients_find_a_place():
    random = np.random.default_rng(0)
    for n_classes in (2, 3, 5):
        of = random.normal(size=(n_classes * (n_classes - 1) // 2, 20)) * (random.random((1, 20)) < 0.9)
        of[random.random(of.shape) < 0.5] = 0.0
        places = by_class(of, n_classes)
        back = np.zeros_like(of)
        np.add.at(back.T, places.numbers, by_pair(places.dual_coef, places.n_support).T)
        np.testing.assert_array_equal(back, of)


def test_a_support_vector_of_our_fit_has_one_place():
    model = model_of("rbf, pairs")
    places = by_class(-model.dual_coef_, 3)
    assert len(places.numbers) == model.dual_coef_.shape[1]
    codes = np.repeat(np.arange(3), places.n_support)
    assert (np.searchsorted(model.classes_, NUMBERS)[model.support_[places.numbers]] == codes).all()


def test_what_libsvm_cannot_represent_is_refused_with_a_reason(tmp_path):
    for name, sentence in (
        ("rbf, rest", "one-vs-one, and this model does not: fit with multi_class='ovo'"),
        ("linear, joint", "one-vs-one"),
        ("names", "one-vs-one"),
        ("chi2", "linear, polynomial and RBF kernels, not ChiSquared"),
        ("kernel on a prior", "one-vs-one"),
    ):
        with pytest.raises(PegasosError, match=sentence):
            to_libsvm(model_of(name), tmp_path / "model")
    assert set(PAIRWISE) <= set(MODELS)
    two = KernelPegasosClassifier(RBF(0.5), lam=0.1, prior=model_of("linear, two")).fit(X, PAIR)
    with pytest.raises(PegasosError, match="adds a prior to its own; use to_onnx"):
        to_libsvm(two, tmp_path / "model")
    words = KernelPegasosClassifier(RBF(0.5), lam=0.1).fit(X, np.where(PAIR == 5, "a", "b"))
    with pytest.raises(PegasosError, match="whole numbers of 32 bits, got 'a'"):
        to_libsvm(words, tmp_path / "model")


GOOD = """svm_type c_svc
kernel_type rbf
gamma 0.5
nr_class 2
total_sv 2
rho 0.25
label 1 -1
nr_sv 1 1
SV
1 1:0.5 3:1
-1 2:1e-3
"""


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("c_svc", "strange", "line 1: 'strange' is not a type of LIBSVM"),
        ("rbf", "sigmoid", "line 2: pegasos has no kernel 'sigmoid'"),
        ("gamma 0.5", "gamma -1", "line 2: gamma of RBF must be"),
        ("gamma 0.5\n", "", "line 8: the header ends without gamma"),
        ("rbf", "polynomial", "the header ends without degree"),
        ("nr_class 2", "nr_class 1000000", "line 7: expected 1000000 value.s. after label, got 2"),
        ("total_sv 2", "total_sv 2000000000", "line 8: the numbers of support vectors .* add up to total_sv"),
        ("nr_sv 1 1", "nr_sv 3 -1", "line 8: the numbers of support vectors"),
        ("rho 0.25", "rho inf", "line 6: expected finite numbers, got 'inf'"),
        ("rho 0.25", "rho 0 1", "line 6: expected 1 value.s. after rho, got 2"),
        ("label 1 -1", "label 1", "line 7: expected 2 value.s. after label, got 1"),
        ("rho 0.25", "rho 0.25\nprobA 1", "the header ends without probB"),
        (
            "-1 2:1e-3\n",
            "",
            "line 11: expected finite numbers|line 11: expected 1 coefficient|line 11: expected 2 support",
        ),
        ("-1 2:1e-3", "", "line 11: expected 1 coefficient.s., got 0"),
        ("1:0.5 3:1", "3:0.5 1:1", "line 10: indices must rise"),
        ("1:0.5 3:1", "-1:0.5 1:1", "line 10: indices must rise"),
        ("1:0.5 3:1", "1:0.5 3", "line 10: expected finite numbers, got ''"),
        ("1:0.5 3:1", "1:0.5 :1", "line 10: expected a whole number of 32 bits, got ''"),
        ("1:0.5 3:1", "1:0.5 99999999999:1", "line 10: expected a whole number of 32 bits"),
        ("1:0.5 3:1", "0:0.5 3:1", "indices must rise from 1; 0 is for precomputed kernels"),
        ("2:1e-3", "2:1e-3\n1 1:1", "line 12: the model has ended"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(old, new, sentence, tmp_path):
    assert old in GOOD
    (tmp_path / "model").write_text(GOOD.replace(old, new, 1))
    with pytest.raises(PegasosError, match=sentence):
        from_libsvm(tmp_path / "model")


def test_a_good_file_by_hand_is_read_and_a_large_index_takes_no_memory(tmp_path):
    (tmp_path / "model").write_text(GOOD)
    model = from_libsvm(tmp_path / "model")
    row = [[0.5, 0.0, 1.0]]
    expected = 1.0 - np.exp(-0.5 * (0.25 + 1e-6 + 1.0)) - 0.25
    assert model.decision_function(row) == pytest.approx([expected], rel=1e-12)
    (tmp_path / "large").write_text(GOOD.replace("3:1", "2000000000:1"))
    assert from_libsvm(tmp_path / "large").n_features_in_ == 2_000_000_000


def test_many_classes_of_a_small_file_take_no_memory(tmp_path):
    n = 800
    labels = " ".join(map(str, range(n)))
    rho = "0 " * (n * (n - 1) // 2)
    text = f"svm_type c_svc\nkernel_type linear\nnr_class {n}\ntotal_sv {n}\nrho {rho}\nlabel {labels}\n"
    (tmp_path / "model").write_text(text + f"nr_sv {'1 ' * n}\nSV\n")
    with pytest.raises(PegasosError, match="319600 pairs of classes with 800 support vectors do not fit in memory"):
        from_libsvm(tmp_path / "model")
