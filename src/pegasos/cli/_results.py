"""What commands print: tables and labels for people, one JSON object for machines."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

import numpy as np


def print_json(values: dict[str, Any]) -> None:
    """One object on one line; what JSON cannot say is null."""
    print(json.dumps(_plain(values), allow_nan=False))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns side by side; numbers to the right."""
    lines = [list(columns), *map(list, rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    right = [all(_is_number(row[place]) for row in rows) for place in range(len(columns))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(line, widths, right, strict=True)
        ).rstrip()
        for line in lines
    )


def print_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """As text; on a terminal, where rich is installed, with its lines."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        print(table(columns, rows))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(columns):
        shown.add_column(name, justify="right" if all(_is_number(row[place]) for row in rows) else "left")
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)


def print_prose(text: str) -> None:
    """Sentences: on a terminal in lines that fit, elsewhere in one."""
    print(fill(text, max(40, get_terminal_size().columns)) if sys.stdout.isatty() else text)


def label_text(label: Any) -> str:
    """A label as a file has it: 1 and not 1.0."""
    value = label.item() if hasattr(label, "item") else label
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def certificate_values(certificate: Any) -> dict[str, Any]:
    """The numbers of a certificate by name."""
    names = ("primal", "dual", "gap", "relative_gap", "weight_radius")
    return {name: getattr(certificate, name) for name in names}


def accuracy_of(model: Any, X: Any, y: Any) -> float:
    """The share of rows that are predicted right."""
    return float((model.predict(X) == y).mean())


def measured(model: Any, X: Any, y: Any) -> dict[str, float]:
    """How well rows are predicted, by name: accuracy, or R² of a regressor; nothing where y says nothing about it.

    Where y has other labels than the model it is taken for something else; a one-class model predicts 1 and -1.
    """
    from sklearn.base import is_regressor

    if is_regressor(model):
        return {"r2": float(model.score(X, y))} if y.dtype.kind in "fiu" else {}
    classes = getattr(model, "classes_", None)
    classes = np.array([-1, 1]) if classes is None else classes
    are_numbers = [labels.dtype.kind in "fiub" for labels in (y, classes)]
    is_known = are_numbers[0] == are_numbers[1] and bool(np.isin(y, classes).all())
    return {"accuracy": accuracy_of(model, X, y)} if is_known else {}


def measured_text(found: dict[str, float], n_rows: int) -> str:
    """A line about it."""
    return "".join(f"{name} {value:.4f} on {n_rows} rows" for name, value in found.items())


def _is_number(text: str) -> bool:
    try:
        float(text.replace(" %", ""))
    except ValueError:
        return text == ""
    return True


def _plain(value: Any) -> Any:
    """The same for JSON: no numpy, no NaN."""
    if isinstance(value, dict):
        return {label_text(name): _plain(one) for name, one in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
