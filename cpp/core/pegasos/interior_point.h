// A primal-dual interior point: the problem restricted to chosen rows, the dual variables of the others fixed.
//
//   min_w  mu/2 |w|^2 - <fixed, w> + sum_i cost_i phi(q_i - <w, z_i>),      mu = lam total,  z_i = sign_i (x_i, bias)
//   max_a  sum_i (q_i a_i - d_i a_i^2 / 2) - |fixed + Z'a|^2 / (2 mu),      q_i = 1 - sign_i offset_i
//          0 <= a_i <= c_i,   c_i = cap cost_i,   d_i = ridge / cost_i
//
// where fixed = sum of alpha_j z_j over the fixed rows, and both objectives are `total` times those of the problem.
// With r = q - Zw - d a split into r = v - u, u, v >= 0, and t = c - a, the optimum is where
//
//   mu w = fixed + Z'a,   a_i u_i = 0,   t_i v_i = 0.
//
// Where cap is infinite, there is no t, and v = 0.
//
// Given: any w, and a, t, u, v > 0 with v - u = r and a + t = c. Each iteration takes Mehrotra's predictor and
// corrector (SIAM J. Optimization 2, 1992) and up to two of Gondzio's correctors (Computational Optimization and
// Applications 6, 1996). Each direction solves
//
//   (mu I + Z' Theta^-1 Z) dw = Z' Theta^-1 b - (mu w - fixed - Z'a),    Theta = u/a + v/t + d
//   da = Theta^-1 (b - Z dw)
//
// features x features, or the equivalent system of rows x rows where there are fewer rows (Ferris, Munson: SIAM J.
// Optimization 13, 2002), by Cholesky, with one step of refinement where its pivots differ widely. w is a
// separate variable, not w(a): the division by mu does not cost it precision, so that the gap falls to rounding at any
// mu. Results: the w with the lowest primal and the a with the highest dual objective found. All in double, whatever
// the type of the rows.
#pragma once

#include "parallel.h"
#include "problem.h"
#include "types.h"

namespace pegasos {

struct Chosen {
  const RowNumber* rows;
  Index n;
};

struct InteriorCounters {
  Index iterations = 0;
  double primal = 1e300;     // lowest value found, of the restricted problem, times total
  double dual = -1e300;      // highest value found
  double step = 0.0;         // length of the last one, at most 1
  double complement = 0.0;   // mean of a_i u_i and t_i v_i
  bool stalled = false;      // no further step is useful
};

// Arrays owned by the caller.
struct InteriorState {
  double* weights;        // n_features + 1
  const double* fixed;    // n_features + 1
  double* alpha;          // one entry for each chosen row: a, t, u, v
  double* slack;
  double* lower;
  double* upper;
  double* best_weights;   // of the lowest primal
  double* best_alpha;     // of the highest dual
  const double* outer;    // Z Z' (lower triangle), or null: features x features
  InteriorCounters* counters;
};

}  // namespace pegasos
