"""Model files of LIBLINEAR, both ways, against LIBLINEAR itself."""

import numpy as np
import pytest

from pegasos import KernelPegasosClassifier, PegasosClassifier, PegasosError
from pegasos.export import from_json, from_liblinear, read_model, to_json, to_liblinear
from tests.unit.export.models import CODES, MODELS, NEW, NUMBERS, PAIR, X, model_of

liblinearutil = pytest.importorskip("liblinear.liblinearutil")

LINEAR = [
    name
    for name in MODELS
    if name.startswith(("linear", "probability, rest", "perc", "pass", "conf")) and name != "linear, pairs"
]


def of_liblinear(path, rows):
    """Labels, decision values and the order of the labels."""
    model = liblinearutil.load_model(str(path))
    labels, _, decisions = liblinearutil.predict([], rows, model, "-q")
    return np.array(labels), np.array(decisions), model.get_labels()


def vector_of(path, label):
    """The scores of one label: with two classes, predict returns only one of them."""
    model = liblinearutil.load_model(str(path))
    weights, bias = model.get_decfun(model.get_labels().index(label))
    return NEW @ weights + bias


def trained(path, options, y, X=X):
    model = liblinearutil.train(y, X, f"-q {options}")
    liblinearutil.save_model(str(path), model)
    return model


