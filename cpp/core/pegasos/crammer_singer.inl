#pragma once

#include <cmath>

#include "class_weights.h"
#include "crammer_singer.h"
#include "random.h"
#include "sampler.h"

namespace pegasos::PEGASOS_ISA {

template <class R, class W>
struct JointPegasos {
  const JointProblem& problem;
  const R& rows;
  const PegasosSettings& settings;
  PegasosCounters& now;
  W* weights;
  W* alphas;
  W* weight_sums;
  W* alpha_sums;
  RowNumber* batch;
  std::int32_t* rivals;
  W* scores;
  W* factors;  // 0 between any two updates
  Index width;

  static constexpr Index prefetch_distance = 4;

  // g_ir, with the scores of row i at hand.
  double claim(Index i, Index r) const {
    return now.scale * double(scores[r]) + at(problem.offset, i, r) + (r == problem.codes[i] ? 0.0 : 1.0);
  }

  // The rival of row i, or -1 when the row does not violate.
  std::int32_t rival_of(Index i) const {
    class_scores(rows, i, weights, width, scores);
    const std::int32_t own = problem.codes[i];
    std::int32_t best = -1;
    double highest = claim(i, own);
    for (Index r = 0; r < problem.n_classes; ++r) {
      const double value = claim(i, r);
      if (value > highest) highest = value, best = std::int32_t(r);
    }
    return best;
  }

  // The violators among the next batch_size rows go to `batch`, their rivals to `rivals`; returns their number.
  Index draw(Sampler& sampler) const {
    Index n_violators = 0;
    for (Index k = 0; k < settings.batch_size; ++k) {
      rows.prefetch(sampler.peek(prefetch_distance));
      const RowNumber i = sampler.next();
      const std::int32_t rival = rival_of(i);
      if (rival < 0) continue;
      batch[n_violators] = i;
      rivals[n_violators++] = rival;
    }
    return n_violators;
  }

  template <class F>
  void for_all(F&& change) {
    for (Index j = 0; j < (rows.n_features + 1) * width; ++j) change(weights, weight_sums, j);
    for (Index j = 0; j < rows.n_rows * problem.n_classes; ++j) change(alphas, alpha_sums, j);
  }

  void multiply_all(W value) {
    for_all([&](W* values, W*, Index j) { values[j] *= value; });
  }

  void shrink() {
    now.scale *= 1.0 - 1.0 / double(now.step);
    if (now.scale == 0.0) {  // the first step forgets the start
      multiply_all(W(0));
      now.squared_norm = 0.0;
      now.scale = 1.0;
    } else if (now.scale < 1e-9) {  // keep the scaled values away from overflow
      multiply_all(W(now.scale));
      now.squared_norm *= now.scale * now.scale;
      now.scale_sum /= now.scale;
      now.scale = 1.0;
    }
  }

  // As in linear Pegasos: the product moves into the sums before projections have taken its digits.
  void fold_average() {
    const W folded = W(now.scale_sum);
    for_all([&](W* values, W* sums, Index j) { sums[j] -= folded * values[j]; });
    now.scale_sum = 0.0;
  }

  void add(RowNumber i, Index rival) {
    const Index own = problem.codes[i];
    const double n = double(rows.n_rows);
    const double gain = n / (double(now.step) * double(settings.batch_size)) * at(problem.cost, i) / now.scale;
    const double push = gain / (problem.lam * problem.total);
    if (settings.project) {
      class_scores(rows, i, weights, width, scores);  // others of the batch have moved the weights
      const double along = double(scores[own]) - double(scores[rival]);
      now.squared_norm += 2.0 * push * (along + push * rows.squared_norm(i));
    }
    move(i, own, rival, push, weights);
    alphas[Index(i) * problem.n_classes + rival] += W(gain);
    if (settings.average) {
      move(i, own, rival, push * now.scale_sum, weight_sums);
      alpha_sums[Index(i) * problem.n_classes + rival] += W(gain * now.scale_sum);
    }
  }

