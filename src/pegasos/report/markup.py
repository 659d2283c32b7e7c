"""HTML and the format of numbers; all text goes through `text`."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def text(value: Any) -> str:
    """Any text, so that it is shown and never run."""
    return escape(str(value), quote=True)


def number(value: float) -> str:
    """A number to four digits."""
    return f"{value:.4g}" if math.isfinite(value) else "not finite"


def count(value: float, noun: str = "") -> str:
    """So many of something."""
    return f"{value:,.0f} {noun}{'' if value == 1 else 's'}" if noun else f"{value:,.0f}"


def share(value: float) -> str:
    """A share in percent; neither all nor none unless it is."""
    if 0.0 < value < 0.001:
        return "< 0.1 %"
    if 0.999 < value < 1.0:
        return "> 99.9 %"
    return f"{100.0 * value:.1f} %" if value not in (0.0, 1.0) else f"{100.0 * value:.0f} %"


def seconds(value: float) -> str:
    """A time."""
    if value < 1.0:
        return f"{max(1000.0 * value, 1.0):.0f} ms"
    return f"{value:.3g} s" if value < 120.0 else f"{value / 60.0:.1f} min"


def data(value: Any) -> str:
    """JSON to stand within a script element, which no text in it can end."""
    plain = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def paragraph(words: str) -> str:
    """Words, escaped."""
    return f"<p>{text(words)}</p>"


def section(name: str, heading: str, *content: str) -> str:
    """A part of the page that the navigation leads to."""
    inner = "\n".join(part for part in content if part)
    head = f'<h2 id="{name}-heading">{text(heading)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-heading">\n{head}\n{inner}\n</section>'


def card(heading: str, *content: str, wide: bool = False) -> str:
    """A box with a heading."""
    inner = "\n".join(part for part in content if part)
    return f'<div class="card{" wide" if wide else ""}">\n<h3>{text(heading)}</h3>\n{inner}\n</div>'


def grid(*cards: str) -> str:
    """Boxes side by side, where there is room."""
    return f'<div class="grid">\n{"".join(one for one in cards if one)}\n</div>'


def details(summary: str, *content: str) -> str:
    """What is shown on demand."""
    return f"<details><summary>{text(summary)}</summary>\n{''.join(content)}\n</details>"


def chart(name: str, heading: str, words: str, *, wide: bool = False) -> str:
    """The place of a chart, which page.js draws."""
    return card(
        heading,
        f'<figure class="chart" data-chart="{name}" aria-describedby="{name}-words">'
        f'<figcaption id="{name}-words">{text(words)}</figcaption></figure>',
        wide=wide,
    )


def table(caption: str, heads: Sequence[str], rows: Iterable[Sequence[Any]], *, classes: str = "") -> str:
    """A table whose first column names its rows; cells that are `Markup` are not escaped."""
    head = "".join(f'<th scope="col">{text(one)}</th>' for one in heads)
    body = "\n".join(_row(row) for row in rows)
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}"><table class="{classes}">'
        f"<caption>{text(caption)}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
    )


class Markup(str):
    """What is HTML already."""

    __slots__ = ()


def _row(cells: Sequence[Any]) -> str:
    first, *others = (cell if isinstance(cell, Markup) else text(cell) for cell in cells)
    inner = "".join(f"<td>{cell}</td>" if not cell.startswith("<td") else cell for cell in others)
    return f'<tr><th scope="row">{first}</th>{inner}</tr>'


def pairs(items: Iterable[tuple[str, Any]]) -> str:
    """Names with what belongs to them."""
    return (
        "<dl>" + "".join(f"<div><dt>{text(name)}</dt><dd>{text(value)}</dd></div>" for name, value in items) + "</dl>"
    )


def tile(value: str, label: str, note: str = "") -> str:
    """A number to be seen from afar."""
    small = f'<span class="note">{text(note)}</span>' if note else ""
    return f'<li class="tile"><strong>{text(value)}</strong><span>{text(label)}</span>{small}</li>'


def bar(value: float, largest: float) -> Markup:
    """A signed bar from the middle, beside the number that says the same."""
    length = 50.0 * abs(value) / largest if largest > 0.0 else 0.0
    begin = 50.0 if value >= 0.0 else 50.0 - length
    tone = "for" if value >= 0.0 else "against"
    return Markup(
        '<td class="bar"><svg width="100%" height="12" aria-hidden="true" focusable="false">'
        f'<rect class="{tone}" x="{begin:.1f}%" width="{length:.1f}%" height="12" rx="2"/>'
        '<line class="axis" x1="50%" x2="50%" y2="12"/></svg></td>'
    )
