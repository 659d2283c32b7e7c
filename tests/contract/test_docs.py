"""The documentation's site is built without a warning, and no link in it leads nowhere."""

import importlib.util
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pegasos

ROOT = Path(__file__).parents[2]
LINKS = ROOT / "docs" / "_site" / "links.py"


@pytest.fixture
def faults():
    return runpy.run_path(str(LINKS), run_name="links")["faults"]


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('<a href="other.html#there">x</a><a href="https://example.org">x</a><img src="data:image/png,">', None),
        ('<a href="none.html">x</a>', "index.html refers to none.html, which does not exist."),
        ('<a href="other.html#gone">x</a>', "index.html refers to other.html#gone, a place that is not on that page."),
        ('<a href="#gone">x</a>', "index.html refers to #gone, a place that is not on that page."),
        ('<img src="lost.png">', "index.html refers to lost.png, which does not exist."),
        ('<script src="https://a.org/b.js"></script>', "index.html loads https://a.org/b.js over the network."),
        ('<link rel="stylesheet" href="//a.org/b.css">', "index.html loads //a.org/b.css over the network."),
    ],
)
def test_links_that_lead_nowhere_and_requests_are_found(faults, tmp_path, body, sentence):
    (tmp_path / "index.html").write_text(f"<html><body>{body}</body></html>")
    (tmp_path / "other.html").write_text('<html><body><p id="there"></p></body></html>')
    assert faults(tmp_path) == ([] if sentence is None else [sentence])


def test_links_between_the_pages_lead_to_files():
    """Also where they are read on a forge, without the site."""
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf8")):
            if "://" not in target and "$" not in target and "\\" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("furo") is None, reason="needs the dependency group docs")
def test_the_site_is_built_without_a_warning(tmp_path, faults):
    site = tmp_path / "site"
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "-n", "-d", tmp_path / "trees", ROOT / "docs", site]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert faults(site) == []
    assert "<math" in (site / "theory" / "convergence.html").read_text(encoding="utf8")
    gallery = (site / "gallery.html").read_text(encoding="utf8")
    assert all(f"examples/{script.name}" in gallery for script in (ROOT / "examples").glob("*.py"))


def test_open_places_of_the_index_are_filled_by_the_pages_that_exist():
    completed = runpy.run_path(str(ROOT / "docs" / "_site" / "navigation.py"), run_name="navigation")["completed"]
    source = "Begin <tutorial>\n<!-- pages: * -->\n<!-- pages: learn/* playground -->\n"
    found = {"index", "tutorial", "new", "playground", "learn/one", "learn/two", "experiments/toy"}
    begin = ["Begin", "<tutorial>"]
    assert completed(source, found).split() == [*begin, "new", "learn/one", "learn/two", "playground"]
    assert completed(source, found | {"learn/index"}).split() == [*begin, "new", "learn/index", "playground"]
    assert completed(source, {"index", "tutorial"}).split() == begin


def test_the_empty_line_that_doctest_needs_is_not_shown():
    tidy = runpy.run_path(str(ROOT / "docs" / "_site" / "navigation.py"), run_name="navigation")["last_line"]
    source = "A\n\n```python\n>>> 1\n1\n\n```\n\nB\n\n```python\nx = 1\n\ny = 2\n```\n"
    assert tidy.sub(r"\1", source) == "A\n\n```python\n>>> 1\n1\n```\n\nB\n\n```python\nx = 1\n\ny = 2\n```\n"


def test_one_version_is_named_everywhere_and_the_changelog_has_it():
    with (ROOT / "pyproject.toml").open("rb") as file:
        version = tomllib.load(file)["project"]["version"]
    assert version == pegasos.__version__
    assert f'version: "{version}"' in (ROOT / "CITATION.cff").read_text(encoding="utf8")
    sections = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf8"), re.MULTILINE)
    assert sections[:2] == ["Unreleased", version]


def test_the_citation_has_the_date_that_the_changelog_gives_the_version():
    dated = re.search(
        r"^## \[\d.*?\] - (\d{4}-\d\d-\d\d)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf8"), re.MULTILINE
    )
    assert f"date-released: {dated[1]}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf8")


PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_picture_has_a_text_for_those_who_cannot_see_it(page):
    texts = re.findall(r"!\[([^\]]*)\]\(", page.read_text(encoding="utf8"))
    assert all(len(text) > 3 for text in texts)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_headings_leave_no_level_out(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf8"), flags=re.DOTALL)
    levels = [len(marks) for marks in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert all(below <= above + 1 for above, below in zip([0, *levels], levels, strict=False))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_line_of_a_table_has_as_many_cells_as_its_header(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf8"), flags=re.DOTALL)
    for rows in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        cells = [len(re.split(r"(?<!\\)\|", row.strip())) for row in rows.splitlines()]
        assert set(cells) == {cells[0]}, rows


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lists_begin_with_hyphens_so_that_a_broken_emphasis_is_found(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf8"), flags=re.DOTALL)
    assert not re.search(r"^\s*\* ", text, re.MULTILINE)
