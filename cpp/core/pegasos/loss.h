// The family of losses: cost_i phi(r_i), r_i = 1 - sign_i (<w, x_i> + offset_i), with two parameters of the problem:
//
//   phi(r) = max over 0 <= a <= cap of  a r - ridge a^2 / 2
//
// The hinge has cap 1 and ridge 0, the squared hinge cap = infinity and ridge 1/2. The dual variable of row i lies
// within 0 <= alpha_i <= cap cost_i, and the dual objective, times total, has the terms -ridge alpha_i^2 / (2 cost_i).
#pragma once

#include "problem.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

// Whether the loss is the hinge.
inline bool is_hinge(const Problem& problem) { return problem.cap == 1.0 && problem.ridge == 0.0; }

// phi'(r), the maximizing a. NaN stays NaN.
[[gnu::always_inline]] inline double loss_slope(const Problem& problem, double r) {
  if (r <= 0.0) return 0.0;
  if (problem.ridge == 0.0) return r > 0.0 ? problem.cap : r;
  const double a = r / problem.ridge;
  return a > problem.cap ? problem.cap : a;
}

// phi(r); NaN stays NaN. Selections instead of branches: nothing predicts on which side of the margin a row lies.
[[gnu::always_inline]] inline double loss_value(const Problem& problem, double r) {
  const double positive = r <= 0.0 ? 0.0 : r;
  if (problem.ridge == 0.0) return problem.cap * positive;
  const double line = positive / problem.ridge, a = line > problem.cap ? problem.cap : line;
  return a * (positive - 0.5 * problem.ridge * a);
}

// Upper bound of the dual variable of row i: cap cost_i, and 0 where the cost is 0.
[[gnu::always_inline]] inline double upper_bound(const Problem& problem, Index i) {
  const double cost = at(problem.cost, i);
  return cost > 0.0 ? problem.cap * cost : 0.0;
}

// ridge / cost_i, which the ridge adds to the curvature of the dual in alpha_i; limited, so that a tiny cost is
// harmless in single precision.
inline constexpr double most_damping = 1e30;
[[gnu::always_inline]] inline double damping(const Problem& problem, Index i) {
  if (problem.ridge == 0.0) return 0.0;
  const double found = problem.ridge / at(problem.cost, i);
  return found < most_damping ? found : most_damping;
}

// cost_i phi(r) + ridge a^2 / (2 cost_i) - a r, at least 0: the contribution of row i to the duality gap, times total.
[[gnu::always_inline]] inline double row_gap(const Problem& problem, Index i, double r, double a) {
  return at(problem.cost, i) * loss_value(problem, r) + a * (0.5 * damping(problem, i) * a - r);
}

}  // namespace pegasos::PEGASOS_ISA
