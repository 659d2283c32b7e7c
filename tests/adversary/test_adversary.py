"""A short run of the search with a fixed seed; `make adversary` searches for longer."""

import pytest

from tests.adversary.__main__ import HUNTS, search


@pytest.mark.slow
@pytest.mark.parametrize("name", HUNTS)
def test_a_short_search_finds_nothing(name):
    counts, found = search(name, 20.0, 1)
    assert found == []
    assert counts


@pytest.mark.parametrize("name", ["linear", "kernels", "hostile"])
def test_a_glance_finds_nothing(name):
    counts, found = search(name, 1.0, 0)
    assert found == []
    assert counts
