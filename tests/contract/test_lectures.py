"""The page from the lectures to the library: its calls run, what they claim is true, its links lead somewhere."""

import re
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest

LEARN = Path(__file__).parents[2] / "docs" / "learn"
PAGE = (LEARN / "from-your-lecture.md").read_text(encoding="utf8")
DOCUMENTS = [
    "Lecture notes on Pegasos (Ashutosh, Chen, Xiao)",
    "Slides on support vector machines (Doppa)",
    "Exercise sheet on convergence (Amini)",
    "MIT lecture on Pegasos (Collins)",
    "Project report (Andrew)",
]


def rows_of(document):
    """The cells of the document's table."""
    section = PAGE.split(f"## {document}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def slugs_of(page):
    """The anchors of a page's headings."""
    found = set()
    for title in re.findall(r"^#{1,4} (.*)$", page.read_text(encoding="utf8"), re.MULTILINE):
        words = unicodedata.normalize("NFKC", title.lower())
        found.add(re.sub(r"[^\w\- ]", "", words).strip().replace(" ", "-"))
    return found


@pytest.fixture(scope="module")
def names():
    found = {}
    exec(re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1], found)
    return found


def test_every_document_has_a_table_and_they_have_more_than_a_hundred_items():
    counts = [len(rows_of(document)) for document in DOCUMENTS]
    assert min(counts) >= 12
    assert sum(counts) >= 109


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_call_runs_and_every_comparison_is_true(document, names):
    for _, _, calls in rows_of(document):
        spans = re.findall(r"`([^`]+)`", calls)
        assert spans, calls
        for code in spans:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = eval(code, names)
            if isinstance(found, bool | np.bool_) or getattr(found, "dtype", None) == np.dtype(bool):
                assert np.all(found), code


@pytest.mark.parametrize("page", sorted(LEARN.glob("*.md")), ids=lambda page: page.stem)
def test_every_link_of_the_chapter_leads_to_a_heading_that_exists(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf8")):
        path, _, anchor = target.partition("#")
        there = page if not path else (page.parent / path).resolve()
        assert there.exists(), target
        assert not anchor or anchor in slugs_of(there), target


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_item_has_a_page(document):
    for item, more, _ in rows_of(document):
        assert re.search(r"\]\([^)]+\)", more), item
