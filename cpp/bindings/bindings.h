// Shared by the bindings: arrays as views; no mathematics.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstring>
#include <initializer_list>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "pegasos/loops.h"

namespace nb = nanobind;

namespace pegasos {

using InputArray = nb::ndarray<nb::ro, nb::device::cpu>;
using WeightArray = nb::ndarray<double, nb::c_contig, nb::device::cpu>;
using OrderArray = nb::ndarray<RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyFloatArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenFloatArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenWeights = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Vector = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The views together with the arrays they look into.
struct OwnedRows {
  Rows rows;
  InputArray values, indices, starts, numbers;
};

struct OwnedJointProblem {
  JointProblem problem;
  OwnedRows rows;
  InputArray codes, cost, offset;
};

struct OwnedProblem {
  Problem problem;
  OwnedRows rows;
  InputArray sign, cost, offset;
};

// gain, spent, wander and climbed.
using DualTuple = std::tuple<double, double, double, double>;
inline DualTuple as_tuple(const DualSums& sums) { return {sums.gain, sums.spent, sums.wander, sums.climbed}; }

// The loops of this process.
const Loops& loops();

// The type of the numbers of an array, which must be float32 or float64.
Scalar scalar_of(nb::dlpack::dtype type, const char* name);

// A float32 or float64 array of the given length as a buffer; `name` is for the message.
Buffer buffer_of(const AnyFloatArray& array, Index length, const char* name);
RowValues row_values(const GivenFloatArray& array, Index length, const char* name);

void require_length(const Vector& vector, Index length);
void require_side(const Matrix& matrix, Index side);

// A float64 vector with one entry per row, of any stride.
Column column_of(const InputArray& array, Index n, const char* name);

Sampling sampling_of(std::string_view word);

// Whether a loop may move along these rows with weights of this type, and the other arrays of its state have it too.
void check_one_type(const Rows& rows, const Buffer& weights, std::initializer_list<const Buffer*> others);

// Counters are plain numbers: their bytes are their state.
template <class Counters>
void restore(Counters& counters, const nb::bytes& stored) {
  if (stored.size() != sizeof(Counters)) throw std::invalid_argument("these counters come from another version.");
  std::memcpy(new (&counters) Counters, stored.c_str(), sizeof(Counters));
}

void bind_problem(nb::module_& m);
void bind_linear(nb::module_& m);
void bind_online(nb::module_& m);
void bind_objective(nb::module_& m);
void bind_crammer_singer(nb::module_& m);
void bind_interior_point(nb::module_& m);
void bind_newton(nb::module_& m);
void bind_region(nb::module_& m);
void bind_cutting_plane(nb::module_& m);
void bind_sequences(nb::module_& m);
void bind_graphs(nb::module_& m);
void bind_kernels(nb::module_& m);
void bind_small_problems(nb::module_& m);
void bind_svmlight(nb::module_& m);

}  // namespace pegasos
