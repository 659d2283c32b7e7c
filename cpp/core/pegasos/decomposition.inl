#pragma once

#include <cmath>
#include <limits>

#include "decomposition.h"
#include "kernel_blocks.inl"

namespace pegasos::PEGASOS_ISA {

template <class T>
struct DualAscentOnSet {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(double));
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double flat = 1e-12;      // of two curvatures: less than this between two rows is rounding
  static constexpr double rounding = 1e-15;  // of a slope: a smaller difference is none
  using V = simd::Vector<double, lanes>;
  using Mask = decltype(V{} < V{});

  const T* kernel;
  Index stride;
  Index n;
  double* slope;
  double* down;
  double* up;
  const double* curvature;
  const double* step;
  double unit;
  const double* damping;  // or null

  struct Best {
    double value;
    Index place;
  };

  static V load(const double* p) { return simd::load<double, lanes>(p); }
  static Mask first_places() {
    Mask here{};
    for (int k = 0; k < lanes; ++k) here[k] = k;
    return here;
  }
  const T* column(Index i) const { return kernel + i * stride; }

  // The lane with the largest value; of equal ones the first place.
  static Best best_of(V values, Mask places) {
    Best found{-infinity, 0};
    for (int k = 0; k < lanes; ++k)
      if (values[k] > found.value || (values[k] == found.value && values[k] > -infinity && places[k] < found.place))
        found = {values[k], Index(places[k])};
    return found;
  }

  // Subtracts factor (K_i - K_j) from the slopes; the largest slope of a coordinate that can rise.
  Best move_and_choose(double factor, const T* ki, const T* kj) const {
    V best = V{} - infinity;
    Mask place{}, here = first_places();
    Index k = 0;
    for (; k + lanes <= n; k += lanes, here += lanes) {
      const V h = load(slope + k) - factor * (simd::load<double, lanes>(ki + k) - simd::load<double, lanes>(kj + k));
      simd::store<double, lanes>(slope + k, h);
      const Mask better = (load(up + k) > 0.0) & (h > best);
      best = better ? h : best;
      place = better ? here : place;
    }
    Best found = best_of(best, place);
    for (; k < n; ++k) {
      slope[k] -= factor * (double(ki[k]) - double(kj[k]));
      if (up[k] > 0.0 && slope[k] > found.value) found = {slope[k], k};
    }
    return found;
  }

  struct Partner {
    Index place;  // -1 where no coordinate can fall
    double curvature;
    double least;  // the least slope of a coordinate that can fall
  };

  // The coordinate that gains most when it falls as i rises, bounds aside. Quotients are compared by cross products.
  Partner partner_of(Index i) const {
    const T* ki = column(i);
    const double hi = slope[i], ci = curvature[i];
    V above{}, below = V{} + 1.0, least = V{} + infinity;
    Mask place{}, here = first_places();
    Index k = 0;
    for (; k + lanes <= n; k += lanes, here += lanes) {
      const V h = load(slope + k), c = load(curvature + k);
      const Mask can_fall = load(down + k) < 0.0;
      V between = (ci + c) - (2.0 * unit) * simd::load<double, lanes>(ki + k);
      const V floor = flat * (ci + c) + std::numeric_limits<double>::min();
      between = between > floor ? between : floor;
      const V difference = hi - h;
      const V square = difference * difference;
      const Mask better = can_fall & (difference > 0.0) & (square * below > above * between);
      above = better ? square : above;
      below = better ? between : below;
      place = better ? here : place;
      least = (can_fall & (h < least)) ? h : least;
    }
    Partner found{-1, 1.0, infinity};
    double best = 0.0;
    for (int l = 0; l < lanes; ++l) {
      if (least[l] < found.least) found.least = least[l];
      if (above[l] > 0.0) consider(found, best, above[l], below[l], Index(place[l]));
    }
    for (; k < n; ++k) {
      if (!(down[k] < 0.0)) continue;
      if (slope[k] < found.least) found.least = slope[k];
      const double floor = flat * (ci + curvature[k]) + std::numeric_limits<double>::min();
      const double between = ci + curvature[k] - 2.0 * unit * double(ki[k]);
      const double difference = hi - slope[k];
      if (difference > 0.0) consider(found, best, difference * difference, between > floor ? between : floor, k);
    }
    return found;
  }
  static void consider(Partner& found, double& best, double above, double below, Index place) {
    if (found.place >= 0 && !(above * found.curvature > best * below) &&
        !(above * found.curvature == best * below && place < found.place))
      return;
    found.place = place;
    found.curvature = below;
    best = above;
  }

