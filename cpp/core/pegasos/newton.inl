#pragma once

#include <cmath>
#include <type_traits>

#include "exponential.h"
#include "loss.h"
#include "matrices.h"
#include "newton.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

inline void residuals(const Problem& problem, const Buffer& weights, const Buffer& out, Index begin, Index end) {
  visit(problem.rows, weights.scalar, [&]<class R, class W>(const R& rows, W) {
    const W* w = static_cast<const W*>(weights.data);
    W* residual = static_cast<W*>(out.data);
    for (Index i = begin; i < end; ++i) {
      rows.prefetch(i + 8 < end ? i + 8 : i);
      residual[i] = W(1) - W(problem.sign[i]) * (rows.dot(i, w) + W(at(problem.offset, i)));
    }
  });
}

// Below this fraction of its largest value, 1/4, a row's curvature is not worth its cost.
inline constexpr double least_curvature = 1e-3;

// The slope of a smoothed loss and its derivative times softness, both over `factor`, for some rows at a time. Where
// ridge is 0 this is the logistic function of r/softness; where that differs from 0 or 1 by less than single precision
// resolves, it is 0 or 1.
template <class W>
struct SmoothSlope {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(W));
  static constexpr int n = 64;  // rows
  using V = simd::Vector<W, lanes>;
  W value[n], curvature[n];
  const double factor;
  const W cap;  // 0 for the logistic function

  explicit SmoothSlope(const Problem& problem)
      : factor(problem.ridge > 0.0 ? 1.0 : problem.cap), cap(problem.ridge > 0.0 ? W(problem.cap) : W(0)) {}

  void set(const W* r, W softness) {
    if (cap > W(0))
      set_clipped(r, softness);
    else
      set_logistic(r, softness);
  }

  void set_clipped(const W* r, W softness) {
    for (int k = 0; k < n; ++k) {
      const W a = r[k] / softness;
      value[k] = a > W(0) ? (a < cap ? a : cap) : W(0);
      curvature[k] = (a > W(0)) & (a < cap) ? W(1) : W(0);
    }
  }

  void set_logistic(const W* r, W softness) {
    for (int k = 0; k < n; k += lanes) {
      const V x = simd::load<W, lanes>(r + k) / softness;
      const V e = simd::decayed<lanes>(x < 0 ? -x : x);
      const V near = e < W(2e-8) ? V{} : e;
      const V beyond = W(1) / (W(1) + near);  // of |x|
      simd::store<W, lanes>(value + k, x < 0 ? near * beyond : beyond);
      simd::store<W, lanes>(curvature + k, near * beyond * beyond);
    }
  }
};

// Calls f(i, n, r) for blocks of at most SmoothSlope::n rows i, i + 1, ...; r are the residuals on the line, then
// zeros.
template <class W, class F>
void each_block(const Line& line, Index begin, Index end, F&& f) {
  const W* residual = static_cast<const W*>(line.residual.data);
  const W* other = static_cast<const W*>(line.other.data);
  const W t = W(line.t);
  for (Index i = begin; i < end; i += SmoothSlope<W>::n) {
    W r[SmoothSlope<W>::n] = {};
    const Index n = i + SmoothSlope<W>::n < end ? SmoothSlope<W>::n : end - i;
    for (Index k = 0; k < n; ++k) r[k] = residual[i + k] + t * (other[i + k] - residual[i + k]);
    f(i, n, r);
  }
}

template <class W>
Slope slope_of(const Problem& problem, const Line& line, double softness, Index begin, Index end) {
  const W* residual = static_cast<const W*>(line.residual.data);
  const W* other = static_cast<const W*>(line.other.data);
  Slope slope;
  SmoothSlope<W> smooth_slope(problem);
  each_block<W>(line, begin, end, [&](Index i, Index n, const W* r) {
    smooth_slope.set(r, W(softness));
    double first = 0.0, second = 0.0;
    for (Index k = 0; k < n; ++k) {
      const double cost = at(problem.cost, i + k), move = double(other[i + k] - residual[i + k]);
      first += cost * double(smooth_slope.value[k]) * move;
      second += cost * double(smooth_slope.curvature[k]) * move * move;
    }
    slope.first += first;
    slope.second += second;
  });
  slope.first *= smooth_slope.factor;
  slope.second *= smooth_slope.factor / softness;
  return slope;
}

inline Slope slope(const Problem& problem, const Line& line, double softness, Index begin, Index end) {
  return line.residual.scalar == Scalar::float32 ? slope_of<float>(problem, line, softness, begin, end)
                                                 : slope_of<double>(problem, line, softness, begin, end);
}

// Sums rows: some dense ones in the precision of W before the sum in double, which is twice as fast.
template <class R, class W>
struct RowSum {
  static constexpr bool in_blocks = std::is_same_v<R, DenseRows<typename R::Value>> && std::is_same_v<W, float>;
  const R& rows;
  double* sum;
  W* block;
  Index side = rows.n_features + 1;

