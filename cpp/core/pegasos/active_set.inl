#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "column_store.inl"
#include "level_gap.inl"

namespace pegasos::PEGASOS_ISA {

// The rows that move, stored contiguously, with what the choice of the next step needs of each, in the type of the
// kernel values: all of it is read twice per step. Slopes are kept less a level in their middle, so that in single
// precision they lose few digits. How far a row moves is computed and added up in double, in the arrays of the point.
template <class T>
struct ActiveSet {
  static constexpr bool is_single = sizeof(T) == 4;
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  // fraction of two curvatures: a smaller difference between two rows is rounding
  static constexpr T flat = is_single ? T(1e-6) : T(1e-12);
  // what rounding may make of the difference of two slopes: a fraction of them, and of the targets in double
  static constexpr double rounding = 4.0 * double(std::numeric_limits<T>::epsilon()), least_rounding = 1e-15;
  using V = simd::Vector<T, lanes>;
  using Place = std::conditional_t<is_single, std::int32_t, std::int64_t>;
  using Mask = simd::Vector<Place, lanes>;

  ColumnStore<T> store;
  DualPoint& point;
  Vector<double> total_moved = Vector<double>(std::size_t(point.n));  // per row of the point, since it was last spread
  const T twice_unit = T(2.0 * point.unit);
  Index n = 0;
  Index n_first = 0;  // rows of the first group, which precede those of the second one
  Vector<Index> rows = {};
  Vector<T> slope = {}, down = {}, up = {}, curvature = {}, step = {}, damping = {};
  Vector<const T*> columns = {};
  std::unique_ptr<T[]> square = {};  // copies of the columns, where not all rows are included
  Index n_copied = 0;

  // Adds these rows, with their state at the point.
  void fill(const Vector<Index>& chosen, const Extremes& slopes) {
    n = Index(chosen.size());
    rows.clear();
    for (int g = 0; g < point.n_groups(); ++g) {
      for (const Index row : chosen)
        if (point.group_of(row) == g) rows.push_back(row);
      if (g == 0) n_first = Index(rows.size());
    }
    for (auto* each : {&slope, &down, &up, &curvature, &step}) each->resize(std::size_t(n));
    damping.resize(point.damping == nullptr ? 0 : std::size_t(n));
    for (Index k = 0; k < n; ++k) {
      const Index row = rows[k];
      slope[k] = T(point.slope[row] - (point.keeps_sum ? slopes.middle(k >= n_first) : 0.0));
      down[k] = T(point.down[row]);
      up[k] = T(point.up[row]);
      curvature[k] = T(point.curvature[row]);
      step[k] = T(std::min(1.0 / point.curvature[row], double(std::numeric_limits<T>::max())));
      if (!damping.empty()) damping[k] = T(point.damping[row]);
    }
    begin_columns(point.n);
  }
  // Keeps only these entries.
  void narrow(const Vector<Index>& places) {
    n = Index(places.size());
    n_first = Index(std::lower_bound(places.begin(), places.end(), n_first) - places.begin());
    for (Index k = 0; k < n; ++k) {
      const Index from = places[k];
      rows[k] = rows[from];
      for (auto* each : {&slope, &down, &up, &curvature, &step}) (*each)[k] = (*each)[from];
      if (!damping.empty()) damping[k] = damping[from];
    }
    begin_columns(-1);
  }
  void begin_columns(Index n_all) {
    columns.assign(std::size_t(n), nullptr);
    n_copied = 0;
    const bool is_whole = n == n_all && store.columns.place_of == nullptr && std::is_sorted(rows.begin(), rows.end());
    square.reset(is_whole ? nullptr : new T[std::size_t(n) * std::size_t(n)]);
  }

