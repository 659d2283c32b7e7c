#pragma once

#include <algorithm>
#include <cmath>

#include "finite_newton.h"
#include "loss.h"
#include "matrices.h"
#include "newton.inl"
#include "rows.h"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

// The losses of some copies of n rows: their sums, and for each row the sum of alpha_i sign_i and of the curvatures.
struct CurvedBlock {
  double pull[block_rows], bend[block_rows];

  // Returns the losses.
  double set(const Problem& problem, const double* scores, Index i, Index n) {
    const Doubles steepness = Doubles{} + 1.0 / problem.ridge, cap = Doubles{} + problem.cap;
    Doubles losses{};
    for (Index k = 0; k < block_rows; k += doubles) {
      simd::store<double, doubles>(pull + k, Doubles{});
      simd::store<double, doubles>(bend + k, Doubles{});
    }
    double score[block_rows];
    read_block(scores, n, score);
    each_copy(problem, i, [&](Index first) {
      const Terms<double> terms(problem, first, n);
      for (Index k = 0; k < block_rows; k += doubles) {
        const Doubles sign = simd::load<double, doubles>(terms.sign + k);
        const Doubles cost = simd::load<double, doubles>(terms.cost + k);
        const Doubles at = simd::load<double, doubles>(score + k) + simd::load<double, doubles>(terms.offset + k);
        const Doubles r = 1.0 - sign * at, positive = r <= 0.0 ? Doubles{} : r;  // NaN stays NaN
        const Doubles line = positive * steepness, slope = line > cap ? cap : line;
        losses += cost * (slope * (positive - 0.5 * problem.ridge * slope));
        const Doubles curved = (positive > 0.0) & (line < cap) ? cost * steepness : Doubles{};
        simd::store<double, doubles>(pull + k, simd::load<double, doubles>(pull + k) + sign * (cost * slope));
        simd::store<double, doubles>(bend + k, simd::load<double, doubles>(bend + k) + curved);
      }
    });
    return simd::total<double, doubles>(losses);
  }
};

// The passes over the rows of one problem.
template <class R>
struct FiniteNewton {
  const Problem& problem;
  const R& rows;
  const FiniteState& state;
  const Parallel& parallel;
  const Index n = n_distinct(problem.rows), side = rows.n_features + 1;
  const Index n_blocks = (n + block_rows - 1) / block_rows;
  Index stride = 1;

  // What a part of the blocks adds up.
  struct Sums {
    double loss = 0.0, first = 0.0, second = 0.0;
    Vector<double> row, matrix, room;
  };
  Vector<Sums> parts{std::size_t(std::max(Index(1), parallel.parts))};
  Vector<double> matrix, move, end, end_sum;

  FiniteNewton(const Problem& problem_, const R& rows_, const FiniteState& state_, const Parallel& parallel_)
      : problem(problem_), rows(rows_), state(state_), parallel(parallel_) {
    matrix.resize(std::size_t(side * side));
    for (Vector<double>* one : {&move, &end, &end_sum}) one->resize(std::size_t(side));
    for (Sums& one : parts) one.room.resize(std::size_t(std::max(side, gram_room(side))));
  }

  Index n_read() const {
    const Index whole = (n_blocks - stride / 2 + stride - 1) / stride;
    return std::min(n, whole * block_rows);
  }
  // The total of the rows read, as if all rows had the same weight: samples only lead to a start.
  double total() const { return stride == 1 ? problem.total : problem.total * double(n_read()) / double(n); }

  // Calls f(sums, blocks) for each part of the blocks that are read; blocks(g) calls g(i, n) for each of them. Returns
  // the number of parts.
  template <class F>
  Index each_part(double work, const F& f) {
    const Index count = (n_blocks - stride / 2 + stride - 1) / stride;
    const Index shares = parallel.parts_of(count, work * double(block_rows));
    parallel(count, work * double(block_rows), [&](Index part, Index begin, Index stop) {
      f(parts[std::size_t(part)], [&](auto&& g) {
        for (Index b = begin; b < stop; ++b) {
          const Index i = (stride / 2 + b * stride) * block_rows;
          g(i, std::min(block_rows, n - i));
        }
      });
    });
    return shares;
  }

