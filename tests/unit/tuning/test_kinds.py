"""What X holds is recognized by the readers of the kernels."""

import networkx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from pegasos.errors import PegasosError
from pegasos.tuning.kinds import kind_of

RING = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.zeros((3, 2)), "rows"),
        (sp.csr_array(np.eye(3)), "rows"),
        ([[1, 2], [3, 4]], "rows"),
        (pd.DataFrame({"a": [1.0, 2.0]}), "rows"),
        (["ab", "cd"], "strings"),
        ([b"ab", b"cd"], "strings"),
        (pd.Series(["ab", "cd"]), "strings"),
        (np.array(["ab", "cd"]), "strings"),
        ([networkx.path_graph(3), networkx.cycle_graph(4)], "graphs"),
        ([(RING, ["C"] * 4), (sp.csr_array(RING), None)], "graphs"),
        ([np.zeros(3), np.zeros(5)], "series"),
        (np.zeros((4, 10, 2)), "series"),
    ],
)
def test_the_kind_of_a_collection_is_recognised(X, kind):
    assert kind_of(X) == kind


@pytest.mark.parametrize("X", [[{"a": 1}, {"a": 2}], [object(), object()]])
def test_what_no_kernel_takes_raises_an_error(X):
    with pytest.raises(PegasosError, match="X must hold rows of numbers, strings, graphs"):
        kind_of(X)


def test_one_item_that_is_not_a_string_gets_its_number():
    with pytest.raises(PegasosError, match="string 1 is a float"):
        kind_of(["ab", 1.0])
