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
      const W score = rows.dot(i, w);
      for (Index k = i; k < rows.n_rows; k += n_distinct(problem.rows))
        residual[k] = W(1) - W(problem.sign[k]) * (score + W(at(problem.offset, k)));
    }
  });
}

inline constexpr Index block_rows = 64;  // rows of a block; entries beyond its end are 0 in every array below
inline constexpr int doubles = simd::vector_bytes / 8;
using Doubles = simd::Vector<double, doubles>;

// Below this fraction of its largest value, 1/4, a row's curvature is not worth its cost.
inline constexpr double least_curvature = 1e-3;

// The slope of a smoothed loss and its derivative times softness, both over `factor`, for some rows at a time. Where
// ridge is 0 this is the logistic function of r/softness; where that differs from 0 or 1 by less than single precision
// resolves, it is 0 or 1.
template <class W>
struct SmoothSlope {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(W));
  static constexpr int n = int(block_rows);
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
    const V most = V{} + cap, one = V{} + W(1);
    for (int k = 0; k < n; k += lanes) {
      const V a = simd::load<W, lanes>(r + k) / softness, positive = a > W(0) ? a : V{};
      simd::store<W, lanes>(value + k, positive < most ? positive : most);
      simd::store<W, lanes>(curvature + k, (positive > W(0)) & (positive < most) ? one : V{});
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

// Calls f(i, n) for blocks of at most block_rows distinct rows i, i + 1, ..., i + n - 1.
template <class F>
void each_block(Index begin, Index end, F&& f) {
  for (Index i = begin; i < end; i += block_rows) f(i, i + block_rows < end ? block_rows : end - i);
}

// Calls f(first) for each copy of the rows i, i + 1, ...; they are the rows first, first + 1, ... of the problem.
template <class F>
void each_copy(const Problem& problem, Index i, F&& f) {
  for (Index first = i; first < problem.rows.n_rows; first += n_distinct(problem.rows)) f(first);
}

// Some rows of an array.
template <class T, class From>
void read_block(const From* from, Index n, T* to) {
  constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  Index k = 0;
  for (; k + lanes <= n; k += lanes) simd::store<T, lanes>(to + k, simd::load<T, lanes>(from + k));
  for (; k < n; ++k) to[k] = T(from[k]);
  for (; k < block_rows; ++k) to[k] = T(0);
}

template <class T>
void read_block(const Column& column, Index first, Index n, T* to) {
  if (column.stride == 1) return read_block(column.data + first, n, to);
  for (Index k = 0; k < n; ++k) to[k] = T(at(column, first + k));
  for (Index k = n; k < block_rows; ++k) to[k] = T(0);
}

// Signs, costs and offsets of n rows.
template <class W>
struct Terms {
  W sign[block_rows];
  double cost[block_rows], offset[block_rows];

  Terms(const Problem& problem, Index first, Index n) {
    read_block(problem.sign + first, n, sign);
    read_block(problem.offset, first, n, offset);
    read_block(problem.cost, first, n, cost);
  }
};

// The residuals of n rows on a line.
template <class W>
struct OnLine {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(W));
  const W* residual;
  const W* other;
  const W t;
  W r[block_rows], move[block_rows];

  explicit OnLine(const Line& line)
      : residual(static_cast<const W*>(line.residual.data)),
        other(static_cast<const W*>(line.other.data)),
        t(W(line.t)) {}
  explicit OnLine(const Buffer& at) : OnLine(Line{at, at, 0.0}) {}

  const W* operator()(Index first, Index n) {
    read_block(residual + first, n, r);
    read_block(other + first, n, move);
    for (Index k = 0; k < block_rows; k += lanes) {
      const auto from = simd::load<W, lanes>(r + k), change = simd::load<W, lanes>(move + k) - from;
      simd::store<W, lanes>(move + k, change);
      simd::store<W, lanes>(r + k, from + t * change);
    }
    return r;
  }
};

// The derivatives of a block, over factor and factor / softness.
template <class W>
Slope slope_of_block(const SmoothSlope<W>& smooth_slope, const double* cost, const W* move) {
  Doubles first{}, second{};
  for (Index k = 0; k < block_rows; k += doubles) {
    const Doubles by = simd::load<double, doubles>(move + k), scaled = simd::load<double, doubles>(cost + k) * by;
    first += scaled * simd::load<double, doubles>(smooth_slope.value + k);
    second += scaled * by * simd::load<double, doubles>(smooth_slope.curvature + k);
  }
  return {simd::total<double, doubles>(first), simd::total<double, doubles>(second)};
}

