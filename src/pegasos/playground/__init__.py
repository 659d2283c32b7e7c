"""The playground: a web page on which the algorithms train step by step.

The page is a single file, with the C++ core compiled to WebAssembly inside; it needs neither a server nor the network.
``pegasos playground`` opens it.
"""

from __future__ import annotations

import os
from pathlib import Path

from pegasos.files import atomically

__all__ = ["page", "write"]


def page() -> Path:
    """Where the page is installed.

    Examples
    --------
    >>> from pegasos import playground
    >>> playground.page().name
    'index.html'
    """
    return Path(__file__).with_name("index.html")


def write(folder: str | os.PathLike[str]) -> Path:
    """Copy the page into a folder as ``playground.html``; the folder is created if it does not exist.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Path
        The file.
    """
    target = Path(folder) / "playground.html"
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomically(target) as file:
        file.write(page().read_bytes())
    return target
