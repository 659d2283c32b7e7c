"""Choose a solver by estimated work: Pegasos, dual ascent, Newton's method, an interior point or conjugate gradients.

The first epoch of Pegasos leaves a relative gap of about |x|^2 / (lam total) (measured on six data sets); where that
is enough, nothing is faster. Afterwards, epoch e + 1 multiplies its gap by e/(e + 1), whatever the data. Dual ascent
raises its lower bound by an amount that one trial epoch shows, and it takes over only if that is more. For smaller lam,
dual ascent is faster from the first row on, but the number of its epochs grows with |x|^2 / (lam total) (measured on
ten data sets); it needs fewer where one sign is rare, because few rows then come near the margin. Newton's method on a
smoothed problem, or an interior point on all rows, starts instead where it is expected to need less work.

The last digits are computed on the rows that matter. Newton's method hands its rows near the margin to the interior
point, and so does dual ascent when its rate of progress shows that it would need more work. The rows left out are
fixed at their bounds; the certificate checks them again and adds them where they turn out to be wrong. Where both
matrices of the interior point would be too large, dual ascent alternates with conjugate gradients over the rows between
their bounds. All choices follow estimates of work, never the clock, with one exception: where a time budget is too
short for the first step of a second-order method, dual ascent starts, because it has a usable point at any time.

`Auto` (`solver`) runs one stage at a time: Pegasos with its trials of dual ascent (`pegasos_stage`), dual ascent
(`ascent_stage`, with the conjugate gradients of `faces`), Newton's method (`newton_stage`) or an interior point
(`interior_stage`). A stage decides when it ends and what follows; `prices` estimates the work of each.
"""

from pegasos.solvers.auto.solver import Auto
from pegasos.solvers.auto.stage import AutoState, all_rows

__all__ = ["Auto", "AutoState", "all_rows"]
