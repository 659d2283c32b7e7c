#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "decomposition.h"
#include "kernel_blocks.inl"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

// The columns of the kernel matrix, see KernelColumns.
template <class T>
struct ColumnStore {
  KernelColumns& columns;

  bool has(Index i) const { return columns.slot_of[i] >= 0; }
  // Whether a missing column can be computed.
  bool is_open() const {
    return columns.n_kept < columns.table.n_rows && (columns.larger.n_rows > 0 || columns.is_computed);
  }
  T* slot(Index k) const { return static_cast<T*>(columns.table.data) + k * columns.table.stride; }

  // How many columns are computed together.
  static constexpr Index at_once = DenseKernel<T>::tall;
  bool computes_several() const {
    return columns.packed != nullptr && columns.table.n_rows - columns.n_kept >= at_once;
  }
  // Computes the columns of at most at_once rows that are not kept.
  void compute(const Index* rows, Index n) const {
    const Index d = columns.rows.n_columns;
    Vector<T> lines(std::size_t(at_once * d));
    double left[at_once];
    T* out[at_once];
    for (Index k = 0; k < at_once; ++k) {
      const Index row = rows[k < n ? k : 0];
      std::copy_n(static_cast<const T*>(columns.rows.data) + row * columns.rows.stride, d, lines.data() + k * d);
      left[k] = columns.left[row];
      if (k >= n) continue;
      columns.slot_of[row] = columns.n_kept;
      out[k] = slot(columns.n_kept++);
    }
    DenseKernel<T>::columns(columns.function, lines.data(), n, left, static_cast<const T*>(columns.packed), d,
                            static_cast<const T*>(columns.right), columns.table.n_columns, out);
  }

