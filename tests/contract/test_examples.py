"""What the documentation shows runs, and prints what it says."""

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import pegasos
from pegasos import demo

README = Path(__file__).parents[2] / "README.md"
DOCS = README.parent / "docs"
PAGES = {
    str(page.relative_to(DOCS)): page for page in sorted(DOCS.rglob("*.md")) if "```python" in page.read_text("utf8")
}
MODULES = [module.name for module in pkgutil.walk_packages(pegasos.__path__, "pegasos.") if "_core" not in module.name]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_the_docstrings_run(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_example_of_the_readme_prints_what_it_says(capsys):
    code, output = re.search(r"```python\n(.*?)```\n\n((?:    [^\n]*\n)+)", README.read_text(), re.DOTALL).groups()
    exec(code, {})
    printed, shown = capsys.readouterr().out.split(), output.split()
    for mine, theirs in zip(printed, shown, strict=True):
        # The last digits of a gap near rounding differ from one instruction set to another.
        assert mine == theirs or ("e-" in mine and "e-" in theirs)


def test_the_example_of_a_kernel_in_the_readme_is_certified():
    code = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf8"), re.DOTALL)[1]
    names = {}
    exec(code, names)
    assert names["model"].certificate_.relative_gap <= 1e-3


def test_the_guides_have_examples():
    assert len(PAGES) > 15


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_the_pages_run(name, tmp_path, monkeypatch):
    """Blocks with prompts print what they show; the others run. Files go to a folder of their own."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGES[name].read_text(encoding="utf8"), re.DOTALL)
    names = {}
    for block in (block for block in blocks if ">>>" not in block):
        exec(block, names)
    code = "\n".join(block for block in blocks if ">>>" in block)
    example = doctest.DocTestParser().get_doctest(code, names, name, str(PAGES[name]), 0)
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_curves_of_the_demo_fall_from_the_zero_model_to_tol_by_way_of_several_certificates():
    for epochs, gaps in demo.gap_curves().values():
        assert (epochs[0], gaps[0]) == (0.0, 1.0)
        assert gaps[-1] <= 1e-4
        assert len(gaps) >= 5


def test_the_demo_prints_a_table_and_draws_the_gap_and_a_boundary(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    demo.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert printed.count("certified: ") == 3
    for picture in ("gap.png", "boundary.png"):
        assert (tmp_path / picture).stat().st_size > 10_000
    assert "Proved within" in (tmp_path / "report.html").read_text(encoding="utf8")
