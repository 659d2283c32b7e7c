#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "threads.h"
#include "watch.h"

namespace pegasos {

using ChosenArray = nb::ndarray<RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static Chosen chosen_of(const OwnedProblem& owned, const ChosenArray& rows) {
  const Index n = Index(rows.shape(0));
  const auto inside = [&](RowNumber i) { return Index(i) < owned.problem.rows.n_rows; };
  if (!std::all_of(rows.data(), rows.data() + n, inside)) throw std::invalid_argument("a chosen row is out of bounds.");
  return {rows.data(), n};
}

static void outer(const OwnedProblem& owned, ChosenArray rows, Matrix out) {
  const Chosen chosen = chosen_of(owned, rows);
  require_side(out, chosen.n);
  Watch watch;
  const Parallel parallel = threads_of(owned.problem.rows, watch);
  {
    nb::gil_scoped_release release;
    loops().outer(owned.problem, chosen, out.data(), parallel);
  }
  watch.raise();
}

static void interior_advance(const OwnedProblem& owned, ChosenArray rows, InteriorCounters& counters, Vector weights,
                             Vector fixed, Vector alpha, Vector slack, Vector lower, Vector upper, Vector best_weights,
                             Vector best_alpha, nb::object square, Index n_iterations, double target, double constant) {
  const Chosen chosen = chosen_of(owned, rows);
  for (const Vector* one : {&alpha, &slack, &lower, &upper, &best_alpha}) require_length(*one, chosen.n);
  for (const Vector* one : {&weights, &fixed, &best_weights}) require_length(*one, owned.problem.rows.n_features + 1);
  const double* products = nullptr;
  Matrix matrix;
  if (!square.is_none()) {
    matrix = nb::cast<Matrix>(square);
    require_side(matrix, chosen.n);
    products = matrix.data();
  }
  const InteriorState state{weights.data(), fixed.data(),        alpha.data(),      slack.data(), lower.data(),
                            upper.data(),   best_weights.data(), best_alpha.data(), products,     &counters};
  Watch watch;
  const Parallel parallel = threads_of(owned.problem.rows, watch);
  {
    nb::gil_scoped_release release;
    loops().interior_advance(owned.problem, chosen, state, parallel, n_iterations, target, constant);
  }
  watch.raise();
}

static std::tuple<Index, double, double> face_advance(const OwnedProblem& owned, ChosenArray rows, Vector weights,
                                                      Vector alpha, Index most_products) {
  const Chosen chosen = chosen_of(owned, rows);
  require_length(weights, owned.problem.rows.n_features + 1);
  require_length(alpha, owned.problem.rows.n_rows);
  Watch watch;
  const Parallel parallel = threads_of(owned.problem.rows, watch);
  FaceMove move;
  {
    nb::gil_scoped_release release;
    move = loops().face_advance(owned.problem, chosen, parallel, weights.data(), alpha.data(), most_products);
  }
  watch.raise();
  return {move.products, move.gain, move.linear};
}

static std::tuple<Index, Index, std::tuple<double, double, double, double, double>, double, double> small_linear(
    const OwnedProblem& owned, double gap, double aim, Vector weights, Vector alpha, Vector own) {
  const Problem& problem = owned.problem;
  if (std::isfinite(problem.cap) == (problem.ridge > 0.0))
    throw std::invalid_argument("the loss must have either a finite cap or a ridge.");
  for (const Vector* one : {&weights, &own}) require_length(*one, problem.rows.n_features + 1);
  require_length(alpha, problem.rows.n_rows);
  SmallLinear found{weights.data(), alpha.data(), own.data()};
  {
    nb::gil_scoped_release release;
    loops().small_linear(problem, {gap, aim}, found);
  }
  const DualSums& dual = found.dual;
  return {found.steps,
          found.visits,
          {dual.gain, dual.spent, dual.wander, dual.climbed, dual.ridge},
          found.losses.sum,
          found.losses.least_margin};
}

static bool factor(Matrix matrix) {
  const Index side = Index(matrix.shape(0));
  require_side(matrix, side);
  std::vector<double> room(std::size_t(loops().factor_room(side)));
  const Parallel alone{1, {}};
  nb::gil_scoped_release release;
  return loops().factor(matrix.data(), side, room.data(), alone);
}

static void solve(Matrix matrix, Vector vector) {
  require_side(matrix, Index(matrix.shape(0)));
  require_length(vector, Index(matrix.shape(0)));
  nb::gil_scoped_release release;
  loops().solve(matrix.data(), Index(matrix.shape(0)), vector.data());
}

void bind_interior_point(nb::module_& m) {
  nb::class_<InteriorCounters>(m, "InteriorCounters")
      .def(nb::init<>())
      .def_rw("iterations", &InteriorCounters::iterations)
      .def_rw("primal", &InteriorCounters::primal)
      .def_rw("dual", &InteriorCounters::dual)
      .def_rw("step", &InteriorCounters::step)
      .def_rw("complement", &InteriorCounters::complement)
      .def_rw("stalled", &InteriorCounters::stalled)
      .def("__getstate__",
           [](const InteriorCounters& c) { return nb::bytes(reinterpret_cast<const char*>(&c), sizeof c); })
      .def("__setstate__", restore<InteriorCounters>);
  m.def("outer", outer, nb::arg("problem"), nb::arg("chosen"), nb::arg("out"),
        "Writes the lower triangle of the matrix of sign_i sign_j <x_i, x_j>.");
  m.def(
      "interior_advance", interior_advance, nb::arg("problem"), nb::arg("chosen"), nb::arg("counters"),
      nb::arg("weights"), nb::arg("fixed"), nb::arg("alpha"), nb::arg("slack"), nb::arg("lower"), nb::arg("upper"),
      nb::arg("best_weights"), nb::arg("best_alpha"), nb::arg("outer").none(), nb::arg("n_iterations"),
      nb::arg("target"), nb::arg("constant"),
      "Iterates until the gap of the chosen rows' problem is at most target of its primal, or n_iterations are done.");
  m.def("face_advance", face_advance, nb::arg("problem"), nb::arg("chosen"), nb::arg("weights"), nb::arg("alpha"),
        nb::arg("most_products"),
        "Conjugate gradients over the chosen rows, projected on their bounds; returns the products with the rows, the "
        "gain of the dual times total, and the change of sum_i alpha_i (1 - sign_i offset_i).");
  m.def("small_linear", small_linear, nb::arg("problem"), nb::arg("gap"), nb::arg("aim"), nb::arg("weights"),
        nb::arg("alpha"), nb::arg("own"),
        "Solves a small problem; returns steps, rows read, what `dual_sums` returns, and what `losses` returns.");
  m.def("factor", factor, nb::arg("matrix"),
        "Cholesky in place, of a lower triangle. Says whether the matrix is positive definite beyond rounding; a pivot "
        "that is not is replaced by a huge one.");
  m.def("solve", solve, nb::arg("matrix"), nb::arg("vector"), "Solves in place, with the factor.");
}

}  // namespace pegasos