  // The part of column k that concerns these rows; null where it is not available.
  const T* column(Index k) {
    if (columns[k] != nullptr) return columns[k];
    const T* whole = store.column(rows[k]);
    if (whole == nullptr) return nullptr;
    if (square == nullptr) return columns[k] = whole;
    T* copy = square.get() + n_copied++ * n;
    const Index* place_of = store.columns.place_of;
    if (place_of == nullptr)
      for (Index j = 0; j < n; ++j) copy[j] = whole[rows[j]];
    else
      for (Index j = 0; j < n; ++j) copy[j] = whole[place_of[rows[j]]];
    return columns[k] = copy;
  }

  // The same, for a row that is about to rise, or to fall; if it has to be computed, then together with the rows that
  // violate most in the same direction, which need theirs next.
  const T* column_to_move(Index k, bool rises) {
    constexpr Index at_once = ColumnStore<T>::at_once;
    if (columns[k] != nullptr || store.has(rows[k]) || !store.computes_several()) return column(k);
    Index found[at_once] = {rows[k]};
    T worth[at_once] = {infinity};
    Index n_found = 1;
    for (Index j = 0; j < n; ++j) {
      const T value = rises ? slope[j] : -slope[j];
      if (n_found == at_once && !(value > worth[at_once - 1])) continue;
      if (!(rises ? up[j] > T(0) : down[j] < T(0)) || j == k || store.has(rows[j])) continue;
      Index place = n_found < at_once ? n_found++ : at_once - 1;
      for (; worth[place - 1] < value; --place) {
        worth[place] = worth[place - 1];
        found[place] = found[place - 1];
      }
      worth[place] = value;
      found[place] = rows[j];
    }
    store.compute(found, n_found);
    return column(k);
  }

  static V load(const T* p) { return simd::load<T, lanes>(p); }
  static Mask places_from(Index from) {
    Mask here{};
    for (int k = 0; k < lanes; ++k) here[k] = Place(from + k);
    return here;
  }

  // The rows whose coordinates have a fixed sum together.
  struct Group {
    Index from, to;
  };
  Group all() const { return {0, n}; }
  Group group(int g) const { return g == 0 ? Group{0, n_first} : Group{n_first, n}; }

  struct Best {
    T value;
    Index place;
  };
  // The lane with the largest value; the first index on ties. None where sums have overflowed to NaN.
  static Best best_of(V values, Mask places) {
    constexpr Place none = std::numeric_limits<Place>::max();
    const T top = simd::largest<T, lanes>(values);
    const Mask candidates = values == top ? places : Mask{} + none;
    const Place place = -simd::largest<Place, lanes>(-candidates);
    return place < none ? Best{top, Index(place)} : Best{-infinity, 0};
  }

  // The largest slope of a coordinate that can rise.
  Best highest(Group of) const {
    Best found{-infinity, 0};
    for (Index k = of.from; k < of.to; ++k)
      if (up[k] > T(0) && slope[k] > found.value) found = {slope[k], k};
    return found;
  }

  // The least slope of a coordinate that can fall.
  T lowest() const {
    T found = infinity;
    for (Index k = 0; k < n; ++k)
      if (down[k] < T(0) && slope[k] < found) found = slope[k];
    return found;
  }

  // Subtracts factor (K_i - K_j) from the slopes of a group; the largest slope of a coordinate that can rise.
  Best move_and_choose(T factor, const T* ki, const T* kj, Group of) {
    V best = V{} - infinity;
    Mask place{}, here = places_from(of.from);
    T* const h_of = slope.data();  // local, because the compiler must assume that a store changes the members
    const T* const up_of = up.data();
    const Index end = of.to;
    Index k = of.from;
    for (; k + lanes <= end; k += lanes, here += lanes) {
      const V h = load(h_of + k) - factor * (load(ki + k) - load(kj + k));
      simd::store<T, lanes>(h_of + k, h);
      const V rising = load(up_of + k) > T(0) ? h : V{} - infinity;
      place = rising > best ? here : place;
      best = rising > best ? rising : best;
    }
    Best found = best_of(best, place);
    for (; k < end; ++k) {
      slope[k] -= factor * (ki[k] - kj[k]);
      if (up[k] > T(0) && slope[k] > found.value) found = {slope[k], k};
    }
    return found;
  }

