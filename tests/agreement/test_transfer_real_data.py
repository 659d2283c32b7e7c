"""One user's spam filter from another's, on real mails. Needs the folder named by PEGASOS_DATA."""

import os

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from experiments import transfer

pytestmark = pytest.mark.skipif(
    not os.environ.get("PEGASOS_DATA"), reason="PEGASOS_DATA does not name a folder with the data sets"
)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sms_spam", "spambase"])
def test_with_fifty_labels_transfer_beats_the_source_and_the_target_alone(name):
    X, spam, places = transfer.mails(name)
    is_target = transfer.users(places, spam, 1)
    source = transfer.chosen(X[~is_target], spam[~is_target], None)
    X, spam = X[is_target], spam[is_target]
    reached = []
    for random, pool, test in transfer.draws(spam, 8):
        part = pool[transfer.labelled(spam[pool], 50, random)]
        models = source, *(transfer.chosen(X[part], spam[part], prior) for prior in (None, source))
        reached.append([balanced_accuracy_score(spam[test], model.predict(X[test])) for model in models])
    unchanged, alone, together = np.mean(reached, axis=0)
    assert together > max(alone, unchanged)
