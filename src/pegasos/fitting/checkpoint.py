"""Checkpoints of a fit on a source: the state and the trace, written to a file at intervals.

Everything that the result of a run depends on is stored with it, and a file that differs in any of it is rejected: a
run that resumes from a checkpoint ends where it would have ended without the interruption.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

from pegasos import archive
from pegasos.errors import PegasosError
from pegasos.solution import TraceRow
from pegasos.solvers.block_checkpoint import BlockSolver, Packed, pack, unpack
from pegasos.source_problem import SourceProblem

_KIND = "checkpoint of a fit on a source"
_TRACE = "trace"
_IDENTITY = "identity"


class Begun(NamedTuple):
    """The point where a run resumes: its state and its trace so far."""

    state: Any
    rows: list[TraceRow]
    seconds: float


@dataclass
class Checkpoint:
    """A file, how often it is written, and what it must match."""

    path: str | os.PathLike[str]
    seconds: float
    identity: Mapping[str, Any]
    rows: list[TraceRow] = field(default_factory=list)
    begun: float = field(default_factory=perf_counter)
    _last: float = field(default_factory=perf_counter)

    def save_now_and_then(self, state: Any) -> None:
        """Write the file when it is due; called between chunks, when everything that was due has been done."""
        now = perf_counter()
        if now - self._last < self.seconds:
            return
        values, arrays = pack(state)
        values |= {_IDENTITY: dict(self.identity), _TRACE: [list(row) for row in self.rows]}
        values["seconds"] = now - self.begun
        archive.write(self.path, _KIND, values, arrays)
        self._last = perf_counter()

    def resume(self, problem: SourceProblem, solver: BlockSolver) -> Begun | None:
        """Return the content of the file, if there is one."""
        stored = _read(self.path)
        if stored is None:
            return None
        _compare(self.path, stored.values.get(_IDENTITY), self.identity)
        try:
            state = unpack(problem, solver, Packed(stored.values, stored.arrays))
            self.rows = [TraceRow(*row) for row in stored.values[_TRACE]]
            seconds = float(stored.values["seconds"])
        except (PegasosError, KeyError, TypeError, ValueError) as error:
            raise PegasosError(f"{self.path} cannot be used as a checkpoint: {error}") from error
        self.begun = perf_counter() - seconds
        return Begun(state, list(self.rows), seconds)


def check_path(path: Any, seconds: Any) -> None:
    """Check that a checkpoint can be written, before any work."""
    if not isinstance(path, str | os.PathLike):
        raise PegasosError(f"checkpoint must be None or the path of a file, got {path!r}.")
    if Path(path).is_dir() or not Path(path).parent.is_dir():
        raise PegasosError(f"checkpoint={os.fspath(path)!r} must be a file in a folder that exists.")
    if not isinstance(seconds, int | float) or isinstance(seconds, bool) or not seconds >= 0.0:
        raise PegasosError(f"checkpoint_seconds must be a number of at least 0, got {seconds!r}.")


def stored_seed(path: str | os.PathLike[str]) -> int | None:
    """The seed of the run in a file, for a caller that does not set one."""
    stored = _read(path)
    identity = None if stored is None else stored.values.get(_IDENTITY)
    seed = identity.get("random_state") if isinstance(identity, dict) else None
    return seed if isinstance(seed, int) and seed >= 0 else None


def _read(path: str | os.PathLike[str]) -> archive.Archive | None:
    try:
        stored = archive.read(path, _KIND)
    except FileNotFoundError:
        return None
    if stored.version != version("pegasos"):
        raise PegasosError(
            f"{path} was written by version {stored.version} of pegasos, this is {version('pegasos')}; finish it with "
            "that one, or delete it to start over."
        )
    return stored


def _compare(path: str | os.PathLike[str], stored: Any, identity: Mapping[str, Any]) -> None:
    if not isinstance(stored, dict):
        raise PegasosError(f"{path} cannot be used as a checkpoint: it does not say what it belongs to.")
    for name, value in identity.items():
        if stored.get(name) != value:
            raise PegasosError(
                f"{path} is the checkpoint of another run: there {name} was {stored.get(name)!r}, here it is "
                f"{value!r}; repeat the call it belongs to, or delete it to start over."
            )
