// The sums over the rows of a small kernel problem that its certificate consists of, times total.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "breaks.h"
#include "types.h"

namespace pegasos {

inline constexpr double slope_rounding = 1e-12;  // fraction of the sum of the costs below which a slope counts as 0

// One entry per row of the problem.
struct SmallColumns {
  const double* sign;
  const double* cost;
  const double* offset;
  const double* scores;  // without the intercept
  Index n;
};

struct SmallSums {
  double intercept = 0.0;  // a best one where it is free, else 0
  double losses = 0.0;
  double least_margin = std::numeric_limits<double>::infinity();  // of the rows with a positive cost
  double square = 0.0;       // |w(alpha)|^2
  double gain = 0.0;         // sum_i alpha_i (1 - sign_i offset_i)
  double coefficients = 0.0;  // sum_i |coefficient_i|
  double spread = 0.0;       // sum_i cost_i (1 + |offset_i|)
  double zero = 0.0;         // losses of zero weights
  double uneven = 0.0;       // sum_i alpha_i sign_i
  double spent = 0.0;        // sum_i alpha_i
};

// The lowest and the highest intercept with the least loss, for scores plus `reach` times |x_i|.
inline std::pair<double, double> intercepts_of(const SmallColumns& rows, const double* lengths, double reach) {
  std::vector<double> places(static_cast<std::size_t>(rows.n));
  double total = 0.0;
  for (Index k = 0; k < rows.n; ++k) {
    const double more = lengths == nullptr ? 0.0 : reach * lengths[k];
    places[std::size_t(k)] = rows.sign[k] - (rows.scores[k] + more) - rows.offset[k];
    total += rows.cost[k];
  }
  return best_intercepts(places.data(), rows.cost, rows.sign, rows.n, slope_rounding * total);
}

// The middle of both, or the finite one.
inline double one_intercept(std::pair<double, double> ends) {
  const double middle = 0.5 * (ends.first + ends.second);
  if (std::isfinite(middle)) return middle;
  return std::isfinite(ends.first) ? ends.first : std::isfinite(ends.second) ? ends.second : 0.0;
}

// The sums of alpha and its scores; writes the coefficients sign_i alpha_i / mu, where mu = lam total.
inline SmallSums small_sums(const SmallColumns& rows, const double* alpha, double mu, bool is_free,
                            double* coefficients) {
  SmallSums sums;
  if (is_free) sums.intercept = one_intercept(intercepts_of(rows, nullptr, 0.0));
  for (Index k = 0; k < rows.n; ++k) {
    const double sign = rows.sign[k], cost = rows.cost[k], offset = rows.offset[k];
    const double margin = sign * (rows.scores[k] + offset + sums.intercept), loss = 1.0 - margin;
    coefficients[k] = sign * alpha[k] / mu;
    sums.losses += cost * (loss <= 0.0 ? 0.0 : loss);  // NaN counts
    if (cost > 0.0) sums.least_margin = std::min(sums.least_margin, margin);
    sums.square += coefficients[k] * rows.scores[k];
    sums.gain += alpha[k] * (1.0 - sign * offset);
    sums.coefficients += std::fabs(coefficients[k]);
    sums.spread += cost * (1.0 + std::fabs(offset));
    sums.zero += cost * std::max(0.0, 1.0 - sign * offset);
    sums.uneven += sign * alpha[k];
    sums.spent += alpha[k];
  }
  return sums;
}

// How far the intercept of an exact solution may be, whose weights lie within the radius of w(alpha).
inline double intercept_reach(const SmallColumns& rows, const double* lengths, double radius, double intercept) {
  const double lowest = intercepts_of(rows, lengths, radius).first;
  const double highest = intercepts_of(rows, lengths, -radius).second;
  return std::max({highest - intercept, intercept - lowest, 0.0});
}

}  // namespace pegasos
