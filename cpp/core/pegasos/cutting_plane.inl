#pragma once

#include "cutting_plane.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

// normal <- the plane's, over a range of rows; violated[i] <- 0 or 1.
inline Plane cut(const Problem& problem, const double* weights, std::uint8_t* violated, double* normal, Index begin,
                 Index end) {
  return visit(problem.rows, [&]<class R>(const R& rows) {
    for (Index j = 0; j <= rows.n_features; ++j) normal[j] = 0.0;
    Plane plane;
    for (Index i = begin; i < end; ++i) {
      rows.prefetch(i + 8 < end ? i + 8 : i);
      const double sign = double(problem.sign[i]), cost = at(problem.cost, i), offset = at(problem.offset, i);
      const double margin = sign * (rows.dot(i, weights) + offset);
      violated[i] = margin < 1.0 && cost > 0.0;
      if (!violated[i]) continue;
      rows.add(i, cost * sign, normal);
      plane.constant += cost * (1.0 - sign * offset);
      plane.loss += cost * (1.0 - margin);
    }
    return plane;
  });
}

}  // namespace pegasos::PEGASOS_ISA
