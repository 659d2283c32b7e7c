"""Svmlight text, read slowly: lines are split, words matched, numbers read by Python."""

import re

import numpy as np

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(nan|inf|infinity)", re.IGNORECASE)
QUERY = re.compile(rb"qid:-?\d+")
ENTRY = re.compile(rb"(\d{1,18}):(.*)", re.DOTALL)


class RefusedError(Exception):
    """The number of a line that cannot be read."""


def read(text, *, zero_based="auto", n_features=None, allow_nan=False, dtype=np.float32):
    """Labels, and a dict from column to value for each row; `RefusedError` at the first line that cannot be read."""
    if zero_based == "auto":
        try:
            return read(text, zero_based=False, n_features=n_features, allow_nan=allow_nan, dtype=dtype)
        except RefusedError as refused:
            if len(refused.args) == 1:
                raise
        zero_based = True
    labels, rows = [], []
    for number, line in enumerate(text.split(b"\n"), start=1):
        words = [word for word in re.split(rb"[ \t]+", line.removesuffix(b"\r").split(b"#")[0]) if word]
        if not words:
            continue
        labels.append(number_of(words.pop(0), number, False, np.float64))
        if words and words[0].startswith(b"qid:") and not QUERY.fullmatch(words.pop(0)):
            raise RefusedError(number)
        rows.append(row_of(words, number, int(not zero_based), n_features, allow_nan=allow_nan, dtype=dtype))
    return np.array(labels), rows


def row_of(words, number, base, n_features, *, allow_nan, dtype):
    row = {}
    for word in words:
        entry = ENTRY.fullmatch(word)
        if not entry:
            raise RefusedError(number)
        column = int(entry[1]) - base
        if column < 0:
            raise RefusedError(number, "zero")
        if n_features is not None and column >= n_features:
            raise RefusedError(number)
        value = number_of(entry[2], number, allow_nan, dtype)
        row.setdefault(column, []).append(value)
    if any(len(values) > 1 for values in row.values()):
        raise RefusedError(number)
    return {column: values[0] for column, values in row.items()}


def number_of(word, number, allow_nan, dtype):
    found = NUMBER.fullmatch(word)
    if not found:
        raise RefusedError(number)
    with np.errstate(over="ignore"):
        value = dtype(float(word))
    if not np.isfinite(value) and not (allow_nan and found[3]):
        raise RefusedError(number)
    return value
