// The linear algebra of the interior point (src/pegasos/solvers/interior_point.py), on chosen rows of a problem.
//
// z_i = sign_i (x_i, bias) for i in chosen, Z the matrix of these rows:
//
//   chosen_scores   Z w
//   chosen_sum      Z' v
//   gram            Z' diag(scale) Z      (lower triangle, features + 1 on a side)
//   outer           Z Z'                  (lower triangle, chosen rows on a side)
//   factor, solve   Cholesky of a symmetric matrix given by its lower triangle, row by row
//
// Sums are in double, up to the products of a block of rows in `gram`, which are in the precision of the rows.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

struct Chosen {
  const RowNumber* rows;
  Index n;
};

}  // namespace pegasos
