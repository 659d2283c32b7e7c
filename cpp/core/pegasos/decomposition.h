// Ascent of the dual of a kernel machine, one or two coordinates at a time.
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
// Where the sum of each sign is fixed separately, both coordinates have the same sign.
//
// The gap is the sum over j of the largest m (h_j - level) - d_j m^2 / 2 within down_j <= m <= up_j, up_j = upper_j -
// b_j, down_j = lower_j - b_j; level is 0, or with the constraint the intercept that makes it least.
//
// Rows that cannot gain by moving leave the active set (shrinking, Joachims 1999), and the columns of those that stay
// are copied into a matrix of their own, each when it is first needed. Their share of the slopes of all other rows is
// added at the end of a phase, before the gap of all rows is trusted. The slopes of all rows are kept in double; those
// of the active rows, which every step updates, have the type of the kernel values.
#pragma once

#include "kernel_blocks.h"
#include "stop.h"

namespace pegasos {

// The kernel matrix of the rows of a problem. A column is looked up in the table; a missing one is copied from the
// matrix of a larger problem, or computed from dense rows, while the table has room.
struct KernelColumns {
  Block table;  // a kept column in each row
  Index* slot_of;  // per row: where its column is, or -1
  const Index* place_of;  // per row: its position within a column; null: in order
  Index n_kept;

  Block larger;  // the matrix of a larger problem, or no rows
  const Index* members;  // row numbers within the larger problem

  bool is_computed;  // whether columns are computed from what follows
  KernelFunction function;
  Block rows, transposed;  // (rows, features) and (features, rows), in the type of the table
  const double* left;  // squared norms
  const void* right;  // the same in the type of the table
  const void* packed = nullptr;  // the rows in panels, instead of `transposed`, where `are_far`
  const double* exact = nullptr;  // the rows in double, where the table is in single precision
  Index half = 0;  // where the second half of the rows repeats the first, as in regression: rows of each; or 0
};

// Whether so many rows do not fit the nearest caches, so that several columns are better computed together.
inline bool are_far(const Block& rows) {
  constexpr Index near_bytes = 1 << 18;
  return rows.n_rows * rows.n_columns * (rows.scalar == Scalar::float32 ? 4 : 8) > near_bytes;
}

struct DualPoint {
  Index n;
  double* slope;  // n, as all that follow
  double* down;  // lower - b, at most 0
  double* up;  // upper - b, at least 0
  const double* curvature;  // unit K_jj + d_j
  const double* damping;  // d_j; null: all 0
  double unit;
  bool keeps_sum;  // whether sum_j b_j is fixed
  double dual;  // the objective reached
  const std::int8_t* sign = nullptr;  // where the sums of each sign are fixed separately: the sign of each row

  int n_groups() const { return sign == nullptr ? 1 : 2; }
  int group_of(Index k) const { return sign != nullptr && sign[k] < 0 ? 1 : 0; }
};

// An ascent ends at a gap of `enough`, or of `share` times the objective, or after n_steps steps, or after an amount of
// work: slopes updated, plus the equivalent for each kernel value computed; or when a stop is requested.
struct Goal {
  double enough;
  double share;
  Index n_steps;
  double work;
  Stop stop = {};
};

struct Ascent {
  Index n_steps;
  double gap;  // gap of all rows, at the best level
  bool is_stuck;  // whether no row with a column can gain
  double level[2];  // where sum_j b_j is fixed: the intercept that makes the gap least, for each sign or for all
};

// A small problem on some of the rows of a larger one, to be solved from b = 0. With a width, sum_j |b_j| is given for
// each sign, as in the dual of a nu-machine (Chang, Lin: Training nu-support vector classifiers. Neural Computation 13,
// 2001): pairs are taken within one sign, from a point that spends as much.
struct SmallProblem {
  Index n;
  Block table;  // room for its columns, in the type of the larger problem's
  const Index* members;
  const double* diagonal;  // K_jj of the larger problem
  const double* target;  // n, as all that follow
  const double* lower;
  const double* upper;
  double* b;  // the solution; where the sum is fixed, it is 0 up to rounding
  double* scores;  // unit K b, summed up column by column
  double unit;
  bool keeps_sum;
  Goal goal;
  double fine = 0.0;  // a smaller share of the objective to go on to, if that takes few more steps
  double spent = 0.0;  // where there is a width: what sum_j |b_j| of each sign is
  double* width = nullptr;  // writes what the targets must move by toward 0 for b to be the solution without `spent`
};

}  // namespace pegasos
