#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "threads.h"

namespace pegasos {

using GivenVector = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

static void require_each(const GivenVector& vector, Index length) {
  if (Index(vector.shape(0)) != length) throw std::invalid_argument("there must be one number per row.");
}

static void require_values(const OwnedRows& rows) {
  if (rows.rows.layout == Layout::gram) throw std::invalid_argument("rows must have features.");
}

static void weighted_gram(const OwnedRows& owned, GivenVector scale, Matrix out) {
  const Rows& rows = owned.rows;
  require_values(owned);
  require_each(scale, rows.n_rows);
  const Index side = rows.n_features + 1, step = loops().gram_step;
  require_side(out, side);
  const double work = double(rows.n_rows) * double(side) * double(side);
  const Index parts = std::clamp(Index(work / 1e6), Index(1), std::max(Index(1), rows.threads));
  // Long rows of the triangle come last: pieces of equal work.
  const auto begin = [&](Index part) {
    return part == parts ? side : Index(double(side) * std::sqrt(double(part) / double(parts))) / step * step;
  };
  const std::size_t room = std::size_t(loops().gram_room(side));
  std::vector<double> rooms(room * std::size_t(parts));
  nb::gil_scoped_release release;
  together(parts, [&](Index part) {
    double* mine = rooms.data() + room * std::size_t(part);
    loops().weighted_gram(rows, scale.data(), out.data(), mine, begin(part), begin(part + 1));
  });
}

static void weighted_sum(const OwnedRows& owned, GivenVector coefficients, Vector out) {
  require_values(owned);
  require_each(coefficients, owned.rows.n_rows);
  require_length(out, owned.rows.n_features + 1);
  nb::gil_scoped_release release;
  loops().weighted_sum(owned.rows, coefficients.data(), out.data());
}

static void squared_reaches(const OwnedRows& owned, GivenMatrix factor, GivenVector blocks, Vector out) {
  const Rows& rows = owned.rows;
  require_values(owned);
  require_length(out, rows.n_rows);
  const Index side = Index(factor.shape(0)), n_blocks = Index(blocks.shape(0));
  const Index width = rows.n_features + (rows.bias != 0.0 ? 1 : 0);
  if (Index(factor.shape(1)) != side || n_blocks < 1 || side % n_blocks != 0 || side / n_blocks < width ||
      side / n_blocks > rows.n_features + 1)
    throw std::invalid_argument("the factor must be square, with one block of the size of a row per number.");
  const Pattern pattern{factor.data(), side, blocks.data(), n_blocks};
  const double work = double(rows.n_rows) * double(side) * double(side);
  const Index parts = std::clamp(Index(work / 1e6), Index(1), std::max(Index(1), rows.threads));
  const std::size_t room = std::size_t(loops().reach_room(side));
  std::vector<double> rooms(room * std::size_t(parts));
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts, [&](Index part, Index begin, Index end) {
    loops().squared_reaches(rows, pattern, out.data(), rooms.data() + room * std::size_t(part), begin, end);
  });
}

void bind_region(nb::module_& m) {
  m.def("weighted_gram", weighted_gram, nb::arg("rows"), nb::arg("scale"), nb::arg("out"),
        "Adds the lower triangle of the sum of scale_i x_i x_i', with the constant column; rows with a scale of 0 or "
        "less are left out.");
  m.def("weighted_sum", weighted_sum, nb::arg("rows"), nb::arg("coefficients"), nb::arg("out"),
        "Adds the sum of coefficient_i x_i, with the constant column.");
  m.def("squared_reaches", squared_reaches, nb::arg("rows"), nb::arg("factor"), nb::arg("blocks"), nb::arg("out"),
        "Writes |L^-1 z_i|^2 for the lower triangular factor L, where z_i has blocks_k x_i in its block k.");
}

}  // namespace pegasos
