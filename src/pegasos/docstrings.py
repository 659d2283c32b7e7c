"""Docstrings whose parts are written once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def documented_by(other: type) -> Callable[[Class], Class]:
    """Decorate a class: entries of its docstring that only refer to another class get that class's text.

    Editors show the reference, `help` and the site the whole text, which is written once.
    """

    def complete(cls: Class) -> Class:
        entry = r"^    ([\w, ]+)%s\n((?:        .*\n)*)"
        known = {name: (kind, body) for name, kind, body in re.findall(entry % "( : .*)?", other.__doc__ or "", re.M)}

        def full(found: re.Match[str]) -> str:
            texts = ((name, *known[name]) for name in found[1].split(", "))
            return "".join(f"    {name}{kind}\n{body}" for name, kind, body in texts)

        reference = rf"^    ([\w, ]+)\n        As in `{other.__name__}`\.\n"
        cls.__doc__ = re.sub(reference, full, cls.__doc__ or "", flags=re.M)
        return cls

    return complete
