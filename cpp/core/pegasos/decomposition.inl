#pragma once

#include <algorithm>
#include <cmath>

#include "active_set.inl"

namespace pegasos::PEGASOS_ISA {

// The ascent itself: phases on an active set, each of which ends by correcting the slopes of all rows.
template <class T>
struct Climb {
  static constexpr T infinity = ActiveSet<T>::infinity;
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
  double begun = -1.0;  // gap at the first check of a phase

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
    active.fill(is_narrowed ? moving : all, slopes);
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
    active.narrow(places);
    is_narrowed = true;
    return true;
  }

  struct Pair {
    Index i = 0;
    const T* ki = nullptr;  // column of i
    Partner falling{-1, T(1), infinity};
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
      if (falling.place < 0 || top - falling.least <= active.rounding * std::abs(top) + active.least_rounding) continue;
      const double apart = double(top) - double(active.slope[falling.place]);
      const double gain = apart * apart / double(falling.curvature);
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
      point.dual += active.pair_gain(i, pair.falling, m);
      active.shift(i, m);
      active.shift(j, -m);
      for (int g = 0; g < n_groups; ++g)
        rising[g] = active.move_and_choose(T(m * point.unit), pair.ki, kj, active.group(g));
      stepped += double(active.n);
    }
  }

  // One coordinate at a time, or two where that gains more: similar rows would oscillate otherwise.
  void move_freely() {
    Choice choice = active.choices();
    for (Index until_look = 0;; ++n_steps, --until_look) {
      Partner falling{-1, T(1), infinity};
      double m = 0.0, gain = 0.0;
      const Index i = choice.rising.place;
      if (choice.rising.value > -infinity) {
        const T* ki = active.column(i);
        if (ki == nullptr) return;
        falling = active.partner_of(i, ki, active.all());
      }
      if (falling.place >= 0) {
        m = active.pair_move(i, falling);
        gain = active.pair_gain(i, falling, m);
      }
      const bool is_pair = gain > double(choice.single.value);
      const bool is_over = !is_pair && !(choice.single.value > T(0));
      if (until_look <= 0 || is_over || is_at_limit()) {
        if (is_over || is_at_limit() || ends_at(active.gap_at(0.0, active.all()).first)) return;
        until_look = steps_until_look();
        if (shrink({{std::min(double(active.lowest()), 0.0)}, {std::max(double(choice.rising.value), 0.0)}})) {
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
        choice = active.subtract_and_choose(T(m * point.unit), ki, T(-m * point.unit), kj);
      } else {
        const Index j = choice.single.place;
        m = active.move_of(j);
        gain = active.gain_of(j, m);
        active.shift(j, m);
        choice = active.subtract_and_choose(T(m * point.unit), ki, T(0), kj);
      }
      point.dual += gain;
      stepped += double(active.n);
    }
  }

  // The slopes of all rows after the moves of a phase.
  void spread() {
    constexpr Index strip = 1024;
    Vector<double>& moved = active.total_moved;
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
  visit(columns.table, [&]<class T>(T*) { result = Climb<T>{point, goal, ActiveSet<T>{{columns}, point}}.run(); });
  return result;
}

}  // namespace pegasos::PEGASOS_ISA
