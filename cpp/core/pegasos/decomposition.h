// The inner loop of decomposition: ascent of the dual on a working set, its kernel matrix at hand.
//
//   max_b  sum_j (b_j target_j - d_j b_j^2 / 2) - unit/2 b' K b,   lower_j <= b_j <= upper_j,   unit = 1 / (lam total)
//
// with b_j = sign_j alpha_j, so that lower..upper is 0..cap cost for sign +1 and -cap cost..0 for sign -1, and d_j =
// ridge / cost_j of the loss, 0 for the hinge. The slope of coordinate j is h_j = target_j - unit (K b)_j - d_j b_j. An
// intercept that is not regularized adds the constraint that sum_j b_j stays as it is: then two coordinates move at a
// time, b_i up and b_j down by the same m. They are chosen as in algorithm WSS 2 of Fan, Chen, Lin: Working set
// selection using second order information. JMLR 6, 2005:
//
//   i = argmax { h_i : b_i < upper_i },   j = argmax { (h_i - h_j)^2 / c_ij : b_j > lower_j, h_j < h_i },
//   c_ij = unit (K_ii + K_jj - 2 K_ij) + d_i + d_j,   m = min((h_i - h_j) / c_ij, upper_i - b_i, b_j - lower_j)
//
// Without that constraint a step moves the coordinate that gains most by going as far as it can, or such a pair,
// whichever gains more (Steinwart, Hush, Scovel: Training SVMs without offset. JMLR 12, 2011, on why two are better).
//
// The gap of the working set is the sum over j of the largest m (h_j - level) - d_j m^2 / 2 within down_j <= m <= up_j,
// up_j = upper_j - b_j, down_j = lower_j - b_j; level is 0, or with the constraint halfway between the two extreme
// slopes.
//
// Given: the slopes and the room of each coordinate. Results: both after at most n_steps steps, or once the gap is at
// most `enough`; the number of steps, and the gap. Slopes are kept in double, whatever the type of the kernel values.
#pragma once

#include "kernel_blocks.h"

namespace pegasos {

struct WorkingSet {
  Block kernel;  // n x n
  double* slope;  // n, as all that follow
  double* down;  // lower - b, at most 0
  double* up;  // upper - b, at least 0
  const double* curvature;  // unit K_jj + d_j
  const double* step;  // 1 / curvature
  double unit;
  bool keeps_sum;  // whether sum_j b_j is fixed
  const double* damping = nullptr;  // d_j; null: all 0
};

struct Ascent {
  Index n_steps;
  double gap;
};

// A small problem about some of the rows of a kernel matrix, to be solved from b = 0 to a gap of `share` times the
// objective, or for n_steps steps.
struct SmallProblem {
  Block table;  // the kernel matrix of all rows
  const Index* members;  // which of them these are
  Index n;
  const double* target;
  double* down;  // as above: given for b = 0, and what is left at the end
  double* up;
  double unit;
  bool keeps_sum;
  double share;
  Index n_steps;
};

}  // namespace pegasos
