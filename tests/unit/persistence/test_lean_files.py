"""Files without the dual point: smaller, with the same predictions and the same certificate."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pegasos

X, Y = make_classification(2000, 8, n_informative=6, n_classes=3, random_state=0)
MODELS = [
    pegasos.PegasosClassifier(lam=1e-2),
    pegasos.PegasosClassifier(lam=1e-2, multi_class="ovo"),
    pegasos.PegasosClassifier(lam=1e-2, multi_class="crammer_singer"),
    pegasos.PegasosClassifier(lam=1e-2, solver="pegasos", tol=0.5, max_iter=3, random_state=0),
    pegasos.PegasosClassifierCV(lams=[1e-2], cv=2),
    pegasos.PegasosRegressor(lam=1e-2),
    pegasos.PegasosOneClass(),
    pegasos.KernelPegasosClassifier(lam=1e-1, multi_class="ovo"),
    pegasos.KernelPegasosRegressor(lam=1.0),
    make_pipeline(StandardScaler(), pegasos.PegasosClassifier(lam=1e-2)),
]


@pytest.mark.filterwarnings("ignore::pegasos.GapWarning")
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_a_lean_file_is_smaller_and_predicts_the_same(model, tmp_path):
    kernel = "Kernel" in repr(model)
    rows, labels = (X[:200], Y[:200]) if kernel else (X, Y)
    model.fit(rows, labels)
    pegasos.save(model, tmp_path / "whole")
    pegasos.save(model, tmp_path / "lean", dual=False)
    whole, lean = ((tmp_path / name).stat().st_size for name in ("whole", "lean"))
    assert lean < whole - 7 * len(rows)
    assert kernel or lean < 15_000  # less than a number per row
    found = pegasos.load(tmp_path / "lean")
    assert np.array_equal(found.predict(rows), model.predict(rows))
    ours, theirs = (each[-1] if hasattr(each, "steps") else each for each in (model, found))
    assert theirs.certificate_ == ours.certificate_
    pegasos.save(found, tmp_path / "again")  # which has none to keep


def test_what_needs_the_dual_point_says_that_it_was_left_out(tmp_path):
    model = pegasos.PegasosClassifier(lam=1e-2, warm_start=True).fit(*load_iris(return_X_y=True))
    model.save(tmp_path / "lean", dual=False)
    found = pegasos.load(tmp_path / "lean")
    assert not hasattr(found, "support_")
    with pytest.raises(pegasos.PegasosError, match="dual=False"):
        found.certify(*load_iris(return_X_y=True))
    assert found.fit(*load_iris(return_X_y=True)).certificate_.relative_gap <= 1e-3


def test_a_lean_stream_continues_from_its_weights(tmp_path):
    stream = pegasos.PegasosClassifier(lam=1e-2, random_state=0)
    for block in (slice(0, 500), slice(500, 1000)):
        stream.partial_fit(X[block], Y[block], classes=[0, 1, 2])
    stream.save(tmp_path / "lean", dual=False)
    found = pegasos.load(tmp_path / "lean")
    steps = found.n_steps_
    found.partial_fit(X[1000:], Y[1000:])
    assert found.n_steps_ == steps + 3 * 1000
    assert found.score(X, Y) > stream.score(X, Y) - 0.02
