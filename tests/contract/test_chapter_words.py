"""No word of the chapter for students has to be looked up without a link."""

import re
from pathlib import Path

import pytest

LEARN = Path(__file__).parents[2] / "docs" / "learn"
PAGES = [path for path in sorted(LEARN.glob("*.md")) if path.stem not in ("index", "glossary", "from-your-lecture")]
HEADINGS = re.findall(r"^## (.+)$", (LEARN / "glossary.md").read_text(encoding="utf8"), re.MULTILINE)
# Words of the glossary that everybody knows by then, or that a formula introduces where they occur.
PLAIN = {"C", "Feature", "Margin", "Kernel", "Inner product"}
FORMS = {
    "Averaging": "averaging|averages",
    "Big O": r"[Oo]rder of growth|\\tilde O|[^a-z]O\(",
    "Convex": "(?<!strongly )convex",
    "Cross-validation": "cross-validat",
    "Confidence-weighted learning": "confidence-weighted",
    "Interior point method": "interior point",
    "Lagrangian": "Lagrangian",
    "Mini-batch": "mini-batch",
    "One against one, one against the rest": "one against (?:one|the rest)",
    "Online learning": "online",
    "Newton's method": "newton",
    "PAC": "PAC",
    "Passive-aggressive learning": "passive-aggressive",
    "SMO": "SMO",
    "VC dimension": "VC dimension",
}


def anchor(heading):
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def prose(text):
    """Without code, formulas and the addresses of links."""
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    keeps_order = re.sub(r"\$\$?(?:(?!\\tilde O|O\().)*?\$\$?", "", text, flags=re.DOTALL)
    return re.sub(r"`[^`]*`", "", keeps_order)


def is_explained(heading, text):
    """Whether a page links the word, or introduces it itself: in italics, or as a heading."""
    form = FORMS.get(heading, re.escape(heading.lower()))
    is_linked = f"glossary.md#{anchor(heading)})" in text or re.search(
        rf"\[[^\]]*(?:{form})[^\]]*\]\(", text, re.IGNORECASE
    )
    is_introduced = re.search(rf"(?:\*|^#+ [^\n]*)(?:{form})", text, re.IGNORECASE | re.MULTILINE)
    return bool(is_linked or is_introduced)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_words_of_the_glossary_are_linked_or_introduced_on_every_page(path):
    text = path.read_text(encoding="utf8")
    words = prose(re.sub(r"\]\([^)]*\)", "]", text))
    missing = [
        heading
        for heading in HEADINGS
        if heading not in PLAIN
        and re.search(
            rf"\b(?:{FORMS.get(heading, re.escape(heading.lower()))})", words, 0 if heading.isupper() else re.IGNORECASE
        )
        and not is_explained(heading, text)
    ]
    assert missing == []


def test_the_glossary_is_in_order():
    assert sorted(HEADINGS, key=str.lower) == HEADINGS


def test_every_page_of_the_chapter_ends_with_exercises_and_folded_answers():
    for path in PAGES:
        text = path.read_text(encoding="utf8")
        assert "## Exercises" in text, path.stem
        n_questions = len(re.findall(r"^\*\*\d\.\*\*", text, re.MULTILINE))
        assert n_questions >= 2, path.stem
        assert text.count("<details><summary>Answer</summary>") == n_questions == text.count("</details>"), path.stem