  // Scores and losses of the weights, and sum_i alpha_i sign_i x_i.
  double arrive(const double* weights, double* scores, double* sum) {
    for (Sums& one : parts) {
      one.loss = 0.0;
      one.row.assign(std::size_t(side), 0.0);
    }
    const Index shares = each_part(2.0 * double(side), [&](Sums& mine, const auto& blocks) {
      CurvedBlock block;
      RowSum<R, double> row_sum(rows, mine.row.data(), mine.room.data());
      blocks([&](Index i, Index count) {
        for (Index k = 0; k < count; ++k) {
          rows.prefetch(i + k + 8 < n ? i + k + 8 : i + k);
          scores[i + k] = rows.dot(i + k, weights);
        }
        mine.loss += block.set(problem, scores + i, i, count);
        row_sum.add(i, count, block.pull);
      });
    });
    double loss = 0.0;
    std::fill(sum, sum + side, 0.0);
    for (Index part = 0; part < shares; ++part) {
      loss += parts[std::size_t(part)].loss;
      for (Index j = 0; j < side; ++j) sum[j] += parts[std::size_t(part)].row[std::size_t(j)];
    }
    return loss;
  }

  // The factor of the second derivatives, times total.
  void factor_curvature() {
    constexpr Index narrow = 6;  // side of a matrix that would not fill the tiles of a packed product
    for (Sums& one : parts) one.matrix.assign(std::size_t(side * side), 0.0);
    const Index shares = each_part(0.5 * double(side * side), [&](Sums& mine, const auto& blocks) {
      using Value = typename R::Value;
      CurvedBlock block;
      GramSum<R, Value> gram{rows, mine.matrix.data(), reinterpret_cast<Value*>(mine.room.data())};
      blocks([&](Index i, Index count) {
        block.set(problem, state.scores + i, i, count);
        for (Index k = 0; k < count; ++k) {
          if (!(block.bend[k] > 0.0)) continue;
          if (side <= narrow)
            gram.add_entries(rows.entries(i + k), block.bend[k]);
          else
            gram.add(i + k, block.bend[k]);
        }
      });
      gram.flush();
    });
    const double mu = problem.lam * total();
    std::fill(matrix.begin(), matrix.end(), 0.0);
    for (Index part = 0; part < shares; ++part)
      for (std::size_t j = 0; j < matrix.size(); ++j) matrix[j] += parts[std::size_t(part)].matrix[j];
    for (Index j = 0; j < side; ++j) matrix[std::size_t(j * side + j)] += mu;
    Vector<double> room(static_cast<std::size_t>(factor_room(side)));
    factor(matrix.data(), side, room.data(), parallel);
  }

  // The derivatives of the losses at t on the line between both vectors of scores.
  Slope slope_at(double t) {
    for (Sums& one : parts) one.first = one.second = 0.0;
    const Index shares = each_part(4.0, [&](Sums& mine, const auto& blocks) {
      CurvedBlock block;
      double move_of[block_rows], at_t[block_rows];
      blocks([&](Index i, Index count) {
        for (Index k = 0; k < count; ++k) {
          move_of[k] = state.other[i + k] - state.scores[i + k];
          at_t[k] = state.scores[i + k] + t * move_of[k];
        }
        block.set(problem, at_t, i, count);
        for (Index k = 0; k < count; ++k) {
          mine.first -= block.pull[k] * move_of[k];
          mine.second += block.bend[k] * move_of[k] * move_of[k];
        }
      });
    });
    Slope found;
    for (Index part = 0; part < shares; ++part)
      found.first += parts[std::size_t(part)].first, found.second += parts[std::size_t(part)].second;
    return found;
  }

  // How far to go along the line, whose slope at its beginning is `slope`, and at its end `at_end`.
  double length(double slope, double at_end) {
    constexpr double near = 0.3;  // fraction of the first slope
    constexpr int most_looks = 20;
    if (at_end <= -near * slope) return 1.0;
    const double mu = problem.lam * total();
    const double along = mu * simd::dot(state.weights, move.data(), side, 0.0);
    const double square = mu * simd::dot(move.data(), move.data(), side, 0.0);
    double low = 0.0, high = 1.0, t = 0.5;
    for (int look = 0; look < most_looks; ++look) {
      const Slope found = slope_at(t);
      const double first = found.first + along + t * square, second = found.second + square;
      if (3.0 * std::fabs(first) <= -near * slope) break;
      (first > 0.0 ? high : low) = t;
      t -= first / second;
      if (!(low < t && t < high)) t = 0.5 * (low + high);
    }
    return t;
  }

  // Records what a pass found at the weights.
  void take_stock(double loss) {
    const double mu = problem.lam * total();
    double square = 0.0, apart = 0.0;
    for (Index j = 0; j < side; ++j) {
      const double off = mu * state.weights[j] - state.sum[j];
      square += state.weights[j] * state.weights[j];
      apart += off * off;
    }
    FiniteCounters& counters = *state.counters;
    counters.primal = 0.5 * mu * square + loss;
    counters.gap = counters.primal > 0.0 ? 0.5 * apart / mu / counters.primal : 0.0;
  }

