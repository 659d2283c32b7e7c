"""Rare classes of real data: as good as LIBLINEAR with the same costs. Needs the folder named by PEGASOS_DATA."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import average_precision_score, balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.svm import LinearSVC

from pegasos import PegasosClassifier
from tests.agreement.test_real_data import FOLDER, read

pytestmark = pytest.mark.skipif(not FOLDER, reason="PEGASOS_DATA does not name a folder with the data sets")


def parts(name):
    rows, labels = read(name)
    if name == "sms_spam":
        rows = sp.csr_matrix(TfidfTransformer().fit_transform(rows), dtype=np.float32)
    return train_test_split(rows, labels > 0, test_size=0.25, stratify=labels, random_state=0)


def measures(model, rows, is_rare):
    scores = model.decision_function(rows)
    ranks = average_precision_score(is_rare, scores), roc_auc_score(is_rare, scores)
    return np.array([balanced_accuracy_score(is_rare, scores > 0), *ranks])


@pytest.mark.parametrize(("name", "C"), [("w8a", 0.1), ("sms_spam", 1.0)])
@pytest.mark.parametrize("class_weight", [None, "balanced", {True: 3.0, False: 1.0}], ids=["none", "balanced", "dict"])
def test_ours_is_as_good_as_liblinear_with_the_same_costs(name, C, class_weight):
    rows, others, is_rare, other_is_rare = parts(name)
    settings = {"C": C, "class_weight": class_weight, "random_state": 0}
    ours = PegasosClassifier(**settings).fit(rows, is_rare)
    theirs = LinearSVC(loss="hinge", max_iter=100_000, **settings).fit(rows, is_rare)
    assert ours.certificate_.relative_gap <= 1e-3
    assert (measures(ours, others, other_is_rare) > measures(theirs, others, other_is_rare) - 0.01).all()


@pytest.mark.parametrize(("name", "C"), [("w8a", 0.1), ("sms_spam", 1.0)])
def test_two_epochs_of_balanced_draws_come_near(name, C):
    rows, others, is_rare, other_is_rare = parts(name)
    settings = {"C": C, "class_weight": "balanced", "random_state": 0}
    exact = PegasosClassifier(**settings).fit(rows, is_rare)
    few = {
        sampling: PegasosClassifier(solver="pegasos", sampling=sampling, tol=None, max_iter=2, **settings).fit(
            rows, is_rare
        )
        for sampling in ("shuffle", "balanced")
    }
    assert few["balanced"].certificate_.primal < 0.8 * few["shuffle"].certificate_.primal
    near = measures(exact, others, other_is_rare) - measures(few["balanced"], others, other_is_rare)
    assert near.max() < 0.03
