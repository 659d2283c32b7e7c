"""The gallery: a section for each script in ``examples/``, with its docstring, its picture and its code.

A script that is new is in the gallery without being named anywhere.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

root = Path(__file__).parents[2]


def setup(app: Sphinx) -> dict[str, Any]:
    """Fill the page ``gallery`` when it is read."""
    app.connect("source-read", _fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _fill(app: Sphinx, page: str, source: list[str]) -> None:
    if page != "gallery":
        return
    scripts = sorted((root / "examples").glob("*.py"))
    source[0] += "\n".join(section(script) for script in scripts)
    for script in scripts:
        app.env.note_dependency(str(script))


def section(script: Path) -> str:
    """Markdown of one script."""
    code = script.read_text(encoding="utf8")
    said = ast.get_docstring(ast.parse(code)) or script.stem
    title, _, text = said.partition("\n")
    pictures = "".join(f"\n![{title.rstrip('.')}](images/{name})\n" for name in pictures_of(script.stem, code))
    return (
        f"\n## {title.rstrip('.')}\n\n{text.strip()}\n{pictures}\n"
        f"<details><summary><code>examples/{script.name}</code></summary>\n\n```python\n{code}```\n\n</details>\n"
    )


def pictures_of(stem: str, code: str) -> list[str]:
    """The picture with the name of the script, and those that its code names, as far as they exist."""
    named = dict.fromkeys([f"{stem}.png", *re.findall(r"([\w-]+\.png)", code)])
    return [name for name in named if (root / "docs" / "images" / name).exists()]
