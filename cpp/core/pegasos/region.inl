#pragma once

#include <cmath>

#include "matrices.h"
#include "region.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

inline constexpr Index gram_step = GramTile<double>::tall;

// Rows [from, to) of the lower triangle; `from` is a multiple of gram_step, and so is `to` unless it is the last row.
// `room` has gram_room entries.
template <class R>
struct GramRange {
  using Tile = GramTile<double>;
  static constexpr Index block = 48;
  const R& rows;
  double* matrix;
  double* room;
  Index from, to;
  Index side = rows.n_features + 1, width = Tile::width(side);
  Index packed = 0;

  void add(Index i, double scale) {
    const auto row = rows.entries(i);
    // As in GramSum: random access to memory costs about as much as sixteen products in order.
    if (16 * row.n * row.n < side * side)
      add_entries(row, scale);
    else
      pack(i, scale);
  }

  template <class Entries>
  void add_entries(const Entries& row, double scale) {
    for (Index a = 0; a < row.n; ++a) {
      const Index i = row.column(a);
      if (i < from || i >= to) continue;
      const double left = scale * double(row.value(a));
      double* out = matrix + i * side;
      for (Index b = 0; b <= a; ++b) out[row.column(b)] += left * double(row.value(b));
    }
    if (to < side) return;
    double* out = matrix + (side - 1) * side;
    const double left = scale * rows.bias;
    for (Index b = 0; b < row.n; ++b) out[row.column(b)] += left * double(row.value(b));
    out[side - 1] += left * rows.bias;
  }

  void pack(Index i, double scale) {
    double* out = room + packed * width;
    for (Index k = 0; k < width; ++k) out[k] = 0.0;
    rows.add(i, std::sqrt(scale), out);
    if (++packed == block) flush();
  }

  void flush() {
    for (Index i = from; i < to; i += Tile::tall)
      for (Index j = 0; j < i + Tile::tall && j < side; j += Tile::wide)
        Tile::add(room, packed, width, i, j, matrix, side);
    packed = 0;
  }
};

inline void weighted_gram(const Rows& given, const double* scale, double* matrix, double* room, Index from, Index to) {
  visit(given, [&]<class R>(const R& rows) {
    GramRange<R> gram{rows, matrix, room, from, to};
    for (Index i = 0; i < rows.n_rows; ++i)
      if (scale[i] > 0.0) gram.add(i, scale[i]);
    gram.flush();
  });
}

inline void weighted_sum(const Rows& given, const double* coefficients, double* out) {
  visit(given, [&]<class R>(const R& rows) {
    for (Index i = 0; i < rows.n_rows; ++i)
      if (coefficients[i] != 0.0) rows.add(i, coefficients[i], out);
  });
}

// Forward substitution for `wide` right-hand sides side by side, in tiles of tall x wide as in Cholesky::subtract.
struct Substitution {
  static constexpr int lanes = simd::vector_bytes / 8;
  static constexpr Index tall = 6;
  static constexpr Index wide = 2 * lanes;
  static constexpr Index groups = 4;  // groups that share what is read of the factor
  using V = simd::Vector<double, lanes>;

  static Index room(Index side) { return groups * side * wide; }

  // Rows [begin, begin + n) of one group.
  static void advance(const double* factor, Index side, double* group, Index begin, Index n) {
    const double* lines[tall];
    for (Index a = 0; a < tall; ++a) lines[a] = factor + (begin + (a < n ? a : 0)) * side;
    V sums[tall][2] = {};
    for (Index k = 0; k < begin; ++k) {
      const V left = simd::load<double, lanes>(group + k * wide);
      const V right = simd::load<double, lanes>(group + k * wide + lanes);
      for (Index a = 0; a < tall; ++a) {
        sums[a][0] += lines[a][k] * left;
        sums[a][1] += lines[a][k] * right;
      }
    }
    for (Index a = 0; a < n; ++a) {
      for (Index b = 0; b < a; ++b) {
        const double* done = group + (begin + b) * wide;
        sums[a][0] += lines[a][begin + b] * simd::load<double, lanes>(done);
        sums[a][1] += lines[a][begin + b] * simd::load<double, lanes>(done + lanes);
      }
      double* mine = group + (begin + a) * wide;
      const double pivot = lines[a][begin + a];
      simd::store<double, lanes>(mine, (simd::load<double, lanes>(mine) - sums[a][0]) / pivot);
      simd::store<double, lanes>(mine + lanes, (simd::load<double, lanes>(mine + lanes) - sums[a][1]) / pivot);
    }
  }
};

inline Index reach_room(Index side) { return Substitution::room(side); }

inline void squared_reaches(const Rows& given, const Pattern& pattern, double* out, double* room, Index begin,
                            Index end) {
  using S = Substitution;
  const Index side = pattern.side, width = side / pattern.n_blocks;
  visit(given, [&]<class R>(const R& rows) {
    for (Index first = begin; first < end; first += S::groups * S::wide) {
      const Index n = end - first < S::groups * S::wide ? end - first : S::groups * S::wide;
      const Index n_groups = (n + S::wide - 1) / S::wide;
      for (Index k = 0; k < n_groups * side * S::wide; ++k) room[k] = 0.0;
      for (Index r = 0; r < n; ++r) {
        double* group = room + r / S::wide * side * S::wide + r % S::wide;
        rows.each(first + r, [&](Index j, double value) {
          for (Index b = 0; b < pattern.n_blocks; ++b) group[(b * width + j) * S::wide] = pattern.blocks[b] * value;
        });
      }
      for (Index i = 0; i < side; i += S::tall)
        for (Index g = 0; g < n_groups; ++g)
          S::advance(pattern.factor, side, room + g * side * S::wide, i, side - i < S::tall ? side - i : S::tall);
      for (Index r = 0; r < n; ++r) {
        const double* group = room + r / S::wide * side * S::wide + r % S::wide;
        double sum = 0.0;
        for (Index i = 0; i < side; ++i) sum += group[i * S::wide] * group[i * S::wide];
        out[first + r] = sum;
      }
    }
  });
}

}  // namespace pegasos::PEGASOS_ISA