  struct Partner {
    Index place;  // -1 where no coordinate can fall
    T curvature;
    T least;  // the least slope of a coordinate that can fall
  };

  // The coordinate of a group with the largest gain when it falls as i rises, ignoring bounds. Quotients are compared
  // by cross products.
  Partner partner_of(Index i, const T* ki, Group of) const {
    const T hi = slope[i], ci = curvature[i];
    constexpr int side = 2;  // independent chains of comparisons
    V above[side] = {}, below[side] = {V{} + T(1), V{} + T(1)}, least = V{} + infinity;
    Mask place[side] = {}, here = places_from(of.from);
    const auto compare = [&](int p, Index k) {
      const V c = ci + load(&curvature[k]);
      const V h = load(&down[k]) < T(0) ? load(&slope[k]) : V{} + infinity;
      const V between = c - twice_unit * load(ki + k), floor = flat * c;
      const V bent = (between > floor ? between : floor) + std::numeric_limits<T>::min();
      least = h < least ? h : least;
      const V difference = h < hi ? hi - h : V{};
      const V square = difference * difference;
      const Mask better = square * below[p] > above[p] * bent;
      above[p] = better ? square : above[p];
      below[p] = better ? bent : below[p];
      place[p] = better ? here : place[p];
      here += lanes;
    };
    Index k = of.from;
    for (; k + side * lanes <= of.to; k += side * lanes) {
      compare(0, k);
      compare(1, k + lanes);
    }
    for (; k + lanes <= of.to; k += lanes) compare(0, k);
    const V gain0 = above[0] / below[0], gain1 = above[1] / below[1];
    const Mask first = (gain0 > gain1) | ((gain0 == gain1) & (place[0] < place[1]));
    const Best lane = best_of(first ? gain0 : gain1, first ? place[0] : place[1]);
    Partner found{-1, T(1), -simd::largest<T, lanes>(-least)};
    T best = 0;
    if (lane.value > T(0)) {
      found.place = lane.place;
      best = lane.value;
    }
    for (; k < of.to; ++k) {
      if (!(down[k] < T(0))) continue;
      if (slope[k] < found.least) found.least = slope[k];
      const T difference = hi - slope[k], gain = difference * difference / between_of(ci, k, ki);
      if (difference > T(0) && gain > best) {
        best = gain;
        found.place = k;
      }
    }
    if (found.place >= 0) found.curvature = between_of(ci, found.place, ki);
    return found;
  }
  T between_of(T ci, Index k, const T* ki) const {
    const T c = ci + curvature[k], between = c - twice_unit * ki[k];
    return (between > flat * c ? between : flat * c) + std::numeric_limits<T>::min();
  }

  // How far i rises and its partner falls.
  double pair_move(Index i, const Partner& falling) const {
    const Index j = falling.place;
    const double m = (double(slope[i]) - double(slope[j])) / double(falling.curvature);
    return std::min({m, point.up[rows[i]], -point.down[rows[j]]});
  }
  // What the objective gains by that.
  double pair_gain(Index i, const Partner& falling, double m) const {
    const double apart = double(slope[i]) - double(slope[falling.place]);
    return m * (apart - 0.5 * double(falling.curvature) * m);
  }
  void shift(Index i, double m) {
    const Index row = rows[i];
    point.up[row] -= m;
    point.down[row] -= m;
    total_moved[row] += m;
    up[i] = T(point.up[row]);
    down[i] = T(point.down[row]);
    if (!damping.empty()) slope[i] -= T(m * point.damping[row]);
  }

