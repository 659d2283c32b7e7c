#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "decomposition.h"

namespace pegasos::PEGASOS_ISA {

struct LevelGap {
  double gap, level;
};

// About the least gap over all levels between the two extreme slopes; gap_at returns a gap and its derivative. Where
// all rows are at a bound, so that nothing can rise, or nothing can fall, there is one extreme.
template <class F>
LevelGap least_over(const F& gap_at, double lowest, double highest) {
  constexpr int halvings = 8;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (!(lowest < infinity)) return {0.0, highest};
  if (!(highest > -infinity)) return {0.0, lowest};
  double from = std::min(lowest, highest), to = std::max(lowest, highest);
  LevelGap least{infinity, lowest};
  for (int k = 0; k < halvings; ++k) {
    const double level = 0.5 * (from + to);
    const auto [gap, slant] = gap_at(level);
    if (gap < least.gap) least = {gap, level};
    (slant > 0.0 ? to : from) = level;
  }
  return least;
}

// The gap at this level, and its derivative by the level, where rows have a damping.
template <class T>
std::pair<double, double> damped_gap(double level, Index n, const T* slope, const T* down, const T* up,
                                     const T* damping) {
  double gap = 0.0, slant = 0.0;
  for (Index k = 0; k < n; ++k) {
    const double d = damping[k], h = slope[k] - level;
    const double m = std::clamp(d > 0.0 ? h / d : double(h > 0.0 ? up[k] : down[k]), double(down[k]), double(up[k]));
    gap += m * (h - 0.5 * d * m);
    slant -= m;
  }
  return {gap, slant};
}

// Per group of rows whose coordinates have a fixed sum together: the least slope of a row that can fall, and the
// largest of one that can rise. Only rows in between can move.
struct Extremes {
  double lowest[2], highest[2];

  bool lets_move(int g, double slope, double down, double up) const {
    return (up > 0.0 && slope > lowest[g]) || (down < 0.0 && slope < highest[g]);
  }
  // Between the slopes of the rows that can move either way, once the gap is small; 0 where nothing rises or falls.
  double middle(int g) const {
    const double level = 0.5 * (lowest[g] + highest[g]);
    return std::isfinite(level) ? level : 0.0;
  }
};

inline Extremes extremes_of(const DualPoint& point) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double low = point.keeps_sum ? infinity : 0.0, high = point.keeps_sum ? -infinity : 0.0;
  Extremes found{{low, low}, {high, high}};
  for (Index k = 0; k < point.n; ++k) {
    const int g = point.group_of(k);
    if (point.down[k] < 0.0 && point.slope[k] < found.lowest[g]) found.lowest[g] = point.slope[k];
    if (point.up[k] > 0.0 && point.slope[k] > found.highest[g]) found.highest[g] = point.slope[k];
  }
  return found;
}

}  // namespace pegasos::PEGASOS_ISA