  void look(Index wanted) {
    stride = wanted;
    take_stock(arrive(state.weights, state.scores, state.sum));
    state.counters->stride = stride;
    state.counters->visits += n_read();
  }

  void step() {
    FiniteCounters& counters = *state.counters;
    factor_curvature();
    const double mu = problem.lam * total();
    double slope = 0.0, at_end = 0.0;
    for (Index j = 0; j < side; ++j) move[std::size_t(j)] = state.sum[j] - mu * state.weights[j];
    solve(matrix.data(), side, move.data());
    for (Index j = 0; j < side; ++j) slope += (mu * state.weights[j] - state.sum[j]) * move[std::size_t(j)];
    counters.steps += 1;
    counters.visits += 2 * n_read();  // for the second derivatives, and for the scores of the new point
    counters.stalled = !(slope < 0.0);
    if (counters.stalled) return;
    for (Index j = 0; j < side; ++j) end[std::size_t(j)] = state.weights[j] + move[std::size_t(j)];
    double loss = arrive(end.data(), state.other, end_sum.data());
    for (Index j = 0; j < side; ++j)
      at_end += (mu * end[std::size_t(j)] - end_sum[std::size_t(j)]) * move[std::size_t(j)];
    const double t = length(slope, at_end);
    if (t < 1.0) {
      for (Index j = 0; j < side; ++j) end[std::size_t(j)] = state.weights[j] + t * move[std::size_t(j)];
      loss = arrive(end.data(), state.other, end_sum.data());
    }
    if (parallel.is_stopped()) return;
    std::copy(end.begin(), end.end(), state.weights);
    std::copy(end_sum.begin(), end_sum.end(), state.sum);
    std::copy(state.other, state.other + n, state.scores);
    take_stock(loss);
  }
};

// Steps until the gap of all rows is at most `target`, or n_steps are done.
inline void finite_newton_advance(const Problem& problem, const FiniteState& state, const Parallel& parallel,
                                  Index n_steps, double target) {
  // A sample of rows does not determine the weights better than this gap, per feature and row.
  constexpr double sample_gap = 12.0;
  constexpr Index ratio = 4, fewest_rows = 512, rows_per_feature = 8;
  visit(problem.rows, [&]<class R>(const R& rows) {
    FiniteNewton<R> newton(problem, rows, state, parallel);
    FiniteCounters& counters = *state.counters;
    if (counters.stride == 0) {
      const Index least = std::max(fewest_rows, rows_per_feature * newton.side);
      Index first = 1;
      while (newton.n / (first * ratio) >= least) first *= ratio;
      newton.look(first);
    }
    newton.stride = counters.stride;
    while (!parallel.is_stopped()) {
      const double enough = sample_gap * double(newton.side) / double(newton.n_read());
      const bool near = counters.gap <= (newton.stride == 1 ? target : std::max(target, enough));
      if (newton.stride > 1 && (near || counters.stalled)) {
        counters.stalled = false;
        newton.look(newton.stride / ratio);
        continue;
      }
      if (near || counters.stalled || n_steps-- <= 0) return;
      newton.step();
    }
  });
}

// alpha_i = cost_i phi'(r_i) of all copies of the rows begin..end, from the scores of the distinct rows.
inline void alpha_of_scores(const Problem& problem, const double* scores, double* alpha, Index begin, Index end) {
  const Doubles steepness = Doubles{} + 1.0 / problem.ridge, cap = Doubles{} + problem.cap;
  each_block(begin, end, [&](Index i, Index n) {
    double score[block_rows], found[block_rows];
    read_block(scores + i, n, score);
    each_copy(problem, i, [&](Index first) {
      const Terms<double> terms(problem, first, n);
      for (Index k = 0; k < block_rows; k += doubles) {
        const Doubles at = simd::load<double, doubles>(score + k) + simd::load<double, doubles>(terms.offset + k);
        const Doubles r = 1.0 - simd::load<double, doubles>(terms.sign + k) * at;
        const Doubles line = (r <= 0.0 ? Doubles{} : r) * steepness;
        simd::store<double, doubles>(found + k,
                                     simd::load<double, doubles>(terms.cost + k) * (line > cap ? cap : line));
      }
      for (Index k = 0; k < n; ++k) alpha[first + k] = found[k];
    });
  });
}

}  // namespace pegasos::PEGASOS_ISA
