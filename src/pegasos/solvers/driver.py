"""The loop around every solver: advance, look, record, stop.

Solvers neither report nor decide when to stop; the clock, the stopping rule, interrupts and the trace are here. When a
certificate is due depends only on the solver's state, never on time, so the result does not depend on the speed of the
machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from pegasos.certificate import TINY, Certificate, certify_dual, dual_point
from pegasos.deadline import TimeIsUp, within
from pegasos.errors import PegasosError
from pegasos.problem import Floats, Objective
from pegasos.solution import Solution, Status, Trace, TraceRow

_CHUNK_SECONDS = 0.05
_LEAST_SECONDS = 0.01  # seconds that a run has for its first chunk, whatever its budget
_REVIEW_RESERVE = 1.2  # factor on the expected seconds of a proof that a time budget reserves for it
_LONGEST_SILENCE = 0.5  # seconds after which watchers are told about a run even if no epoch has ended
_FINAL_STATUSES = (Status.OVERFLOW, Status.INSEPARABLE)  # these override every earlier status
_SHARE_OF_REVIEWS = 0.2  # largest fraction of the run time spent on proofs that are made only for watchers
_GRACE_SECONDS = 0.25  # seconds that a proof may take after the time is up or after an interrupt
_ROUNDING = 1e-14  # fraction of the objective below which a gap is noise


class ExhaustedError(Exception):
    """Raised by a solver when no step changes anything any more."""


class Model(NamedTuple):
    """A model that predicts: weights, and an intercept in addition to the one that the weights contain."""

    weights: npt.NDArray[np.float64]
    intercept: float


class Review(NamedTuple):
    """A point with its certificate."""

    certificate: Certificate
    weights: npt.NDArray[np.float64]
    alpha: Floats
    intercept: float = 0.0  # in addition to the one that the weights contain

    def is_better_than(self, other: Review) -> bool:
        """Whether this review proves a better result."""
        return self.certificate.relative_gap < other.certificate.relative_gap


class Solver(Protocol):
    """The interface of a solver. ``State`` and the kind of problem that it accepts are up to the solver."""

    def start(self, problem: Any, seed: int) -> Any:
        """Return the state before the first step."""

    def steps(self, state: Any) -> int:
        """Return the number of steps taken so far."""

    def visits(self, state: Any) -> int:
        """Return the number of rows visited so far."""

    def advance_to(self, problem: Any, state: Any, visits: int) -> None:
        """Continue until this many rows have been visited."""

    def next_look(self, problem: Any, state: Any) -> int:
        """Return the number of visits after which to consider a certificate; only the state may determine it."""

    def review_due(self, problem: Any, state: Any, epoch: int | None, tol: float | None) -> bool:
        """Whether a certificate is worth its cost now; ``epoch`` is the number of a complete epoch that just ended."""

    def review(self, problem: Any, state: Any, tol: float | None) -> Review:
        """Return the point reached, with its certificate."""

    def point(self, problem: Any, state: Any) -> tuple[npt.NDArray[np.float64], Floats]:
        """Return the weights and the dual point reached, without a certificate and at no cost."""


@runtime_checkable
class FindsIntercept(Protocol):
    """A solver whose intercept is not one of the weights."""

    def intercept(self, problem: Any, state: Any) -> float:
        """Return the intercept reached, in addition to the one that the weights of `Solver.point` contain."""


@runtime_checkable
class Choosy(Protocol):
    """A solver that does not accept every problem."""

    def refuses(self, problem: Any) -> str | None:
        """Return why it cannot solve the problem, or None if it can."""


class CountsSteps(Protocol):
    """A solver whose run can end after any number of steps."""

    def ending_at(self, step: int) -> Solver:
        """Return the solver that takes no step after this one."""


class ForeseesReviews(Protocol):
    """A solver whose reviews may take long and that can estimate how long."""

    def review_seconds(self, problem: Any, state: Any) -> float:
        """Return about how long a review will take."""


@runtime_checkable
class EndsAnywhere(Protocol):
    """A solver whose reviews may start other work, and that can also return what it has."""

    def last_review(self, problem: Any, state: Any) -> Review:
        """Return the best point so far, certified, when the run does not continue."""


@dataclass(frozen=True)
class Stop:
    """When a run ends: at a relative gap, after epochs, seconds or steps, or when a hard margin proves impossible."""

    tol: float | None = 1e-3
    max_iter: int = 1000
    time_budget: float | None = None
    is_hard: bool = False  # whether an optimum above least cost / (2 total) ends the run
    max_steps: int | None = None  # for solvers that are `CountsSteps`


def _nobody(epoch: int, model: Callable[[], Model]) -> bool:
    """Ignore the epoch and never stop the run."""
    return False


@dataclass
class Watcher:
    """Callbacks at epochs (True: stop) and at certificates; `interrupted` is polled between chunks.

    `on_chunk` is called before each chunk, when everything due at its state has been done: a run can resume from there.
    """

    on_epoch: Callable[[int, Callable[[], Model]], bool] = _nobody
    on_review: Callable[[TraceRow], None] = lambda row: None
    on_chunk: Callable[[Any], None] = lambda state: None
    interrupted: Callable[[], bool] = lambda: False


@dataclass
class _Run:
    problem: Objective
    solver: Solver
    stop: Stop
    watcher: Watcher
    state: Any
    begun: float = field(default_factory=perf_counter)
    traced_from: float = field(default_factory=perf_counter)
    trace: Trace = field(default_factory=Trace)
    last: Review | None = None
    reviewed_at: int = -1
    review_seconds: float = 0.0
    chunk: int = 0
    first_epoch: int = 0
    last_epoch: int = 0
    last_step: float = math.inf
    heard: float = field(default_factory=perf_counter)  # when the watchers were last told about the run
    proved: float = field(default_factory=perf_counter)  # when the last review ended
    foreseeing: ForeseesReviews | None = None  # the solver, if it can foresee its reviews

    def __post_init__(self) -> None:
        # `hasattr` is much faster than `isinstance` with a protocol, as in `run`.
        self.foreseeing = cast(ForeseesReviews, self.solver) if hasattr(self.solver, "review_seconds") else None

    def end_at_steps(self) -> None:
        """From here on, take no more steps than the stopping rule allows."""
        if self.stop.max_steps is not None:
            self.last_step = step = self.solver.steps(self.state) + self.stop.max_steps
            self.solver = cast(CountsSteps, self.solver).ending_at(step)

    def until_the_end(self) -> Status:
        """Advance from look to look until a stopping rule applies."""
        n = self.problem.rows.n_rows
        self.first_epoch = first = epoch = self.solver.visits(self.state) // n
        self.last_epoch = last = first + self.stop.max_iter
        while epoch < last and self.solver.steps(self.state) < self.last_step:
            before, visits = epoch, self.solver.visits(self.state)
            look = max(self.solver.next_look(self.problem, self.state), visits + 1)
            goal = min(look, last * n, self.next_epoch(visits))
            ended = self.advance_to(int(goal))
            visits = self.solver.visits(self.state)
            epoch = visits // n
            completed = epoch - first if epoch > before else None
            is_look = not goal <= visits < look
            if ended is None and is_look and self.is_due(completed):
                ended = self.review()
            if ended is None and completed is not None and self.watcher.on_epoch(completed, self.model):
                ended = Status.STOPPED
            if ended is not None:
                return ended
        ended = self.review()
        return ended or self.after_all_epochs()

    def next_epoch(self, visits: int) -> float:
        """Return the visits that end the epoch, if a watcher expects it before the solver's next look."""
        n = self.problem.rows.n_rows
        return math.inf if self.watcher.on_epoch is _nobody else (visits // n + 1) * n

    def after_all_epochs(self) -> Status:
        """Explain why the gap is open: if most of it is room for rounding, more epochs would not close it."""
        is_counted = self.solver.steps(self.state) >= self.last_step
        if self.stop.tol is None:
            return Status.COUNTED if is_counted else Status.COMPLETED
        assert self.last is not None
        certificate = self.last.certificate
        if certificate.rounding > 0.5 * certificate.gap:
            return Status.ROUNDING
        return Status.STEPS if is_counted else Status.EPOCHS

    def is_due(self, completed: int | None) -> bool:
        """Whether to review: when the solver asks for it, or when a hard margin has proved impossible."""
        if self.solver.review_due(self.problem, self.state, completed, self.stop.tol):
            return True
        if not self.stop.is_hard or completed is None:
            return False
        _, alpha = self.solver.point(self.problem, self.state)
        return dual_point(self.problem, alpha)[1] > self.largest_hard_optimum()

    def advance_to(self, visits: int) -> Status | None:
        """Advance in chunks of about 0.05 s to honor budgets and interrupts; review a solver that returns early."""
        while (done := self.solver.visits(self.state)) < visits:
            self.watcher.on_chunk(self.state)
            before = perf_counter()
            goal = min(visits, done + self.chunk)
            self.solver.advance_to(self.problem, self.state, goal)
            now = perf_counter()
            done = self.solver.visits(self.state) - done
            self.chunk = max(1, int(done * _CHUNK_SECONDS / max(now - before, 1e-6)))
            if self.is_over(_REVIEW_RESERVE * self.needed_for_review()):
                return Status.TIME
            if self.watcher.interrupted():
                return Status.INTERRUPTED
            if self.foreseeing is not None and now - self.heard >= _LONGEST_SILENCE:
                ended = self.tell()
                if ended is not None:
                    return ended
            if self.solver.visits(self.state) < goal:
                break
        return None

    def is_over(self, needed: float) -> bool:
        """Whether this many more seconds would exceed the budget."""
        return self.stop.time_budget is not None and perf_counter() - self.begun + needed >= self.stop.time_budget

    def seconds_left(self) -> float:
        """Return the seconds left in the budget, 0 if none are left."""
        if self.stop.time_budget is None:
            return 0.0
        return max(0.0, self.stop.time_budget - (perf_counter() - self.begun))

    def needed_for_review(self) -> float:
        """Estimate the seconds that certifying the point reached will take."""
        if self.foreseeing is not None:
            return max(self.foreseeing.review_seconds(self.problem, self.state), self.review_seconds)
        return self.review_seconds

    def tell(self) -> Status | None:
        """Report a run with long epochs to the watchers, with a new certificate where that takes little time.

        Otherwise the last certificate is reported again: only proved results are reported.
        """
        ended = self.review(within_seconds=_SHARE_OF_REVIEWS * (perf_counter() - self.proved))
        if ended is not None:
            return ended
        if perf_counter() - self.heard >= _LONGEST_SILENCE and self.last is not None:
            self.record(self.last.certificate)
        epoch = self.solver.visits(self.state) // self.problem.rows.n_rows - self.first_epoch
        return Status.STOPPED if self.watcher.on_epoch(epoch, self.model) else None

    def review(self, *, within_seconds: float | None = None) -> Status | None:
        """Certify the point reached, unless that was done; return a status if it is good enough.

        If that would take longer than ``within_seconds``, the last certified point remains the result.
        """
        if self.solver.visits(self.state) == self.reviewed_at:
            return None
        before = perf_counter()
        if within_seconds is not None and isinstance(self.solver, EndsAnywhere):
            review = self.solver.last_review(self.problem, self.state)
        else:
            is_hasty = within_seconds is not None and self.foreseeing is not None
            if is_hasty and within_seconds is not None and self.needed_for_review() > within_seconds:
                if self.last is None:
                    self.last = self.zero()
                    self.record(self.last.certificate)
                return None
            review = self.solver.review(self.problem, self.state, self.stop.tol)
            self.proved = perf_counter()
            self.review_seconds = self.proved - before
            if is_hasty and self.last is not None and self.last.is_better_than(review):
                review = self.last
        if not review.certificate.is_finite:
            self.last = self.zero()
            return Status.OVERFLOW
        self.last, self.reviewed_at = review, self.solver.visits(self.state)
        self.record(review.certificate)
        if self.stop.is_hard and review.certificate.dual > self.largest_hard_optimum():
            return Status.INSEPARABLE
        gap = review.certificate.relative_gap
        if self.stop.tol is None or gap > max(self.stop.tol, _ROUNDING):
            return None
        return Status.CERTIFIED if self.stop.tol >= _ROUNDING else Status.ROUNDING

    def review_in_time(self) -> Status | None:
        """Certify the point reached in the time that is left.

        While nothing is proved, the attempt is made even if a review was foreseen to take twice as long.
        """
        left = self.seconds_left() + _GRACE_SECONDS
        is_proved = self.foreseeing is None or (self.last is not None and self.last.alpha.any())
        if not is_proved and left < self.needed_for_review() <= 2.0 * left:
            try:
                with within(left):
                    return self.review()
            except TimeIsUp:
                left = 0.0
        return self.review(within_seconds=left)

    def largest_hard_optimum(self) -> float:
        """A larger optimum proves that the classes cannot be separated (`theory.lam_of_c`)."""
        cost = self.problem.cost
        return 0.5 * float(np.min(cost, where=cost > 0.0, initial=np.inf)) / self.problem.total

    def model(self) -> Model:
        """Return the model reached, for watchers."""
        intercept = self.solver.intercept(self.problem, self.state) if isinstance(self.solver, FindsIntercept) else 0.0
        return Model(self.solver.point(self.problem, self.state)[0], intercept)

    def record(self, certificate: Certificate) -> None:
        """Append one row to the trace."""
        row = TraceRow(
            step=self.solver.steps(self.state),
            epoch=self.solver.visits(self.state) / self.problem.rows.n_rows,
            seconds=perf_counter() - self.traced_from,
            primal=certificate.primal,
            dual=certificate.dual,
            gap=certificate.gap,
        )
        self.trace.rows.append(row)
        self.watcher.on_review(row)
        self.heard = perf_counter()

    def zero(self) -> Review:
        """Review the zero vector, a model that every machine can represent."""
        alpha = np.zeros(self.problem.alpha_shape)
        certificate, _ = certify_dual(self.problem, alpha)
        return Review(certificate, np.zeros_like(self.model().weights), alpha)

    def solution(self, status: Status) -> Solution:
        """Return the solution reached."""
        assert self.last is not None
        visits = self.solver.visits(self.state)
        alpha = self.problem.within_bounds(self.last.alpha)
        if self.last.certificate.primal < TINY and isinstance(alpha, np.ndarray):
            alpha = np.zeros_like(alpha)  # the dual point that the certificate refers to
        return Solution(
            weights=self.last.weights,
            alpha=alpha,
            status=status,
            certificate=self.last.certificate,
            trace=self.trace,
            # The last step may go slightly beyond the last epoch.
            n_epochs=min(-(-visits // self.problem.rows.n_rows), self.last_epoch),
            n_steps=0 if status is Status.OVERFLOW else self.solver.steps(self.state),
            state=None if status is Status.OVERFLOW else self.state,
            intercept=self.last.intercept,
        )


def run(
    problem: Objective,
    solver: Solver,
    stop: Stop,
    *,
    seed: int = 0,
    state: Any = None,
    watcher: Watcher | None = None,
    begun: float | None = None,
) -> Solution:
    """Advance a solver on a problem until the stopping rule applies, and certify the result.

    An interrupt ends the run with the point reached; it is raised again only when there is none. The seconds of the
    trace count from ``begun``, by default from now.
    """
    refuses = getattr(solver, "refuses", None)  # a hundred times as fast as an isinstance check with the protocol
    if refuses is not None and (why := refuses(problem)) is not None:
        raise PegasosError(why)
    whole = _Run(problem, solver, stop, watcher or Watcher(), state)
    if begun is not None:
        whole.traced_from = begun
    whole.chunk = max(1, 500_000 // (problem.rows.n_features + 1))
    # The certificate detects overflow, which becomes a status instead of a numpy warning.
    with np.errstate(all="ignore"):
        return _solved(whole, seed)


def run_from(
    problem: Objective,
    solver: Solver,
    stop: Stop,
    *,
    state: Any,
    seed: int = 0,
    watcher: Watcher | None = None,
    begun: float | None = None,
    doubtful: tuple[Status, ...] = (Status.ROUNDING,),
) -> Solution:
    """Like `run`, from a state that may be a bad start, where features are badly scaled for example.

    If such a run ends with a doubtful status, the solver starts again from scratch in the time that is left, and the
    better solution counts.
    """
    started = perf_counter()
    solution = run(problem, solver, stop, state=state, seed=seed, watcher=watcher, begun=begun)
    if state is None or solution.status not in doubtful:
        return solution
    if stop.time_budget is not None:
        stop = replace(stop, time_budget=max(0.0, stop.time_budget - (perf_counter() - started)))
    fresh = run(problem, solver, stop, seed=seed, watcher=watcher, begun=begun)
    return min(solution, fresh, key=lambda one: one.certificate.relative_gap)


def _solved(whole: _Run, seed: int) -> Solution:
    stop, solver = whole.stop, whole.solver
    try:
        # The first chunk always gets its time: even a budget of 0 leaves something to certify.
        with within(None if stop.time_budget is None else max(stop.time_budget, _LEAST_SECONDS)):
            if whole.state is None:
                whole.state = solver.start(whole.problem, seed)
            whole.end_at_steps()
            status = whole.until_the_end()
    except TimeIsUp:
        if whole.state is None:
            whole.state = solver.start(whole.problem, seed)
        status = Status.TIME
        whole.reviewed_at = -1  # rows may have been visited that are not counted yet, as below
    except ExhaustedError:
        status = Status.COMPLETED if stop.tol is None else Status.ROUNDING
    except KeyboardInterrupt:
        if whole.state is None or solver.steps(whole.state) == 0:
            raise
        status = Status.INTERRUPTED
        whole.reviewed_at = -1  # rows may have been visited that are not counted yet
    if status is not Status.OVERFLOW:
        is_late = status in (Status.TIME, Status.INTERRUPTED)
        reached = whole.review_in_time() if is_late else whole.review()
        is_open = status in (Status.TIME, Status.ROUNDING)
        status = reached if reached in _FINAL_STATUSES or (is_open and reached) else status
    return whole.solution(status)