  // How far i rises and its partner falls.
  double pair_move(Index i, const Partner& falling) const {
    const Index j = falling.place;
    double m = (slope[i] - slope[j]) / falling.curvature;
    m = m < up[i] ? m : up[i];
    return m < -down[j] ? m : -down[j];
  }
  void shift(Index i, double m) const {
    up[i] -= m;
    down[i] -= m;
    if (damping) slope[i] -= m * damping[i];
  }

  // The sum over the coordinates of what each could still gain at most.
  double gap_at(double level) const {
    if (damping) return damped_gap_at(level);
    V sum{};
    Index k = 0;
    for (; k + lanes <= n; k += lanes) {
      const V h = load(slope + k) - level;
      sum += h * (h > 0.0 ? load(up + k) : load(down + k));
    }
    double total = simd::sum<double, lanes>(sum);
    for (; k < n; ++k) total += (slope[k] - level) * (slope[k] > level ? up[k] : down[k]);
    return total;
  }

  double damped_gap_at(double level) const {
    double total = 0.0;
    for (Index k = 0; k < n; ++k) {
      const double h = slope[k] - level;
      double m = h / damping[k];
      m = m > down[k] ? m : down[k];
      m = m < up[k] ? m : up[k];
      total += m * (h - 0.5 * damping[k] * m);
    }
    return total;
  }

  Ascent advance_pairs(double enough, Index n_steps) const {
    Best rising = move_and_choose(0.0, kernel, kernel);
    double gap = 0.0;
    Index done = 0;
    for (Index until_look = 0;; ++done, --until_look) {
      if (rising.value == -infinity) return {done, 0.0};
      const Index i = rising.place;
      const Partner falling = partner_of(i);
      const double difference = rising.value - falling.least;
      const bool is_over = falling.place < 0 || difference <= rounding * (std::abs(rising.value) + 1.0);
      if (until_look == 0 || is_over || done == n_steps) {
        gap = falling.least < infinity ? gap_at(0.5 * (rising.value + falling.least)) : 0.0;
        if (is_over || gap <= enough || done == n_steps) return {done, gap};
        until_look = n / 8 + 8;
      }
      const Index j = falling.place;
      const double m = pair_move(i, falling);
      shift(i, m);
      shift(j, -m);
      rising = move_and_choose(m * unit, column(i), column(j));
    }
  }

  // How far coordinate j goes on its own.
  double move_of(Index j) const {
    double m = step[j] * slope[j];
    m = m > down[j] ? m : down[j];
    return m < up[j] ? m : up[j];
  }

  struct Choice {
    Best single;  // the largest gain of a coordinate on its own
    Best rising;  // the largest slope of one that can rise
  };

  // Subtracts a K_i + b K_j from the slopes and makes both choices, in one pass.
  Choice subtract_and_choose(double a, const T* ki, double b, const T* kj) const {
    V best = V{} - 1.0, top = V{} - infinity;
    Mask place{}, top_place{}, here = first_places();
    Index k = 0;
    for (; k + lanes <= n; k += lanes, here += lanes) {
      const V h = load(slope + k) - (a * simd::load<double, lanes>(ki + k) + b * simd::load<double, lanes>(kj + k));
      simd::store<double, lanes>(slope + k, h);
      const V low = load(down + k), high = load(up + k);
      V m = load(step + k) * h;
      m = m > low ? m : low;
      m = m < high ? m : high;
      const V gain = m * (h - 0.5 * (load(curvature + k) * m));
      const Mask better = gain > best, higher = (high > 0.0) & (h > top);
      best = better ? gain : best;
      place = better ? here : place;
      top = higher ? h : top;
      top_place = higher ? here : top_place;
    }
    Choice found{best_of(best, place), best_of(top, top_place)};
    for (; k < n; ++k) {
      slope[k] -= a * double(ki[k]) + b * double(kj[k]);
      const double m = move_of(k), gain = m * (slope[k] - 0.5 * curvature[k] * m);
      if (gain > found.single.value) found.single = {gain, k};
      if (up[k] > 0.0 && slope[k] > found.rising.value) found.rising = {slope[k], k};
    }
    return found;
  }