template <class W>
Slope slope_of(const Problem& problem, const Line& line, double softness, Index begin, Index end) {
  Slope slope;
  SmoothSlope<W> smooth_slope(problem);
  OnLine<W> on_line(line);
  each_block(begin, end, [&](Index i, Index n) {
    each_copy(problem, i, [&](Index first) {
      double cost[block_rows];
      read_block(problem.cost, first, n, cost);
      smooth_slope.set(on_line(first, n), W(softness));
      const Slope part = slope_of_block(smooth_slope, cost, on_line.move);
      slope.first += part.first, slope.second += part.second;
    });
  });
  slope.first *= smooth_slope.factor;
  slope.second *= smooth_slope.factor / softness;
  return slope;
}

inline Slope slope(const Problem& problem, const Line& line, double softness, Index begin, Index end) {
  return line.residual.scalar == Scalar::float32 ? slope_of<float>(problem, line, softness, begin, end)
                                                 : slope_of<double>(problem, line, softness, begin, end);
}

// Sums rows, each times a factor. Blocks of dense rows are added in the precision of W before the sum in double: short
// ones column by column, so that a sum stays in a register while the rows go by.
template <class R, class W>
struct RowSum {
  static constexpr bool is_dense = std::is_same_v<R, DenseRows<typename R::Value>>;
  static constexpr bool in_blocks = is_dense && std::is_same_v<W, float>;
  static constexpr Index short_row = 64;
  static constexpr int lanes = simd::vector_bytes / int(sizeof(W));
  const R& rows;
  double* sum;
  W* room;  // n_features + 1
  Index side = rows.n_features + 1;

  RowSum(const R& rows_, double* sum_, double* room_) : rows(rows_), sum(sum_), room(reinterpret_cast<W*>(room_)) {
    if constexpr (in_blocks)
      for (Index j = 0; j < side; ++j) room[j] = W(0);
  }

  void add(Index i, Index n, const W* factor) {
    if constexpr (is_dense)
      if (side <= short_row) return add_short(i, n, factor);
    for (Index k = 0; k < n; ++k)
      if (factor[k] != W(0)) add_row(i + k, factor[k]);
    if constexpr (in_blocks)
      for (Index j = 0; j < side; ++j) {
        sum[j] += double(room[j]);
        room[j] = W(0);
      }
  }

  void add_row(Index i, W a) {
    if constexpr (in_blocks)
      rows.add(i, a, room);
    else
      rows.add(i, double(a), sum);
  }

  void add_short(Index i, Index n, const W* factor) {
    using V = simd::Vector<W, lanes>;
    const typename R::Value* row[block_rows];
    W a[block_rows], all = 0;
    Index m = 0;
    for (Index k = 0; k < n; ++k) {
      row[m] = rows.row(i + k);
      a[m] = factor[k];
      m += factor[k] != W(0);
    }
    Index j = 0;
    for (; j + lanes <= rows.n_features; j += lanes) {
      V even{}, odd{};
      Index k = 0;
      for (; k + 2 <= m; k += 2) {
        even += a[k] * simd::load<W, lanes>(row[k] + j);
        odd += a[k + 1] * simd::load<W, lanes>(row[k + 1] + j);
      }
      if (k < m) even += a[k] * simd::load<W, lanes>(row[k] + j);
      W line[lanes];
      simd::store<W, lanes>(line, even + odd);
      for (int l = 0; l < lanes; ++l) sum[j + l] += double(line[l]);
    }
    for (; j < rows.n_features; ++j) {
      W even = 0, odd = 0;
      Index k = 0;
      for (; k + 2 <= m; k += 2) {
        even += a[k] * W(row[k][j]);
        odd += a[k + 1] * W(row[k + 1][j]);
      }
      if (k < m) even += a[k] * W(row[k][j]);
      sum[j] += double(even + odd);
    }
    for (Index k = 0; k < m; ++k) all += a[k];
    sum[j] += double(all) * rows.bias;
  }
};

