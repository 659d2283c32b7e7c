#pragma once

#include <cmath>

#include "interior_point.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

inline void chosen_scores(const Problem& problem, const Chosen& chosen, const double* weights, double* out) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    for (Index k = 0; k < chosen.n; ++k) {
      const Index i = chosen.rows[k];
      rows.prefetch(chosen.rows[k + 4 < chosen.n ? k + 4 : k]);
      out[k] = double(problem.sign[i]) * rows.dot(i, weights);
    }
  });
}

inline void chosen_sum(const Problem& problem, const Chosen& chosen, const double* values, double* out) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    for (Index j = 0; j <= rows.n_features; ++j) out[j] = 0.0;
    for (Index k = 0; k < chosen.n; ++k) {
      const Index i = chosen.rows[k];
      rows.prefetch(chosen.rows[k + 4 < chosen.n ? k + 4 : k]);
      rows.add(i, double(problem.sign[i]) * values[k], out);
    }
  });
}

// matrix (rows x width, width a multiple of the tile) += packed' packed, lower triangle in tiles of Rows x 2 vectors.
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

// `room` has gram_block * GramTile<T>::width(side) entries of type T, the type of the values.
inline constexpr Index gram_block = 48;

template <class R, class T>
void gram_of(const R& rows, const Chosen& chosen, const double* scale, double* matrix, T* room) {
  using Tile = GramTile<T>;
  const Index side = rows.n_features + 1, width = Tile::width(side);
  for (Index k = 0; k < side * side; ++k) matrix[k] = 0.0;
  for (Index begin = 0; begin < chosen.n; begin += gram_block) {
    const Index n = begin + gram_block < chosen.n ? gram_block : chosen.n - begin;
    for (Index k = 0; k < n * width; ++k) room[k] = T(0);
    for (Index k = 0; k < n; ++k) rows.add(chosen.rows[begin + k], T(std::sqrt(scale[begin + k])), room + k * width);
    for (Index i = 0; i < side; i += Tile::tall)
      for (Index j = 0; j < i + Tile::tall && j < side; j += Tile::wide) Tile::add(room, n, width, i, j, matrix, side);
  }
}

inline Index gram_room(const Rows& rows) {
  const Index side = rows.n_features + 1;
  const Index narrow = GramTile<float>::width(side), wide = GramTile<double>::width(side);
  return gram_block * (narrow > wide ? narrow : wide);
}

inline void gram(const Problem& problem, const Chosen& chosen, const double* scale, double* matrix, double* room) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    gram_of(rows, chosen, scale, matrix, reinterpret_cast<typename R::Value*>(room));
  });
}

// `room` has n_features + 1 entries, all 0, and is left so.
inline void outer(const Problem& problem, const Chosen& chosen, double* matrix, double* room) {
  visit(problem.rows, [&]<class R>(const R& rows) {
    for (Index k = 0; k < chosen.n; ++k) {
      const Index i = chosen.rows[k];
      rows.add(i, double(problem.sign[i]), room);
      for (Index l = 0; l <= k; ++l) {
        const Index j = chosen.rows[l];
        matrix[k * chosen.n + l] = double(problem.sign[j]) * rows.dot(j, room);
      }
      rows.add(i, -double(problem.sign[i]), room);
    }
  });
}

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
