// The pass over the rows of the cutting-plane method (src/pegasos/solvers/cutting_plane.py).
//
//   R(w) = sum_i cost_i max(0, 1 - sign_i (<w, x_i> + offset_i))  >=  constant - <normal, w>,   equal where it was cut:
//   normal = sum_{i violated} cost_i sign_i x_i,   constant = sum_{i violated} cost_i (1 - sign_i offset_i)
//
// Given: any weights. Results: the plane that touches R there, and which rows are violated, sign_i score_i < 1.
// Joachims: Training linear SVMs in linear time. KDD 2006, Algorithm 1. A pass takes a range of rows, so that threads
// can share it; each range has its own sums.
#pragma once

#include <cstdint>

#include "problem.h"
#include "types.h"

namespace pegasos {

struct Plane {
  double constant = 0.0;
  double loss = 0.0;  // R(w)
};

}  // namespace pegasos
