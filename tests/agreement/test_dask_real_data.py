"""Real data in partitions: the optimum of the fit in memory. Needs the folder named by PEGASOS_DATA."""

import os
from itertools import pairwise

import dask
import numpy as np
import pytest

from pegasos import PegasosClassifier
from pegasos.dask import PegasosClassifier as PegasosOfPartitions
from tests.agreement.test_real_data import rows_and_signs

pytestmark = pytest.mark.skipif(
    not os.environ.get("PEGASOS_DATA"), reason="PEGASOS_DATA does not name a folder with the data sets"
)


@pytest.mark.parametrize("n_partitions", [2, 5])
@pytest.mark.parametrize("name", ["a9a", "reuters21578", "covtype"])
def test_partitions_reach_the_optimum_of_the_whole(name, n_partitions):
    X, y = rows_and_signs(name)
    chosen = np.random.default_rng(0).permutation(X.shape[0])[:30_000]
    X, y = X[chosen], y[chosen]
    ends = np.linspace(0, X.shape[0], n_partitions + 1).astype(int)
    blocks = [[dask.delayed(c[a:b]) for a, b in pairwise(ends)] for c in (X, y)]
    model = PegasosOfPartitions(lam=1e-3, random_state=0).fit(*blocks)
    local = PegasosClassifier(lam=1e-3, tol=1e-5).fit(X, y)
    assert model.certificate_.relative_gap <= 1e-3
    assert local.certificate_.dual <= model.certificate_.primal <= local.certificate_.primal * (1 + 2e-3)
    assert model.certificate_.dual <= local.certificate_.primal
    assert np.mean(model.predict(X) == local.predict(X)) > 0.98
