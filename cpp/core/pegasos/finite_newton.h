// Newton's method on the primal of a loss that is curved: ridge > 0.
//
//   P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(r_i),   r_i = 1 - sign_i (<w, x_i> + offset_i)
//
// P is quadratic as long as no r_i crosses 0 or ridge cap, so a step to the minimum of its quadratic model ends at the
// exact optimum once the rows have found their sides: after a finite number of steps (Keerthi, DeCoste: A modified
// finite Newton method for fast solution of large scale linear SVMs. JMLR 6, 2005). A step that leads beyond the
// minimum is shortened by a search along its line, which needs no row: the scores at both of its ends determine it.
//
// Given: any weights. Results: weights, and their scores, from which alpha_i = cost_i phi'(r_i) follows, a dual point.
// With sum = sum_i alpha_i sign_i x_i, the duality gap of the two is |lam total w - sum|^2 / (2 lam total^2). Only the
// scores of distinct rows are kept: where rows repeat, as the two sides of a regression target do, a row is read once
// for all its copies. Steps begin on blocks of rows, one of every `stride`, and go on with all of them.
#pragma once

#include "parallel.h"
#include "problem.h"
#include "types.h"

namespace pegasos {

struct FiniteCounters {
  Index steps = 0;
  Index visits = 0;      // rows that the steps have read
  Index stride = 0;      // of the blocks that are read; 0 before the first pass
  double primal = 0.0;   // of the rows read, times total
  double gap = 1e300;    // relative to the primal
  bool stalled = false;  // no step leads down
};

// Arrays owned by the caller.
struct FiniteState {
  double* weights;  // n_features + 1
  double* sum;      // n_features + 1: sum_i alpha_i sign_i x_i
  double* scores;   // one entry for each distinct row: its score, as far as it was read
  double* other;    // the same at the end of a step
  FiniteCounters* counters;
};

}  // namespace pegasos
