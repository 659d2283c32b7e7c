// Passes over rows for the ellipsoid around an exact solution (src/pegasos/region).
//
//   weighted_gram    sum_i scale_i x_i x_i', the constant column included: some rows of its lower triangle
//   weighted_sum     sum_i coefficient_i x_i
//   squared_reaches  |L^-1 z_i|^2 for the factor L of a matrix of n_blocks x n_blocks blocks, where z_i has pattern_k
//   x_i
//                    in its block k: z' (L L')^-1 z
//
// No sum depends on how the work is divided: threads share the rows of the matrix, or the vectors that are solved for.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

// A factor, and the position of a row in the vector that is solved for.
struct Pattern {
  const double* factor;  // lower triangle, `side` on a side
  Index side;
  const double* blocks;  // factor on the row in each block
  Index n_blocks;
};

}  // namespace pegasos
