#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "chosen.inl"
#include "interior_point.h"
#include "loss.h"
#include "matrices.h"
#include "rows.h"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

// The matrix of sign_i sign_j <x_i, x_j> over the chosen rows, lower triangle; incomplete where it was stopped.
template <class R>
struct Outer {
  using Tile = GramTile<double>;
  static constexpr Index block = 48;  // features packed at a time
  static constexpr bool is_sparse = requires(const R& r) { r.indices; };

  const Problem& problem;
  const R& rows;
  const Chosen& chosen;
  double* matrix;
  const Index n = chosen.n, side = rows.n_features + 1;

  double sign(Index l) const { return double(problem.sign[chosen.rows[l]]); }

  // Rows [begin, end) of the triangle, where `begin` is a multiple of Tile::tall.
  void fill(Index begin, Index end, const Parallel& parallel) const {
    if constexpr (is_sparse)
      fill_row_by_row(begin, end, parallel);
    else
      fill_in_tiles(begin, end, parallel);
  }

  void fill_row_by_row(Index begin, Index end, const Parallel& parallel) const {
    Vector<double> room(std::size_t(side), 0.0);
    for (Index k = begin; k < end && !parallel.is_stopped(); ++k) {
      rows.add(chosen.rows[k], sign(k), room.data());
      for (Index l = 0; l <= k; ++l)
        matrix[k * n + l] = sign(l) * rows.dot(chosen.rows[l], static_cast<const double*>(room.data()));
      rows.add(chosen.rows[k], -sign(k), room.data());
    }
  }

  void fill_in_tiles(Index begin, Index end, const Parallel& parallel) const {
    const Index width = Tile::width(n);
    Vector<double> packed(std::size_t(block * width), 0.0);
    std::fill(matrix + begin * n, matrix + end * n, 0.0);
    for (Index first = 0; first < side && !parallel.is_stopped(); first += block) {
      const Index features = std::min(block, side - first);
      for (Index l = 0; l < end; ++l) pack(l, first, features, packed.data() + l, width);
      for (Index i = begin; i < end; i += Tile::tall)
        for (Index j = 0; j < i + Tile::tall && j < n; j += Tile::wide)
          Tile::add(packed.data(), features, width, i, j, matrix, n);
    }
  }

  // Some features of chosen row l, one below the other.
  void pack(Index l, Index first, Index features, double* out, Index width) const {
    const auto row = rows.entries(chosen.rows[l]);
    for (Index k = 0; k < features; ++k)
      out[k * width] = sign(l) * (first + k < row.n ? double(row.value(first + k)) : rows.bias);
  }
};

inline void outer(const Problem& problem, const Chosen& chosen, double* matrix, const Parallel& parallel) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    const Outer<R> product{problem, rows, chosen, matrix};
    const Index n = chosen.n, tall = GramTile<double>::tall;
    // Long rows of the triangle come last: pieces of equal work, in whole tiles.
    const auto line = [&](Index k) { return k == n ? n : Index(std::sqrt(double(k) * double(n))) / tall * tall; };
    parallel(n, 0.5 * double(n) * double(product.side),
             [&](Index, Index begin, Index end) { product.fill(line(begin), line(end), parallel); });
  });
}

template <class R>
struct InteriorPoint {
  using Doubles = Vector<double>;

  static constexpr double nearly_all = 0.995;   // fraction of the distance to the nearest bound
  static constexpr int most_correctors = 2;     // Gondzio's
  static constexpr double spread = 10.0;        // a product further than this from their center is corrected
  static constexpr double longer = 0.3;         // fraction of a step that a corrector tries to gain
  static constexpr double least_step = 1e-13;
  static constexpr double roughness = 1e5;  // ratio of two pivots of the factor above which solutions are refined
  static constexpr Index most_iterations = 200;

  const Problem& problem;
  const R& rows;
  const Chosen& chosen;
  const InteriorState& state;
  const Parallel& parallel;

  ChosenRows<R> z{problem, rows, chosen, parallel};
  const Index n = chosen.n, side = rows.n_features + 1;
  const bool by_rows = state.outer != nullptr;
  const double mu = problem.lam * problem.total;
  const double capped = std::isfinite(problem.cap) ? 1.0 : 0.0;  // 0: there is no t, and v stays 0
  double* const a = state.alpha;
  double* const t = state.slack;
  double* const u = state.lower;
  double* const v = state.upper;
  double* const w = state.weights;

