"""Formulas as MathML, which browsers draw by themselves: no script, no font, no network."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the renderer; ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def mathml(formula: str, display: str) -> str:
    """MathML of a formula of TeX."""
    converted = convert(" ".join(formula.split()), display=display)
    # A bar is the end of a length, |w|, and wants no room on its sides.
    return re.sub(r"<mo[^>]*>(\||&#x0007C;)</mo>", r'<mo lspace="0" rspace="0" stretchy="false">\1</mo>', converted)


def _inline(translator: Any, node: nodes.math) -> None:
    formula = mathml(node.astext(), "inline")
    # Formulas are not broken into lines: one that may be wider than a phone scrolls.
    is_long = len(node.astext()) > 40
    translator.body.append(f'<span class="long">{formula}</span>' if is_long else formula)
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    # On a narrow screen a long formula scrolls by itself, not the page.
    translator.body.append(f'<div class="formula" tabindex="0">{mathml(node.astext(), "block")}</div>\n')
    raise nodes.SkipNode
