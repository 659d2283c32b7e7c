// One row interface, two layouts: every algorithm is written once over it.
//
//   dot(i, w)          <x_i, w> + bias w[n_features], in the precision of w
//   add(i, a, w)       w += a (x_i, bias)
//   squared_norm(i)    |x_i|^2 + bias^2, in double
//   prefetch(i)        ask for the row's memory
//
// `w` always has n_features + 1 entries, the last one for the constant column.
#pragma once

#include "problem.h"
#include "simd.h"

namespace pegasos::PEGASOS_ISA {

inline double at(const Column& column, Index i) { return column.data[i * column.stride]; }

inline void prefetch_lines(const void* begin, Index bytes) {
  // The hardware follows after the first few lines of a long row.
  const char* p = static_cast<const char*>(begin);
  const Index end = bytes < 512 ? bytes : 512;
  for (Index k = 0; k < end; k += 64) __builtin_prefetch(p + k, 0, 1);
}

template <class T>
struct DenseRows {
  using Value = T;
  const T* values;
  Index n_rows;
  Index n_features;
  double bias;

  const T* row(Index i) const { return values + i * n_features; }

  template <class W>
  W dot(Index i, const W* w) const {
    return simd::dot(row(i), w, n_features, W(bias) * w[n_features]);
  }
  template <class W>
  void add(Index i, W a, W* w) const {
    simd::add(a, row(i), w, n_features);
    w[n_features] += a * W(bias);
  }
  double squared_norm(Index i) const {
    return simd::squared_norm(row(i), n_features) + bias * bias;
  }
  void prefetch(Index i) const { prefetch_lines(row(i), n_features * Index(sizeof(T))); }
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

  template <class W>
  W dot(Index i, const W* w) const {
    W a = 0, b = 0;
    Index k = starts[i];
    const Index end = starts[i + 1];
    for (; k + 2 <= end; k += 2) {
      a += W(values[k]) * w[indices[k]];
      b += W(values[k + 1]) * w[indices[k + 1]];
    }
    if (k < end) a += W(values[k]) * w[indices[k]];
    return (a + b) + W(bias) * w[n_features];
  }
  template <class W>
  void add(Index i, W a, W* w) const {
    const Index end = starts[i + 1];
    for (Index k = starts[i]; k < end; ++k) w[indices[k]] += a * W(values[k]);
    w[n_features] += a * W(bias);
  }
  double squared_norm(Index i) const {
    double total = bias * bias;
    const Index end = starts[i + 1];
    for (Index k = starts[i]; k < end; ++k) total += double(values[k]) * double(values[k]);
    return total;
  }
  void prefetch(Index i) const {
    const Index begin = starts[i];
    const Index count = Index(starts[i + 1]) - begin;
    prefetch_lines(values + begin, count * Index(sizeof(T)));
    prefetch_lines(indices + begin, count * Index(sizeof(I)));
  }
};

// Calls f with the typed view of the rows.
template <class F>
auto visit(const Rows& r, F&& f) {
  auto typed = [&]<class T>(T) {
    const T* values = static_cast<const T*>(r.values);
    auto csr = [&]<class I>(I) {
      return f(CsrRows<T, I>{values, static_cast<const I*>(r.indices),
                             static_cast<const I*>(r.starts), r.n_rows, r.n_features, r.bias});
    };
    if (r.layout == Layout::dense) return f(DenseRows<T>{values, r.n_rows, r.n_features, r.bias});
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
