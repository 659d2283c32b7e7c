// Small symmetric matrices, given by their lower triangles row by row: products of rows, Cholesky.
#pragma once

#include <cmath>

#include "simd.h"
#include "types.h"

namespace pegasos::PEGASOS_ISA {

// matrix (lower triangle, `side` on a side) += packed' packed, in tiles of tall x wide.
template <class T>
struct GramTile {
  static constexpr int lanes = simd::vector_bytes / int(sizeof(T));
  static constexpr Index tall = 6;
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
      double* out = matrix + (i + a) * side;
      for (Index b = 0; b < wide && j + b < side; ++b) out[j + b] += double(line[b]);
    }
  }

  // Width of a packed row: room for whole tiles in both directions.
  static Index width(Index side) { return (side + tall + wide - 1) / wide * wide + wide; }
};

// Replaces the lower triangle by its Cholesky factor; false when the matrix is not positive definite.
inline bool factor(double* matrix, Index side) {
  for (Index i = 0; i < side; ++i) {
    double* row = matrix + i * side;
    for (Index j = 0; j < i; ++j) {
      const double* other = matrix + j * side;
      row[j] = (row[j] - simd::dot(row, other, j, 0.0)) / other[j];
    }
    const double pivot = row[i] - simd::dot(row, row, i, 0.0);
    if (!(pivot > 0.0)) return false;
    row[i] = std::sqrt(pivot);
  }
  return true;
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
