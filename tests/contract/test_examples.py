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
# And how many examples they have at least.
GUIDES = {
    "choosing-lam.md": 12,
    "cutting-planes.md": 6,
    "data.md": 20,
    "dask.md": 15,
    "imbalance.md": 8,
    "kernels.md": 50,
    "margins.md": 8,
    "multiclass.md": 8,
    "out-of-core.md": 15,
    "probabilities.md": 4,
    "transfer.md": 8,
    "tuning.md": 15,
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


@pytest.mark.parametrize(("name", "n_examples"), GUIDES.items())
def test_the_examples_of_the_guides_run(name, n_examples):
    guide = README.parent / "docs" / name
    code = "\n".join(re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf8"), re.DOTALL))
    example = doctest.DocTestParser().get_doctest(code, {}, name, str(guide), 0)
    assert len(example.examples) > n_examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_the_demo_prints_a_table_and_draws_the_gap(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    demo.main(str(tmp_path))
    printed = capsys.readouterr().out
    assert printed.count("certified: ") == 3
    assert (tmp_path / "gap.png").stat().st_size > 10_000
