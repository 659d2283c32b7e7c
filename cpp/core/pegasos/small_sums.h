// The sums over the rows of a small kernel problem that its certificate consists of, times total, and their rounding.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "breaks.h"
#include "types.h"

namespace pegasos {

inline constexpr double slope_rounding = 1e-12;  // fraction of the sum of the costs below which a slope counts as 0
inline constexpr double rounding_unit = 0x1p-53;
inline constexpr double negligible = 1e-10;  // as in rounding.py: a smaller fraction of the objective is not counted

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
  double farthest = 0.0;     // the largest |offset_i|
};

// What a certificate is made of.
struct SmallTerms {
  double intercept;
  double losses;
  double least_margin;
  double square;
  double gain;      // minus what rounding may have added to it, where that counts
  double rounding;  // what rounding may have taken from the primal, where that counts
  double slack;     // the rest
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
    sums.farthest = std::max(sums.farthest, std::fabs(offset));
  }
  return sums;
}

// The sums with what rounding may change them by. No kernel value exceeds `largest`, the largest k(x, x). A free
// intercept b adds -b sum_i alpha_i sign_i to the dual, a sum that is 0 except for rounding; an optimal b is at most
// 1 + |offset_i| + |w*| |x_i| for some row.
inline SmallTerms with_rounding(const SmallSums& sums, Index n, double mu, double largest, bool is_free) {
  const double depth = rounding_unit * (double(n) + 16.0), of_scores = depth * sums.coefficients * largest;
  const double of_square = mu * (sums.coefficients * of_scores + depth * sums.square);
  const double of_primal = (of_scores + depth) * sums.spread + of_square;
  double of_dual = of_square + depth * std::fabs(sums.gain);
  if (is_free) {
    const double radius = std::sqrt(2.0 * sums.zero / mu);
    const double farthest = 1.0 + sums.farthest + 1.5 * radius * std::sqrt(largest);
    of_dual += (std::fabs(sums.uneven) + 4.0 * depth * sums.spent) * farthest;
  }
  const double objective = sums.losses + 0.5 * mu * sums.square;
  SmallTerms terms{sums.intercept, sums.losses, sums.least_margin, sums.square, sums.gain, 0.0, of_primal + of_dual};
  if (of_primal + of_dual > negligible * objective) {  // otherwise rounding is slack
    terms.gain -= of_dual;
    terms.rounding = of_primal;
    terms.slack = 64.0 * rounding_unit * objective;
  }
  return terms;
}

// How far the intercept of an exact solution may be, whose weights lie within the radius of w(alpha).
inline double intercept_reach(const SmallColumns& rows, const double* lengths, double radius, double intercept) {
  const double lowest = intercepts_of(rows, lengths, radius).first;
  const double highest = intercepts_of(rows, lengths, -radius).second;
  return std::max({highest - intercept, intercept - lowest, 0.0});
}

}  // namespace pegasos
