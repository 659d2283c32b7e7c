// What the binding files share: arrays to views, and nothing of the mathematics.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "pegasos/loops.h"

namespace nb = nanobind;

namespace pegasos {

using InputArray = nb::ndarray<nb::ro, nb::device::cpu>;
using WeightArray = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using OrderArray = nb::ndarray<RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyFloatArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenFloatArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenWeights = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;

// The views together with the arrays they look into.
struct OwnedRows {
  Rows rows;
  InputArray values, indices, starts, numbers;
};

struct OwnedProblem {
  Problem problem;
  OwnedRows rows;
  InputArray sign, cost, offset;
};

// The loops of this process.
const Loops& loops();

// The type of the numbers of an array, which must be float32 or float64.
Scalar scalar_of(nb::dlpack::dtype type, const char* name);

// A float32 or float64 array of the given length as a buffer; `name` is for the message.
Buffer buffer_of(const AnyFloatArray& array, Index length, const char* name);

void bind_problem(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_online(nb::module_& m);
void bind_objective(nb::module_& m);
void bind_interior_point(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_kernels(nb::module_& m);

}  // namespace pegasos
