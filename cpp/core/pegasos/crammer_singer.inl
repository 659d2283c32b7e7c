#pragma once

#include <cmath>
#include <limits>

#include "class_weights.h"
#include "crammer_singer.h"
#include "dual_ascent.inl"
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

  // g_ir, given the scores of row i.
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
    if (now.scale == 0.0) {  // the first step discards the initial weights
      multiply_all(W(0));
      now.squared_norm = 0.0;
      now.scale = 1.0;
    } else if (now.scale < 1e-9) {  // keep the scaled values from overflowing
      multiply_all(W(now.scale));
      now.squared_norm *= now.scale * now.scale;
      now.scale_sum /= now.scale;
      now.scale = 1.0;
    }
  }

  // As in linear Pegasos: the product moves into the sums before projections cost it precision.
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

// The bound b with sum_k max(0, share_k + push_k - b) = sum_k share_k (Michelot 1986): entries below the bound that
// those left would have drop out, until none does. `bound` starts at or below b. The sum is one of differences, so that
// small shares keep their digits next to a large one.
inline double simplex_bound(const Contender* list, Index n, double bound) {
  for (Index left = n + 1;;) {
    double sum = 0.0;
    Index count = 0;
    for (Index k = 0; k < n; ++k) {
      const bool stays = list[k].share + list[k].push >= bound;
      sum += stays ? list[k].push : -list[k].share;
      count += stays;
    }
    if (count >= left || count == 0) return bound;
    left = count;
    bound = sum / double(count);
  }
}

template <class R, class W>
struct JointAscent {
  const JointProblem& problem;
  const R& rows;
  W* weights;
  W* alpha;
  Steps<W> step;
  RowNumber* order;
  W* claims;   // g_i - 1, and -infinity beyond the last class
  W* factors;  // 0 between any two rows
  Contender* list;
  Index width;
  double unit;  // 1/(lam total)
  JointCounters& now;

  static constexpr Index prefetch_distance = 6;
  static constexpr double part_left = 0.5;
  static constexpr double rounding = 8.0 * double(std::numeric_limits<W>::epsilon());  // a smaller slack counts as none
  static constexpr double unsure = 1e-15;  // fraction of a cost: error of a difference of two numbers of its size
  static constexpr W nothing = -std::numeric_limits<W>::infinity();

  void read_claims(Index i) const {
    class_scores(rows, i, weights, width, claims);
    // An offset that is the same for all classes has no effect.
    if (problem.offset.class_stride != 0)
      for (Index r = 0; r < problem.n_classes; ++r) claims[r] += W(at(problem.offset, i, r));
    claims[problem.codes[i]] -= W(1);
    for (Index r = problem.n_classes; r < width; ++r) claims[r] = nothing;
  }

  // The classes that have a share of the cost of row i, the slack included; their claims are taken out.
  Index list_shares(Index i, const W* a) const {
    const Index own = problem.codes[i];
    Index n = 0;
    double spent = 0.0;
    for (Index r = 0; r < problem.n_classes; ++r) {
      if (!(a[r] > W(0))) continue;
      list[n++] = {r, double(a[r]), double(claims[r])};
      spent += double(a[r]);
    }
    const double cost = at(problem.cost, i), slack = cost - spent;
    if (slack > rounding * cost) list[n++] = {own, slack, double(claims[own])};
    for (Index k = 0; k < n; ++k) claims[list[k].number] = nothing;
    return n;
  }

  // Maximizes over a_i; returns whether the row stays in the sweep.
  bool visit_row(Index i) {
    W* a = alpha + i * problem.n_classes;
    read_claims(i);
    const Index n_shares = list_shares(i, a);
    if (n_shares == 0) return false;  // the row costs nothing
    double mean = 0.0, least = list[0].claim;
    for (Index k = 0; k < n_shares; ++k) {
      mean += list[k].claim / double(n_shares);
      least = list[k].claim < least ? list[k].claim : least;
    }
    // Among the classes without a share, only those that claim more than the mean of the others can gain one.
    const double rest = double(largest_of(claims, width));
    if (n_shares == 1 && !(rest > mean)) return !(rest < mean);
    Index n = n_shares;
    for (Index r = 0; rest > mean && r < problem.n_classes; ++r)
      if (double(claims[r]) > mean) list[n++] = {r, 0.0, double(claims[r])};
    maximise(i, a, n, mean, least);
    return true;
  }

  // Over the shares of the n classes listed.
  void maximise(Index i, W* a, Index n, double mean, double least) {
    const double step_i = double(step[i]);
    double best = list[0].claim, largest = 0.0;
    for (Index k = 1; k < n; ++k) best = list[k].claim > best ? list[k].claim : best;
    if (!(best > least)) return;
    for (Index k = 0; k < n; ++k) {
      now.gap_sum += list[k].share * (best - list[k].claim);
      list[k].push = step_i * (list[k].claim - best);
      const double moved = list[k].share + list[k].push;
      largest = moved > largest ? moved : largest;
    }
    // Two lower bounds of the right one: that of the classes which have the cost now, and that of the largest alone.
    const double cost = at(problem.cost, i), now_bound = step_i * (mean - best);
    const double last = largest - cost * (1.0 + unsure);
    const double bound = simplex_bound(list, n, now_bound > last ? now_bound : last);
    for (Index k = 0; k < n; ++k) {
      const double moved = list[k].share + (list[k].push - bound);
      list[k].moved = moved > 0.0 ? moved : 0.0;
    }
    move(i, a, n);
  }

  // Moves to the shares found: the weights change by exactly the changes of the stored numbers.
  void move(Index i, W* a, Index n) {
    const Index own = problem.codes[i];
    double sum = 0.0;
    for (Index k = 0; k < n; ++k) {
      const Index r = list[k].number;
      if (r == own) continue;
      const double old = double(a[r]);
      a[r] = W(list[k].moved);
      const double change = double(a[r]) - old;
      sum += change;
      now.alpha_sum += change * (1.0 + at(problem.offset, i, r) - at(problem.offset, i, own));
      factors[r] = W(-unit * change);
    }
    factors[own] = W(unit * sum);
    class_add(rows, i, factors, width, weights);
    for (Index k = 0; k < n; ++k) factors[list[k].number] = W(0);
    factors[own] = W(0);
  }

  void begin_sweep() {
    if (now.active == 0) recall_all_rows();
    Random random{now.random};
    random.shuffle(order, now.active);
    now.random = random.state;
    now.position = 0;
    now.begun = now.active;
    now.gap_sum = 0.0;
  }

  // A sweep over all rows yields the gap; the remaining rows are swept until they have closed their part of it.
  void end_sweep() {
    if (now.begun == rows.n_rows)
      now.sweep_gap = now.gap_sum;
    else if (now.gap_sum <= part_left * now.sweep_gap)
      now.active = 0;
  }

  void recall_all_rows() {
    now.active = rows.n_rows;
    for (Index i = 0; i < rows.n_rows; ++i) order[i] = RowNumber(i);
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
                      {state.squared_norms, problem.lam * problem.total},
                      state.order,
                      room,
                      room + width,
                      state.list,
                      width,
                      1.0 / (problem.lam * problem.total),
                      *state.counters}
        .advance(n_visits);
  });
}

}  // namespace pegasos::PEGASOS_ISA
