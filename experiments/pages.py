"""Results as a file and as a page: every number of the page is in the file."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

folder = Path(__file__).parents[1] / "docs" / "experiments"


def write(name: str, results: dict[str, Any], page: str) -> None:
    """Write the results to ``<name>.json`` and the page to ``<name>.md``, hyphens in the place of underscores."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    (folder / f"{name.replace('_', '-')}.md").write_text(page, encoding="utf8")


def read(name: str) -> dict[str, Any]:
    """The results of ``<name>.json``."""
    results: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf8"))
    return results


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines) + "\n"