@pytest.mark.parametrize("name", LINEAR)
def test_liblinear_reads_what_we_write(name, tmp_path):
    model = model_of(name)
    to_liblinear(model, tmp_path / "model")
    labels, decisions, order = of_liblinear(tmp_path / "model", NEW)
    ours = model.decision_function(NEW)
    assert labels.tolist() == model.predict(NEW).tolist()
    if ours.ndim == 1:
        assert order == model.classes_[::-1].tolist()
        np.testing.assert_allclose(decisions[:, 0], ours, atol=1e-12)
    else:
        assert order == model.classes_.tolist()
        np.testing.assert_allclose(decisions, ours, atol=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_a_file_read_back_is_the_same_model(name, tmp_path):
    model = model_of(name)
    to_liblinear(model, tmp_path / "model")
    again = from_liblinear(tmp_path / "model")
    np.testing.assert_allclose(again.decision_function(NEW), model.decision_function(NEW), rtol=1e-14, atol=1e-14)
    assert again.predict(NEW).tolist() == model.predict(NEW).tolist()


# In this order a score of the file is positive for the larger label, and for the smaller one.
@pytest.mark.parametrize("first", [5, -2])
@pytest.mark.parametrize("options", ["-s 3 -B 1", "-s 3", "-s 1 -B 2.5", "-s 0 -B 1", "-s 4 -B 1", "-s 4", "-s 5 -B 1"])
def test_we_read_what_liblinear_writes_of_two_classes(options, first, tmp_path):
    order = np.argsort(first != PAIR, kind="stable")
    trained(tmp_path / "model", options, PAIR[order], X[order])
    labels, decisions, names = of_liblinear(tmp_path / "model", NEW)
    model = from_liblinear(tmp_path / "model")
    assert model.predict(NEW).tolist() == labels.tolist()
    if options.startswith("-s 4"):
        theirs = vector_of(tmp_path / "model", 5) - vector_of(tmp_path / "model", -2)
    else:
        theirs = decisions[:, 0] if names[0] == 5 else -decisions[:, 0]
    np.testing.assert_allclose(model.decision_function(NEW), theirs, atol=1e-12)
    assert (model.margin(X, PAIR) > 0).mean() == pytest.approx((model.predict(X) == PAIR).mean())


@pytest.mark.parametrize("options", ["-s 3 -B 1", "-s 3", "-s 2 -B 1", "-s 4 -B 1", "-s 7 -B 1"])
def test_we_read_what_liblinear_writes_of_three_classes(options, tmp_path):
    trained(tmp_path / "model", options, NUMBERS)
    labels, decisions, names = of_liblinear(tmp_path / "model", NEW)
    model = read_model(tmp_path / "model")
    assert names != sorted(names)
    assert model.predict(NEW).tolist() == labels.tolist()
    np.testing.assert_allclose(model.decision_function(NEW), decisions[:, np.argsort(names)], atol=1e-12)


@pytest.mark.parametrize("options", ["-s 3 -B 1", "-s 3", "-s 3 -B 2.5", "-s 4 -B 1"])
@pytest.mark.parametrize("y", [PAIR, NUMBERS], ids=["two", "three"])
def test_the_certificate_of_a_model_of_liblinear_is_true_and_close(options, y, tmp_path):
    trained(tmp_path / "model", f"{options} -c 0.1 -e 0.000001", y)
    model = from_liblinear(tmp_path / "model", C=0.1)
    proof = model.certify(X, y)
    bias = 2.5 if "2.5" in options else 1.0
    is_joint = options.startswith("-s 4")
    ours = PegasosClassifier(
        C=0.1,
        fit_intercept="-B" in options,
        intercept_scaling=bias,
        tol=1e-8,
        multi_class="crammer_singer" if is_joint else "ovr",
    ).fit(X, y)
    assert -1e-12 <= proof.relative_gap < 2e-3
    assert proof.dual <= ours.certificate_.primal * (1.0 + 1e-14)  # which may be exact up to its own rounding
    assert proof.primal >= ours.certificate_.dual
    if not is_joint:
        assert proof.primal == pytest.approx(objective(model, y, 0.1, bias if "-B" in options else 0.0))


def objective(model, y, C, bias):
    """1/2 |w|^2 + C sum of losses, over C N, of each class against the rest."""
    scores = model.decision_function(X)
    if scores.ndim == 1:
        signs = np.where(y == model.classes_[1], 1, -1)[:, None]
    else:
        signs = np.where(y[:, None] == model.classes_, 1, -1)
    losses = np.maximum(0.0, 1.0 - signs * scores.reshape(len(y), -1)).sum()
    square = np.square(model.coef_).sum() + (np.square(model.intercept_ / bias).sum() if bias else 0.0)
    return (0.5 * square + C * losses) / (C * len(y))


def test_a_certificate_tells_a_bad_model_from_a_good_one(tmp_path):
    trained(tmp_path / "good", "-s 3 -B 1 -c 1 -e 0.001", PAIR)
    trained(tmp_path / "bad", "-s 3 -B 1 -c 0.001 -e 0.001", PAIR)
    good, bad = (from_liblinear(tmp_path / name, C=1.0).certify(X, PAIR) for name in ("good", "bad"))
    assert good.relative_gap < 0.01
    assert bad.relative_gap > 0.1
    assert good.dual == pytest.approx(bad.dual, rel=1e-3)


def test_without_c_or_lam_the_certificate_asks_for_it(tmp_path):
    trained(tmp_path / "model", "-s 3 -B 1", PAIR)
    model = from_liblinear(tmp_path / "model")
    assert "read from a LIBLINEAR file (L2R_L1LOSS_SVC_DUAL)" in model.status_
    with pytest.raises(PegasosError, match=r"does not say how it was regularized: give C or lam"):
        model.certify(X, PAIR)
    assert model.set_params(C=1.0).certify(X, PAIR).relative_gap < 0.05
    lam = 1.0 / len(X)
    assert from_liblinear(tmp_path / "model", lam=lam).certify(X, PAIR).gap == pytest.approx(
        from_liblinear(tmp_path / "model", C=1.0).certify(X, PAIR).gap, abs=2e-3
    )


def test_a_model_that_was_read_says_what_it_cannot_do(tmp_path):
    trained(tmp_path / "model", "-s 3 -B 1", PAIR)
    model = from_liblinear(tmp_path / "model", C=1.0)
    with pytest.raises(PegasosError, match="has no certificate of its own"):
        model.certified(X)
    with pytest.raises(PegasosError, match="give it this one as its prior"):
        from_liblinear(tmp_path / "model", lam=0.1).partial_fit(X, PAIR, classes=[-2, 5])
    with pytest.raises(PegasosError, match="not in the classes"):
        model.certify(X, np.where(PAIR == 5, 6, PAIR))
    with pytest.raises(PegasosError, match="no row of class 5"):
        model.certify(X[PAIR == -2], PAIR[PAIR == -2])
    with pytest.raises(ValueError, match="expecting 4 features"):
        model.certify(X[:, :2], PAIR)
    fitted = model.fit(X, PAIR)
    assert fitted.certify(X, PAIR) == fitted.certificate_
    assert PegasosClassifier(lam=0.1, prior=from_liblinear(tmp_path / "model")).fit(X, PAIR).score(X, PAIR) > 0.5


def test_a_model_that_was_read_is_fitted_once_its_c_is_known(tmp_path):
    trained(tmp_path / "model", "-s 3 -B 1", PAIR)
    with pytest.raises(PegasosError, match="does not say how it was regularized"):
        from_liblinear(tmp_path / "model").fit(X, PAIR)
    model = from_liblinear(tmp_path / "model").set_params(C=1.0, random_state=0).fit(X, PAIR)
    np.testing.assert_array_equal(model.coef_, PegasosClassifier(C=1.0, random_state=0).fit(X, PAIR).coef_)
    with pytest.raises(PegasosError, match="lam must be a positive number, got None"):
        PegasosClassifier(lam=None).fit(X, PAIR)


def test_a_model_goes_by_the_classes_of_its_fit_whatever_the_parameter_says_now(tmp_path):
    trained(tmp_path / "model", "-s 3 -B 1", NUMBERS)
    for model in (from_liblinear(tmp_path / "model", C=1.0), PegasosClassifier(C=1.0, random_state=0).fit(X, NUMBERS)):
        expected, proof = model.predict(NEW), model.set_params(random_state=0).certify(X, NUMBERS)
        model.set_params(multi_class="ovo")
        np.testing.assert_array_equal(model.predict(NEW), expected)
        assert model.certify(X, NUMBERS) == proof
        np.testing.assert_array_equal(from_json(to_json(model)).predict(NEW), expected)
        prior = PegasosClassifier(prior=model, random_state=0).fit(X, NUMBERS).fitted_.model.prior
        np.testing.assert_array_equal(prior.coef, model.coef_)


def test_what_liblinear_cannot_represent_is_refused_with_a_reason(tmp_path):
    with pytest.raises(PegasosError, match="no pairs of classes: fit with multi_class='ovr'"):
        to_liblinear(model_of("linear, pairs"), tmp_path / "model")
    with pytest.raises(PegasosError, match="linear models only, and this one has RBF"):
        to_liblinear(model_of("rbf, two"), tmp_path / "model")
    with pytest.raises(PegasosError, match="whole numbers of 32 bits, got 'setosa'"):
        to_liblinear(model_of("names"), tmp_path / "model")
    big = PegasosClassifier(lam=0.1).fit(X, np.where(CODES == 0, 2**40, 1))
    with pytest.raises(PegasosError, match="whole numbers of 32 bits"):
        to_liblinear(big, tmp_path / "model")
    empty = KernelPegasosClassifier(lam=0.1, max_support=1).fit(X, PAIR)
    with pytest.raises(PegasosError, match="only"):
        to_liblinear(empty, tmp_path / "model")


GOOD = "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-1e3 \n.25 \n"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("L2R_LR", "L2R_STRANGE", "line 1: .*is not a solver of LIBLINEAR"),
        ("L2R_LR", "ONECLASS_SVM", "line 6: the header ends without rho"),
        ("solver_type L2R_LR\n", "", "line 5: the header ends without solver_type"),
        ("nr_class 2", "nr_class 2000000000", "line 3: expected 2000000000 value.s. after label, got 2"),
        ("nr_class 2", "nr_class 1", "line 2: nr_class must be at least 2, got 1"),
        ("nr_class 2", "nr_class 2_0", "line 2: expected a whole number of 32 bits, got '2_0'"),
        ("nr_class 2", "nr_class 99999999999", "line 2: expected a whole number"),
        ("label 1 -1", "label 1 1", "line 3: a label is there twice"),
        ("label 1 -1", "label 1 -1\nlabel 1 -1", "line 4: label has been said already in line 3"),
        ("label 1 -1", "label 1 x", "line 3: expected a whole number"),
        (
            "nr_feature 2",
            "nr_feature 2000000000",
            "line 10: expected 2000000001 lines of weights, got 4|line 10: expected",
        ),
        ("nr_feature 2", "nr_feature 1", "line 9: the model has ended, got '.25 '"),
        ("nr_feature 2", "nr_feature -1", "line 4: nr_feature must be at least 0, got -1"),
        ("bias 1", "bias nan", "line 5: expected finite numbers, got 'nan'"),
        ("bias 1", "colour red", "line 5: expected a key of a model file, got 'colour red'"),
        ("bias 1\n", "bias 1\n\n", "line 6: expected a key of a model file, got ''"),
        ("w\n", "", "line 6: expected a key of a model file, got '0.5 '"),
        ("0.5 ", "0.5 1", "line 7: expected 1 weight.s., got 2"),
        ("-1e3", "1e999", "line 8: expected finite numbers, got '1e999'"),
        ("-1e3", "1_0", "line 8: expected finite numbers, got '1_0'"),
        ("-1e3", "x" * 1000, "line 8: expected finite numbers, got 'xxxx.*[.][.][.]'"),
        ("-1e3", "\x00", "line 8: expected finite numbers"),
        ("-1e3", "é", "line 8: byte 0xc3 is not ASCII text"),
    ],
)
def test_a_broken_file_is_refused_with_the_line(old, new, sentence, tmp_path):
    assert old in GOOD
    (tmp_path / "model").write_text(GOOD.replace(old, new, 1), encoding="utf8")
    with pytest.raises(PegasosError, match=sentence):
        from_liblinear(tmp_path / "model")


def test_a_good_file_by_hand_is_read(tmp_path):
    (tmp_path / "model").write_bytes(GOOD.replace("\n", "\r\n").encode())
    model = from_liblinear(tmp_path / "model")
    assert model.classes_.tolist() == [-1, 1]
    assert model.coef_.tolist() == [[0.5, -1000.0]]
    assert model.intercept_.tolist() == [0.25]


def test_files_that_are_not_there_and_settings_that_do_not_fit(tmp_path):
    with pytest.raises(FileNotFoundError):
        from_liblinear(tmp_path / "none")
    with pytest.raises(PegasosError, match="could not be read"):
        from_liblinear(tmp_path)
    (tmp_path / "model").write_text(GOOD)
    with pytest.raises(PegasosError, match="give lam or C, not both"):
        from_liblinear(tmp_path / "model", C=1.0, lam=1.0)
    with pytest.raises(PegasosError, match="C must be a positive number, got -1"):
        from_liblinear(tmp_path / "model", C=-1)
