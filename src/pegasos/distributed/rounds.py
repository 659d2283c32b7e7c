"""Passes over remote partitions: all problems share a pass, so that several classes take no more passes than one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Condition
from time import perf_counter
from typing import Any, Protocol

from pegasos.deadline import TimeIsUp
from pegasos.distributed.partitions import Asked
from pegasos.solvers.passes import Question


class Engine(Protocol):
    """The engine that holds the partitions and transports questions and answers: dask, Spark, or this process."""

    def answers(self, asked: Sequence[Asked]) -> list[Any]:
        """Return the merged answers of all partitions, one for each question.

        A partition that is lost is recomputed and answers again.
        """


@dataclass
class Passes:
    """One pass for the questions of all problems that are still open.

    Each problem is solved in a thread of its own. The last one to ask makes the pass, while the others wait.
    """

    engine: Engine
    n_open: int
    on_pass: Callable[[int, int, float], None] | None = None  # number of the pass, its questions, its seconds
    n_passes: int = 0
    waiting: list[tuple[Asked, list[Any]]] = field(default_factory=list)
    failure: BaseException | None = None
    changed: Condition = field(default_factory=Condition)

    def ask(self, asked: Asked) -> Any:
        """Return the merged answer of all partitions."""
        answer: list[Any] = []
        with self.changed:
            self._go_on()
            self.waiting.append((asked, answer))
            if len(self.waiting) == self.n_open:
                self._make_pass()
            while not answer:
                self._go_on()
                self.changed.wait(0.1)
        return answer[0]

    def leave(self) -> None:
        """Called when one problem is solved and has no more questions."""
        with self.changed:
            self.n_open -= 1
            if self.waiting and len(self.waiting) == self.n_open:
                self._make_pass()

    def fail(self, error: BaseException) -> None:
        """Called when one problem has failed, so that all waiting ones fail as well. A timeout is not a failure."""
        if isinstance(error, TimeIsUp):
            return
        with self.changed:
            self.failure = self.failure or error
            self.changed.notify_all()

    def _go_on(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _make_pass(self) -> None:
        begun = perf_counter()
        together, self.waiting = sorted(self.waiting, key=lambda each: (each[0].of_plan, each[0].k)), []
        try:
            found = self.engine.answers([asked for asked, _ in together])
        except Exception as error:
            self.fail(error)
            raise
        self.n_passes += 1
        if self.on_pass is not None:
            self.on_pass(self.n_passes, len(together), perf_counter() - begun)
        for (_, answer), each in zip(together, found, strict=True):
            answer.append(each)
        self.changed.notify_all()


@dataclass(frozen=True)
class PartitionsElsewhere:
    """The partitions of problem k of a plan."""

    passes: Passes
    k: int
    lam: float
    n_partitions: int
    n_rows: int
    n_features: int
    n_stored: int
    of_plan: int = 0

    def ask(self, question: Question) -> Any:
        """Return the merged answer of all partitions."""
        try:
            return self.passes.ask(Asked(self.k, self.lam, question, self.of_plan))
        except Exception as error:
            self.passes.fail(error)
            raise