// The sums over n rows from `first` on, whose residuals are r; adds the changes of alpha_i sign_i to `change`.
template <class W>
Smoothed smooth_block(const Problem& problem, const SmoothSlope<W>& smooth_slope, const SmoothedState& state,
                      const Terms<W>& terms, Index first, Index n, const W* r, W* change) {
  constexpr int lanes = SmoothSlope<W>::lanes;
  W moved[block_rows], alpha[block_rows];
  read_block(static_cast<const W*>(state.alpha.data) + first, n, alpha);
  for (Index k = 0; k < block_rows; k += lanes) {
    const auto scale = simd::load<W, lanes>(terms.cost + k) * W(smooth_slope.factor);
    const auto found = scale * simd::load<W, lanes>(smooth_slope.value + k);
    const auto by = (found - simd::load<W, lanes>(alpha + k)) * simd::load<W, lanes>(terms.sign + k);
    simd::store<W, lanes>(moved + k, found);
    simd::store<W, lanes>(change + k, simd::load<W, lanes>(change + k) + by);
  }
  W* out = static_cast<W*>(state.moved.data) + first;
  for (Index k = 0; k < n; ++k) out[k] = moved[k];

  const double ridge = problem.ridge, steepness = ridge > 0.0 ? 1.0 / ridge : 0.0;
  const Doubles cap = Doubles{} + problem.cap, most = Doubles{} + most_damping;
  Doubles losses{}, gaps{}, gains{};
  simd::Vector<std::int64_t, doubles> curved{};
  for (Index k = 0; k < block_rows; k += doubles) {
    const Doubles cost = simd::load<double, doubles>(terms.cost + k), x = simd::load<double, doubles>(r + k);
    const Doubles a = simd::load<double, doubles>(moved + k), positive = x <= 0.0 ? Doubles{} : x;
    const Doubles linear = 1.0 -
                           simd::load<double, doubles>(terms.sign + k) * simd::load<double, doubles>(terms.offset + k);
    curved -= (cost > 0.0) & (simd::load<double, doubles>(smooth_slope.curvature + k) > least_curvature);
    if (ridge == 0.0) {
      const Doubles loss = cost * problem.cap * positive;
      losses += loss;
      gaps += loss - a * x;
      gains += a * linear;
    } else {
      const Doubles line = positive * steepness, slope = line > cap ? cap : line, damping = ridge / cost;
      const Doubles loss = cost * (slope * (positive - 0.5 * ridge * slope));
      const Doubles own = 0.5 * (damping < most ? damping : most) * a;
      losses += loss;
      gaps += loss - a * (x - own);
      gains += a * (linear - own);
    }
  }
  return {simd::total<double, doubles>(losses), simd::total<double, doubles>(gaps), simd::total<double, doubles>(gains),
          Index(simd::total<std::int64_t, doubles>(curved))};
}

inline void add_to(Smoothed& total, const Smoothed& part) {
  total.loss += part.loss, total.gap += part.gap, total.alpha_sum += part.alpha_sum, total.curved += part.curved;
}

template <class R, class W>
Smoothed smooth_rows(const Problem& problem, const R& rows, const SmoothedState& state, double softness, Index begin,
                     Index end) {
  W* residual = static_cast<W*>(state.line.residual.data);
  Smoothed total;
  SmoothSlope<W> smooth_slope(problem);
  OnLine<W> on_line(state.line);
  RowSum<R, W> sum(rows, state.sum, state.room);
  each_block(begin, end, [&](Index i, Index n) {
    W change[SmoothSlope<W>::n] = {};
    each_copy(problem, i, [&](Index first) {
      const W* r = on_line(first, n);
      smooth_slope.set(r, W(softness));
      const Terms<W> terms(problem, first, n);
      add_to(total, smooth_block(problem, smooth_slope, state, terms, first, n, r, change));
      for (Index k = 0; k < n; ++k) residual[first + k] = r[k];
    });
    sum.add(i, n, change);
  });
  return total;
}

// Moves the residuals to the point of the line.
inline Smoothed smooth(const Problem& problem, const SmoothedState& state, double softness, Index begin, Index end) {
  return visit(problem.rows, state.alpha.scalar, [&]<class R, class W>(const R& rows, W) {
    return smooth_rows<R, W>(problem, rows, state, softness, begin, end);
  });
}

template <class R, class W>
Arrival arrive_rows(const Problem& problem, const R& rows, const W* weights, const SmoothedState& state,
                    double softness, Index begin, Index end) {
  constexpr int lanes = SmoothSlope<W>::lanes;
  const W* residual = static_cast<const W*>(state.line.residual.data);
  W* other = static_cast<W*>(state.line.other.data);
  Arrival total;
  SmoothSlope<W> smooth_slope(problem);
  RowSum<R, W> sum(rows, state.sum, state.room);
  each_block(begin, end, [&](Index i, Index n) {
    W score[block_rows] = {}, r[block_rows], move[block_rows], change[block_rows] = {};
    for (Index k = 0; k < n; ++k) {
      rows.prefetch(i + k + 8 < end ? i + k + 8 : i + k);
      score[k] = rows.dot(i + k, weights);
    }
    each_copy(problem, i, [&](Index first) {
      const Terms<W> terms(problem, first, n);
      read_block(residual + first, n, move);
      for (Index k = 0; k < block_rows; k += lanes) {
        const auto at_end = simd::load<W, lanes>(score + k) + simd::load<W, lanes>(terms.offset + k);
        const auto found = W(1) - simd::load<W, lanes>(terms.sign + k) * at_end;
        simd::store<W, lanes>(r + k, found);
        simd::store<W, lanes>(move + k, found - simd::load<W, lanes>(move + k));
      }
      for (Index k = 0; k < n; ++k) other[first + k] = r[k];
      smooth_slope.set(r, W(softness));
      add_to(total.sums, smooth_block(problem, smooth_slope, state, terms, first, n, r, change));
      const Slope part = slope_of_block(smooth_slope, terms.cost, move);
      total.slope.first += part.first, total.slope.second += part.second;
    });
    sum.add(i, n, change);
  });
  total.slope.first *= smooth_slope.factor;
  total.slope.second *= smooth_slope.factor / softness;
  return total;
}