  // The column of row i; null where it is neither kept nor available.
  const T* column(Index i) const {
    if (has(i)) return slot(columns.slot_of[i]);
    if (columns.half > 0 && i >= columns.half) {
      const T* const found = column(i - columns.half);
      columns.slot_of[i] = columns.slot_of[i - columns.half];
      return found;
    }
    if (!is_open()) return nullptr;
    T* out = slot(columns.n_kept);
    const Index n = columns.table.n_columns;
    if (columns.larger.n_rows > 0) {
      const T* from = static_cast<const T*>(columns.larger.data) + columns.members[i] * columns.larger.stride;
      for (Index j = 0; j < n; ++j) out[j] = from[columns.members[j]];
    } else if (columns.packed != nullptr) {
      compute(&i, 1);
      return out;
    } else {
      DenseKernel<T>::column(columns.function, columns.rows, i, columns.transposed, columns.left[i],
                             static_cast<const T*>(columns.right), out);
      std::copy(out, out + columns.half, out + columns.half);
    }
    columns.slot_of[i] = columns.n_kept++;
    return out;
  }
};

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
inline std::pair<double, double> damped_gap(double level, Index n, const double* slope, const double* down,
                                            const double* up, const double* damping) {
  double gap = 0.0, slant = 0.0;
  for (Index k = 0; k < n; ++k) {
    const double h = slope[k] - level;
    double m = damping[k] > 0.0 ? h / damping[k] : (h > 0.0 ? up[k] : down[k]);
    m = m > down[k] ? m : down[k];
    m = m < up[k] ? m : up[k];
    gap += m * (h - 0.5 * damping[k] * m);
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

// The rows that move, stored contiguously, with what the steps need of each.
template <class T>
struct ActiveSet {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(double));
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  // fraction of two curvatures: a smaller difference between two rows is rounding
  static constexpr double flat = 1e-12;
  static constexpr double rounding = 1e-15;  // fraction of a slope: a smaller difference counts as none
  using V = simd::Vector<double, lanes>;
  using Mask = decltype(V{} < V{});

  ColumnStore<T> store;
  double unit;
  Index n = 0;
  Index n_first = 0;  // rows of the first group, which precede those of the second one
  Vector<Index> rows = {};
  Vector<double> slope = {}, down = {}, up = {}, curvature = {}, step = {}, moved = {}, damping = {};
  Vector<const T*> columns = {};
  std::unique_ptr<T[]> square = {};  // copies of the columns, where not all rows are included
  Index n_copied = 0;

  // Adds these rows, with their state at this point.
  void fill(const DualPoint& point, const Vector<Index>& chosen) {
    n = Index(chosen.size());
    rows.clear();
    for (int g = 0; g < point.n_groups(); ++g) {
      for (const Index row : chosen)
        if (point.group_of(row) == g) rows.push_back(row);
      if (g == 0) n_first = Index(rows.size());
    }
    for (auto* each : {&slope, &down, &up, &curvature, &step, &moved}) each->resize(std::size_t(n));
    damping.resize(point.damping == nullptr ? 0 : std::size_t(n));
    for (Index k = 0; k < n; ++k) {
      const Index row = rows[k];
      slope[k] = point.slope[row];
      down[k] = point.down[row];
      up[k] = point.up[row];
      curvature[k] = point.curvature[row];
      step[k] = std::min(1.0 / curvature[k], std::numeric_limits<double>::max());
      moved[k] = 0.0;
      if (!damping.empty()) damping[k] = point.damping[row];
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
      for (auto* each : {&slope, &down, &up, &curvature, &step, &moved}) (*each)[k] = (*each)[from];
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
    double worth[at_once] = {infinity};
    Index n_found = 1;
    for (Index j = 0; j < n; ++j) {
      const double value = rises ? slope[j] : -slope[j];
      if (n_found == at_once && !(value > worth[at_once - 1])) continue;
      if (!(rises ? up[j] > 0.0 : down[j] < 0.0) || j == k || store.has(rows[j])) continue;
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

  static V load(const double* p) { return simd::load<double, lanes>(p); }
  static Mask places_from(Index from) {
    Mask here{};
    for (int k = 0; k < lanes; ++k) here[k] = from + k;
    return here;
  }

  // The rows whose coordinates have a fixed sum together.
  struct Group {
    Index from, to;
  };
  Group all() const { return {0, n}; }
  Group group(int g) const { return g == 0 ? Group{0, n_first} : Group{n_first, n}; }

  struct Best {
    double value;
    Index place;
  };
  // The lane with the largest value; the first index on ties. None where sums have overflowed to NaN.
  static Best best_of(V values, Mask places) {
    const double top = simd::largest<double, lanes>(values);
    const Mask others = Mask{} + std::numeric_limits<std::int64_t>::max();
    const Mask candidates = values == top ? places : others;
    const std::int64_t place = -simd::largest<std::int64_t, lanes>(-candidates);
    return place < std::numeric_limits<std::int64_t>::max() ? Best{top, Index(place)} : Best{-infinity, 0};
  }

  // The largest slope of a coordinate that can rise.
  Best highest(Group of) const {
    Best found{-infinity, 0};
    for (Index k = of.from; k < of.to; ++k)
      if (up[k] > 0.0 && slope[k] > found.value) found = {slope[k], k};
    return found;
  }

  // The least slope of a coordinate that can fall.
  double lowest() const {
    double found = infinity;
    for (Index k = 0; k < n; ++k)
      if (down[k] < 0.0 && slope[k] < found) found = slope[k];
    return found;
  }

  // Subtracts factor (K_i - K_j) from the slopes of a group; the largest slope of a coordinate that can rise.
  Best move_and_choose(double factor, const T* ki, const T* kj, Group of) {
    V best = V{} - infinity;
    Mask place{}, here = places_from(of.from);
    double* const h_of = slope.data();  // local, because the compiler must assume that a store changes the members
    const double* const up_of = up.data();
    const Index end = of.to;
    Index k = of.from;
    for (; k + lanes <= end; k += lanes, here += lanes) {
      const V h = load(h_of + k) - factor * (simd::load<double, lanes>(ki + k) - simd::load<double, lanes>(kj + k));
      simd::store<double, lanes>(h_of + k, h);
      const V rising = load(up_of + k) > 0.0 ? h : V{} - infinity;
      place = rising > best ? here : place;
      best = rising > best ? rising : best;
    }
    Best found = best_of(best, place);
    for (; k < end; ++k) {
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

  // The coordinate of a group with the largest gain when it falls as i rises, ignoring bounds. Quotients are compared
  // by cross products.
  Partner partner_of(Index i, const T* ki, Group of) const {
    const double hi = slope[i], ci = curvature[i];
    constexpr int side = 2;  // independent chains of comparisons
    V above[side] = {}, below[side] = {V{} + 1.0, V{} + 1.0}, least = V{} + infinity;
    Mask place[side] = {}, here = places_from(of.from);
    const auto compare = [&](int p, Index k) {
      const V c = ci + load(&curvature[k]);
      const V h = load(&down[k]) < 0.0 ? load(&slope[k]) : V{} + infinity;
      const V between = c - (2.0 * unit) * simd::load<double, lanes>(ki + k), floor = flat * c;
      const V bent = (between > floor ? between : floor) + std::numeric_limits<double>::min();
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
    Partner found{-1, 1.0, -simd::largest<double, lanes>(-least)};
    double best = 0.0;
    if (lane.value > 0.0) {
      found.place = lane.place;
      best = lane.value;
    }
    for (; k < of.to; ++k) {
      if (!(down[k] < 0.0)) continue;
      if (slope[k] < found.least) found.least = slope[k];
      const double difference = hi - slope[k], gain = difference * difference / between_of(ci, k, ki);
      if (difference > 0.0 && gain > best) {
        best = gain;
        found.place = k;
      }
    }
    if (found.place >= 0) found.curvature = between_of(ci, found.place, ki);
    return found;
  }
  double between_of(double ci, Index k, const T* ki) const {
    const double c = ci + curvature[k], between = c - (2.0 * unit) * double(ki[k]);
    return (between > flat * c ? between : flat * c) + std::numeric_limits<double>::min();
  }

  // How far i rises and its partner falls.
  double pair_move(Index i, const Partner& falling) const {
    const Index j = falling.place;
    double m = (slope[i] - slope[j]) / falling.curvature;
    m = m < up[i] ? m : up[i];
    return m < -down[j] ? m : -down[j];
  }
  void shift(Index i, double m) {
    up[i] -= m;
    down[i] -= m;
    moved[i] += m;
    if (!damping.empty()) slope[i] -= m * damping[i];
  }

  // The sum over the coordinates of a group of the most that each can still gain, and its derivative by the level.
  std::pair<double, double> gap_at(double level, Group of) const {
    if (!damping.empty())
      return damped_gap(level, of.to - of.from, slope.data() + of.from, down.data() + of.from, up.data() + of.from,
                        damping.data() + of.from);
    V sum{}, bend{};
    Index k = of.from;
    for (; k + lanes <= of.to; k += lanes) {
      const V h = load(&slope[k]) - level;
      const V room = h > 0.0 ? load(&up[k]) : load(&down[k]);
      sum += h * room;
      bend -= room;
    }
    double total = simd::total<double, lanes>(sum), slant = simd::total<double, lanes>(bend);
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

  // How far coordinate j moves alone.
  double move_of(Index j) const {
    double m = step[j] * slope[j];
    m = m > down[j] ? m : down[j];
    return m < up[j] ? m : up[j];
  }

  struct Choice {
    Best single;  // the largest gain of a coordinate on its own
    Best rising;  // the largest slope of one that can rise
  };

  // Both choices in the current state.
  Choice choices() const {
    Choice found{{-1.0, 0}, highest(all())};
    for (Index k = 0; k < n; ++k) {
      const double m = move_of(k), gain = m * (slope[k] - 0.5 * curvature[k] * m);
      if (gain > found.single.value) found.single = {gain, k};
    }
    return found;
  }

  // Subtracts a K_i + b K_j from the slopes and makes both choices, in one pass.
  Choice subtract_and_choose(double a, const T* ki, double b, const T* kj) {
    V best = V{} - 1.0, top = V{} - infinity;
    Mask place{}, top_place{}, here = places_from(0);
    double* const h_of = slope.data();  // as above
    const double *const up_of = up.data(), *const down_of = down.data();
    const double *const step_of = step.data(), *const curvature_of = curvature.data();
    const Index end = n;
    Index k = 0;
    for (; k + lanes <= end; k += lanes, here += lanes) {
      const V h = load(h_of + k) - (a * simd::load<double, lanes>(ki + k) + b * simd::load<double, lanes>(kj + k));
      simd::store<double, lanes>(h_of + k, h);
      const V low = load(down_of + k), high = load(up_of + k);
      V m = load(step_of + k) * h;
      m = m > low ? m : low;
      m = m < high ? m : high;
      const V gain = m * (h - 0.5 * (load(curvature_of + k) * m));
      const Mask better = gain > best;
      const V rising = high > 0.0 ? h : V{} - infinity;
      place = better ? here : place;
      best = better ? gain : best;
      top_place = rising > top ? here : top_place;
      top = rising > top ? rising : top;
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
};

// The ascent itself: phases on an active set, each of which ends by correcting the slopes of all rows.
template <class T>
struct Climb {
  static constexpr double infinity = ActiveSet<T>::infinity;
  // fraction of the gap of a narrowed set at which all rows are examined again
  static constexpr double phase_leaves = 0.1;
  static constexpr double few = 0.7;           // fraction of the active set: if fewer can move, the others leave
  static constexpr Index short_set = 64;       // reducing a smaller set gains nothing
  using Best = typename ActiveSet<T>::Best;
  using Choice = typename ActiveSet<T>::Choice;
  using Partner = typename ActiveSet<T>::Partner;

  DualPoint& point;
  Goal goal;
  ActiveSet<T> active;
  Patience patience = Patience(goal.stop);
  Index n_steps = 0;
  Index kept_before = active.store.columns.n_kept;
  double stepped = 0.0;  // slopes updated
  bool is_narrowed = false;
  double levels[2] = {};  // of the gap of all rows
  double begun = -1.0;                                                    // gap at the first check of a phase
  Vector<double> moved = Vector<double>(std::size_t(point.n));  // in this phase, by rows that have left

  double enough() const { return std::max(goal.enough, goal.share * std::max(point.dual, 0.0)); }
  bool is_at_limit() { return n_steps >= goal.n_steps || work_done() >= goal.work || patience.ends_after(point.n); }
  double work_done() const {
    const KernelColumns& columns = active.store.columns;
    const double of_value = columns.is_computed ? 1.0 + double(columns.rows.n_columns) / 8.0 : 1.0;
    return stepped + double(columns.n_kept - kept_before) * double(point.n) * of_value;
  }
  bool is_restricted() const { return !active.store.is_open() && active.store.columns.n_kept < point.n; }

  Ascent run() {
    for (;;) {
      const bool is_limited = is_restricted();
      choose(is_limited);
      const Index before = n_steps;
      if (active.n > 0) {
        if (point.keeps_sum)
          move_pairs();
        else
          move_freely();
        hand_back(active.n);
        spread();
      }
      const double gap = gap_of_all();
      const bool is_stuck = n_steps == before;
      if (is_stuck || is_limited || gap <= enough() || is_at_limit())
        return {n_steps, gap, is_stuck, {levels[0], levels[1]}};
    }
  }

  // The active set: all rows, or those that can move where these are few, or where not every row has a column.
  void choose(bool is_limited) {
    const Extremes slopes = extremes_of(point);
    Vector<Index> all, moving;
    for (Index k = 0; k < point.n; ++k) {
      if (is_limited && !active.store.has(k)) continue;
      all.push_back(k);
      if (slopes.lets_move(point.group_of(k), point.slope[k], point.down[k], point.up[k])) moving.push_back(k);
    }
    is_narrowed = is_limited || (Index(all.size()) > short_set && double(moving.size()) < few * double(all.size()));
    begun = -1.0;
    active.fill(point, is_narrowed ? moving : all);
  }

  // Whether a phase ends at this gap of its active set.
  bool ends_at(double gap) {
    if (begun < 0.0) begun = gap;
    return gap <= (is_narrowed ? std::max(enough(), phase_leaves * begun) : enough());
  }
  Index steps_until_look() const { return active.n / 4 + 16; }
  // Drops rows that cannot move, where there are many; returns whether it did.
  bool shrink(const Extremes& slopes) {
    if (active.n <= short_set) return false;
    const Vector<Index> places = active.can_move(slopes);
    if (double(places.size()) >= few * double(active.n)) return false;
    hand_back(active.n);
    active.narrow(places);
    is_narrowed = true;
    return true;
  }

  struct Pair {
    Index i = 0;
    const T* ki = nullptr;  // column of i
    Partner falling{-1, 1.0, infinity};
    double gain = 0.0;  // twice the gain, ignoring bounds
  };
  // The pair within a group that gains most: i is the row of the group with the largest slope, `rising`. Also writes
  // the extreme slopes. Returns false where a column is missing; there is no pair where no row can gain.
  bool choose_pair(const Best (&rising)[2], Pair& best, Extremes& slopes) {
    best.falling.place = -1;
    for (int g = 0; g < point.n_groups(); ++g) {
      const auto [top, i] = rising[g];
      slopes.lowest[g] = infinity;
      slopes.highest[g] = top;
      if (top == -infinity) continue;
      const T* ki = active.column_to_move(i, true);
      if (ki == nullptr) return false;
      const Partner falling = active.partner_of(i, ki, active.group(g));
      slopes.lowest[g] = falling.least;
      if (falling.place < 0 || top - falling.least <= active.rounding * (std::abs(top) + 1.0)) continue;
      const double apart = top - active.slope[falling.place], gain = apart * apart / falling.curvature;
      if (best.falling.place < 0 || gain > best.gain) best = {i, ki, falling, gain};
    }
    return true;
  }

  // Two coordinates at a time.
  void move_pairs() {
    const int n_groups = point.n_groups();
    Best rising[2] = {};
    Pair pair;
    Extremes slopes{};
    const auto look_again = [&] {
      for (int g = 0; g < n_groups; ++g) rising[g] = active.highest(active.group(g));
    };
    look_again();
    for (Index until_look = 0;; ++n_steps, --until_look) {
      if (!choose_pair(rising, pair, slopes) || pair.falling.place < 0 || is_at_limit()) return;
      if (until_look <= 0) {
        if (ends_at(active.least_gap(slopes, n_groups))) return;
        if (shrink(slopes)) {
          look_again();
          if (!choose_pair(rising, pair, slopes) || pair.falling.place < 0) return;
        }
        until_look = steps_until_look();
      }
      const Index i = pair.i, j = pair.falling.place;
      const T* kj = active.column_to_move(j, false);
      if (kj == nullptr) return;
      const double m = active.pair_move(i, pair.falling);
      point.dual += m * (active.slope[i] - active.slope[j] - 0.5 * pair.falling.curvature * m);
      active.shift(i, m);
      active.shift(j, -m);
      for (int g = 0; g < n_groups; ++g)
        rising[g] = active.move_and_choose(m * active.unit, pair.ki, kj, active.group(g));
      stepped += double(active.n);
    }
  }

  // One coordinate at a time, or two where that gains more: similar rows would oscillate otherwise.
  void move_freely() {
    Choice choice = active.choices();
    for (Index until_look = 0;; ++n_steps, --until_look) {
      Partner falling{-1, 1.0, infinity};
      double m = 0.0, gain = 0.0;
      const Index i = choice.rising.place;
      if (choice.rising.value > -infinity) {
        const T* ki = active.column(i);
        if (ki == nullptr) return;
        falling = active.partner_of(i, ki, active.all());
      }
      if (falling.place >= 0) {
        m = active.pair_move(i, falling);
        gain = m * (active.slope[i] - active.slope[falling.place] - 0.5 * falling.curvature * m);
      }
      const bool is_pair = gain > choice.single.value;
      const bool is_over = !is_pair && !(choice.single.value > 0.0);
      if (until_look <= 0 || is_over || is_at_limit()) {
        if (is_over || is_at_limit() || ends_at(active.gap_at(0.0, active.all()).first)) return;
        until_look = steps_until_look();
        if (shrink({{std::min(active.lowest(), 0.0)}, {std::max(choice.rising.value, 0.0)}})) {
          choice = active.choices();
          --n_steps;
          continue;
        }
      }
      const T* ki = active.column(is_pair ? i : choice.single.place);
      const T* kj = is_pair ? active.column(falling.place) : ki;
      if (ki == nullptr || kj == nullptr) return;
      if (is_pair) {
        active.shift(i, m);
        active.shift(falling.place, -m);
        choice = active.subtract_and_choose(m * active.unit, ki, -m * active.unit, kj);
      } else {
        gain = choice.single.value;
        m = active.move_of(choice.single.place);
        active.shift(choice.single.place, m);
        choice = active.subtract_and_choose(m * active.unit, ki, 0.0, kj);
      }
      point.dual += gain;
      stepped += double(active.n);
    }
  }

  // The gap left in the active rows, and how far they have moved.
  void hand_back(Index n) {
    for (Index k = 0; k < n; ++k) {
      const Index row = active.rows[k];
      point.down[row] = active.down[k];
      point.up[row] = active.up[k];
      moved[row] = active.moved[k];
    }
  }
  // The slopes of all rows after the moves of a phase.
  void spread() {
    constexpr Index strip = 1024;
    Vector<Index> rows;
    for (Index k = 0; k < point.n; ++k)
      if (moved[k] != 0.0) rows.push_back(k);
    const Index* place_of = active.store.columns.place_of;
    Vector<double> sums(place_of == nullptr ? 0 : std::size_t(point.n));
    double* slopes = place_of == nullptr ? point.slope : sums.data();
    for (Index j = 0; j < point.n; j += strip) {
      const Index width = std::min(strip, point.n - j);
      for (const Index row : rows) simd::add(-point.unit * moved[row], active.store.column(row) + j, slopes + j, width);
    }
    for (const Index row : rows) {
      if (point.damping != nullptr) point.slope[row] -= point.damping[row] * moved[row];
      moved[row] = 0.0;
    }
    if (place_of == nullptr) return;
    for (Index k = 0; k < point.n; ++k) point.slope[k] += sums[place_of[k]];
  }
  double gap_of_all() {
    const auto at = [&](double level, int g) {
      if (point.damping != nullptr) return damped_gap(level, point.n, point.slope, point.down, point.up, point.damping);
      double gap = 0.0, slant = 0.0;
      for (Index k = 0; k < point.n; ++k) {
        if (point.group_of(k) != g) continue;
        const double h = point.slope[k] - level, room = h > 0.0 ? point.up[k] : point.down[k];
        gap += h * room;
        slant -= room;
      }
      return std::pair(gap, slant);
    };
    if (!point.keeps_sum) return at(0.0, 0).first;
    const Extremes slopes = extremes_of(point);
    double gap = 0.0;
    for (int g = 0; g < point.n_groups(); ++g) {
      const auto found = least_over([&](double level) { return at(level, g); }, slopes.lowest[g], slopes.highest[g]);
      gap += found.gap;
      levels[g] = found.level;
    }
    return gap;
  }
};

inline Ascent climb(KernelColumns& columns, DualPoint& point, const Goal& goal) {
  Ascent result{};
  visit(columns.table,
        [&]<class T>(T*) { result = Climb<T>{point, goal, ActiveSet<T>{ColumnStore<T>{columns}, point.unit}}.run(); });
  return result;
}

// Where sum_j b_j = 0 except for rounding: reduces the heavier side, using rows between their bounds where possible.
inline void balance(Index n, const double* lower, const double* upper, double* b) {
  constexpr double small_share = 0.1;
  double sums[2] = {}, between[2] = {};
  for (Index k = 0; k < n; ++k) {
    sums[b[k] < 0.0] += std::abs(b[k]);
    if (b[k] > lower[k] && b[k] < upper[k]) between[b[k] < 0.0] += std::abs(b[k]);
  }
  const bool heavier = sums[1] > sums[0];
  const double excess = sums[heavier] - sums[!heavier];
  if (!(excess > 0.0)) return;
  const bool is_small = excess < small_share * between[heavier];
  const double factor = is_small ? 1.0 - excess / between[heavier] : sums[!heavier] / sums[heavier];
  for (Index k = 0; k < n; ++k)
    if (b[k] != 0.0 && (b[k] < 0.0) == heavier && (!is_small || (b[k] > lower[k] && b[k] < upper[k]))) b[k] *= factor;
}

// Solves a small problem on some of the rows of a larger one; `room` is for small_room(n, features) doubles, of which
// few are touched where few columns are needed.
inline Index small_room(Index n, Index n_features) {
  return n * n + (6 + 2 * n_features) * n + (3 + n_features) * n + 2 * packed_length(Scalar::float64, n, n_features);
}

// Moves the first rows of each sign from 0 to their bounds, until `spent` is spent.
template <class T>
void spend(KernelColumns& columns, DualPoint& point, double spent) {
  double left[2] = {spent, spent};
  double linear = 0.0;
  Vector<std::pair<Index, double>> moves;
  for (Index k = 0; k < point.n; ++k) {
    const int g = point.group_of(k);
    const double m = g == 0 ? std::min(left[0], point.up[k]) : std::max(-left[1], point.down[k]);
    if (m == 0.0) continue;
    left[g] -= std::abs(m);
    point.up[k] -= m;
    point.down[k] -= m;
    linear += m * point.slope[k];
    moves.push_back({k, m});
  }
  for (const auto& [k, m] : moves) simd::add(-point.unit * m, ColumnStore<T>{columns}.column(k), point.slope, point.n);
  point.dual = 0.5 * linear;
  for (const auto& [k, m] : moves) point.dual += 0.5 * m * point.slope[k];
}

// Ascends until the gap is a share of the objective of the problem whose solution spends as much; writes the parameter
// of that problem, see SmallProblem.
inline Index climb_to_width(KernelColumns& columns, DualPoint& point, const SmallProblem& problem, bool has_both) {
  constexpr int rounds = 20;
  Goal goal = problem.goal;
  goal.share = 0.0;
  goal.enough = 0.01 * climb(columns, point, {0.0, 0.0, 0, 0.0}).gap;  // without a step
  const double spent = problem.spent * (has_both ? 2.0 : 1.0);
  for (int round = 0; round < rounds; ++round) {
    const Ascent ascent = climb(columns, point, goal);
    *problem.width = has_both ? 0.5 * (ascent.level[0] - ascent.level[1]) : ascent.level[0];
    goal.n_steps -= ascent.n_steps;
    const double enough = problem.goal.share * std::max(point.dual - *problem.width * spent, 0.0);
    const bool is_at_limit = ascent.gap > goal.enough;
    if (ascent.gap <= enough || ascent.is_stuck || is_at_limit) break;
    goal.enough = enough > 0.0 ? std::min(0.5 * goal.enough, enough) : 0.1 * goal.enough;
  }
  return problem.goal.n_steps - goal.n_steps;
}

// The arrays of a small problem while it is solved, within `room`.
template <class T>
struct SmallSolver {
  const KernelColumns& larger;
  const SmallProblem& problem;
  double* const room;
  const Index n = problem.n, d = larger.is_computed ? larger.rows.n_columns : 0;
  double *const slope = room, *const down = slope + n, *const up = down + n, *const curvature = up + n;
  double *const left = curvature + n, *const packed = slope + (6 + 2 * d) * n + n * n;
  T *const right = reinterpret_cast<T*>(left + n), *const x = reinterpret_cast<T*>(left + 2 * n), *const z = x + n * d;
  Vector<Index> slots = Vector<Index>(std::size_t(n), -1);
  Vector<std::int8_t> sign = {};
  KernelColumns own = larger;
  DualPoint point{n, slope, down, up, curvature, nullptr, problem.unit, problem.keeps_sum, 0.0};

  bool is_mixed() const { return larger.exact != nullptr; }

  void gather() {
    own.table = Block{slope + (6 + 2 * d) * n, larger.table.scalar, n, n, n};
    own.slot_of = slots.data();
    own.place_of = nullptr;
    own.n_kept = 0;
    own.members = problem.members;
    own.rows = Block{x, larger.table.scalar, n, d, d};
    own.transposed = Block{z, larger.table.scalar, d, n, n};
    own.left = left;
    own.right = right;
    for (Index k = 0; k < n; ++k) {
      const Index member = problem.members[k];
      slope[k] = problem.target[k];
      down[k] = problem.lower[k];
      up[k] = problem.upper[k];
      curvature[k] = problem.unit * problem.diagonal[member];
      if (!larger.is_computed) continue;
      left[k] = larger.left[member];
      right[k] = T(left[k]);
      const T* from = static_cast<const T*>(larger.rows.data) + member * larger.rows.stride;
      std::copy_n(from, d, x + k * d);
    }
    const Index half = n / 2;
    if (larger.is_computed && n == 2 * half && std::equal(x, x + half * d, x + half * d) &&
        std::equal(left, left + half, left + half)) {
      own.half = half;
      own.transposed.n_columns = half;
    }
    if (larger.is_computed && own.half == 0 && are_far(own.rows)) {
      pack_rows(own.rows, packed);
      own.packed = packed;
      return;
    }
    for (Index k = 0; k < n; ++k)
      for (Index f = 0; f < d; ++f) z[f * n + k] = x[k * d + f];
  }

  Index ascend() {
    constexpr Index few_steps_per_row = 2;
    Goal goal = problem.goal;
    if (is_mixed()) goal.share *= aim_of_single;
    const Ascent ascent = climb(own, point, goal);
    if (!(problem.fine > 0.0 && ascent.gap <= goal.share * point.dual)) return ascent.n_steps;
    goal.share = problem.fine;
    goal.n_steps = few_steps_per_row * n;
    return ascent.n_steps + climb(own, point, goal).n_steps;
  }

  // The solution of the nu-dual; also writes its width.
  Index ascend_to_width(bool has_both) {
    point.sign = sign.data();
    spend<T>(own, point, problem.spent);
    return climb_to_width(own, point, problem, has_both);
  }

  // Computed from the nearer bound, because the distance to the farther one has lost its last digits.
  void write_solution(bool has_both) {
    double* const b = problem.b;
    for (Index k = 0; k < n; ++k) b[k] = -down[k] < up[k] ? problem.lower[k] - down[k] : problem.upper[k] - up[k];
    if (problem.keeps_sum && has_both) balance(n, problem.lower, problem.upper, b);
    for (Index k = 0; k < n; ++k) problem.scores[k] = 0.0;
    if (is_mixed()) return add_exact_scores();
    for (Index k = 0; k < n; ++k)
      if (b[k] != 0.0) simd::add(problem.unit * b[k], ColumnStore<T>{own}.column(k), problem.scores, n);
  }

  // The scores by kernel values in double.
  void add_exact_scores() const {
    double* const all = packed + packed_length(Scalar::float64, n, d);
    double *rows = all + packed_length(Scalar::float64, n, d), *norms = rows + n * d, *factors = norms + n,
           *all_norms = factors + n;
    const auto copy = [&](Index k, Index to) { std::copy_n(larger.exact + problem.members[k] * d, d, rows + to * d); };
    for (Index k = 0; k < n; ++k) copy(k, k);
    for (Index k = 0; k < n; ++k) all_norms[k] = left[k];
    pack_rows(Block{rows, Scalar::float64, n, d, d}, all);
    Index n_moved = 0;
    for (Index k = 0; k < n; ++k) {
      if (problem.b[k] == 0.0) continue;
      copy(k, n_moved);
      norms[n_moved] = left[k];
      factors[n_moved++] = problem.unit * problem.b[k];
    }
    kernel_sums(larger.function, Block{rows, Scalar::float64, n_moved, d, d}, all, norms, all_norms, factors, n,
                problem.scores);
  }

  // Goes on from exact slopes while single precision has left too large a gap; what is still to be moved is small then,
  // and so are its errors.
  Index refine(Index n_steps, bool has_both) {
    constexpr int most_rounds = 4;
    for (int round = 0; round < most_rounds; ++round) {
      point.dual = 0.0;
      for (Index k = 0; k < n; ++k) {
        slope[k] = problem.target[k] - problem.scores[k];
        down[k] = problem.lower[k] - problem.b[k];
        up[k] = problem.upper[k] - problem.b[k];
        point.dual += 0.5 * problem.b[k] * (problem.target[k] + slope[k]);
      }
      Goal goal = problem.goal;
      goal.n_steps -= n_steps;
      goal.enough = goal.share * point.dual;
      goal.share = 0.0;
      if (goal.n_steps <= 0 || climb(own, point, {0.0, 0.0, 0, 0.0}).gap <= goal.enough) break;
      goal.enough *= aim_of_single;
      const Index taken = climb(own, point, goal).n_steps;
      if (taken == 0) break;
      n_steps += taken;
      write_solution(has_both);
    }
    return n_steps;
  }

  Index solve() {
    gather();
    if (problem.width != nullptr)
      for (Index k = 0; k < n; ++k) sign.push_back(problem.lower[k] < 0.0 ? -1 : 1);
    const bool has_both = sign.empty() || std::find(sign.begin(), sign.end(), -1) != sign.end();
    const Index n_steps = problem.width != nullptr ? ascend_to_width(has_both) : ascend();
    write_solution(has_both);
    return is_mixed() ? refine(n_steps, has_both) : n_steps;
  }

  static constexpr double aim_of_single = 0.6;  // of the gap asked for: the rest is for rounding
};

template <class T>
Index solve_small(const KernelColumns& larger, const SmallProblem& problem, double* room) {
  return SmallSolver<T>{larger, problem, room}.solve();
}

inline Index small_solve(const KernelColumns& larger, const SmallProblem& problem, double* room) {
  return larger.table.scalar == Scalar::float32 ? solve_small<float>(larger, problem, room)
                                                : solve_small<double>(larger, problem, room);
}

}  // namespace pegasos::PEGASOS_ISA
