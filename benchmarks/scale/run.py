"""Everything about data that is large: `python -m benchmarks.scale.run [parser]`.

A section is a module with a `title` and a `run()` that returns rows for a table, named in `_SECTIONS`.
"""

import argparse
import json
from importlib import import_module
from pathlib import Path

from benchmarks.tables import machine, versions

_SECTIONS = ["parser", "out_of_core", "rounds", "cluster", "spark"]
_results = Path(__file__).parents[1] / "results"
_PACKAGES = ("pegasos", "numpy", "scipy", "scikit-learn")


def main() -> None:
    """Run the requested sections, print their tables, store their numbers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale.run", description=__doc__.splitlines()[0])
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(_SECTIONS)}; default: all")
    for name in parser.parse_args().sections or _SECTIONS:
        section = import_module(f"benchmarks.scale.{name}")
        rows = section.run()
        print(f"\n{section.title}\n\n{_render(rows)}\n", flush=True)
        content = {"title": section.title, "versions": versions(_PACKAGES), "machine": machine(), "rows": rows}
        (_results / f"scale_{name}.json").write_text(json.dumps(content, indent=1) + "\n")


def _render(rows: list[dict[str, object]]) -> str:
    lines = [list(rows[0]), *([str(cell) for cell in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


if __name__ == "__main__":
    main()