  RowSum(const R& rows_, double* sum_, double* room) : rows(rows_), sum(sum_), block(reinterpret_cast<W*>(room)) {
    if constexpr (in_blocks)
      for (Index j = 0; j < side; ++j) block[j] = W(0);
  }
  void add(Index i, W a) {
    if constexpr (in_blocks)
      rows.add(i, a, block);
    else
      rows.add(i, double(a), sum);
  }
  void end_block() {
    if constexpr (in_blocks)
      for (Index j = 0; j < side; ++j) {
        sum[j] += double(block[j]);
        block[j] = W(0);
      }
  }
};

template <class R, class W>
Smoothed smooth_rows(const Problem& problem, const R& rows, const SmoothedState& state, double softness, Index begin,
                     Index end) {
  W* residual = static_cast<W*>(state.line.residual.data);
  W* alpha = static_cast<W*>(state.alpha.data);
  Smoothed total;
  SmoothSlope<W> smooth_slope(problem);
  RowSum<R, W> sum(rows, state.sum, state.room);
  each_block<W>(state.line, begin, end, [&](Index i, Index n, const W* r) {
    smooth_slope.set(r, W(softness));
    Smoothed part;
    for (Index k = 0; k < n; ++k) {
      const Index row = i + k;
      const double cost = at(problem.cost, row), sign = double(problem.sign[row]);
      const double loss = cost * loss_value(problem, double(r[k]));
      const W moved = W(cost * smooth_slope.factor) * smooth_slope.value[k], change = moved - alpha[row];
      residual[row] = r[k];
      alpha[row] = moved;
      const double curved = problem.ridge == 0.0 ? 0.0 : 0.5 * damping(problem, row) * double(moved);
      part.loss += loss;
      part.gap += loss - double(moved) * (double(r[k]) - curved);
      part.alpha_sum += double(moved) * (1.0 - sign * at(problem.offset, row) - curved);
      part.curved += cost > 0.0 && double(smooth_slope.curvature[k]) > least_curvature;
      if (change != W(0)) sum.add(row, change * W(sign));
    }
    sum.end_block();
    total.loss += part.loss, total.gap += part.gap, total.alpha_sum += part.alpha_sum;
    total.curved += part.curved;
  });
  return total;
}

inline Smoothed smooth(const Problem& problem, const SmoothedState& state, double softness, Index begin, Index end) {
  return visit(problem.rows, state.alpha.scalar, [&]<class R, class W>(const R& rows, W) {
    return smooth_rows<R, W>(problem, rows, state, softness, begin, end);
  });
}

// out += the second derivatives times the vector.
inline void bend(const Problem& problem, const Buffer& residual, double softness, const Buffer& vector, double* out,
                 double* room, Index begin, Index end) {
  visit(problem.rows, residual.scalar, [&]<class R, class W>(const R& rows, W) {
    const W* v = static_cast<const W*>(vector.data);
    SmoothSlope<W> smooth_slope(problem);
    RowSum<R, W> sum(rows, out, room);
    each_block<W>(Line{residual, residual, 0.0}, begin, end, [&](Index i, Index n, const W* r) {
      smooth_slope.set(r, W(softness));
      for (Index k = 0; k < n; ++k)
        if (double(smooth_slope.curvature[k]) > least_curvature)
          sum.add(i + k, W(at(problem.cost, i + k) * smooth_slope.factor / softness) * smooth_slope.curvature[k] *
                             rows.dot(i + k, v));
      sum.end_block();
    });
  });
}

// matrix (lower triangle) += the second derivatives, estimated from every `every`-th curved row; `room` has
// gram_room entries.
inline void curvature(const Problem& problem, const Buffer& residual, double softness, Index every, double* matrix,
                      double* room, Index begin, Index end) {
  visit(problem.rows, residual.scalar, [&]<class R, class W>(const R& rows, W) {
    GramSum<R, typename R::Value> gram{rows, matrix, reinterpret_cast<typename R::Value*>(room)};
    SmoothSlope<W> smooth_slope(problem);
    Index count = 0;
    each_block<W>(Line{residual, residual, 0.0}, begin, end, [&](Index i, Index n, const W* r) {
      smooth_slope.set(r, W(softness));
      for (Index k = 0; k < n; ++k) {
        if (!(double(smooth_slope.curvature[k]) > least_curvature && at(problem.cost, i + k) > 0.0)) continue;
        if (count++ % every == 0)
          gram.add(i + k, at(problem.cost, i + k) * smooth_slope.factor * double(smooth_slope.curvature[k]) / softness *
                              double(every));
      }
    });
    gram.flush();
  });
}

}  // namespace pegasos::PEGASOS_ISA
