"""An ellipsoid around the exact solution, from a primal and a dual point; docs/theory/region.md has the proof.

For every w and every dual point alpha within its bounds,

    P(w) - D(alpha) = lam/2 |w - w(alpha)|^2 + (1/N) sum_i slack_i(w),

and no slack is negative. A row whose dual variable lies strictly between its bounds has a slack of at least a multiple
of |r_i(w)|: the exact solution must keep that row close to its margin. Such a row is *pinned*. All pinned rows together
enclose the exact solution in an ellipsoid, which is far smaller than the ball of the same gap.

- `bounds`: what a gap says before any row is pinned, and the slack of each row;
- `rounds`: how pinned rows and the ellipsoid narrow each other;
- `primal`: few features, a matrix of features x features;
- `gram`: kernels and many features, the kernel matrix of the pinned rows;
- `finding`: which of the two, for each kind of problem.
"""

from pegasos.region.finding import find_region
from pegasos.region.gram import GramRegion
from pegasos.region.primal import PrimalRegion

__all__ = ["GramRegion", "PrimalRegion", "find_region"]
