// Scores and sums of rows with all the digits that the machine has, for certificates whose rounding matters. Beside
// each sum the same of absolute values, which bounds its rounding. Without the constant column.
#pragma once

#include <cmath>

#include "rows.h"

namespace pegasos::PEGASOS_ISA {

// scores_i = <x_i, w> and sizes_i = sum_j |x_ij| |w_j| for begin <= i < end, in four interleaved parts.
inline void long_scores(const Rows& given, const long double* weights, long double* scores, long double* sizes,
                        Index begin, Index end) {
  visit(given, [&](const auto& rows) {
    for (Index i = begin; i < end; ++i) {
      const auto entries = rows.entries(i);
      long double score[4] = {}, size[4] = {};
      const auto add = [&](Index k, int part) {
        const long double product = static_cast<long double>(entries.value(k)) * weights[entries.column(k)];
        score[part] += product;
        size[part] += std::fabs(product);
      };
      Index k = 0;
      for (; k + 4 <= entries.n; k += 4)
        for (int part = 0; part < 4; ++part) add(k + part, part);
      for (; k < entries.n; ++k) add(k, 0);
      scores[i - begin] = (score[0] + score[1]) + (score[2] + score[3]);
      sizes[i - begin] = (size[0] + size[1]) + (size[2] + size[3]);
    }
  });
}

// sums += sum_i c_i x_i and sizes += sum_i |c_i| |x_i| over begin <= i < end, c_begin being the first coefficient. The
// rows are added to each other first, so that rounding grows with the blocks and not with the rows. `room` holds two
// numbers per feature, 0 before and after.
inline void add_long(const Rows& given, const long double* coefficients, long double* sums, long double* sizes,
                     long double* room, Index begin, Index end) {
  visit(given, [&](const auto& rows) {
    const auto flush = [&](Index j) {
      sums[j] += room[2 * j];
      sizes[j] += room[2 * j + 1];
      room[2 * j] = room[2 * j + 1] = 0.0L;
    };
    Index stored = 0;
    for (Index i = begin; i < end; ++i) {
      const auto entries = rows.entries(i);
      const long double c = coefficients[i - begin];
      if (c == 0.0L) continue;
      stored += entries.n;
      for (Index k = 0; k < entries.n; ++k) {
        const long double product = c * static_cast<long double>(entries.value(k));
        room[2 * entries.column(k)] += product;
        room[2 * entries.column(k) + 1] += std::fabs(product);
      }
    }
    if (stored >= rows.n_features) {
      for (Index j = 0; j < rows.n_features; ++j) flush(j);
      return;
    }
    for (Index i = begin; i < end; ++i) {
      const auto entries = rows.entries(i);
      for (Index k = 0; k < entries.n; ++k) flush(entries.column(k));
    }
  });
}

}  // namespace pegasos::PEGASOS_ISA