// Writes the residuals of the weights to the end of the line; line.t is not used.
inline Arrival arrive(const Problem& problem, const Buffer& weights, const SmoothedState& state, double softness,
                      Index begin, Index end) {
  return visit(problem.rows, state.alpha.scalar, [&]<class R, class W>(const R& rows, W) {
    return arrive_rows<R, W>(problem, rows, static_cast<const W*>(weights.data), state, softness, begin, end);
  });
}

// The second derivatives of the losses of n distinct rows from i on, summed over their copies; 0 where next to nothing.
template <class W>
struct Curvatures {
  const Problem& problem;
  const double softness;
  SmoothSlope<W> smooth_slope;
  OnLine<W> on_line;
  double found[block_rows];

  Curvatures(const Problem& given, const Buffer& residual, double width)
      : problem(given), softness(width), smooth_slope(given), on_line(residual) {}

  const double* operator()(Index i, Index n) {
    for (double& each : found) each = 0.0;
    each_copy(problem, i, [&](Index first) {
      double cost[block_rows];
      read_block(problem.cost, first, n, cost);
      smooth_slope.set(on_line(first, n), W(softness));
      for (Index k = 0; k < block_rows; k += doubles) {
        const Doubles own = simd::load<double, doubles>(smooth_slope.curvature + k);
        const Doubles scaled = simd::load<double, doubles>(cost + k) * (smooth_slope.factor / softness) * own;
        const Doubles before = simd::load<double, doubles>(found + k);
        simd::store<double, doubles>(found + k, before + (own > least_curvature ? scaled : Doubles{}));
      }
    });
    return found;
  }
};

// out += the second derivatives times the vector.
inline void bend(const Problem& problem, const Buffer& residual, double softness, const Buffer& vector, double* out,
                 double* room, Index begin, Index end) {
  visit(problem.rows, residual.scalar, [&]<class R, class W>(const R& rows, W) {
    const W* v = static_cast<const W*>(vector.data);
    Curvatures<W> curvatures(problem, residual, softness);
    RowSum<R, W> sum(rows, out, room);
    each_block(begin, end, [&](Index i, Index n) {
      const double* found = curvatures(i, n);
      W factor[block_rows];
      for (Index k = 0; k < n; ++k) factor[k] = found[k] > 0.0 ? W(found[k]) * rows.dot(i + k, v) : W(0);
      sum.add(i, n, factor);
    });
  });
}

// What one of `every` curved rows adds to the trace of the second derivatives, times `every`.
template <class R, class W>
double trace_of_sample(const R& rows, Curvatures<W>& curvatures, Index every, Index begin, Index end) {
  double total = 0.0;
  Index count = 0, seen = 0;
  each_block(begin, end, [&](Index i, Index n) {
    const double* found = curvatures(i, n);
    for (Index k = 0; k < n; ++k)
      if (found[k] > 0.0 && count++ % every == 0) total += found[k] * rows.squared_norm(i + k), ++seen;
  });
  return seen > 0 ? total / double(seen) * double(every) : 0.0;
}

// matrix (lower triangle) += the second derivatives, estimated from about one of `every` curved rows; `room` has
// gram_room entries. The chance of a row is proportional to its part of the trace, and rows that have more than the
// others together in a turn are always taken: a feature that few rows have would otherwise be missing.
inline void curvature(const Problem& problem, const Buffer& residual, double softness, Index every, double* matrix,
                      double* room, Index begin, Index end) {
  visit(problem.rows, residual.scalar, [&]<class R, class W>(const R& rows, W) {
    GramSum<R, typename R::Value> gram{rows, matrix, reinterpret_cast<typename R::Value*>(room)};
    Curvatures<W> curvatures(problem, residual, softness);
    const double turn = every > 1 ? trace_of_sample(rows, curvatures, every, begin, end) : 0.0;
    double credit = 0.5 * turn;
    each_block(begin, end, [&](Index i, Index n) {
      const double* found = curvatures(i, n);
      for (Index k = 0; k < n; ++k) {
        if (!(found[k] > 0.0)) continue;
        const double own = every > 1 ? found[k] * rows.squared_norm(i + k) : 0.0;
        if (!(own < turn)) {
          gram.add(i + k, found[k]);
        } else if ((credit += own) >= turn) {
          credit -= turn;
          gram.add(i + k, found[k] / own * turn);
        }
      }
    });
    gram.flush();
  });
}

}  // namespace pegasos::PEGASOS_ISA
