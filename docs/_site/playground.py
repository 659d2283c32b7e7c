"""The playground's page is a part of the site, as ``playground/index.html``."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from pegasos import playground


def setup(app: Sphinx) -> dict[str, Any]:
    """Copy the page when the others are written."""
    app.connect("build-finished", _copy)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _copy(app: Sphinx, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        target = Path(app.outdir) / "playground" / "index.html"
        target.parent.mkdir(exist_ok=True)
        shutil.copyfile(playground.page(), target)
