// Symmetric matrices, given by their lower triangles row by row: products of rows, Cholesky.
#pragma once

#include <cmath>

#include "parallel.h"
#include "simd.h"
#include "types.h"

namespace pegasos::PEGASOS_ISA {

// Rows of a tile of sums: as many as the registers hold. The sums do not depend on it.
inline constexpr Index tile_rows = simd::vector_bytes == 64 ? 8 : 6;

// matrix (lower triangle, `side` on a side) += packed' packed, in tiles of tall x wide.
template <class T>
struct GramTile {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  static constexpr Index tall = tile_rows;
  static constexpr Index wide = 2 * lanes;
  using V = simd::Vector<T, lanes>;

  // The products of columns [i, i + tall) with columns [j, j + wide) of the packed rows.
  static void add(const T* packed, Index n, Index width, Index i, Index j, double* matrix, Index side) {
    V sums[tall][2] = {};
    for (Index k = 0; k < n; ++k) {
      const T* row = packed + k * width;
      const V left = simd::load<T, lanes>(row + j), right = simd::load<T, lanes>(row + j + lanes);
      for (Index a = 0; a < tall; ++a) {
        sums[a][0] += row[i + a] * left;
        sums[a][1] += row[i + a] * right;
      }
    }
    for (Index a = 0; a < tall && i + a < side; ++a) {
      T line[wide];
      simd::store<T, lanes>(line, sums[a][0]);
      simd::store<T, lanes>(line + lanes, sums[a][1]);
      double* out = matrix + (i + a) * side + j;
      constexpr int doubles = simd::vector_bytes / 8;
      Index b = 0;
      for (; b < wide && j + b + doubles <= side; b += doubles)
        simd::store<double, doubles>(out + b,
                                     simd::load<double, doubles>(out + b) + simd::load<double, doubles>(line + b));
      for (; b < wide && j + b < side; ++b) out[b] += double(line[b]);
    }
  }

  // Width of a packed row: room for whole tiles in both directions.
  static Index width(Index side) { return (side + tall + wide - 1) / wide * wide + wide; }
};

inline constexpr Index gram_block = 48;  // rows that are packed together

// Adds scale x x' to a matrix: a short row entry by entry, others in blocks that are packed first, in the precision T.
template <class R, class T>
struct GramSum {
  using Tile = GramTile<T>;
  static constexpr Index block = gram_block;
  const R& rows;
  double* matrix;
  T* room;  // gram_room entries
  Index side = rows.n_features + 1, width = Tile::width(side);
  Index packed = 0;

  void add(Index i, double scale) {
    const auto row = rows.entries(i);
    // Random access to memory costs about as much as sixteen products in order.
    if (16 * row.n * row.n < side * side)
      add_entries(row, scale);
    else
      pack(i, scale);
  }

  template <class Entries>
  void add_entries(const Entries& row, double scale) {
    for (Index a = 0; a < row.n; ++a) {
      const double left = scale * double(row.value(a));
      double* out = matrix + row.column(a) * side;
      for (Index b = 0; b <= a; ++b) out[row.column(b)] += left * double(row.value(b));
    }
    double* out = matrix + (side - 1) * side;
    const double left = scale * rows.bias;
    for (Index b = 0; b < row.n; ++b) out[row.column(b)] += left * double(row.value(b));
    out[side - 1] += left * rows.bias;
  }

  void pack(Index i, double scale) {
    T* out = room + packed * width;
    for (Index k = 0; k < width; ++k) out[k] = T(0);
    rows.add(i, T(std::sqrt(scale)), out);
    if (++packed == block) flush();
  }

  void flush() {
    for (Index i = 0; i < side; i += Tile::tall)
      for (Index j = 0; j < i + Tile::tall && j < side; j += Tile::wide)
        Tile::add(room, packed, width, i, j, matrix, side);
    packed = 0;
  }
};

// How many doubles a GramSum needs, whatever its precision.
inline Index gram_room(Index side) {
  const Index narrow = GramTile<float>::width(side), wide = GramTile<double>::width(side);
  return gram_block * (narrow > wide ? narrow : wide);
}

// Cholesky by blocks of columns (Golub, Van Loan: Matrix Computations, section 4.2.6). A pivot that is lost to rounding
// is replaced by a huge one, which keeps its variable where it is: for a matrix that is positive semidefinite up to
// rounding, every factor is usable.
struct Cholesky {
  static constexpr Index block = 48;
  static constexpr int lanes = simd::vector_bytes / 8;
  static constexpr Index tall = tile_rows;
  static constexpr Index wide = 2 * lanes;
  static constexpr double lost = 4e-16;  // fraction of its diagonal entry: a smaller pivot is rounding
  static constexpr double huge = 1e64;
  using V = simd::Vector<double, lanes>;