  // The sum over the coordinates of a group of the most that each can still gain, and its derivative by the level.
  std::pair<double, double> gap_at(double level, Group of) const {
    if (!damping.empty())
      return damped_gap(level, of.to - of.from, slope.data() + of.from, down.data() + of.from, up.data() + of.from,
                        damping.data() + of.from);
    V sum{}, bend{};
    Index k = of.from;
    for (; k + lanes <= of.to; k += lanes) {
      const V h = load(&slope[k]) - T(level);
      const V room = h > T(0) ? load(&up[k]) : load(&down[k]);
      sum += h * room;
      bend -= room;
    }
    double total = simd::total<T, lanes>(sum), slant = simd::total<T, lanes>(bend);
    for (; k < of.to; ++k) {
      const double h = slope[k] - level, room = h > 0.0 ? up[k] : down[k];
      total += h * room;
      slant -= room;
    }
    return {total, slant};
  }
  double least_gap(const Extremes& slopes, int n_groups) const {
    double gap = 0.0;
    for (int g = 0; g < n_groups; ++g)
      gap += least_over([&](double level) { return gap_at(level, group(g)); }, slopes.lowest[g], slopes.highest[g]).gap;
    return gap;
  }

  // The indices of the rows that gain by moving, alone or with another one.
  Vector<Index> can_move(const Extremes& slopes) const {
    Vector<Index> places;
    for (Index k = 0; k < n; ++k)
      if (slopes.lets_move(k >= n_first, slope[k], down[k], up[k])) places.push_back(k);
    return places;
  }

  // How far coordinate j moves alone, and what the objective gains by that.
  double move_of(Index j) const {
    const double m = double(step[j]) * double(slope[j]);
    return std::min(std::max(m, point.down[rows[j]]), point.up[rows[j]]);
  }
  double gain_of(Index j, double m) const { return m * (double(slope[j]) - 0.5 * double(curvature[j]) * m); }

  struct Choice {
    Best single;  // the largest gain of a coordinate on its own
    Best rising;  // the largest slope of one that can rise
  };

  // Both choices in the current state.
  Choice choices() const {
    Choice found{{T(-1), 0}, highest(all())};
    for (Index k = 0; k < n; ++k) compare_single(k, found);
    return found;
  }
  void compare_single(Index k, Choice& found) const {
    const T gain = T(gain_of(k, move_of(k)));
    if (gain > found.single.value) found.single = {gain, k};
  }

  // Subtracts a K_i + b K_j from the slopes and makes both choices, in one pass.
  Choice subtract_and_choose(T a, const T* ki, T b, const T* kj) {
    V best = V{} - T(1), top = V{} - infinity;
    Mask place{}, top_place{}, here = places_from(0);
    T* const h_of = slope.data();  // as above
    const T *const up_of = up.data(), *const down_of = down.data();
    const T *const step_of = step.data(), *const curvature_of = curvature.data();
    const Index end = n;
    Index k = 0;
    for (; k + lanes <= end; k += lanes, here += lanes) {
      const V h = load(h_of + k) - (a * load(ki + k) + b * load(kj + k));
      simd::store<T, lanes>(h_of + k, h);
      const V low = load(down_of + k), high = load(up_of + k);
      V m = load(step_of + k) * h;
      m = m > low ? m : low;
      m = m < high ? m : high;
      const V gain = m * (h - T(0.5) * (load(curvature_of + k) * m));
      const Mask better = gain > best;
      const V rising = high > T(0) ? h : V{} - infinity;
      place = better ? here : place;
      best = better ? gain : best;
      top_place = rising > top ? here : top_place;
      top = rising > top ? rising : top;
    }
    Choice found{best_of(best, place), best_of(top, top_place)};
    for (; k < n; ++k) {
      slope[k] -= a * ki[k] + b * kj[k];
      compare_single(k, found);
      if (up[k] > T(0) && slope[k] > found.rising.value) found.rising = {slope[k], k};
    }
    return found;
  }
};

}  // namespace pegasos::PEGASOS_ISA
