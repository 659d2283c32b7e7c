"""Guides that the index does not name are appended to its list of guides: a page that is new is found."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

mark = "<!-- other guides -->"


def setup(app: Sphinx) -> dict[str, Any]:
    """Complete the index when it is read."""
    app.connect("source-read", _complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _complete(app: Sphinx, page: str, source: list[str]) -> None:
    if page == "index":
        named = set(re.findall(r"^([\w-]+)$", source[0], re.MULTILINE))
        others = sorted(name for name in app.env.found_docs if "/" not in name and name not in named | {"index"})
        source[0] = source[0].replace(mark, "\n".join(others))
