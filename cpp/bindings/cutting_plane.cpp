#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "threads.h"

namespace pegasos {

using Flags = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static std::tuple<double, double> cut(const OwnedProblem& owned, Vector weights, Flags violated, Vector normal) {
  const Rows& rows = owned.problem.rows;
  require_length(weights, rows.n_features + 1);
  require_length(normal, rows.n_features + 1);
  if (Index(violated.shape(0)) != rows.n_rows) throw std::invalid_argument("violated must have one entry a row.");
  const Index parts = parts_of(rows.n_rows, rows.threads);
  Sums sums(normal.data(), rows.n_features + 1, parts);
  std::vector<Plane> found(static_cast<std::size_t>(parts));
  Plane plane;
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().cut(owned.problem, weights.data(), violated.data(), sums.of(part), begin, end);
  });
  sums.combine();
  for (const Plane& one : found) plane.constant += one.constant, plane.loss += one.loss;
  return {plane.constant, plane.loss};
}

void bind_cutting_plane(nb::module_& m) {
  m.def("cut", cut, nb::arg("problem"), nb::arg("weights"), nb::arg("violated"), nb::arg("normal"),
        "Writes the plane that touches the sum of the losses at these weights, and which rows are violated; returns "
        "its constant and the sum.");
}

}  // namespace pegasos
