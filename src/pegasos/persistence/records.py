"""How proofs, traces and the states of solvers are stored: one spec per class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from pegasos import _core
from pegasos.certificate import Certificate
from pegasos.persistence.specs import (
    Array,
    Count,
    Many,
    Number,
    Optional,
    Reader,
    Record,
    Row,
    Text,
    Writer,
    require,
)
from pegasos.persistence.values import anything
from pegasos.solution import Trace, TraceRow
from pegasos.solvers.kernel_online import KernelOnlineState
from pegasos.solvers.online import Curve, Keep, OnlineState
from pegasos.solvers.pegasos import PegasosState, Sampling
from pegasos.solvers.voting import Votes

_loose = Number(is_finite=False, is_number=False)  # for a model that overflowed
_proof = {
    "primal": _loose,
    "dual": _loose,
    "gap": _loose,
    "relative_gap": _loose,
    "weight_radius": _loose,
    "least_margin": _loose,
    "squared_norm": _loose,
    "rounding": _loose,
}
_ADDED = frozenset({"rounding"})
one_certificate = Record(Certificate, {**_proof, "parts": Many(Number(), 0, tuple)}, added=_ADDED)
certificate = Record(Certificate, {**_proof, "parts": Many(one_certificate, "n_problems", tuple)}, added=_ADDED)


_look = Row((Count(), *(_loose,) * (len(TraceRow._fields) - 1)), lambda parts: TraceRow(*parts))
one_trace = Record(Trace, {"rows": Many(_look), "of_problems": Many(Number(), 0, tuple)})
trace = Record(Trace, {"rows": Many(_look), "of_problems": Many(one_trace, None, tuple)})


def _pegasos_counters(**numbers: Any) -> _core.PegasosCounters:
    counters = _core.PegasosCounters()
    for name, value in numbers.items():
        setattr(counters, name, value)
    return counters


_pegasos_numbers = Record(
    _pegasos_counters,
    {
        "step": Count(),
        "position": Count(),
        "random": Count(most=2**64 - 1),
        "scale": Number(),
        "squared_norm": Number(is_finite=False),
        "scale_sum": Number(),
        "averaged": Count(),
    },
)


def _check_order(state: PegasosState, lengths: Mapping[str, int]) -> None:
    """Check that a loop can continue from here without reading beyond the rows."""
    n_rows = len(state.alphas)
    is_counted = state.sampling == "balanced"  # here the position counts all draws
    require(is_counted or state.counters.position <= n_rows, "position", "that of a row")
    expected = n_rows if state.sampling in ("shuffle", "balanced") else 0
    require(len(state.order) == expected, "order", "one number per row")
    require(not len(state.order) or int(state.order.max()) < n_rows, "order", "numbers of rows")
    require(state.weights.dtype == state.alphas.dtype, "alphas", "of the type of the weights")


def pegasos_state(*joint: str) -> Record:
    """The state of one vector of weights, or of a matrix with a column per class, whose second length is given."""
    weights, alphas = ("n_features_in_+1", *joint), ("n_state_rows", *(("n_classes",) if joint else ()))
    floats = "float32 float64"
    return Record(
        PegasosState,
        {
            "counters": _pegasos_numbers,
            "weights": Array(floats, *weights),
            "alphas": Array(floats, *alphas),
            "weight_sums": Optional(Array(floats, *weights)),
            "alpha_sums": Optional(Array(floats, *alphas)),
            "order": Array("uint32", None),
            "sampling": Text(get_args(Sampling)),
        },
        own=("n_state_rows",),
        check=_check_order,
    )


def _online_counters(**numbers: Any) -> _core.OnlineCounters:
    counters = _core.OnlineCounters()
    for name, value in numbers.items():
        setattr(counters, name, value)
    return counters


_online_numbers = Record(
    _online_counters,
    {"step": Count(), "mistakes": Count(), "loss": Number(), "scale": Number(), "scale_sum": Number()},
)


_curve = Record(Curve, {"points": Many(Row((Count(1), Count(), Number()))), "due": Count(1)})


def _check_due(state: OnlineState | KernelOnlineState, lengths: Mapping[str, int]) -> None:
    """A loop continues until the next point of the curve, which must be ahead."""
    require(state.curve.due > state.counters.step, "due", "ahead of the steps taken")


def _check_votes(votes: Votes, lengths: Mapping[str, int]) -> None:
    n_features, n_votes = lengths["n_features_in_"], lengths["n_votes"]
    shapes = [np.shape(piece) for piece in votes.pieces]
    require(all(len(shape) == 2 and shape[1] == n_features for shape in shapes), "pieces", "rows of the features")
    require(sum(shape[0] for shape in shapes) == n_votes, "pieces", "one row per vote")
    require(all(piece.dtype == np.float64 for piece in votes.pieces), "pieces", "numbers of 64 bits")


class _VotesRecord(Record):
    """Votes whose rows are concatenated first: a list of many short pieces would be many small arrays."""

    def pack(self, value: Votes, what: str, out: Writer) -> dict[str, Any]:
        """Each field."""
        if value.pieces:
            value._rows()
        return super().pack(value, what, out)


_votes = _VotesRecord(
    Votes,
    {
        "base": Array("float64", "n_features_in_+1"),
        "pieces": Many(anything),
        "factors": Array("float64", "n_votes"),
        "lives": Array("int64", "n_votes+1"),
    },
    own=("n_votes",),
    check=_check_votes,
)

_of_weights = Array("float64", "n_problems", "n_features_in_+1")


def _check_online(state: OnlineState, lengths: Mapping[str, int]) -> None:
    _check_due(state, lengths)
    require(len(state.votes) in (0, lengths["n_problems"]), "votes", "one list a problem")
    require((state.keep == "voted") == bool(state.votes), "votes", "there when votes are kept")
    require((state.keep == "averaged") == (state.sums is not None), "sums", "there when averages are kept")


online_state = Record(
    OnlineState,
    {
        "keep": Text(get_args(Keep)),
        "counters": _online_numbers,
        "weights": _of_weights,
        "sums": Optional(_of_weights),
        "variances": Optional(_of_weights),
        "rho": Array("float64", "n_problems"),
        "scores": Array("float64", "n_problems", is_finite=False),
        "votes": Many(_votes),
        "curve": _curve,
    },
    check=_check_online,
)


class _Support:
    """An ordered set of numbers from 0 on: items outside the support have been dropped."""

    def pack(self, value: dict[int, None], what: str, out: Writer) -> int:
        """How many there are."""
        return len(value)

    def unpack(self, stored: Any, what: str, source: Reader) -> dict[int, None]:
        """All numbers below."""
        n_support = Count(dimension="n_support").unpack(stored, what, source)
        require("n_support" in source.lengths, what, "counted")
        return dict.fromkeys(range(n_support))


class _Random:
    """A generator of numpy."""

    def pack(self, value: np.random.Generator, what: str, out: Writer) -> dict[str, Any]:
        """The numbers of its state."""
        state: Any = value.bit_generator.state
        return {**state["state"], "has_uint32": state["has_uint32"], "uinteger": state["uinteger"]}

    def unpack(self, stored: Any, what: str, source: Reader) -> np.random.Generator:
        """Within the range of each."""
        most = {"state": 2**128 - 1, "inc": 2**128 - 1, "has_uint32": 1, "uinteger": 2**32 - 1}
        found = Record(dict, {name: Count(most=limit) for name, limit in most.items()}).unpack(stored, what, source)
        bits: Any = np.random.PCG64()
        inner = {name: found.pop(name) for name in ("state", "inc")}
        bits.state = {"bit_generator": "PCG64", "state": inner, **found}
        return np.random.Generator(bits)


kernel_online_state = Record(
    KernelOnlineState,
    {
        "counters": _online_numbers,
        "stored": Array("float64", "n_problems", "n_support"),
        "support": _Support(),
        "rho": Array("float64", "n_problems"),
        "curve": _curve,
        "random": _Random(),
        "scale": Number(),
    },
    check=_check_due,
)
