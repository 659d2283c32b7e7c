// One row interface, three layouts: every algorithm is written once over it.
//
//   dot(i, w)          <x_i, w> + bias w[n_features], in the precision of w
//   add(i, a, w)       w += a (x_i, bias)
//   squared_norm(i)    |x_i|^2 + bias^2, in double
//   each(i, f)         f(j, x_ij) for the entries of a row, the constant column last
//   entries(i)         the stored entries one by one: n of them, value(k) and column(k); without the constant column
//   prefetch(i)        ask for the row's memory; needs what prefetch_start(i) asked for earlier
//
// `w` always has n_features + 1 entries, the last one for the constant column.
//
// A view renumbers some of the rows: one number is read per row, none per value. It is not a separate type: the same
// machine code serves both, so that a view gives the same bits as a copy.
#pragma once

#include "problem.h"
#include "simd.h"

namespace pegasos::PEGASOS_ISA {

inline double at(const Column& column, Index i) { return column.data[i * column.stride]; }
inline double at(const Table& table, Index i, Index r) {
  return table.data[i * table.row_stride + r * table.class_stride];
}

// The row of the underlying memory that row i refers to.
struct Numbers {
  const RowNumber* data;  // null: all rows in order

  [[gnu::always_inline]] Index operator[](Index i) const { return data ? Index(data[i]) : i; }
};

// Prefetches memory. Always inline: GCC considers a function that only prefetches free of effects, and drops the call.
[[gnu::always_inline]] inline void prefetch_lines(const void* begin, Index bytes) {
  // The hardware follows after the first lines of a long row.
  const char* p = static_cast<const char*>(begin);
  const Index end = bytes < 4096 ? bytes : 4096;
  for (Index k = 0; k < end; k += 64) __builtin_prefetch(p + k, 0, 2);
  __builtin_prefetch(p + end - 1, 0, 2);
}

// The same for a length that differs from row to row: as many lines as most rows have, without a branch to mispredict.
[[gnu::always_inline]] inline void prefetch_some_lines(const void* begin, Index bytes) {
  const char* p = static_cast<const char*>(begin);
  const Index last = bytes > 0 ? bytes - 1 : 0;
  __builtin_prefetch(p, 0, 2);
  __builtin_prefetch(p + (last < 64 ? last : 64), 0, 2);
  __builtin_prefetch(p + (last < 128 ? last : 128), 0, 2);
  __builtin_prefetch(p + last, 0, 2);
}

template <class T>
struct DenseEntries {
  const T* values;
  Index n;
  T value(Index k) const { return values[k]; }
  Index column(Index k) const { return k; }
};

template <class T, class I>
struct CsrEntries {
  const T* values;
  const I* indices;
  Index n;
  T value(Index k) const { return values[k]; }
  Index column(Index k) const { return Index(indices[k]); }
};

template <class T>
struct DenseRows {
  using Value = T;
  const T* values;
  Index n_rows;
  Index n_features;
  double bias;
  Numbers numbers;

  const T* row(Index i) const { return values + numbers[i] * n_features; }
  DenseEntries<T> entries(Index i) const { return {row(i), n_features}; }

  template <class W>
  W dot(Index i, const W* w) const {
    return simd::dot(row(i), w, n_features, W(bias) * w[n_features]);
  }
  template <class W>
  void add(Index i, W a, W* w) const {
    simd::add(a, row(i), w, n_features);
    w[n_features] += a * W(bias);
  }
  double squared_norm(Index i) const { return simd::squared_norm(row(i), n_features) + bias * bias; }
  template <class F>
  void each(Index i, F&& f) const {
    const T* x = row(i);
    for (Index j = 0; j < n_features; ++j) f(j, double(x[j]));
    if (bias != 0.0) f(n_features, bias);
  }
  [[gnu::always_inline]] void prefetch(Index i) const { prefetch_lines(row(i), n_features * Index(sizeof(T))); }
  [[gnu::always_inline]] void prefetch_start(Index) const {}
};

template <class T, class I>
struct CsrRows {
  using Value = T;
  const T* values;
  const I* indices;
  const I* starts;
  Index n_rows;
  Index n_features;
  double bias;
  Numbers numbers;

  CsrEntries<T, I> entries(Index row) const {
    const Index i = numbers[row];
    return {values + starts[i], indices + starts[i], Index(starts[i + 1]) - Index(starts[i])};
  }

