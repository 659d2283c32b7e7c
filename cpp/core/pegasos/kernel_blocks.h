// Blocks of a kernel matrix, and sums of its columns.
//
// A block of products <x_i, z_j> becomes a block of kernel values in place:
//
//   polynomial   (gamma p + coef0)^degree + plus           (linear: degree 1)
//   radial       exp(-gamma max(0, |x_i|^2 + |z_j|^2 - 2 p)) + plus
//
// `plus` is the square of the constant column that carries the intercept: as a kernel, it is an additional constant.
// Columns of the kernel matrix of all rows are kept as the rows of a table, each in the place given by its slot.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

enum class Shape { polynomial, radial };

// The terms of |x - z|_1, of the chi-squared distance (x - z)^2 / (x + z), and of the intersection min(x, z).
enum class PairTerm { absolute, chi_squared, smaller };

struct KernelFunction {
  Shape shape;
  double gamma;
  double coef0;
  Index degree;
  double plus;
};

// A matrix of float32 or float64 whose rows are `stride` entries apart.
struct Block {
  void* data;
  Scalar scalar;
  Index n_rows;
  Index n_columns;
  Index stride;
};

}  // namespace pegasos
