"""What the pages of the theory and of the algorithms say of their tests is true."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THEORY = sorted((ROOT / "docs" / "theory").glob("*.md"))
ALGORITHMS = sorted((ROOT / "docs" / "algorithms").glob("*.md"))


def names_of_tests(*files):
    """The names of all tests of some files."""
    return {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text(encoding="utf8"))}


@pytest.mark.parametrize("page", THEORY + ALGORITHMS, ids=lambda page: f"{page.parent.name}/{page.stem}")
def test_the_tests_that_a_page_names_are_where_it_says(page):
    named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf8")))
    files = {ROOT / path for path in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text(encoding="utf8"))}
    assert all(file.exists() for file in files)
    assert named <= names_of_tests(*files)
    assert named or page.stem == "index" or page in ALGORITHMS


def test_every_test_of_the_theory_is_named_on_a_page():
    written = "".join(page.read_text(encoding="utf8") for page in THEORY + ALGORITHMS)
    files = [file for file in Path(__file__).parent.glob("test_*.py") if file != Path(__file__)]
    assert {name for name in names_of_tests(*files) if name not in written} == set()
