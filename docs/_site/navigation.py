"""Fill the places that the index leaves open: ``<!-- pages: learn/* playground -->`` becomes the pages that exist.

A pattern stands for pages that the index does not name elsewhere; ``*`` matches pages of the top folder alone, so a
new page is listed without being named. A folder with an index of its own is listed by that index.

Examples with prompts end with an empty line, which doctest needs; the site leaves it out.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

last_line = re.compile(r"(^```python\n(?:(?!```).*\n)*?)\n(?=```$)", re.MULTILINE)
place = re.compile(r"^<!-- pages: (.*) -->$", re.MULTILINE)


def setup(app: Sphinx) -> dict[str, Any]:
    """Complete the index, and tidy every page, when it is read."""
    app.connect("source-read", _complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _complete(app: Sphinx, page: str, source: list[str]) -> None:
    source[0] = last_line.sub(r"\1", source[0])
    if page == "index":
        source[0] = completed(source[0], set(app.env.found_docs))


def completed(source: str, found: set[str]) -> str:
    """The index with every open place filled by pages in `found`."""
    named = {"index", *re.findall(r"^(?:[^<\n]+<)?([\w/-]+)>?$", source, re.MULTILINE)}

    def fill(match: re.Match[str]) -> str:
        lines = []
        for pattern in match.group(1).split():
            fitting = sorted(name for name in found - named if _matches(name, pattern, found))
            lines += fitting
            named.update(fitting)
        return "\n".join(lines)

    # Patterns that name a page come before the one that takes what is left.
    texts = {match.group(0): "" for match in place.finditer(source)}
    for match in sorted(place.finditer(source), key=lambda one: one.group(1) == "*"):
        texts[match.group(0)] = fill(match)
    return place.sub(lambda match: texts[match.group(0)], source)


def _matches(name: str, pattern: str, found: set[str]) -> bool:
    folder, _, _ = name.rpartition("/")
    if folder and name != f"{folder}/index" and f"{folder}/index" in found:
        return False
    return fnmatchcase(name, pattern) and name.count("/") == pattern.count("/")
