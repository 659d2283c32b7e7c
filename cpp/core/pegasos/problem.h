// The problem in the form that the core uses: views of memory that the caller owns.
//
//   P(w) = lam/2 |w|^2 + (1/total) sum_i cost_i phi(1 - sign_i (<w, x_i> + offset_i))
//   phi(r) = max over 0 <= a <= cap of  a r - ridge a^2 / 2
//
// The hinge max(0, r) has cap 1 and ridge 0; loss.h has the others. A target other than 1 is part of the offset.
// Class weights, sample weights, balancing and transfer are values of cost, offset and total;
// the intercept is a constant last column of value rows.bias (0: none). No solver has a branch for them.
#pragma once

#include "types.h"

namespace pegasos {

// Rows of either layout. `indices` and `starts` belong to CSR; both have the type `index`. With `numbers`, a view: row
// i is row numbers[i] of the underlying arrays, and n_rows counts the rows of the view.
struct Rows {
  Layout layout;
  Scalar scalar;
  IndexType index;
  const void* values;
  const void* indices;
  const void* starts;
  Index n_rows;
  Index n_features;
  double bias;
  const RowNumber* numbers = nullptr;
  Index threads = 1;  // threads that may read them at the same time
  Index repeats = 1;  // how often the same rows follow one another: row i + n_rows / repeats is row i
};

// Number of rows before they repeat.
inline Index n_distinct(const Rows& rows) { return rows.n_rows / rows.repeats; }

// A column with one value per row; stride 0 repeats a single value without any memory. Row i: at(column, i).
struct Column {
  const double* data;
  Index stride;
};

struct Problem {
  Rows rows;
  const std::int8_t* sign;
  Column cost;
  Column offset;
  double lam;
  double total;
  double cap = 1.0;    // largest slope of the loss; may be infinite
  double ridge = 0.0;  // 1 / curvature of the loss where it is curved
};

// A table with one value per row and class; strides of 0 repeat values without any memory.
struct Table {
  const double* data;
  Index row_stride;
  Index class_stride;
};

// The problem of all classes at once (Crammer and Singer), another objective:
//
//   P(W) = lam/2 |W|^2 + (1/total) sum_i cost_i max_r ([r != y_i] + <w_r - w_{y_i}, x_i> + offset_ir - offset_{i y_i})
struct JointProblem {
  Rows rows;
  const std::int32_t* codes;  // y_i, from 0 to n_classes - 1
  Column cost;
  Table offset;
  Index n_classes;
  double lam;
  double total;
};

// Memory of type float32 or float64.
struct Buffer {
  void* data;
  Scalar scalar;
};

// One read-only number per row, of either type.
struct RowValues {
  const void* data;
  Scalar scalar;
};

}  // namespace pegasos
