"""The reference: a page for each public module, written from its docstrings when the site is built.

Public is what has an ``__all__`` directly below ``pegasos``, except for what `inside` names, and what `beside` names. A
new module gets its page without being named anywhere.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

from sphinx.application import Sphinx

import pegasos

folder = Path(__file__).parents[1] / "api" / "modules"  # not kept
beside = ("pegasos.theory",)
# The parts that estimators are made of, for those who extend the library: `docs/architecture.md` describes them.
inside = ("pegasos.distributed", "pegasos.fitting", "pegasos.machines", "pegasos.tasks")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before any is read; leave out what scikit-learn documents."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-docstring", _plain_bars, priority=100)  # before numpydoc's
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def modules() -> list[ModuleType]:
    """All public modules, the package first."""
    public = [name for _, name, _ in pkgutil.iter_modules(pegasos.__path__) if not name.startswith("_")]
    found = [importlib.import_module(f"pegasos.{name}") for name in public if f"pegasos.{name}" not in inside]
    return [pegasos, *(module for module in found if hasattr(module, "__all__") or module.__name__ in beside)]


def names(module: ModuleType) -> list[str]:
    """What a module has to offer."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__, key=str.lower)
    return [
        name for name, value in inspect.getmembers(module, inspect.isfunction) if value.__module__ == module.__name__
    ]


def page(module: ModuleType) -> str:
    """Markdown of one module."""
    lines = [f".. automodule:: {module.__name__}", "   :no-members:", "", f".. currentmodule:: {module.__name__}", ""]
    for name in names(module):
        offered = getattr(module, name)
        if not (getattr(offered, "__module__", None) or "pegasos").startswith("pegasos"):
            lines += [f"``{name}`` is `{offered.__module__.split('.')[0]}`'s own.", ""]
            continue
        lines += (
            [f".. autoclass:: {name}", "   :members:", "   :inherited-members:"]
            if inspect.isclass(offered)
            else [f".. autofunction:: {name}"]
        )
        if module is not pegasos and offered is getattr(pegasos, name, None):
            lines.append("   :no-index:")  # links lead to the page of the package, which has it too
        lines.append("")
    return "\n".join([f"# {module.__name__}", "", "```{eval-rst}", *lines, "```", ""])


def _write(app: Sphinx) -> None:
    folder.mkdir(exist_ok=True)
    written = {folder / f"{module.__name__}.md": page(module) for module in modules()}
    for path in set(folder.glob("*.md")) - set(written):
        path.unlink()
    for path, text in written.items():
        if not path.exists() or path.read_text(encoding="utf8") != text:
            path.write_text(text, encoding="utf8")


def _skip(app: Sphinx, what: str, name: str, member: Any, skip: bool, *_: Any) -> bool | None:
    """Fields are in the table of attributes already; scikit-learn's and Python's own methods are known."""
    if what != "class" or skip:
        return None
    if isinstance(member, property):
        return True if (getattr(member.fget, "__module__", None) or "").startswith("pyspark") else None
    home = getattr(member, "__module__", None) or ""
    return True if not callable(member) or not home.startswith("pegasos") else None


def _plain_bars(*given: Any) -> None:
    """|w| is a length; to reStructuredText it would be a substitution. Code and examples stay as they are."""
    lines: list[str] = given[-1]
    in_example = False
    for number, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            lines[number] = re.sub(r"(``.*?``|`.*?`)|\|", lambda found: found[1] or "\\|", line)
