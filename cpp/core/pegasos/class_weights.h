// How a row meets the weights of all classes at once.
//
// The weights of a feature for all classes lie together, `width` of them, the number of classes rounded up to whole
// vectors: weight r of feature j is weights[j * width + r]. A sparse row then touches one short stretch of memory for
// each of its entries, whatever the number of classes. Entries beyond the last class stay 0.
#pragma once

#include "rows.h"
#include "simd.h"

namespace pegasos::PEGASOS_ISA {

// The same for all instruction sets and types: a state may move between them.
inline constexpr Index class_block = 8;

inline Index class_width(Index n_classes) { return (n_classes + class_block - 1) / class_block * class_block; }

template <class W>
inline constexpr int class_lanes = simd::vector_bytes / int(sizeof(W)) < class_block
                                       ? simd::vector_bytes / int(sizeof(W))
                                       : int(class_block);

// The scores of Vectors * class_lanes classes, which begin at `weights` and `scores`.
template <int Vectors, class R, class W>
inline void scores_of_classes(const R& rows, Index i, const W* weights, Index width, W* scores) {
  constexpr int L = class_lanes<W>;
  constexpr int chains = Vectors == 1 ? 4 : 2;  // sums that do not wait for each other
  const auto row = rows.entries(i);
  simd::Vector<W, L> sum[chains][Vectors] = {};
  const W bias = W(rows.bias);
  const W* constant = weights + rows.n_features * width;
  for (int v = 0; v < Vectors; ++v) sum[0][v] = bias * simd::load<W, L>(constant + v * L);
  Index k = 0;
  for (; k + chains <= row.n; k += chains) {
    for (int c = 0; c < chains; ++c) {
      const W x = W(row.value(k + c));
      const W* w = weights + row.column(k + c) * width;
      for (int v = 0; v < Vectors; ++v) sum[c][v] += x * simd::load<W, L>(w + v * L);
    }
  }
  for (; k < row.n; ++k) {
    const W x = W(row.value(k));
    const W* w = weights + row.column(k) * width;
    for (int v = 0; v < Vectors; ++v) sum[0][v] += x * simd::load<W, L>(w + v * L);
  }
  for (int v = 0; v < Vectors; ++v) {
    simd::Vector<W, L> whole = sum[0][v] + sum[1][v];
    if constexpr (chains == 4) whole += sum[2][v] + sum[3][v];
    simd::store<W, L>(scores + v * L, whole);
  }
}

// scores[r] = <x_i, w_r> for all r < width.
template <class R, class W>
inline void class_scores(const R& rows, Index i, const W* weights, Index width, W* scores) {
  constexpr Index L = class_lanes<W>;
  Index r = 0;
  for (; r + 4 * L <= width; r += 4 * L) scores_of_classes<4>(rows, i, weights + r, width, scores + r);
  switch ((width - r) / L) {
    case 3:
      return scores_of_classes<3>(rows, i, weights + r, width, scores + r);
    case 2:
      return scores_of_classes<2>(rows, i, weights + r, width, scores + r);
    case 1:
      return scores_of_classes<1>(rows, i, weights + r, width, scores + r);
  }
}

// For a kernel matrix, the scores themselves replace the weights.
template <class T, class W>
inline void class_scores(const GramRows<T>&, Index i, const W* weights, Index width, W* scores) {
  std::memcpy(scores, weights + i * width, std::size_t(width) * sizeof(W));
}

// Whether the factors of a stretch of class_lanes classes have no bit set.
template <class W>
inline bool all_zero(const W* factors) {
  constexpr int n = class_lanes<W> * int(sizeof(W)) / 8;
  std::uint64_t words[n], any = 0;
  std::memcpy(words, factors, sizeof words);
  for (int k = 0; k < n; ++k) any |= words[k];
  return any == 0;
}

// The largest of `width` values.
template <class W>
inline W largest_of(const W* values, Index width) {
  constexpr int L = class_lanes<W>;
  simd::Vector<W, L> most = simd::load<W, L>(values);
  for (Index r = L; r < width; r += L) {
    const simd::Vector<W, L> next = simd::load<W, L>(values + r);
    most = next > most ? next : most;
  }
  W largest = most[0];
  for (int lane = 1; lane < L; ++lane) largest = most[lane] > largest ? most[lane] : largest;
  return largest;
}

// w_r += factors[r] x_i for all r < width; stretches of classes whose factors are 0 are not touched.
template <class R, class W>
inline void class_add(const R& rows, Index i, const W* factors, Index width, W* weights) {
  constexpr int L = class_lanes<W>;
  const auto row = rows.entries(i);
  for (Index r = 0; r < width; r += L) {
    if (all_zero<W>(factors + r)) continue;
    const simd::Vector<W, L> factor = simd::load<W, L>(factors + r);
    for (Index k = 0; k < row.n; ++k) {
      W* w = weights + row.column(k) * width + r;
      simd::store<W, L>(w, simd::load<W, L>(w) + W(row.value(k)) * factor);
    }
    W* constant = weights + rows.n_features * width + r;
    simd::store<W, L>(constant, simd::load<W, L>(constant) + W(rows.bias) * factor);
  }
}

}  // namespace pegasos::PEGASOS_ISA
