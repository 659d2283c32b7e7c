#pragma once

#include "online.h"
#include "online_rules.h"
#include "random.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

template <class R, class Rule>
struct Online {
  const R& rows;
  const Rule& rule;
  const OnlineStream& stream;
  const OnlineState& state;
  OnlineCounters now;  // a copy, because no store to the weights can change it

  static constexpr Index prefetch_distance = 8, start_distance = 16;
  // A row of zeros moves nothing; nor does one whose weights have no variance left: where labels contradict each other,
  // the variances of CW are squared at every step, and would underflow.
  static constexpr double smallest_square = 1e-100;

  [[gnu::always_inline]] void prefetch_start(Index i) const {
    rows.prefetch_start(i);
    __builtin_prefetch(stream.codes + i, 0, 2);
    __builtin_prefetch(stream.cost.data + i * stream.cost.stride, 0, 2);
  }

  double* of_problem(double* values, Index k) const { return values + k * (rows.n_features + 1); }

  double sign_of(Index code, Index k) const { return code == (stream.n_problems == 1 ? 1 : k) ? 1.0 : -1.0; }

  // A row is a mistake unless its own class alone has the highest score.
  bool is_mistaken(Index code) const {
    const double* scores = state.scores;
    if (stream.n_problems == 1) return !(sign_of(code, 0) * scores[0] > 0.0);
    for (Index k = 0; k < stream.n_problems; ++k)
      if (k != code && !(scores[code] > scores[k])) return true;
    return false;
  }

  double square_of(Index i, Index k) const {
    if constexpr (Rule::second_order) {
      const double* variances = of_problem(state.variances, k);
      double square = 0.0;
      rows.each(i, [&](Index j, double x) { square += variances[j] * x * x; });
      return square;
    } else {
      return Rule::needs_square ? rows.squared_norm(i) : 1.0;
    }
  }

  void shrink() {
    const double factor = rule.shrink(double(now.step));
    if (factor == 1.0 || now.step == 1) return;  // before the first move the weights are 0
    now.scale *= factor;
    if (now.scale < 1e-9) {  // keep the scaled values from overflowing
      for (Index j = 0; j < stream.n_problems * (rows.n_features + 1); ++j) state.weights[j] *= now.scale;
      now.scale_sum /= now.scale;
      now.scale = 1.0;
    }
  }

  void add(Index i, Index k, double sign, const Move& move) {
    double* weights = of_problem(state.weights, k);
    if constexpr (Rule::second_order) {
      double* variances = of_problem(state.variances, k);
      rows.each(i, [&](Index j, double x) {
        weights[j] += sign * move.push * variances[j] * x;
        variances[j] /= 1.0 + move.gain * variances[j] * x * x;
      });
    } else {
      const double push = sign * move.push / now.scale;
      rows.add(i, push, weights);
      if (state.sums) rows.add(i, push * now.scale_sum, of_problem(state.sums, k));
    }
  }

  // Returns whether the row moved problem k. Its score was computed before anything moved.
  bool learn(Index i, Index k, double sign, double cost, Index place) {
    Seen row{sign * state.scores[k], cost, double(now.step), 1.0};
    now.loss += row.margin >= 1.0 ? 0.0 : cost * (1.0 - row.margin);  // NaN counts
    if constexpr (Rule::square_decides) row.square = square_of(i, k);
    if (!rule.is_due(row, state.rho[k])) return false;
    if constexpr (!Rule::square_decides) row.square = square_of(i, k);
    if (!(row.square > smallest_square)) return false;
    const Move move = rule.move(row);
    add(i, k, sign, move);
    if (state.moves) state.moves[k * state.n_moves + place] = sign * move.push;
    return true;
  }

  bool step(Index i, Index place) {
    const Index code = stream.codes[i];
    now.step += 1;
    for (Index k = 0; k < stream.n_problems; ++k)
      state.scores[k] = now.scale * rows.dot(i, of_problem(state.weights, k));
    now.mistakes += is_mistaken(code);
    shrink();
    bool moved = false;
    for (Index k = 0; k < stream.n_problems; ++k) moved |= learn(i, k, sign_of(code, k), at(stream.cost, i), place);
    now.scale_sum += now.scale;
    return moved;
  }
};

// Returns the next position.
template <class R>
Index advance_rows(const R& rows, const OnlineStream& stream, const OnlineSettings& settings, const OnlineState& state,
                   const Visits& visits) {
  return with_rule(settings, [&]<class Rule>(const Rule& rule) {
    using Loop = Online<R, Rule>;
    Loop online{rows, rule, stream, state, *state.counters};
    const auto ahead = [&](Index p) { return stream.order[p < visits.end ? p : visits.end - 1]; };
    Index p = visits.begin, moves = 0;
    while (p < visits.end && moves < visits.max_moves) {
      online.prefetch_start(ahead(p + Loop::start_distance));
      rows.prefetch(ahead(p + Loop::prefetch_distance));
      moves += online.step(stream.order[p], p - visits.begin);
      ++p;
    }
    *state.counters = online.now;
    return p;
  });
}

inline Index online_advance(const OnlineStream& stream, const OnlineSettings& settings, const OnlineState& state,
                            const Visits& visits) {
  return visit(stream.rows, [&](const auto& rows) { return advance_rows(rows, stream, settings, state, visits); });
}

// Returns the generator's next state.
inline std::uint64_t shuffle(RowNumber* order, Index n, std::uint64_t random) {
  Random generator{random};
  generator.shuffle(order, n);
  return generator.state;
}

}  // namespace pegasos::PEGASOS_ISA
