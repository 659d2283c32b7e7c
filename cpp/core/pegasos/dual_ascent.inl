#pragma once

#include <bit>
#include <limits>

#include "dual_ascent.h"
#include "loss.h"
#include "random.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

// step_i = lam total / |x_i|^2. A row of zeros takes the longest possible step: it goes straight to its bound.
template <class W>
struct Steps {
  const float* narrow;  // |x_i|^2, one of the two
  const double* wide;
  double scale;  // lam total

  Steps(const RowValues& squared_norms, double scale)
      : narrow(squared_norms.scalar == Scalar::float32 ? static_cast<const float*>(squared_norms.data) : nullptr),
        wide(static_cast<const double*>(squared_norms.data)),
        scale(scale) {}

  [[gnu::always_inline]] W operator[](Index i) const {
    constexpr double longest = double(std::numeric_limits<W>::max());
    const double step = scale / (narrow ? double(narrow[i]) : wide[i]);
    return W(step < longest ? step : longest);
  }

  // The same with a ridge of the loss, 1 / (|x_i|^2 / (lam total) + damping).
  [[gnu::always_inline]] W damped(Index i, double damping) const {
    const double square = narrow ? double(narrow[i]) : wide[i];
    return W(scale / (square + scale * damping));
  }

  [[gnu::always_inline]] void prefetch(Index i) const {
    __builtin_prefetch(narrow ? static_cast<const void*>(narrow + i) : wide + i, 0, 2);
  }
};

// For the hinge, or for any loss of the family.
template <class R, class W, bool hinge>
struct DualAscent {
  const Problem& problem;
  const R& rows;
  W* weights;
  W* alpha;
  Steps<W> step;
  RowNumber* order;
  W unit;  // 1/(lam total)
  DualCounters& now;
  Rests* rests = nullptr;
  std::uint8_t* levels = nullptr;
  double goal = 0.0;

  static constexpr std::uint8_t top_level = Rests::levels, left = top_level + 1;
  static constexpr Index prefetch_distance = 6;

  // The sums of a sweep, in registers.
  struct Sweep {
    W lower, upper;
    W lowest, highest;
    double gap_sum, alpha_sum;
  };

  // Prefetches the next rows and their data.
  [[gnu::always_inline]] void prefetch(Index position, Index active) const {
    const Index next = position + prefetch_distance, later = next + prefetch_distance;
    rows.prefetch_start(order[later < active ? later : position]);
    const RowNumber i = order[next < active ? next : position];
    __builtin_prefetch(alpha + i, 1, 2);
    step.prefetch(i);
    __builtin_prefetch(problem.sign + i, 0, 2);
    if (levels) __builtin_prefetch(levels + i, 1, 2);
    rows.prefetch(i);
  }

  // Maximizes over alpha_i; returns whether the row stays in the sweep. Written without branches up to the update,
  // because at the start every branch would be unpredictable.
  [[gnu::always_inline]] bool visit_row(RowNumber i, Sweep& sweep) const {
    const W sign = W(problem.sign[i]);
    const W bound = W(hinge ? at(problem.cost, i) : upper_bound(problem, i));
    const W damp = hinge ? W(0) : W(damping(problem, i));
    const W offset = W(at(problem.offset, i));
    const W old = alpha[i];
    const W r = W(1) - sign * (rows.dot(i, weights) + offset);
    const W slope = hinge ? r : r - damp * old;
    const W push = slope > W(0) ? slope : W(0), pull = slope < W(0) ? slope : W(0);
    const bool at_zero = old <= W(0), at_bound = old >= bound;

    W moved = old + (hinge ? step[i] : step.damped(i, double(damp))) * slope;
    moved = moved > W(0) ? moved : W(0);
    moved = moved < bound ? moved : bound;

    sweep.gap_sum += hinge ? double(bound * push - old * r) : row_gap(problem, i, double(r), double(old));
    const bool leaves = (at_zero & (slope < sweep.lower)) | (at_bound & (slope > sweep.upper));
    if (leaves & !levels) return false;
    const W up = at_bound ? W(0) : push, down = at_zero ? W(0) : pull;
    sweep.highest = up > sweep.highest ? up : sweep.highest;
    sweep.lowest = down < sweep.lowest ? down : sweep.lowest;
    if (moved != old) {
      alpha[i] = moved;
      const W linear = W(1) - sign * offset;
      sweep.alpha_sum += double((moved - old) * (hinge ? linear : linear - W(0.5) * damp * (moved + old)));
      rows.add(i, (moved - old) * (sign * unit), weights);
      if (levels) levels[i] = 0;
    } else if (levels) {
      const bool is_outward = (at_zero & (slope < W(0))) | (at_bound & (slope > W(0)));
      const std::uint8_t next = levels[i] < top_level ? levels[i] + 1 : top_level;
      levels[i] = leaves ? left : is_outward ? next : 0;
    }
    return true;
  }

