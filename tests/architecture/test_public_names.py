"""What readers are shown uses the names that they may use."""

import ast
import json
from pathlib import Path

import pytest

import pegasos

ROOT = Path(__file__).parents[2]
PUBLIC = {
    "pegasos",
    *(f"pegasos.{name}" for name in ("certificate", "dask", "data", "export", "kernels", "online", "plots", "report")),
    *(f"pegasos.{name}" for name in ("solution", "spark", "svm", "theory")),
}
FILES = sorted(
    path for folder in ("experiments", "examples", "docs/notebooks") for path in (ROOT / folder).glob("*.[ip]*")
)


def code_of(path):
    if path.suffix != ".ipynb":
        return path.read_text(encoding="utf8")
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def hidden_names(code):
    """The modules and names of pegasos in some code that are not public."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            modules = [(each.name, ()) for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [(node.module or "", [each.name for each in node.names])]
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
            modules = [(f"pegasos.{node.attr}", ())] if getattr(node.value, "id", "") == "pegasos" else []
        else:
            continue
        for module, names in modules:
            if module.split(".")[0] != "pegasos":
                continue
            if module not in PUBLIC:
                found.append(module)
            found += [f"{module}.{name}" for name in names if name.startswith("_")]
            if module == "pegasos":
                found += [f"pegasos.{name}" for name in names if not _is_public(name)]
    return found


def _is_public(name):
    return name in pegasos.__all__ or f"pegasos.{name}" in PUBLIC


def test_there_are_files_to_look_at():
    assert {path.parent.name for path in FILES} == {"experiments", "examples", "notebooks"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_experiments_examples_and_notebooks_use_public_names_alone(path):
    assert hidden_names(code_of(path)) == []


@pytest.mark.parametrize(
    "code",
    ["from pegasos.solvers.driver import run", "import pegasos.problem", "from pegasos import gram", "pegasos._core"],
)
def test_a_private_name_is_noticed(code):
    assert hidden_names("import pegasos\n" + code)
