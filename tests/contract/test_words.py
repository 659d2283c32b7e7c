"""The mechanical part of the house style: habits that a regular expression can find do not come back."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# The tools of the site are not pages.
TOOLS = ("docs/_", "docs/images/")

HABITS = {
    r"\bin the place of\b": "instead of",
    r"\bso manieth\b": "every k-th",
    r"\bfor ever\b": "forever",
    r"\bhand(s|ed)? over\b": "return(s|ed)",
    r"\b(bounds?|rows?|solvers?) (do|does) not know\b": "does not depend on, does not support",
    r"\bcounts of work\b": "estimated operation counts",
    r"\bmodels of others\b": "models trained elsewhere",
    r"\bof weight 2 is that row twice\b": "a sample weight of 2 is equivalent to repeating the row",
    r"\bends? (the fit )?with a sentence\b|\brefused with a sentence\b|\bgets a sentence\b": "raises an error",
    r"(?<![Tt]here )\b(is|are) no (whole|number|label|cache|folder|kernel|series|picture|column|JSON)\b": "is not a",
    r"\b(one|numbers?|bytes|problem|rows|values|predictions) a (row|class|line|second|thread|problem|pair)\b": "per",
    r"\b(regulari|minimi|maximi|normali|standardi|optimi|recogni|summari)s(e[ds]?|ing|ations?|ers?)\b": "-ize",
    r"\b(behaviour|misspelt|whilst|learnt|neighbour|towards|kernelised)\b": "American spelling",
    r"\bnot to be had\b": "not available",
    r"\bseconds of the processor\b": "processor seconds",
    r"\b(is|are) nobody's\b|\bnobody else\b": "belongs to no ...",
    r"\b(is|are) no part of\b": "is not part of",
    r"\bwritten whole or not at all\b": "written atomically",
    r"\b(one|a) (vector|function|line|row|fold|panel|number) a (class|setting|thread|panel|data set|step|lam)\b": "per",
    r"(\"\"\"|# |// |\. )Of (?!course\b|Ogita)[a-z0-9]": "For, with, or a subject",
    r"\bbut for\b": "except for",
    r"\bto be had\b": "available",
    r"\b(is|are) asked (for|about|of|to)\b": "is requested, is used, should",
    r"\bknows? (no|nothing)\b": "does not support, is independent of",
    r"\b(of|after|for|with|by|through|into) so many\b": "this many",
    r"\b(or|with|has|makes?) a sentence\b": "an error message",
    r"\b(is|are) no (kernels?|classes|vectors|proof|sentence|child)\b(?! (in|of|for)\b)": "is not a",
    r"\bgoes on\b": "continues",
}

# Names in the code have these spellings, so only pages are searched for them.
SPELLINGS = {r"\b(labelled|colour|centre)\b": "American spelling"}

PAGES = [
    page
    for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    if page.name != "CHANGELOG.md" and not str(page.relative_to(ROOT)).startswith(TOOLS)
]
SOURCES = [
    source
    for folder in ("src", "cpp", "tests", "benchmarks", "experiments", "examples", "packaging", "docs/_site")
    for source in sorted((ROOT / folder).rglob("*"))
    if source.suffix in (".py", ".cpp", ".h", ".inl", ".sh") and source != Path(__file__)
]


def prose(path):
    """The text without names: no code of a page; of a source file, no identifier with an underscore or of `words`."""
    text = path.read_text(encoding="utf8")
    if path.suffix == ".md":
        text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
        return re.sub(r"`[^`\n]*`|\]\([^)]*\)", "", text)
    words = r"\b(learnt|summarize|maximise|neighbours|neighbourhoods?|tell_neighbours)\b|regularised"
    return re.sub(rf"\w*_\w*|\.\w+|{words}", "", text)


@pytest.mark.parametrize("path", [*PAGES, *SOURCES], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_habit_of_the_house_style_s_list_is_found(path):
    text = prose(path)
    habits = HABITS | SPELLINGS if path.suffix == ".md" else HABITS
    found = [(match.group(0), better) for habit, better in habits.items() for match in re.finditer(habit, text)]
    assert not found


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("The mean stands in the place of the sum.", True),
        ("There is one a row, and all are regularised.", True),
        ("x is no number.", True),
        ("There is no number, and one per row.", False),
        ("`is no number` is code.", False),
    ],
)
def test_the_habits_are_recognized(tmp_path, text, is_found):
    (tmp_path / "page.md").write_text(text, encoding="utf8")
    assert any(re.search(habit, prose(tmp_path / "page.md")) for habit in HABITS) == is_found


def test_names_of_tests_are_plain_sentences():
    habits = r"_gets?_a_sentence|_in_a_sentence|_goes_on|_hands?_over|_anew\b|isation|_nobody_|neighbour|colour"
    files = [source for source in SOURCES if source.name.startswith("test_")]
    names = [name for file in files for name in re.findall(r"\bdef (test_\w+)", file.read_text(encoding="utf8"))]
    assert len(names) > 1000
    assert not [name for name in names if re.search(habits, name)]


def beginning(page):
    """The paragraph below the title, of a page or of a notebook."""
    text = page.read_text(encoding="utf8")
    if page.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"]) + "\n"
    return re.match(r"# .*\n\n((?:.+\n)+)", text)[1]


OPENINGS = [
    page
    for page in sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs").rglob("*.ipynb")])
    if page != ROOT / "docs" / "index.md"
    and "modules" not in page.parts
    and "{include}" not in page.read_text(encoding="utf8")
]


@pytest.mark.parametrize("page", OPENINGS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_begins_with_who_it_is_for_and_what_it_is_good_for(page):
    """In about two lines, in words to the reader and not in a formula."""
    text = " ".join(beginning(page).split())
    assert re.search(r"\byou(r|rself)?\b", text[:280], re.IGNORECASE)
    assert not re.search(r"\b(After|On|In) (this|these) (page|chapter|notebook)s?,? you\b", text)


def test_no_formula_begins_most_pages():
    starts = Counter(" ".join(beginning(page).split()[:2]) for page in OPENINGS)
    assert max(starts.values()) < len(OPENINGS) / 4, starts.most_common(3)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_page_of_the_site_has_one_title(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf8"), flags=re.DOTALL)
    if "docs" in page.parts and "{include}" not in page.read_text(encoding="utf8"):
        assert len(re.findall(r"^# \S", text, re.MULTILINE)) == 1
