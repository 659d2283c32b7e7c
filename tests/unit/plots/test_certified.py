"""The picture of certified shares shows what fits of ever smaller gaps certify."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC

from pegasos import PegasosClassifier, PegasosError
from pegasos.plots import CertifiedShareDisplay

X, Y = load_digits(n_class=4, return_X_y=True)


def test_shares_are_those_of_the_fits():
    model = make_pipeline(MaxAbsScaler(), PegasosClassifier(lam=1e-3, random_state=0))
    display = CertifiedShareDisplay.from_estimator(model, X, Y, tols=(1e-3, 0.3)).plot()
    rough = PegasosClassifier(lam=1e-3, tol=0.3, random_state=0).fit(MaxAbsScaler().fit_transform(X), Y)
    assert display.gaps[0] == rough.certificate_.relative_gap > display.gaps[1]
    assert display.shares[0] == rough.certified_share_ <= display.shares[1]
    assert (display.balls <= display.shares).all()
    assert [line.get_label() for line in display.lines_] == ["certified", "by the ball alone"]
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), display.shares)
    assert display.ax_.get_xlabel() == "relative duality gap"


def test_other_rows_and_seconds():
    model = PegasosClassifier(lam=1e-3, random_state=0)
    display = CertifiedShareDisplay.from_estimator(model, X[:300] / 16, Y[:300], tols=[0.1], X_val=X[300:] / 16)
    fit = model.set_params(tol=0.1).fit(X[:300] / 16, Y[:300])
    assert display.shares.tolist() == [fit.certified(X[300:] / 16).mean()]
    assert display.plot(by="seconds").ax_.get_xlabel() == "seconds of the fit"


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(PegasosError, match="tols is empty"):
        CertifiedShareDisplay.from_estimator(PegasosClassifier(), X, Y, tols=())
    with pytest.raises(PegasosError, match="LinearSVC has no certificate"):
        CertifiedShareDisplay.from_estimator(make_pipeline(LinearSVC()), X, Y)
    with pytest.raises(PegasosError, match="one number per fit"):
        CertifiedShareDisplay([0.1], [1.0, 2.0], [0.5])
    with pytest.raises(PegasosError, match="by must be 'gap' or 'seconds'"):
        CertifiedShareDisplay([0.1], [1.0], [0.5]).plot(by="epochs")
