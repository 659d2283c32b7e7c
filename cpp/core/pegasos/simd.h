// Contiguous dot products and updates, on vectors as wide as the instruction set allows.
//
// Written with the vector extensions of GCC and Clang, which map to SSE2, AVX2, AVX-512 or NEON by
// the flags of the file that includes this one. The order of summation is fixed, so a result depends
// on the instruction set but on nothing else.
#pragma once

#include <cstring>

#include "types.h"

namespace pegasos::PEGASOS_ISA::simd {

#ifdef __AVX512F__
inline constexpr int vector_bytes = 64;
#else
inline constexpr int vector_bytes = 32;
#endif

template <class T, int Lanes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Lanes * sizeof(T))));
};
template <class T, int Lanes>
using Vector = typename VectorOf<T, Lanes>::type;

// Lanes values of type From, unaligned, converted to To.
template <class To, int Lanes, class From>
inline Vector<To, Lanes> load(const From* p) {
  Vector<From, Lanes> v;
  std::memcpy(&v, p, sizeof v);
  return __builtin_convertvector(v, Vector<To, Lanes>);
}

template <class T, int Lanes>
inline void store(T* p, Vector<T, Lanes> v) {
  std::memcpy(p, &v, sizeof v);
}

template <class T, int Lanes>
inline T sum(Vector<T, Lanes> v) {
  if constexpr (Lanes == 2) {
    return v[0] + v[1];
  } else {
    Vector<T, Lanes / 2> low, high;
    std::memcpy(&low, &v, sizeof low);
    std::memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return sum<T, Lanes / 2>(low + high);
  }
}

// The largest entry. Stored as a whole: a vector that is copied in parts would stay in memory during a loop.
template <class T, int Lanes>
inline T largest(Vector<T, Lanes> v) {
  T values[Lanes];
  store<T, Lanes>(values, v);
  for (int half = Lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) values[k] = values[k] > values[k + half] ? values[k] : values[k + half];
  return values[0];
}

// The sum of the entries of a variable that a loop has just computed; see above.
template <class T, int Lanes>
inline T total(Vector<T, Lanes> v) {
  T values[Lanes];
  store<T, Lanes>(values, v);
  for (int half = Lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) values[k] += values[k + half];
  return values[0];
}

// <x, w> + rest, in the precision of w.
template <class X, class W>
inline W dot(const X* x, const W* w, Index n, W rest) {
  constexpr int L = vector_bytes / sizeof(W);
  constexpr int H = 16 / sizeof(W);
  Vector<W, L> a{}, b{}, c{}, d{};
  Index i = 0;
  for (; i + 4 * L <= n; i += 4 * L) {
    a += load<W, L>(x + i) * load<W, L>(w + i);
    b += load<W, L>(x + i + L) * load<W, L>(w + i + L);
    c += load<W, L>(x + i + 2 * L) * load<W, L>(w + i + 2 * L);
    d += load<W, L>(x + i + 3 * L) * load<W, L>(w + i + 3 * L);
  }
  for (; i + L <= n; i += L) a += load<W, L>(x + i) * load<W, L>(w + i);
  // The rest runs in parallel with the long chain above and joins it at the very end.
  Vector<W, H> e{};
  for (; i + H <= n; i += H) e += load<W, H>(x + i) * load<W, H>(w + i);
  for (; i < n; ++i) rest += W(x[i]) * w[i];
  return sum<W, L>((a + b) + (c + d)) + (sum<W, H>(e) + rest);
}

// Whether 0 <= x < bound for all of them.
template <class T>
inline bool all_within(const T* x, Index n, T bound) {
  constexpr int L = vector_bytes / sizeof(T);
  Vector<T, L> outside{};
  Index i = 0;
  for (; i + L <= n; i += L) {
    const Vector<T, L> v = load<T, L>(x + i);
    outside |= (v >= bound) | v;  // the sign bit marks negative values
  }
  T rest = 0;
  for (; i < n; ++i) rest |= T(-T(x[i] >= bound)) | x[i];
  for (int lane = 0; lane < L; ++lane) rest |= outside[lane];
  return rest >= 0;
}

