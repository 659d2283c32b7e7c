"""What the page of pictures shows runs, and its pictures are those of the examples."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "plots.md"
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


def test_the_page_shows_a_picture_of_every_display_and_none_is_heavy():
    text = PAGE.read_text(encoding="utf8")
    shown = [ROOT / "docs" / name for name in re.findall(r"!\[.*?\]\((.*?)\)", text)]
    assert len(shown) >= 9
    for picture in shown:
        assert 5_000 < picture.stat().st_size < 80_000
    for example in EXAMPLES:
        assert f"examples/{example.name}" in text


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_pictures_that_the_page_shows(example, tmp_path, capsys):
    pytest.importorskip("matplotlib.pyplot").switch_backend("Agg")
    runpy.run_path(str(example))["main"](str(tmp_path))
    assert capsys.readouterr().out
    written = sorted(tmp_path.glob("*.png"))
    assert written
    for picture in written:
        assert f"images/{picture.name}" in PAGE.read_text(encoding="utf8")
        assert picture.stat().st_size > 5_000
