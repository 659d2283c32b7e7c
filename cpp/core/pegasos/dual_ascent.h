// Dual coordinate ascent with shrinking (Hsieh, Chang, Lin, Keerthi, Sundararajan: ICML 2008, Algorithm 3).
//
//   max_alpha  (1/total) sum_i (alpha_i (1 - sign_i offset_i) - d_i alpha_i^2 / 2) - lam/2 |w(alpha)|^2
//   0 <= alpha_i <= cap cost_i,   d_i = ridge / cost_i
//   w(alpha) = 1/(lam total) sum_i alpha_i sign_i x_i
//
// A visit of row i maximizes over alpha_i alone, with r_i = 1 - sign_i (<w, x_i> + offset_i):
//
//   alpha_i <- clip(alpha_i + step_i (r_i - d_i alpha_i), 0, cap cost_i),   step_i = 1 / (|x_i|^2 / (lam total) + d_i)
//
// Given: the problem and a feasible alpha with w = w(alpha). Results: the same after n_visits more visits.
// A row that sits at a bound and is pushed further out than any row was in the sweep before leaves the sweep
// ("shrinking"); the driver brings all rows back when the certificate says so.
//
// With `rests`, a row at a bound and pushed outward also rests for some sweeps: at level k it is visited in those
// sweeps alone whose number is a multiple of 2^k. Each such visit raises its level by one, a move sets it to 0. Rows
// that stay at their bounds then cost a small part of a visit per sweep, and none is forgotten.
//
// For w = w(alpha) the duality gap is (1/total) sum_i (cost_i phi(r_i) + d_i alpha_i^2 / 2 - alpha_i r_i), each term >=
// 0. The loop adds these terms up as it goes, so each sweep yields an estimate of the gap at no cost. The sweep whose
// estimate, relative to P, is at most `goal` is the last one, even if visits are left; with a goal of 0, none is.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

struct DualCounters {
  std::uint64_t random = 0;
  Index visits = 0;  // visits since the start
  Index active = 0;  // rows order[0 .. active) take part in the sweep; 0: recall all rows first
  Index position = 0;  // index in order of the next row; a sweep ends at `active`
  double upper = 1e30;  // a row at its upper bound with r_i - d_i alpha_i above this leaves
  double lower = -1e30;  // a row at 0 with r_i below this leaves
  double highest = 0.0;  // largest and smallest r_i - d_i alpha_i of this sweep that a move could follow
  double lowest = 0.0;
  double gap_sum = 0.0;  // gap of this sweep
  double sweep_gap = 1e300;  // gap of the last complete sweep
  double alpha_sum = 0.0;  // sum_i alpha_i (1 - sign_i offset_i) - d_i alpha_i^2 / 2
};

// order = | active | resting at level 1 | level 2 | ... | rows that left |, with the ends of the first six parts. The
// levels that wake in a sweep are the lowest ones, so that waking them moves no row.
struct Rests {
  static constexpr int levels = 5;
  Index sweep = 0;  // number of the current sweep, since all rows were recalled
  Index ends[levels + 1] = {};
};

struct DualState {
  Buffer weights;  // n_features + 1
  Buffer alpha;  // n_rows, same type
  RowValues squared_norms;  // n_rows
  RowNumber* order;  // n_rows
  DualCounters* counters;
  Rests* rests = nullptr;  // null: no row rests
  std::uint8_t* levels = nullptr;  // n_rows
  double goal = 0.0;  // relative gap
};

}  // namespace pegasos