// |x|^2 in double.
template <class X>
inline double squared_norm(const X* x, Index n) {
  constexpr int L = vector_bytes / sizeof(double);
  Vector<double, L> a{}, b{};
  Index i = 0;
  for (; i + 2 * L <= n; i += 2 * L) {
    const Vector<double, L> u = load<double, L>(x + i), v = load<double, L>(x + i + L);
    a += u * u;
    b += v * v;
  }
  double total = sum<double, L>(a + b);
  for (; i < n; ++i) total += double(x[i]) * double(x[i]);
  return total;
}

// Whether each entry exceeds the one before.
template <class I>
inline bool strictly_increasing(const I* p, Index n) {
  constexpr int L = 32 / sizeof(I);
  Vector<I, L> holds = ~Vector<I, L>{};
  Index k = 0;
  for (; k + 1 + L <= n; k += L) holds &= (Vector<I, L>)(load<I, L>(p + k + 1) > load<I, L>(p + k));
  bool all = true;
  for (int lane = 0; k > 0 && lane < L; ++lane) all &= holds[lane] != 0;
  for (; k + 1 < n; ++k) all &= p[k + 1] > p[k];
  return all;
}

// w += a x
template <class X, class W>
inline void add(W a, const X* x, W* w, Index n) {
  constexpr int L = vector_bytes / sizeof(W);
  constexpr int H = 16 / sizeof(W);
  Index i = 0;
  for (; i + L <= n; i += L) store<W, L>(w + i, load<W, L>(w + i) + a * load<W, L>(x + i));
  for (; i + H <= n; i += H) store<W, H>(w + i, load<W, H>(w + i) + a * load<W, H>(x + i));
  for (; i < n; ++i) w[i] += a * W(x[i]);
}

// Entries k, k + 1, ... of arrays of doubles, as many as a vector holds; `One` is a single entry. A function that is
// generic over the two is a loop body for arrays of any length.
struct Several {
  static constexpr int lanes = vector_bytes / 8;
  using V = Vector<double, lanes>;
  Index k;

  V operator()(const double* p) const { return load<double, lanes>(p + k); }
  void put(double* p, V v) const { store<double, lanes>(p + k, v); }
  static V larger(V x, V y) { return x > y ? x : y; }
  static V clamped(V x, double low, double high) {
    const V least = V{} + low, most = V{} + high;
    return x < least ? least : (x > most ? most : x);
  }
};

struct One {
  Index k;

  double operator()(const double* p) const { return p[k]; }
  void put(double* p, double v) const { p[k] = v; }
  static double larger(double x, double y) { return x > y ? x : y; }
  static double clamped(double x, double low, double high) { return x < low ? low : (x > high ? high : x); }
};

template <class F>
[[gnu::always_inline]] inline void each(Index n, const F& f) {
  Index k = 0;
  for (; k + Several::lanes <= n; k += Several::lanes) f(Several{k});
  for (; k < n; ++k) f(One{k});
}

// The sum of the values of f.
template <class F>
[[gnu::always_inline]] inline double sum_of(Index n, const F& f) {
  Several::V sums{};
  double rest = 0.0;
  Index k = 0;
  for (; k + Several::lanes <= n; k += Several::lanes) sums += f(Several{k});
  for (; k < n; ++k) rest += f(One{k});
  return total<double, Several::lanes>(sums) + rest;
}

// The largest of the values of f, at least 0; NaN is ignored.
template <class F>
[[gnu::always_inline]] inline double largest_of(Index n, const F& f) {
  Several::V most{};
  double rest = 0.0;
  Index k = 0;
  for (; k + Several::lanes <= n; k += Several::lanes) most = Several::larger(f(Several{k}), most);
  for (; k < n; ++k) rest = One::larger(f(One{k}), rest);
  return One::larger(largest<double, Several::lanes>(most), rest);
}

}  // namespace pegasos::PEGASOS_ISA::simd