  void begin_sweep() {
    if (now.active == 0) recall_all_rows();
    Random random{now.random};
    random.shuffle(order, now.active);
    now.random = random.state;
    now.position = 0;
    now.gap_sum = now.highest = now.lowest = 0.0;
  }

  void end_sweep() {
    now.sweep_gap = now.gap_sum;
    now.upper = now.highest > 0.0 ? now.highest : 1e30;
    now.lower = now.lowest < 0.0 ? now.lowest : -1e30;
    if (rests) {
      part_rows();
      wake_rows();
    }
  }

  // Moves the rows of the sweep that now rest or leave behind those that do not.
  void part_rows() {
    Index* ends = rests->ends;
    ends[0] = now.active;
    for (Index p = now.active - 1; p >= 0; --p) {
      const RowNumber i = order[p];
      Index hole = p;
      for (int k = 0; k < levels[i]; ++k) {
        order[hole] = order[--ends[k]];
        hole = ends[k];
      }
      order[hole] = i;
      if (levels[i] == left) levels[i] = 0;
    }
  }

  // Adds the levels whose turn it is, or all of them where the sweep would be empty.
  void wake_rows() {
    Index* ends = rests->ends;
    const int turn = std::countr_zero(std::uint64_t(++rests->sweep));
    int highest = turn < top_level ? turn : top_level;
    if (ends[highest] == 0) highest = top_level;
    for (int k = 0; k < highest; ++k) ends[k] = ends[highest];
    now.position = now.active = ends[0];
  }

  void recall_all_rows() {
    now.active = rows.n_rows;
    for (Index i = 0; i < rows.n_rows; ++i) order[i] = RowNumber(i);
    now.upper = 1e30;
    now.lower = -1e30;
    if (!rests) return;
    rests->sweep = 0;
    for (Index& end : rests->ends) end = rows.n_rows;
    for (Index i = 0; i < rows.n_rows; ++i) levels[i] = 0;
  }

  // Visits rows until the sweep or the visits end.
  void advance_within_sweep(Index end) {
    Sweep sweep{W(now.lower), W(now.upper), W(now.lowest), W(now.highest), now.gap_sum, now.alpha_sum};
    Index position = now.position, active = now.active, visits = now.visits;
    for (; visits < end && position < active; ++visits) {
      prefetch(position, active);
      const RowNumber i = order[position];
      if (visit_row(i, sweep))
        ++position;
      else
        order[position] = order[--active];
    }
    now.position = position, now.active = active, now.visits = visits;
    now.lowest = double(sweep.lowest), now.highest = double(sweep.highest);
    now.gap_sum = sweep.gap_sum, now.alpha_sum = sweep.alpha_sum;
  }

  // Whether the last sweep's estimate of the gap has reached the goal; |w|^2 is needed only if 0 in its place would do.
  bool is_at_goal() const {
    const double gap = now.sweep_gap, most = now.alpha_sum + gap;
    if (!(goal > 0.0 && gap <= goal * most)) return false;
    const double square = simd::squared_norm(weights, rows.n_features + 1);
    return gap <= goal * (most - 0.5 * problem.lam * problem.total * square);
  }

  void advance(Index n_visits) {
    const Index end = now.visits + n_visits;
    while (now.visits < end) {
      if (now.position >= now.active) begin_sweep();
      advance_within_sweep(end);
      if (now.position < now.active) continue;
      end_sweep();
      if (is_at_goal()) return;
    }
  }
};

inline void dual_advance(const Problem& problem, const DualState& state, Index n_visits) {
  visit(problem.rows, state.weights.scalar, [&]<class R, class W>(const R& rows, W) {
    const auto advance = [&]<bool hinge>() {
      DualAscent<R, W, hinge>{problem,
                              rows,
                              static_cast<W*>(state.weights.data),
                              static_cast<W*>(state.alpha.data),
                              {state.squared_norms, problem.lam * problem.total},
                              state.order,
                              W(1.0 / (problem.lam * problem.total)),
                              *state.counters,
                              state.rests,
                              state.levels,
                              state.goal}
          .advance(n_visits);
    };
    is_hinge(problem) ? advance.template operator()<true>() : advance.template operator()<false>();
  });
}

}  // namespace pegasos::PEGASOS_ISA
