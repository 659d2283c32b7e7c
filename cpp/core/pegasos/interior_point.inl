#pragma once

#include <cmath>

#include "interior_point.h"
#include "matrices.h"
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

}  // namespace pegasos::PEGASOS_ISA
