"""The notebooks run from top to bottom, end in something to change, and are pages of the site."""

import json
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))
TOOLS = runpy.run_path(str(DOCS / "_site" / "notebooks.py"), run_name="notebooks")


def test_there_is_one_for_each_document():
    assert len(NOTEBOOKS) == 5
    index = (DOCS / "notebooks" / "index.md").read_text(encoding="utf8")
    assert all(f"]({path.name})" in index for path in NOTEBOOKS)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_cell_runs_and_says_what_is_stored(path):
    pytest.importorskip("matplotlib.pyplot").switch_backend("Agg")
    names = {}
    for cell in json.loads(path.read_text(encoding="utf8"))["cells"]:
        if cell["cell_type"] == "code":
            found = TOOLS["run"]("".join(cell["source"]), names)
            # Numbers may differ from processor to processor; the kinds of outputs do not.
            assert [each["output_type"] for each in found] == [each["output_type"] for each in cell["outputs"]]
            assert "False" not in str(found[:1] and found[0].get("text", ""))  # checks print True


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_ends_in_something_that_the_reader_changes(path):
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    assert "## Your turn" in "".join(cells[-2]["source"])
    assert "my_" in "".join(cells[-1]["source"])


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_as_a_page_it_has_its_text_its_code_and_its_pictures(path):
    notebook = json.loads(path.read_text(encoding="utf8"))
    page = TOOLS["markdown"](notebook)
    assert page.startswith("# ")
    assert all(code in page for code in TOOLS["code_of"](notebook))
    assert "data:image/png;base64," in page


def test_the_value_of_a_last_line_is_shown_unless_a_semicolon_ends_it():
    assert TOOLS["run"]("x = 2\nx + 1", {})[0]["text"] == ["3\n"]
    assert TOOLS["run"]("x = 2\nx + 1;", {}) == []
