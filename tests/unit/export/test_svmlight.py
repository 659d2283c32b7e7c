"""Model files of SVM-Light: scores by the formula of its documentation, and broken files refused by line."""

import numpy as np
import pytest

from pegasos import PegasosError
from pegasos.export import from_svmlight, read_model

KERNELS = {
    0: lambda x, z: x @ z,
    1: lambda x, z: (2.0 * (x @ z) + 0.5) ** 3,
    2: lambda x, z: np.exp(-0.25 * np.square(x - z).sum()),
}
VECTORS = np.array([[1.5, 0.0, -2.0], [0.0, 0.25, 0.0], [1.0, 1.0, 1.0]])
COEFFICIENTS = [0.75, -1.0, 0.25]


def written(path, kind=0, **changes):
    values = [kind, 3, 0.25, 2, 0.5, "empty", 3, 10, 4, -0.125]
    lines = ["SVM-light Version V6.20", *(f"{value} # what it is" for value in values)]
    for coefficient, vector in zip(COEFFICIENTS, VECTORS, strict=True):
        entries = " ".join(f"{i}:{value}" for i, value in enumerate(vector, 1) if value)
        lines.append(f"{coefficient} {entries} #")
    for number, line in changes.items():
        lines[int(number.removeprefix("line_")) - 1] = line
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("kind", KERNELS)
def test_scores_are_those_of_the_formula(kind, tmp_path):
    new = np.random.default_rng(0).normal(size=(7, 3))
    model = read_model(written(tmp_path / "model", kind))
    expected = [sum(c * KERNELS[kind](z, x) for c, z in zip(COEFFICIENTS, VECTORS, strict=True)) + 0.125 for x in new]
    np.testing.assert_allclose(model.decision_function(new), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(new), np.where(np.array(expected) > 0, 1, -1))


def test_a_model_of_a_file_is_certified(tmp_path):
    X, y = np.random.default_rng(1).normal(size=(40, 3)), np.tile([-1, 1], 20)
    certificate = from_svmlight(written(tmp_path / "model"), C=1.0).certify(X, y)
    assert certificate.primal >= certificate.dual


def test_more_features_than_the_file_tells_are_allowed_and_fewer_are_not(tmp_path):
    path = written(tmp_path / "model")
    assert from_svmlight(path, n_features=5).decision_function(np.zeros((1, 5))) == pytest.approx(0.125)
    with pytest.raises(PegasosError, match="has 3 features, more than n_features=2"):
        from_svmlight(path, n_features=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"line_1": "svm"}, "line 1: expected SVM-light"),
        ({"line_2": "3 # kernel type"}, "line 2: pegasos has no kernel of type 3"),
        ({"line_2": "x # kernel type"}, "line 2: expected a whole number"),
        ({"line_10": "9 # number"}, "expected 8 support vectors"),
        ({"line_10": "0 # number"}, "must be at least 1"),
        ({"line_10": "2 # number"}, "line 13: the model has ended"),
        ({"line_11": "nan # threshold"}, "line 11: expected finite numbers"),
        ({"line_12": "1 2:1 1:1 #"}, "line 12: indices must rise"),
        ({"line_12": "1 4:1 #"}, "line 12: indices must rise from 1 to at most 3"),
        ({"line_12": "1 0:1 #"}, "line 12: indices must rise"),
        ({"line_12": "# nothing"}, "line 12: expected a support vector"),
    ],
)
def test_a_broken_file_is_refused_by_its_line(changes, message, tmp_path):
    with pytest.raises(PegasosError, match=message):
        from_svmlight(written(tmp_path / "model", **changes))


def test_a_file_that_ends_early_is_refused(tmp_path):
    path = tmp_path / "model"
    path.write_text("SVM-light Version V6.20\n0 # kernel type\n")
    with pytest.raises(PegasosError, match="the file ends before"):
        read_model(path)
