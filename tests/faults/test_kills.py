"""A writer that is killed leaves the old file or the new one."""

import os

import pytest

from tests.faults.kills import main


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore")
def test_a_killed_writer_leaves_a_whole_file():
    found, _ = main(30)
    assert sum(sum(seen.values()) for seen in found.values()) == 30
