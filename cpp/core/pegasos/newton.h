// The passes over the rows of Newton's method on a smoothed problem (src/pegasos/solvers/newton.py).
//
//   P_s(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi_s(r_i),   r_i = 1 - sign_i (<w, x_i> + offset_i)
//   phi_s(r) = cap s log(1 + exp(r/s))                            where ridge = 0: slope cap/(1 + exp(-r/s))
//   phi_s(r) = max over 0 <= a <= cap of  a r - s a^2 / 2         where ridge > 0: slope clip(r/s, 0, cap)
//
// s, the softness, is at least ridge; where it is the ridge itself, nothing is smoothed.
//
//   residuals   r_i of some weights
//   slope       the derivative of the sum of the losses along a line between two vectors of residuals
//   smooth      alpha_i = cost_i phi_s'(r_i) and sum_i alpha_i sign_i x_i
//   arrive      residuals, slope and smooth at the end of a line, in one pass
//   bend        the second derivatives of the sum of the losses, times a vector: sum_i h_i <x_i, v> x_i,
//               h_i = cost_i phi_s''(r_i), over the few rows where that is not next to nothing
//   curvature   their matrix, estimated from about one in k of these rows: the preconditioner of a solution with `bend`
//
// Each takes a range of rows, so that threads can share them; each range has its own sums. A range is one of distinct
// rows: where rows repeat, as the two sides of a regression target do, each pass reads a row once for all its copies.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

// A point on the line from `residual` to `other`, both with one entry per row and of one type; r_i = residual_i + t
// (other_i - residual_i).
struct Line {
  Buffer residual, other;
  double t;
};

struct Slope {
  double first = 0.0;  // sum_i alpha_i (other_i - residual_i)
  double second = 0.0;
};

// The sums of a smoothed problem over a range of rows.
struct Smoothed {
  double loss = 0.0;  // cost_i phi(r_i)
  double gap = 0.0;  // cost_i phi(r_i) + ridge alpha_i^2 / (2 cost_i) - alpha_i r_i
  double alpha_sum = 0.0;  // alpha_i (1 - sign_i offset_i) - ridge alpha_i^2 / (2 cost_i)
  Index curved = 0;  // rows that bend the objective
};

// What a pass leaves: residuals and alpha at its point, one entry per row and of one type, and the changes of the sums.
struct SmoothedState {
  Line line;
  Buffer alpha;  // before the pass
  Buffer moved;  // after the pass; the same memory as `alpha`, or other
  double* sum;  // n_features + 1; += the changes of alpha_i sign_i x_i
  double* room;  // n_features + 1
};

struct Arrival {
  Smoothed sums;
  Slope slope;
};

}  // namespace pegasos