  // One coordinate at a time, or two where that gains more: rows that resemble each other would swing otherwise.
  Ascent advance_freely(double enough, Index n_steps) const {
    Choice choice = subtract_and_choose(0.0, kernel, 0.0, kernel);
    double gap = 0.0;
    Index done = 0;
    for (Index until_look = 0;; ++done, --until_look) {
      Partner falling{-1, 1.0, infinity};
      double m = 0.0, gain = 0.0;
      const Index i = choice.rising.place;
      if (choice.rising.value > -infinity) falling = partner_of(i);
      if (falling.place >= 0) {
        const double difference = slope[i] - slope[falling.place];
        m = pair_move(i, falling);
        gain = m * (difference - 0.5 * falling.curvature * m);
      }
      const bool is_pair = gain > choice.single.value;
      const bool is_over = !is_pair && !(choice.single.value > 0.0);
      if (until_look == 0 || is_over || done == n_steps) {
        gap = gap_at(0.0);
        if (is_over || gap <= enough || done == n_steps) return {done, gap};
        until_look = n / 8 + 8;
      }
      if (is_pair) {
        shift(i, m);
        shift(falling.place, -m);
        choice = subtract_and_choose(m * unit, column(i), -m * unit, column(falling.place));
      } else {
        const Index j = choice.single.place;
        m = move_of(j);
        shift(j, m);
        choice = subtract_and_choose(m * unit, column(j), 0.0, column(j));
      }
    }
  }
};

inline Ascent set_advance(const WorkingSet& set, double enough, Index n_steps) {
  Ascent result{};
  visit(set.kernel, [&]<class T>(const T* kernel) {
    const DualAscentOnSet<T> ascent{kernel, set.kernel.stride, set.kernel.n_rows, set.slope, set.down,
                                    set.up, set.curvature,     set.step,          set.unit,  set.damping};
    result = set.keeps_sum ? ascent.advance_pairs(enough, n_steps) : ascent.advance_freely(enough, n_steps);
  });
  return result;
}

// `room` is for small_room(n) doubles. Returns the number of steps.
inline Index small_room(Index n) { return n * n + 4 * n; }

inline Index small_solve(const SmallProblem& problem, double* room) {
  constexpr double first = 0.2, next = 0.9;  // of the gap to reach: the objective falls on the way
  const Index n = problem.n;
  double *slope = room, *curvature = room + n, *step = room + 2 * n, *upper = room + 3 * n, *square = room + 4 * n;
  double primal = 0.0;
  for (Index j = 0; j < n; ++j) {
    slope[j] = problem.target[j];
    upper[j] = problem.up[j];
    primal += problem.up[j] - problem.down[j];
  }
  visit(problem.table, [&]<class T>(const T* table) {
    T* out = reinterpret_cast<T*>(square);
    for (Index i = 0; i < n; ++i) {
      const T* row = table + problem.members[i] * problem.table.stride;
      for (Index j = 0; j < n; ++j) out[i * n + j] = row[problem.members[j]];
      curvature[i] = problem.unit * double(out[i * n + i]);
      const double whole = 1.0 / curvature[i];
      step[i] = whole < std::numeric_limits<double>::max() ? whole : std::numeric_limits<double>::max();
    }
  });
  const WorkingSet set{Block{square, problem.table.scalar, n, n, n},
                       slope,
                       problem.down,
                       problem.up,
                       curvature,
                       step,
                       problem.unit,
                       problem.keeps_sum};
  Index done = 0;
  for (double enough = first * problem.share * primal; done < problem.n_steps;) {
    const Ascent ascent = set_advance(set, enough, problem.n_steps - done);
    done += ascent.n_steps;
    double dual = 0.0;  // half the sum of b (target + slope)
    for (Index j = 0; j < n; ++j) dual += 0.5 * (upper[j] - problem.up[j]) * (problem.target[j] + slope[j]);
    primal = ascent.gap + dual;
    if (ascent.n_steps == 0 || ascent.gap <= problem.share * primal) break;
    enough = next * problem.share * primal;
  }
  return done;
}

}  // namespace pegasos::PEGASOS_ISA