  void move(Index i, Index own, Index rival, double by, W* target) {
    factors[own] = W(by), factors[rival] = W(-by);
    class_add(rows, i, factors, width, target);
    factors[own] = factors[rival] = W(0);
  }

  void project() {
    const double norm = now.scale * std::sqrt(now.squared_norm > 0.0 ? now.squared_norm : 0.0);
    if (norm > settings.radius) now.scale *= settings.radius / norm;
  }

  void step(Sampler& sampler) {
    now.step += 1;
    now.averaged += 1;
    now.scale_sum += now.scale;
    if (settings.average && now.scale_sum > 64.0 * now.scale * double(now.averaged)) fold_average();
    const Index n_violators = draw(sampler);
    shrink();
    for (Index k = 0; k < n_violators; ++k) add(batch[k], rivals[k]);
    if (settings.project) project();
  }
};

inline void joint_pegasos_advance(const JointProblem& problem, const PegasosSettings& settings,
                                  const JointPegasosState& state, Index n_steps) {
  visit(problem.rows, state.weights.scalar, [&]<class R, class W>(const R& rows, W) {
    PegasosCounters& now = *state.counters;
    const Index width = class_width(problem.n_classes);
    W* room = static_cast<W*>(state.room.data);
    for (Index r = 0; r < 2 * width; ++r) room[r] = W(0);
    JointPegasos<R, W> pegasos{problem,
                               rows,
                               settings,
                               now,
                               static_cast<W*>(state.weights.data),
                               static_cast<W*>(state.alphas.data),
                               static_cast<W*>(state.weight_sums.data),
                               static_cast<W*>(state.alpha_sums.data),
                               state.batch,
                               state.rivals,
                               room,
                               room + width,
                               width};
    Sampler sampler{settings.sampling, state.order, rows.n_rows, now.position, Random{now.random}};
    for (Index k = 0; k < n_steps; ++k) pegasos.step(sampler);
    now.position = sampler.position;
    now.random = sampler.random.state;
  });
}

// Projects `point` on {p >= 0, sum_r p_r = total}, given that its largest entry is at most `total` (Michelot 1986):
// entries that would become negative drop out, until none does. Entries may be -infinity.
inline void project_on_simplex(double* point, Index n, double total) {
  double largest = point[0];
  for (Index r = 1; r < n; ++r) largest = point[r] > largest ? point[r] : largest;
  // No entry this far below the largest can stay: a first bound that leaves few.
  double bound = largest - total;
  for (Index left = n + 1;;) {
    double sum = 0.0;
    Index count = 0;
    for (Index r = 0; r < n; ++r) {
      const bool stays = point[r] >= bound;
      sum += stays ? point[r] - largest : 0.0;  // relative to the largest: its own share keeps all digits
      count += stays;
    }
    if (count >= left) break;
    left = count;
    bound = largest + (sum - total) / double(count);
  }
  for (Index r = 0; r < n; ++r) point[r] = point[r] > bound ? point[r] - bound : 0.0;
}

template <class R, class W>
struct JointAscent {
  const JointProblem& problem;
  const R& rows;
  W* weights;
  W* alpha;
  const W* step;
  RowNumber* order;
  W* scores;
  W* factors;
  double* shares;  // a_i with its slack
  double* claims;  // g_i
  Index width;
  double unit;  // 1/(lam total)
  DualCounters& now;

  static constexpr Index prefetch_distance = 6;

  // How the shares of a row lie: the best claim of all, the least of a class with a share, the best of one without.
  struct Standing {
    double best, least, rest;
    Index n_shares;
  };

  void read(Index i, const W* a) const {
    const Index own = problem.codes[i];
    class_scores(rows, i, weights, width, scores);
    double spent = 0.0;
    for (Index r = 0; r < problem.n_classes; ++r) {
      shares[r] = double(a[r]);
      spent += shares[r];
      claims[r] = double(scores[r]) + at(problem.offset, i, r) + 1.0;
    }
    const double slack = at(problem.cost, i) - spent;
    shares[own] = slack > 0.0 ? slack : 0.0;
    claims[own] -= 1.0;
  }

