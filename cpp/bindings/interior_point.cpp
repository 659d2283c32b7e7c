#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings.h"

namespace pegasos {

using ChosenArray = nb::ndarray<RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static Chosen chosen_of(const OwnedProblem& owned, const ChosenArray& rows) {
  const Index n = Index(rows.shape(0));
  const auto inside = [&](RowNumber i) { return Index(i) < owned.problem.rows.n_rows; };
  if (!std::all_of(rows.data(), rows.data() + n, inside)) throw std::invalid_argument("a chosen row is out of bounds.");
  return {rows.data(), n};
}

static void chosen_scores(const OwnedProblem& owned, ChosenArray rows, Vector weights, Vector out) {
  const Chosen chosen = chosen_of(owned, rows);
  require_length(weights, owned.problem.rows.n_features + 1);
  require_length(out, chosen.n);
  nb::gil_scoped_release release;
  loops().chosen_scores(owned.problem, chosen, weights.data(), out.data());
}

static void chosen_sum(const OwnedProblem& owned, ChosenArray rows, Vector values, Vector out) {
  const Chosen chosen = chosen_of(owned, rows);
  require_length(values, chosen.n);
  require_length(out, owned.problem.rows.n_features + 1);
  nb::gil_scoped_release release;
  loops().chosen_sum(owned.problem, chosen, values.data(), out.data());
}

static void gram(const OwnedProblem& owned, ChosenArray rows, Vector scale, Matrix out) {
  const Chosen chosen = chosen_of(owned, rows);
  require_length(scale, chosen.n);
  require_side(out, owned.problem.rows.n_features + 1);
  std::vector<double> room(std::size_t(loops().gram_room(owned.problem.rows)));
  nb::gil_scoped_release release;
  loops().gram(owned.problem, chosen, scale.data(), out.data(), room.data());
}

static void outer(const OwnedProblem& owned, ChosenArray rows, Matrix out) {
  const Chosen chosen = chosen_of(owned, rows);
  require_side(out, chosen.n);
  std::vector<double> room(std::size_t(owned.problem.rows.n_features + 1), 0.0);
  nb::gil_scoped_release release;
  loops().outer(owned.problem, chosen, out.data(), room.data());
}

static bool factor(Matrix matrix) {
  require_side(matrix, Index(matrix.shape(0)));
  nb::gil_scoped_release release;
  return loops().factor(matrix.data(), Index(matrix.shape(0)));
}

static void solve(Matrix matrix, Vector vector) {
  require_side(matrix, Index(matrix.shape(0)));
  require_length(vector, Index(matrix.shape(0)));
  nb::gil_scoped_release release;
  loops().solve(matrix.data(), Index(matrix.shape(0)), vector.data());
}

void bind_interior_point(nb::module_& m) {
  m.def("chosen_scores", chosen_scores, nb::arg("problem"), nb::arg("chosen"), nb::arg("weights"), nb::arg("out"),
        "Writes sign_i <w, x_i> of the chosen rows.");
  m.def("chosen_sum", chosen_sum, nb::arg("problem"), nb::arg("chosen"), nb::arg("values"), nb::arg("out"),
        "Writes the sum of values_i sign_i x_i over the chosen rows.");
  m.def("gram", gram, nb::arg("problem"), nb::arg("chosen"), nb::arg("scale"), nb::arg("out"),
        "Writes the lower triangle of the sum of scale_i x_i x_i' over the chosen rows.");
  m.def("outer", outer, nb::arg("problem"), nb::arg("chosen"), nb::arg("out"),
        "Writes the lower triangle of the matrix of sign_i sign_j <x_i, x_j>.");
  m.def("factor", factor, nb::arg("matrix"),
        "Cholesky in place, of a lower triangle; False when not positive definite.");
  m.def("solve", solve, nb::arg("matrix"), nb::arg("vector"), "Solves in place, with the factor.");
}

}  // namespace pegasos
