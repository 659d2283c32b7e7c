// The intercepts with the least loss: a convex piecewise linear function whose slope grows by cost_i at the break of
// row i.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "types.h"

namespace pegasos {

struct Break {
  double place;
  double cost;
};

// The first place up to which the costs add up to the target, or to more than that where `beyond`; infinity where they
// never do. By partition around pivots, in linear time; changes the order.
inline double first_reaching(std::vector<Break>& breaks, double target, bool beyond) {
  const auto reaches = [&](double sum) { return beyond ? sum > target : sum >= target; };
  auto begin = breaks.begin(), end = breaks.end();
  double before = 0.0;
  while (begin != end) {
    const double ends[] = {begin->place, (end - 1)->place}, middle = (begin + (end - begin) / 2)->place;
    const double pivot = std::max(std::min(ends[0], ends[1]), std::min(std::max(ends[0], ends[1]), middle));
    const auto below = std::partition(begin, end, [&](const Break& one) { return one.place < pivot; });
    const auto above = std::partition(below, end, [&](const Break& one) { return !(one.place > pivot); });
    double sum = before;
    for (auto one = begin; one != below; ++one) sum += one->cost;
    if (reaches(sum)) {
      end = below;
      continue;
    }
    for (auto one = below; one != above; ++one) sum += one->cost;
    if (reaches(sum)) return pivot;
    before = sum;
    begin = above;
  }
  return std::numeric_limits<double>::infinity();
}

// The lowest and the highest intercept with the least loss; `rounding` bounds the error of a slope of 0. Infinite where
// only rows of one sign have a positive cost.
inline std::pair<double, double> best_intercepts(const double* place, const double* cost, const double* sign, Index n,
                                                 double rounding) {
  std::vector<Break> breaks;
  breaks.reserve(std::size_t(n));
  double positive = 0.0;  // the slope before the first break is -positive
  for (Index k = 0; k < n; ++k) {
    if (!(cost[k] > 0.0)) continue;
    breaks.push_back({place[k], cost[k]});
    if (sign[k] > 0.0) positive += cost[k];
  }
  const double lowest = positive <= rounding ? -std::numeric_limits<double>::infinity()
                                             : first_reaching(breaks, positive - rounding, false);
  return {lowest, first_reaching(breaks, positive + rounding, true)};
}

}  // namespace pegasos
