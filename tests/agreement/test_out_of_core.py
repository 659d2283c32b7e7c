"""Out of core on real data: the optimum of a fit in memory, certified. Needs the folder named by PEGASOS_DATA."""

import pytest

from pegasos import PegasosClassifier
from pegasos.data import ArraySource
from tests.agreement.test_real_data import pytestmark as needs_data
from tests.agreement.test_real_data import rows_and_signs

pytestmark = needs_data


@pytest.mark.parametrize(
    ("name", "n_rows", "memory"), [("a9a", None, "2M"), ("reuters21578", None, "4M"), ("covtype", 60_000, "5M")]
)
def test_a_certified_optimum_out_of_core_is_that_in_memory(name, n_rows, memory):
    rows, is_positive = rows_and_signs(name)
    rows, is_positive = rows[:n_rows], is_positive[:n_rows]
    in_memory = PegasosClassifier(lam=1e-4, random_state=0).fit(rows, is_positive)
    source = ArraySource(rows, is_positive, 2000)
    out_of_core = PegasosClassifier(lam=1e-4, random_state=0).fit_source(source, memory=memory)
    assert out_of_core.certificate_.relative_gap <= 1e-3
    # Each is at most a thousandth above the optimum, and so above the bound that the other proves.
    assert out_of_core.certificate_.dual <= in_memory.certificate_.primal
    assert in_memory.certificate_.dual <= out_of_core.certificate_.primal
