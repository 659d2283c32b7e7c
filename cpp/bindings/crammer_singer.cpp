#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "bindings.h"

namespace pegasos {

using FloatMatrix = nb::ndarray<nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using GivenFloatMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static Index class_width(Index n_classes) { return loops().class_width(n_classes); }

template <class Array>
static void check_shape(const Array& array, Index n_rows, Index n_columns, const char* name) {
  if (array.ndim() != 2 || Index(array.shape(0)) != n_rows || Index(array.shape(1)) != n_columns)
    throw std::invalid_argument(std::string(name) + " must be of shape (" + std::to_string(n_rows) + ", " +
                                std::to_string(n_columns) + ").");
}

// The weights of a state, or their sums.
template <class Array>
static void check_weights(const Array& weights, const JointProblem& problem) {
  check_shape(weights, problem.rows.n_features + 1, class_width(problem.n_classes), "weights");
}

template <class Array>
static void check_alpha(const Array& alpha, const JointProblem& problem) {
  check_shape(alpha, problem.rows.n_rows, problem.n_classes, "alpha");
}

static Buffer buffer_of_matrix(const FloatMatrix& array, const char* name) {
  return {array.data(), scalar_of(array.dtype(), name)};
}

static OwnedJointProblem make_joint_problem(const OwnedRows& rows, InputArray codes, InputArray cost, InputArray offset,
                                            Index n_classes, double lam, double total) {
  const Index n = rows.rows.n_rows;
  const auto require = [](bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(sentence);
  };
  require(rows.rows.layout != Layout::gram, "a joint problem needs rows of features, not a kernel matrix.");
  require(codes.ndim() == 1 && Index(codes.shape(0)) == n && codes.dtype() == nb::dtype<std::int32_t>() &&
              (n <= 1 || codes.stride(0) == 1),
          "codes must be a contiguous int32 vector with one entry a row.");
  require(n_classes >= 2, "a joint problem needs at least 2 classes.");
  require(n < Index(~RowNumber(0)), "a problem in memory holds fewer than 4294967295 rows.");
  require(lam > 0 && total > 0, "lam and the total weight must be positive.");
  require(offset.ndim() == 2 && Index(offset.shape(0)) == n && Index(offset.shape(1)) == n_classes &&
              offset.dtype() == nb::dtype<double>(),
          "offset must be a float64 matrix with one entry a row and class.");
  const std::int32_t* first = static_cast<const std::int32_t*>(codes.data());
  require(std::all_of(first, first + n, [&](std::int32_t code) { return code >= 0 && code < n_classes; }),
          "codes must number the classes from 0.");
  const Table table{static_cast<const double*>(offset.data()), offset.stride(0), offset.stride(1)};
  const JointProblem problem{rows.rows, first, column_of(cost, n, "cost"), table, n_classes, lam, total};
  return {problem, rows, std::move(codes), std::move(cost), std::move(offset)};
}

static void joint_pegasos_advance(const OwnedJointProblem& owned, PegasosCounters& counters, FloatMatrix weights,
                                  FloatMatrix alphas, std::optional<FloatMatrix> weight_sums,
                                  std::optional<FloatMatrix> alpha_sums, OrderArray order, Index batch_size,
                                  std::string_view sampling, bool project, double radius, Index n_steps) {
  const JointProblem& problem = owned.problem;
  const bool average = weight_sums.has_value() && alpha_sums.has_value();
  const PegasosSettings settings{batch_size, sampling_of(sampling), project, average, radius};
  if (settings.sampling == Sampling::balanced) throw std::invalid_argument("there are no signs to draw in turn.");
  if (settings.sampling == Sampling::shuffle && Index(order.shape(0)) != problem.rows.n_rows)
    throw std::invalid_argument("order must have one entry a row.");
  if (batch_size < 1) throw std::invalid_argument("batch_size must be at least 1.");
  if (counters.position < 0 || counters.position > problem.rows.n_rows)
    throw std::invalid_argument("position must be that of a row.");
  check_weights(weights, problem);
  check_alpha(alphas, problem);
  if (average) check_weights(*weight_sums, problem), check_alpha(*alpha_sums, problem);
  std::vector<RowNumber> batch(batch_size);
  std::vector<std::int32_t> rivals(batch_size);
  std::vector<double> room(2 * class_width(problem.n_classes));
  const Buffer none{nullptr, Scalar::float64};
  const Buffer of_weights = buffer_of_matrix(weights, "weights");
  const JointPegasosState state{of_weights,
                                buffer_of_matrix(alphas, "alphas"),
                                average ? buffer_of_matrix(*weight_sums, "weight_sums") : none,
                                average ? buffer_of_matrix(*alpha_sums, "alpha_sums") : none,
                                order.data(),
                                batch.data(),
                                rivals.data(),
                                {room.data(), of_weights.scalar},
                                &counters};
  check_one_type(problem.rows, state.weights, {&state.alphas});
  if (average) check_one_type(problem.rows, state.weights, {&state.weight_sums, &state.alpha_sums});
  nb::gil_scoped_release release;
  loops().joint_pegasos_advance(problem, settings, state, n_steps);
}

static void joint_dual_advance(const OwnedJointProblem& owned, JointCounters& counters, FloatMatrix weights,
                               FloatMatrix alpha, GivenFloatArray squared_norms, OrderArray order, Index n_visits) {
  const JointProblem& problem = owned.problem;
  const Index n = problem.rows.n_rows;
  if (Index(order.shape(0)) != n) throw std::invalid_argument("order must have one entry a row.");
  check_weights(weights, problem);
  check_alpha(alpha, problem);
  std::vector<double> room(2 * class_width(problem.n_classes));
  std::vector<Contender> list(problem.n_classes);
  const Buffer of_weights = buffer_of_matrix(weights, "weights");
  const JointDualState state{
      of_weights,   buffer_of_matrix(alpha, "alpha"), row_values(squared_norms, n, "squared_norms"),
      order.data(), {room.data(), of_weights.scalar}, list.data(),
      &counters};
  check_one_type(problem.rows, state.weights, {&state.alpha});
  nb::gil_scoped_release release;
  loops().joint_dual_advance(problem, state, n_visits);
}

static DualTuple joint_dual_sums(const OwnedJointProblem& owned, GivenFloatMatrix alpha, WeightArray weights) {
  const JointProblem& problem = owned.problem;
  check_weights(weights, problem);
  check_alpha(alpha, problem);
  // The sums only read it.
  const Buffer buffer{const_cast<void*>(alpha.data()), scalar_of(alpha.dtype(), "alpha")};
  check_one_type(problem.rows, buffer, {});
  std::vector<double> room(class_width(problem.n_classes));
  nb::gil_scoped_release release;
  return as_tuple(loops().joint_dual_sums(problem, buffer, weights.data(), room.data()));
}

static std::tuple<double, double> joint_losses(const OwnedJointProblem& owned, GivenWeights weights) {
  check_weights(weights, owned.problem);
  std::vector<double> room(class_width(owned.problem.n_classes));
  nb::gil_scoped_release release;
  const Losses found = loops().joint_losses(owned.problem, weights.data(), room.data());
  return {found.sum, found.least_margin};
}

void bind_crammer_singer(nb::module_& m) {
  nb::class_<OwnedJointProblem>(m, "JointProblem", "The problem of all classes at once, as the loops see it.");
  using C = JointCounters;
  nb::class_<C, DualCounters>(m, "JointCounters", "The scalars of a state of dual ascent on all classes.")
      .def(nb::init<>())
      .def("__getstate__", [](const C& c) { return nb::bytes(reinterpret_cast<const char*>(&c), sizeof c); })
      .def("__setstate__", [](C& c, nb::bytes stored) { restore(c, stored); });
  m.def("class_width", class_width, nb::arg("n_classes"), "The number of columns of the weights of this many classes.");
  m.def("make_joint_problem", make_joint_problem, nb::arg("rows"), nb::arg("codes"), nb::arg("cost"), nb::arg("offset"),
        nb::arg("n_classes"), nb::arg("lam"), nb::arg("total"));
  m.def("joint_pegasos_advance", joint_pegasos_advance, nb::arg("problem"), nb::arg("counters"), nb::arg("weights"),
        nb::arg("alphas"), nb::arg("weight_sums").none(), nb::arg("alpha_sums").none(), nb::arg("order"),
        nb::arg("batch_size"), nb::arg("sampling"), nb::arg("project"), nb::arg("radius"), nb::arg("n_steps"),
        "n_steps more steps of Pegasos on all classes; the arrays and counters are changed in place.");
  m.def("joint_dual_advance", joint_dual_advance, nb::arg("problem"), nb::arg("counters"), nb::arg("weights"),
        nb::arg("alpha"), nb::arg("squared_norms"), nb::arg("order"), nb::arg("n_visits"),
        "n_visits more rows of dual ascent on all classes; the arrays and counters are changed in place.");
  m.def("joint_dual_sums", joint_dual_sums, nb::arg("problem"), nb::arg("alpha"), nb::arg("weights"),
        "Writes W(alpha), alpha within its bounds; returns gain, spent, wander and climbed of objective.h.");
  m.def("joint_losses", joint_losses, nb::arg("problem"), nb::arg("weights"),
        "The sum of the costs times the losses of all rows, and the least margin of those that cost anything.");
}

}  // namespace pegasos