  Doubles cost{Doubles(std::size_t(n))}, damp{Doubles(std::size_t(n))}, q{Doubles(std::size_t(n))},
      r{Doubles(std::size_t(n))};
  Doubles over_a{Doubles(std::size_t(n))}, over_t{Doubles(std::size_t(n))}, over_u{Doubles(std::size_t(n))},
      over_v{Doubles(std::size_t(n))};  // 1 / a, and so on
  Doubles inverse{Doubles(std::size_t(n))}, product{Doubles(std::size_t(n))}, right{Doubles(std::size_t(n))};
  Doubles push{Doubles(std::size_t(n))}, pull{Doubles(std::size_t(n))};  // what the correctors add for u and for v
  Doubles da{Doubles(std::size_t(n))}, du{Doubles(std::size_t(n))}, dv{Doubles(std::size_t(n))};
  Doubles sum{Doubles(std::size_t(side))}, rho{Doubles(std::size_t(side))}, dw{Doubles(std::size_t(side))};
  Doubles rest{Doubles(std::size_t(side))}, other{Doubles(std::size_t(side))};
  Doubles matrix{Doubles(std::size_t(by_rows ? n * n : side * side))};
  Doubles room{Doubles(std::size_t(Cholesky::room(by_rows ? n : side)))};
  bool is_rough = true;  // whether solutions with the factor need refinement

  void read() {
    for (Index k = 0; k < n; ++k) {
      const Index i = chosen.rows[k];
      cost[k] = at(problem.cost, i);
      damp[k] = damping(problem, i);
      q[k] = 1.0 - double(problem.sign[i]) * at(problem.offset, i);
    }
  }

  // r, which includes -d a, rho = mu w - fixed - Z'a, and both objectives, in one pass.
  void evaluate() {
    z.scores_and_sum(w, product.data(), a, sum.data());
    double square = 0.0, along = 0.0, dual_square = 0.0, loss = 0.0, gain = 0.0;
    for (Index j = 0; j < side; ++j) {
      const double own = state.fixed[j] + sum[j];
      rho[j] = mu * w[j] - own;
      square += w[j] * w[j], along += w[j] * state.fixed[j],
          dual_square += own * (own / mu);  // neither over- nor underflows where mu is far from 1
    }
    simd::each(n, [&](auto at) { at.put(r.data(), at(q.data()) - at(product.data())); });
    for (Index k = 0; k < n; ++k) loss += cost[k] * loss_value(problem, r[k]);
    gain = simd::sum_of(n, [&](auto at) { return (at(q.data()) - 0.5 * at(damp.data()) * at(a)) * at(a); });
    simd::each(n, [&](auto at) { at.put(r.data(), at(r.data()) - at(damp.data()) * at(a)); });
    const double primal = 0.5 * mu * square - along + loss, dual = gain - 0.5 * dual_square;
    InteriorCounters& now = *state.counters;
    if (primal < now.primal) now.primal = primal, std::copy(w, w + side, state.best_weights);
    if (dual > now.dual) now.dual = dual, std::copy(a, a + n, state.best_alpha);
  }

  static constexpr Index gram_rows = 64;  // rows between two checks of the stop request