  Standing standing() const {
    Standing s{-1e300, 1e300, -1e300, 0};
    for (Index r = 0; r < problem.n_classes; ++r) {
      const double claim = claims[r];
      s.best = claim > s.best ? claim : s.best;
      if (shares[r] > 0.0) {
        s.least = claim < s.least ? claim : s.least;
        s.n_shares += 1;
      } else {
        s.rest = claim > s.rest ? claim : s.rest;
      }
    }
    return s;
  }

  // Maximises over a_i; says whether the row stays in the sweep.
  bool visit_row(Index i) {
    W* a = alpha + i * problem.n_classes;
    read(i, a);
    const Standing s = standing();
    if (s.n_shares <= 1 && s.least - s.rest > now.upper) return false;
    const double behind = s.best - s.least;
    if (!(behind > 0.0)) return true;
    now.highest = behind > now.highest ? behind : now.highest;
    for (Index r = 0; r < problem.n_classes; ++r) {
      now.gap_sum += shares[r] * (s.best - claims[r]);
      shares[r] += double(step[i]) * (claims[r] - s.best);
    }
    project_on_simplex(shares, problem.n_classes, at(problem.cost, i));
    move(i, a);
    return true;
  }

  // From a_i to the shares found: what the stored numbers change by is what the weights change by.
  void move(Index i, W* a) {
    const Index own = problem.codes[i];
    double moved = 0.0;
    bool any = false;
    for (Index r = 0; r < problem.n_classes; ++r) {
      const W old = a[r];
      a[r] = r == own ? W(0) : W(shares[r]);
      const double change = double(a[r]) - double(old);
      any |= change != 0.0;
      moved += change;
      now.alpha_sum += change * (1.0 + at(problem.offset, i, r) - at(problem.offset, i, own));
      factors[r] = W(-unit * change);
    }
    factors[own] = W(unit * moved);
    if (any) class_add(rows, i, factors, width, weights);
  }

  void begin_sweep() {
    if (now.active == 0) recall_all_rows();
    Random random{now.random};
    random.shuffle(order, now.active);
    now.random = random.state;
    now.position = 0;
    now.gap_sum = now.highest = 0.0;
  }

  void end_sweep() {
    now.sweep_gap = now.gap_sum;
    now.upper = now.highest > 0.0 ? now.highest : 1e30;
  }

  void recall_all_rows() {
    now.active = rows.n_rows;
    for (Index i = 0; i < rows.n_rows; ++i) order[i] = RowNumber(i);
    now.upper = 1e30;
  }

  void prefetch() const {
    const Index next = now.position + prefetch_distance, later = next + prefetch_distance;
    rows.prefetch_start(order[later < now.active ? later : now.position]);
    const Index i = order[next < now.active ? next : now.position];
    prefetch_some_lines(alpha + i * problem.n_classes, problem.n_classes * Index(sizeof(W)));
    rows.prefetch(i);
  }

  void advance(Index n_visits) {
    for (const Index end = now.visits + n_visits; now.visits < end; ++now.visits) {
      if (now.position >= now.active) begin_sweep();
      prefetch();
      if (visit_row(order[now.position]))
        ++now.position;
      else
        order[now.position] = order[--now.active];
      if (now.position >= now.active) end_sweep();
    }
  }
};

inline void joint_dual_advance(const JointProblem& problem, const JointDualState& state, Index n_visits) {
  visit(problem.rows, state.weights.scalar, [&]<class R, class W>(const R& rows, W) {
    const Index width = class_width(problem.n_classes);
    W* room = static_cast<W*>(state.room.data);
    for (Index r = 0; r < 2 * width; ++r) room[r] = W(0);
    JointAscent<R, W>{problem,
                      rows,
                      static_cast<W*>(state.weights.data),
                      static_cast<W*>(state.alpha.data),
                      static_cast<const W*>(state.step.data),
                      state.order,
                      room,
                      room + width,
                      state.shares,
                      state.shares + problem.n_classes,
                      width,
                      1.0 / (problem.lam * problem.total),
                      *state.counters}
        .advance(n_visits);
  });
}

}  // namespace pegasos::PEGASOS_ISA
