"""Results as a file and as a page: every number of the page is in the file.

A result file has ``claims``: what a source says, whether it held, and what was found. The index is made of them.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

folder = Path(__file__).parents[1] / "docs" / "experiments"

# The documents that the claims are from.
slides = "Lecture slides on support vector machines (Doppa)"
notes = "Lecture notes on Pegasos (Ashutosh, Chen, Xiao)"
lecture = "MIT lecture on Pegasos (Collins)"
exercise = "Exercise on the convergence of Pegasos (Amini)"
report = "Project report on Pegasos (Andrew)"


def claim(source: str, says: str, held: bool, found: str) -> dict[str, Any]:
    """What a source says, whether it held here, and a sentence on what was found."""
    return {"source": source, "says": says, "held": bool(held), "found": found}


def write(name: str, results: dict[str, Any], page: str) -> None:
    """Write the results to ``<name>.json``, the page to ``<name>.md``, hyphens for underscores, and the index anew."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")
    _page_of(name).write_text(page, encoding="utf8")
    (folder / "index.md").write_text(index(), encoding="utf8")


def read(name: str) -> dict[str, Any]:
    """The results of ``<name>.json``."""
    results: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf8"))
    return results


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells) + "\n"


def wrapped(text: str) -> str:
    """Lines of at most 120 characters, words left whole."""
    return fill(text, 120, break_on_hyphens=False)


def claims(results: dict[str, Any]) -> str:
    """The claims of the sources beside what was found, in a section of their own."""
    parts = [
        wrapped(f"{each['source']}: {each['says']}")
        + "\n\n"
        + wrapped(f"**{'Held' if each['held'] else 'Did not hold'}.** {each['found']}")
        for each in results["claims"]
    ]
    return "## What the source says, and what was found\n\n" + "\n\n".join(parts) + "\n"


def index() -> str:
    """The page that leads to the others: a line for each claim."""
    lines = []
    for path in sorted(folder.glob("*.json")):
        results, page = json.loads(path.read_text(encoding="utf8")), _page_of(path.stem)
        title = page.read_text(encoding="utf8").splitlines()[0].removeprefix("# ")
        picture = f"[figure]({results['picture']})"
        for each in results.get("claims", ()):
            held = "held" if each["held"] else "**did not hold**"
            lines.append([f"[{title}]({page.name})", each["says"], held, each["found"], picture])
    n_held = sum(line[2] == "held" for line in lines)
    return f"""# Experiments

What the documents behind this library claim, show and ask, answered by its own code. Each page is made by one command,
`python -m experiments.<name>`, from a file of results beside it; all of them by `make experiments`. Of {len(lines)}
claims {n_held} held.

{table(["page", "claim", "", "what was found", ""], lines)}"""


def _page_of(name: str) -> Path:
    return folder / f"{name.replace('_', '-')}.md"
