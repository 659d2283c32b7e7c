// Conjugate gradients on a face of the dual: the rows strictly between their bounds move together, the others stay.
//
//   max_x  <r, x> - |Z'x|^2 / (2 mu) - sum_i d_i x_i^2 / 2,      mu = lam total,  z_i = sign_i (x_i, bias)
//   r_i = 1 - sign_i (<w, x_i> + offset_i) - d_i alpha_i,      d_i = ridge / cost_i
//
// over the chosen rows, preconditioned by |z_i|^2 / mu + d_i (More, Toraldo: On the solution of large quadratic
// programming problems with bound constraints. SIAM J. Optimization 1, 1991). The iteration ends when a product gains
// little compared with all before it, but continues to rounding while alpha + x lies within the bounds: then this is
// the face of the solution. The move is projected on the bounds, alpha <- clip(alpha + s x), s = 1, 1/2, 1/4, ...,
// until the dual rises. Given: alpha with w = w(alpha). Results: the same, with a higher dual or unchanged; alpha has
// entries exactly at their bounds. Where dual ascent is slow, because rows resemble each other, this takes the square
// root of its epochs.
#pragma once

#include "interior_point.h"
#include "parallel.h"
#include "problem.h"

namespace pegasos {

struct FaceMove {
  Index products = 0;  // number of products with Z, each a pass over the chosen rows and back
  double gain = 0.0;  // of the dual, times total
  double linear = 0.0;  // change of sum_i alpha_i (1 - sign_i offset_i) - d_i alpha_i^2 / 2
};

}  // namespace pegasos
