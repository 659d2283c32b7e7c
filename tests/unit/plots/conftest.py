import pytest


@pytest.fixture(autouse=True)
def plt():
    found = pytest.importorskip("matplotlib.pyplot")
    found.switch_backend("Agg")
    return found
