"""Results as a file and as a page: every number of the page is in the file.

A result file has ``claims``: what a source says, the verdict by the rule of `judging`, and what was found. The index is
made of them.
"""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from experiments.judging import FAILED, HELD, UNDECIDED, VERDICTS

folder = Path(__file__).parents[1] / "docs" / "experiments"

# The documents that the claims are from.
slides = "Lecture slides on support vector machines (Doppa)"
notes = "Lecture notes on Pegasos (Ashutosh, Chen, Xiao)"
lecture = "MIT lecture on Pegasos (Collins)"
exercise = "Exercise on the convergence of Pegasos (Amini)"
report = "Project report on Pegasos (Andrew)"


def claim(source: str, says: str, verdict: str, found: str) -> dict[str, Any]:
    """What a source says, the verdict of `judging`, and a sentence on what was found."""
    assert verdict in VERDICTS, verdict
    return {"source": source, "says": says, "verdict": verdict, "found": found}


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
        + wrapped(f"**{each['verdict'].capitalize()}.** {each['found']}")
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
            verdict = each["verdict"] if each["verdict"] == HELD else f"**{each['verdict']}**"
            lines.append([f"[{title}]({page.name})", each["says"], verdict, each["found"], picture])
    counts = {verdict: sum(line[2].strip("*") == verdict for line in lines) for verdict in VERDICTS}
    return f"""# Experiments

What the documents behind this library claim, show and ask, answered by its own code. Each page is made by one command,
`python -m experiments.<name>`, from a file of results beside it; all of them by `make experiments`. Of {len(lines)}
claims {counts[HELD]} held, {counts[FAILED]} did not hold, and {counts[UNDECIDED]} are undecided.

One rule judges them all. A claim is turned into a number and a range that the number must lie in. The number is
measured several times, over seeds, draws, splits, pairs of classes or data sets, and its 95 % interval decides: within
the range the claim *held*, outside it *did not hold*, across the border it is *undecided*. A claim about every case (an
identity, a proved bound) is judged by the cases; of one with several parts all must hold.

`python -m experiments.fetch --to folder` fetches the data sets from their public sources; `PEGASOS_DATA` names the
folder. Without them every experiment runs with `--twin`, on small data made of the digits that scikit-learn has
(`experiments/twins.py`): it shows how the experiment works, and writes nothing.

{table(["page", "claim", "", "what was found", ""], lines)}"""


def _page_of(name: str) -> Path:
    return folder / f"{name.replace('_', '-')}.md"
