"""Notebooks as pages, and a command that renews their outputs.

The site reads ``docs/notebooks/*.ipynb`` as they are: text, code, and the outputs that are stored in them. To run all
cells and store what they print and draw:

    python docs/_site/notebooks.py
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "notebooks"


def setup(app: Any) -> dict[str, Any]:
    """Let the site read notebooks."""
    from myst_parser.parsers.sphinx_ import MystParser

    class NotebookParser(MystParser):  # type: ignore[misc]
        """A notebook, read as the Markdown that it stands for."""

        supported = ("notebook",)

        def parse(self, inputstring: str, document: Any) -> None:
            super().parse(markdown(json.loads(inputstring)), document)

    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def markdown(notebook: dict[str, Any]) -> str:
    """The cells one after the other; pictures are part of the page."""
    parts = []
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        for output in cell["outputs"]:
            if output["output_type"] == "stream":
                parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
            else:
                picture = "".join(output["data"]["image/png"]).strip()
                about = output["metadata"].get("alt", "the picture that the cell draws")
                parts.append(f'<img alt="{about}" src="data:image/png;base64,{picture}">')
    return "\n\n".join(parts) + "\n"


def code_of(notebook: dict[str, Any]) -> list[str]:
    """The sources of the cells with code."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """One cell, as a notebook runs it: what it prints, the value of its last line, and the pictures it leaves open."""
    import matplotlib.pyplot as plt

    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last is not None else None
        if value is not None and not code.rstrip().endswith(";"):
            print(repr(value))
    outputs: list[dict[str, Any]] = []
    if said.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": said.getvalue().splitlines(keepends=True)})
    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(drawn, format="png", dpi=80)
        image = {"image/png": base64.b64encode(drawn.getvalue()).decode()}
        about = plt.figure(number).get_label() or "the picture that the cell draws"
        outputs.append({"output_type": "display_data", "data": image, "metadata": {"alt": about}})
    plt.close("all")
    return outputs


def execute(path: Path) -> None:
    """Run all cells of a notebook, and store their outputs in it."""
    notebook = json.loads(path.read_text(encoding="utf8"))
    names: dict[str, Any] = {}
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"], cell["outputs"] = count, run("".join(cell["source"]), names)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf8")


if __name__ == "__main__":
    import matplotlib

    matplotlib.use("Agg")
    for each in sorted(FOLDER.glob("*.ipynb")):
        execute(each)
        print(each.name)
