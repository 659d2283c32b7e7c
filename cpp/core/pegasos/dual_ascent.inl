#pragma once

#include "dual_ascent.h"
#include "random.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

template <class R, class W>
struct DualAscent {
  const Problem& problem;
  const R& rows;
  W* weights;
  W* alpha;
  const W* step;
  RowNumber* order;
  W unit;            // 1/(lam total)
  DualCounters now;  // a copy, so that the loop keeps it in registers

  static constexpr Index prefetch_distance = 12;

  // Brings the row at position k of the sweep, and what belongs to it, nearer.
  void prefetch(Index k) const {
    const RowNumber i = order[k < now.active ? k : now.position];
    __builtin_prefetch(alpha + i, 1, 2);
    __builtin_prefetch(step + i, 0, 2);
    __builtin_prefetch(problem.sign + i, 0, 2);
    rows.prefetch(i);
  }

  // Maximises over alpha_i; says whether the row stays in the sweep. Written without branches up to the update: at
  // the start every one of them is a coin toss.
  bool visit_row(RowNumber i) {
    const W sign = W(problem.sign[i]);
    const W cost = W(at(problem.cost, i));
    const W offset = W(at(problem.offset, i));
    const W r = W(1) - sign * (rows.dot(i, weights) + offset);
    const W old = alpha[i];
    const bool at_zero = old <= W(0), at_cost = old >= cost;
    const W push = r > W(0) ? r : W(0), pull = r < W(0) ? r : W(0);

    now.gap_sum += double(cost * push) - double(old * r);
    if ((at_zero & (r < W(now.lower))) | (at_cost & (r > W(now.upper)))) return false;
    const double up = at_cost ? 0.0 : double(push), down = at_zero ? 0.0 : double(pull);
    now.highest = up > now.highest ? up : now.highest;
    now.lowest = down < now.lowest ? down : now.lowest;

    W moved = old + step[i] * r;
    moved = moved > W(0) ? moved : W(0);
    moved = moved < cost ? moved : cost;
    if (moved != old) {
      alpha[i] = moved;
      now.alpha_sum += double(moved - old) * double(W(1) - sign * offset);
      rows.add(i, (moved - old) * sign * unit, weights);
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
  }

  void recall_all_rows() {
    now.active = rows.n_rows;
    for (Index i = 0; i < rows.n_rows; ++i) order[i] = RowNumber(i);
    now.upper = 1e30;
    now.lower = -1e30;
  }

  void advance(Index n_visits) {
    for (const Index end = now.visits + n_visits; now.visits < end; ++now.visits) {
      if (now.position >= now.active) begin_sweep();
      prefetch(now.position + prefetch_distance);
      const RowNumber i = order[now.position];
      if (visit_row(i)) {
        ++now.position;
      } else {
        order[now.position] = order[--now.active];
      }
      if (now.position >= now.active) end_sweep();
    }
  }
};

inline void dual_advance(const Problem& problem, const DualState& state, Index n_visits) {
  visit(problem.rows, state.weights.scalar, [&]<class R, class W>(const R& rows, W) {
    DualAscent<R, W> ascent{problem,
                            rows,
                            static_cast<W*>(state.weights.data),
                            static_cast<W*>(state.alpha.data),
                            static_cast<const W*>(state.step.data),
                            state.order,
                            W(1.0 / (problem.lam * problem.total)),
                            *state.counters};
    ascent.advance(n_visits);
    *state.counters = ascent.now;
  });
}

}  // namespace pegasos::PEGASOS_ISA
