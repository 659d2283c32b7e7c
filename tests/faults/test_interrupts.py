"""Ctrl-C at any moment: a usable model or a clean KeyboardInterrupt; `interrupts.py` does it in greater numbers."""

import pytest

from tests.faults.interrupts import campaign, kinds


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", kinds())
def test_an_interrupt_leaves_a_usable_model_or_none(name):
    assert sum(campaign(each=4, seed=1, names=[name])[name].values()) == 4