  double* matrix;
  Index side;
  double* diagonal;  // side entries: before the factorization
  double* panel;     // side * block entries

  static Index room(Index side) { return side + side * block; }

  // Rows [i, i + n) of columns [begin, begin + block): subtracts the products with the columns before.
  void subtract(Index i, Index n, Index begin) const {
    const double* lines[tall];
    for (Index a = 0; a < tall; ++a) lines[a] = matrix + (i + (a < n ? a : 0)) * side;
    for (Index j = 0; j < block; j += wide) {
      V sums[tall][2] = {};
      for (Index k = 0; k < begin; ++k) {
        const V left = simd::load<double, lanes>(panel + k * block + j);
        const V right = simd::load<double, lanes>(panel + k * block + j + lanes);
        for (Index a = 0; a < tall; ++a) {
          sums[a][0] += lines[a][k] * left;
          sums[a][1] += lines[a][k] * right;
        }
      }
      for (Index a = 0; a < n; ++a) {
        double line[wide];
        simd::store<double, lanes>(line, sums[a][0]);
        simd::store<double, lanes>(line + lanes, sums[a][1]);
        double* out = matrix + (i + a) * side + begin + j;
        Index b = 0;
        for (; b < wide && begin + j + b + lanes <= side && j + b + lanes <= block; b += lanes)
          simd::store<double, lanes>(out + b, simd::load<double, lanes>(out + b) - simd::load<double, lanes>(line + b));
        for (; b < wide && begin + j + b < side && j + b < block; ++b) out[b] -= line[b];
      }
    }
  }

  // Row i of the columns [begin, end), once the rows [begin, end) are done.
  void finish(Index i, Index begin, Index end) const {
    double* row = matrix + i * side;
    for (Index j = begin; j < end && j < i; ++j) {
      const double* other = matrix + j * side;
      row[j] = (row[j] - simd::dot(row + begin, other + begin, j - begin, 0.0)) / other[j];
    }
    if (i >= end) return;
    const double pivot = row[i] - simd::dot(row + begin, row + begin, i - begin, 0.0);
    row[i] = pivot > lost * diagonal[i] ? std::sqrt(pivot) : huge;  // NaN becomes huge as well
  }

  // Returns whether the matrix is positive definite beyond rounding; the factor is usable in any case, unless the work
  // was stopped.
  bool factor(const Parallel& parallel) const {
    for (Index i = 0; i < side; ++i) diagonal[i] = matrix[i * side + i];
    for (Index begin = 0; begin < side; begin += block) {
      if (parallel.is_stopped()) return false;
      const Index end = begin + block < side ? begin + block : side;
      for (Index k = 0; k < begin; ++k)
        for (Index j = 0; j < block; ++j)
          panel[k * block + j] = begin + j < side ? matrix[(begin + j) * side + k] : 0.0;
      for (Index i = begin; i < end; i += tall) subtract(i, end - i < tall ? end - i : tall, begin);
      for (Index i = begin; i < end; ++i) finish(i, begin, end);
      parallel(side - end, double(block) * double(begin + block), [&](Index, Index from, Index to) {
        for (Index i = end + from; i < end + to; i += tall) {
          const Index n = end + to - i < tall ? end + to - i : tall;
          subtract(i, n, begin);
          for (Index a = 0; a < n; ++a) finish(i + a, begin, end);
        }
      });
    }
    bool definite = true;
    for (Index i = 0; i < side; ++i) definite &= matrix[i * side + i] < huge;
    return definite;
  }
};

inline Index factor_room(Index side) { return Cholesky::room(side); }

inline bool factor(double* matrix, Index side, double* room, const Parallel& parallel) {
  return Cholesky{matrix, side, room, room + side}.factor(parallel);
}

// vector <- (L L')^-1 vector
inline void solve(const double* matrix, Index side, double* vector) {
  for (Index i = 0; i < side; ++i)
    vector[i] = (vector[i] - simd::dot(matrix + i * side, vector, i, 0.0)) / matrix[i * side + i];
  for (Index i = side - 1; i >= 0; --i) {
    vector[i] /= matrix[i * side + i];
    simd::add(-vector[i], matrix + i * side, vector, i);
  }
}

}  // namespace pegasos::PEGASOS_ISA