  // Builds and factors the matrix; false where it was stopped.
  bool build() {
    simd::each(n, [&](auto at) {
      at.put(over_a.data(), 1.0 / at(a)), at.put(over_t.data(), 1.0 / at(t));
      at.put(over_u.data(), 1.0 / at(u)), at.put(over_v.data(), 1.0 / at(v));
      at.put(inverse.data(), 1.0 / (at(u) / at(a) + at(v) / at(t) + at(damp.data())));
    });
    if (by_rows) {
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j <= i; ++j) matrix[std::size_t(i * n + j)] = state.outer[i * n + j] / mu;
        matrix[std::size_t(i * n + i)] += 1.0 / inverse[std::size_t(i)];
      }
    } else {
      const double work = 0.5 * double(side) * double(side);
      const Index shares = parallel.parts_of(z.n, work), size = side * side;
      const double* scale = z.fold_squares(inverse.data());
      Doubles others(std::size_t((shares - 1) * size)), packed(std::size_t(shares * gram_room(side)));
      std::fill(matrix.begin(), matrix.end(), 0.0);
      parallel(z.n, work, [&](Index part, Index begin, Index end) {
        double* mine = part == 0 ? matrix.data() : others.data() + (part - 1) * size;
        GramSum<R, double> gram{rows, mine, packed.data() + part * gram_room(side)};
        for (Index k = begin; k < end; ++k) {
          if ((k - begin) % gram_rows == 0 && parallel.is_stopped()) return;
          gram.add(chosen.rows[k], scale[k]);
        }
        gram.flush();
      });
      for (Index part = 0; part + 1 < shares; ++part)
        for (Index k = 0; k < size; ++k) matrix[k] += others[std::size_t(part * size + k)];
      for (Index j = 0; j < side; ++j) matrix[std::size_t(j * side + j)] += mu;
    }
    const Index length = by_rows ? n : side;
    const bool definite = Cholesky{matrix.data(), length, room.data(), room.data() + length}.factor(parallel);
    double least = std::numeric_limits<double>::infinity(), most = 0.0;
    for (Index j = 0; j < length; ++j) {
      least = std::min(least, matrix[std::size_t(j * length + j)]);
      most = std::max(most, matrix[std::size_t(j * length + j)]);
    }
    is_rough = !definite || !(most < roughness * least);
    return !parallel.is_stopped();
  }

  // da and dw of the right side b = r + push - pull.
  void direction(bool refined) {
    simd::each(n, [&](auto at) { at.put(right.data(), at(r.data()) + at(push.data()) - at(pull.data())); });
    if (by_rows)
      direction_by_rows(refined);
    else
      direction_by_features(refined);
    simd::each(n, [&](auto at) {
      const auto step = at(da.data());
      at.put(du.data(), at(push.data()) - at(u) - at(u) * at(over_a.data()) * step);
      at.put(dv.data(), at(pull.data()) - at(v) + at(v) * at(over_t.data()) * step);
    });
  }

  void direction_by_features(bool refined) {
    simd::each(n, [&](auto at) { at.put(product.data(), at(right.data()) * at(inverse.data())); });
    z.sum(product.data(), rest.data());
    for (Index j = 0; j < side; ++j) rest[j] -= rho[j];
    dw = rest;
    solve(matrix.data(), side, dw.data());
    if (!refined) {
      z.scores(dw.data(), product.data());
      simd::each(n, [&](auto at) { at.put(da.data(), (at(right.data()) - at(product.data())) * at(inverse.data())); });
      return;
    }
    // The residual of mu dw = Z'da - rho contains the rounding errors of da, which those of the scores grow to where
    // Theta is small; that of the system alone does not.
    z.answers(dw.data(), right.data(), inverse.data(), da.data(), other.data());
    for (Index j = 0; j < side; ++j) rest[j] = other[j] - rho[j] - mu * dw[j];
    solve(matrix.data(), side, rest.data());
    for (Index j = 0; j < side; ++j) dw[j] += rest[j];
    z.scores(rest.data(), product.data());
    simd::each(n, [&](auto at) { at.put(da.data(), at(da.data()) - at(product.data()) * at(inverse.data())); });
  }

  void direction_by_rows(bool refined) {
    z.scores(rho.data(), product.data());
    for (Index k = 0; k < n; ++k) right[k] += product[k] / mu;
    da = right;
    solve(matrix.data(), n, da.data());
    z.sum(da.data(), dw.data());
    if (refined) {
      z.scores(dw.data(), product.data());
      for (Index k = 0; k < n; ++k) right[k] -= product[k] / mu + da[k] / inverse[k];
      solve(matrix.data(), n, right.data());
      for (Index k = 0; k < n; ++k) da[k] += right[k];
      z.sum(da.data(), dw.data());
    }
    for (Index j = 0; j < side; ++j) dw[j] = (dw[j] - rho[j]) / mu;
  }

  // The largest step, at most 1, for which a, t, u and v stay positive.
  double longest_step() const {
    const double below = simd::largest_of(
        n, [&](auto at) { return at.larger(-at(da.data()) * at(over_a.data()), -at(du.data()) * at(over_u.data())); });
    const double above = capped == 0.0 ? 0.0 : simd::largest_of(n, [&](auto at) {
      return at.larger(at(da.data()) * at(over_t.data()), -at(dv.data()) * at(over_v.data()));
    });
    return 1.0 / std::max({1.0, below, above});
  }

  // The mean product after a step.
  double complement(double step) const {
    const double total = simd::sum_of(n, [&](auto at) {
      const auto move = step * at(da.data());
      return (at(a) + move) * (at(u) + step * at(du.data())) + (at(t) - move) * (at(v) + step * at(dv.data()));
    });
    return total / ((1.0 + capped) * double(n));
  }

  void predict_and_correct(double mean) {
    std::fill(push.begin(), push.end(), 0.0);
    std::fill(pull.begin(), pull.end(), 0.0);
    direction(false);
    const double left = std::max(complement(longest_step()) / mean, 0.0), centre = mean * left * left * left;
    simd::each(n, [&](auto at) {
      at.put(push.data(), (centre - at(da.data()) * at(du.data())) * at(over_a.data()));
      at.put(pull.data(), capped * (centre + at(da.data()) * at(dv.data())) * at(over_t.data()));
    });
    direction(is_rough);
    correct(centre);
  }

  // Gondzio: products that a longer step would leave far from the center are brought back toward it, by a bounded
  // correction either way (he bounds it from below; from above as well, it takes a tenth fewer iterations).
  void correct(double centre) {
    Doubles last_push, last_pull, last_da, last_du, last_dv, last_dw;
    double step = longest_step();
    for (int k = 0; k < most_correctors && step < 0.9; ++k) {
      last_push = push, last_pull = pull, last_da = da, last_du = du, last_dv = dv, last_dw = dw;
      const double hoped = std::min(1.0, step + longer), least = centre / spread, most = centre * spread;
      simd::each(n, [&](auto at) {
        const auto move = hoped * at(da.data());
        const auto low = (at(a) + move) * (at(u) + hoped * at(du.data()));
        const auto high = (at(t) - move) * (at(v) + hoped * at(dv.data()));
        const auto up = at.clamped(at.clamped(low, least, most) - low, -most, most);
        const auto down = at.clamped(at.clamped(high, least, most) - high, -most, most);
        at.put(push.data(), at(push.data()) + up * at(over_a.data()));
        at.put(pull.data(), at(pull.data()) + capped * down * at(over_t.data()));
      });
      direction(is_rough);
      const double now = longest_step();
      if (now < step + 0.01) {
        push = last_push, pull = last_pull, da = last_da, du = last_du, dv = last_dv, dw = last_dw;
        return;
      }
      step = now;
    }
  }

  void iterate() {
    InteriorCounters& now = *state.counters;
    now.complement = simd::sum_of(n, [&](auto at) { return at(a) * at(u) + at(t) * at(v); }) /
                     ((1.0 + capped) * double(n));
    if (!build()) return;
    predict_and_correct(now.complement);
    if (parallel.is_stopped()) return;  // the point does not change
    now.step = nearly_all * longest_step();
    ++now.iterations;
    if (!(now.step > least_step) || !std::isfinite(std::inner_product(dw.begin(), dw.end(), dw.begin(), 0.0))) {
      now.stalled = true;
      return;
    }
    simd::each(n, [&](auto at) {
      const auto move = now.step * at(da.data());
      at.put(a, at(a) + move), at.put(t, at(t) - capped * move);
      at.put(u, at(u) + now.step * at(du.data())), at.put(v, at(v) + now.step * at(dv.data()));
    });
    for (Index j = 0; j < side; ++j) w[j] += now.step * dw[j];
    evaluate();
    now.stalled = now.iterations >= most_iterations || !(now.complement > 0.0);
  }

  // Iterates until this many iterations are done, or the gap is at most `target` of the primal; `rest` is what fixed
  // rows add to both objectives.
  void advance(Index n_iterations, double target, double constant) {
    z.pack();
    read();
    evaluate();
    InteriorCounters& now = *state.counters;
    for (Index k = 0; k < n_iterations && !now.stalled && !parallel.is_stopped(); ++k) {
      if (now.primal - now.dual <= target * (now.primal + constant)) return;
      iterate();
    }
  }
};

inline void interior_advance(const Problem& problem, const Chosen& chosen, const InteriorState& state,
                             const Parallel& parallel, Index n_iterations, double target, double constant) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    InteriorPoint<R>{problem, rows, chosen, state, parallel}.advance(n_iterations, target, constant);
  });
}

}  // namespace pegasos::PEGASOS_ISA