  template <class W>
  W dot(Index row, const W* w) const {
    const Index i = numbers[row];
    W a = 0, b = 0, c = 0, d = W(bias) * w[n_features];
    Index k = starts[i];
    const Index end = starts[i + 1];
    for (; k + 4 <= end; k += 4) {
      a += W(values[k]) * w[indices[k]];
      b += W(values[k + 1]) * w[indices[k + 1]];
      c += W(values[k + 2]) * w[indices[k + 2]];
      d += W(values[k + 3]) * w[indices[k + 3]];
    }
    for (; k < end; ++k) a += W(values[k]) * w[indices[k]];
    return (a + b) + (c + d);
  }
  template <class W>
  void add(Index row, W a, W* w) const {
    const Index i = numbers[row];
    const Index end = starts[i + 1];
    Index k = starts[i];
    for (; k + 4 <= end; k += 4) {  // the columns of a row differ, so four may be read before they are written
      const W p = w[indices[k]] + a * W(values[k]), q = w[indices[k + 1]] + a * W(values[k + 1]);
      const W r = w[indices[k + 2]] + a * W(values[k + 2]), s = w[indices[k + 3]] + a * W(values[k + 3]);
      w[indices[k]] = p;
      w[indices[k + 1]] = q;
      w[indices[k + 2]] = r;
      w[indices[k + 3]] = s;
    }
    for (; k < end; ++k) w[indices[k]] += a * W(values[k]);
    w[n_features] += a * W(bias);
  }
  double squared_norm(Index row) const {
    const Index i = numbers[row];
    return simd::squared_norm(values + starts[i], Index(starts[i + 1]) - Index(starts[i])) + bias * bias;
  }
  template <class F>
  void each(Index row, F&& f) const {
    const Index i = numbers[row];
    for (Index k = starts[i]; k < Index(starts[i + 1]); ++k) f(Index(indices[k]), double(values[k]));
    if (bias != 0.0) f(n_features, bias);
  }
  [[gnu::always_inline]] void prefetch(Index row) const {
    const Index i = numbers[row];
    const Index begin = starts[i];
    const Index count = Index(starts[i + 1]) - begin;
    prefetch_some_lines(values + begin, count * Index(sizeof(T)));
    prefetch_some_lines(indices + begin, count * Index(sizeof(I)));
  }
  [[gnu::always_inline]] void prefetch_start(Index i) const { __builtin_prefetch(starts + numbers[i], 0, 2); }
};

// A kernel matrix K instead of rows: the weights of an algorithm are the scores of the rows themselves. Testing a row
// reads its score; moving along a row adds its column of K to all scores. The last entry of `w` is not a score: it only
// takes part in the scalings.
template <class T>
struct GramRows : DenseRows<T> {
  template <class W>
  W dot(Index i, const W* w) const {
    return w[i];
  }
  template <class W>
  void add(Index i, W a, W* w) const {
    simd::add(a, this->row(i), w, this->n_features);
  }
  double squared_norm(Index i) const { return double(this->row(i)[i]); }
};

// Calls f with the typed view of the rows.
template <class F>
auto visit(const Rows& r, F&& f) {
  auto typed = [&]<class T>(T) {
    const T* values = static_cast<const T*>(r.values);
    auto csr = [&]<class I>(I) {
      return f(CsrRows<T, I>{values, static_cast<const I*>(r.indices), static_cast<const I*>(r.starts), r.n_rows,
                             r.n_features, r.bias, Numbers{r.numbers}});
    };
    if (r.layout == Layout::dense) return f(DenseRows<T>{values, r.n_rows, r.n_features, r.bias, Numbers{r.numbers}});
    if (r.layout == Layout::gram) return f(GramRows<T>{{values, r.n_rows, r.n_features, 0.0, Numbers{}}});
    return r.index == IndexType::int32 ? csr(std::int32_t{}) : csr(std::int64_t{});
  };
  return r.scalar == Scalar::float32 ? typed(float{}) : typed(double{});
}

// Calls f with the typed rows and a zero of the weights' type. Weights are never narrower than rows:
// float64 rows have float64 weights.
template <class F>
auto visit(const Rows& r, Scalar weights, F&& f) {
  return visit(r, [&]<class R>(const R& rows) {
    if constexpr (sizeof(typename R::Value) == sizeof(float)) {
      if (weights == Scalar::float32) return f(rows, float{});
    }
    return f(rows, double{});
  });
}

}  // namespace pegasos::PEGASOS_ISA
