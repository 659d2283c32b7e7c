#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "threads.h"

namespace pegasos {

template <class Weights>
static void check_length(const Weights& weights, Index n_features) {
  if (weights.ndim() != 1 || Index(weights.shape(0)) != n_features + 1)
    throw std::invalid_argument("weights must have one entry a feature and one for the intercept.");
}

static std::tuple<double, double, double, double, double> dual_sums(const OwnedProblem& owned, GivenFloatArray alpha,
                                                                    WeightArray weights) {
  const Problem& problem = owned.problem;
  check_length(weights, problem.rows.n_features);
  if (Index(alpha.shape(0)) != problem.rows.n_rows) throw std::invalid_argument("alpha must have one entry a row.");
  // The sums only read it.
  const Buffer buffer{const_cast<void*>(alpha.data()), scalar_of(alpha.dtype(), "alpha")};
  if (problem.rows.scalar == Scalar::float64 && buffer.scalar == Scalar::float32)
    throw std::invalid_argument("alpha of float64 rows must be float64.");
  const Index n = problem.rows.n_rows, side = problem.rows.n_features + 1, parts = parts_of(n, problem.rows.threads);
  std::vector<DualSums> found(static_cast<std::size_t>(parts));
  Sums sums(weights.data(), side, parts);
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().dual_sums(problem, buffer, sums.of(part), begin, end);
  });
  sums.combine();
  DualSums all;
  for (const DualSums& one : found) {
    all.gain += one.gain;
    all.spent += one.spent;
    all.wander += one.wander;
    all.climbed += one.climbed;
    all.ridge += one.ridge;
  }
  return {all.gain, all.spent, all.wander, all.climbed, all.ridge};
}

static std::tuple<double, double> losses(const OwnedProblem& owned, GivenWeights weights) {
  check_length(weights, owned.problem.rows.n_features);
  const Index n = n_distinct(owned.problem.rows), parts = parts_of(n, owned.problem.rows.threads);
  std::vector<Losses> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().losses(owned.problem, weights.data(), begin, end);
  });
  Losses all = found[0];
  for (std::size_t k = 1; k < found.size(); ++k)
    all = {all.sum + found[k].sum, std::min(all.least_margin, found[k].least_margin)};
  return {all.sum, all.least_margin};
}

static double losses_of_zero(const OwnedProblem& owned) {
  nb::gil_scoped_release release;
  return loops().losses_of_zero(owned.problem, 0, owned.problem.rows.n_rows);
}

using Found = std::tuple<Index, Index, Index, Index>;

// The first row of each kind, from the results of the parts in their order.
static Found first_of(const std::vector<Inspection>& found) {
  const auto first = [&](Index Inspection::* what) {
    for (const Inspection& one : found)
      if (one.*what >= 0) return one.*what;
    return Index(-1);
  };
  return {first(&Inspection::out_of_bounds), first(&Inspection::unsorted), first(&Inspection::not_finite),
          first(&Inspection::out_of_range)};
}

static Index count_vectors(const OwnedRows& rows, const GivenWeights& weights, const WeightArray& out) {
  const Index n_vectors = weights.ndim() == 2 ? Index(weights.shape(0)) : 0;
  if (weights.ndim() != 2 || Index(weights.shape(1)) != rows.rows.n_features + 1 || out.ndim() != 2 ||
      Index(out.shape(0)) != rows.rows.n_rows || Index(out.shape(1)) != n_vectors)
    throw std::invalid_argument("weights must be (vectors, features + 1), scores (rows, vectors).");
  return n_vectors;
}

static Found checked_scores(const OwnedRows& rows, GivenWeights weights, WeightArray out) {
  if (rows.rows.numbers) throw std::invalid_argument("a view is of rows that were inspected.");
  const Index n_vectors = count_vectors(rows, weights, out);
  const Index n = rows.rows.n_rows, parts = parts_of(n, rows.rows.threads);
  std::vector<Inspection> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().checked_scores(rows.rows, weights.data(), n_vectors, out.data(), begin, end);
  });
  return first_of(found);
}

static void scores(const OwnedRows& rows, GivenWeights weights, WeightArray out) {
  const Index n_vectors = count_vectors(rows, weights, out);
  nb::gil_scoped_release release;
  in_parts(rows.rows.n_rows, parts_of(rows.rows.n_rows, rows.rows.threads), [&](Index, Index begin, Index end) {
    loops().scores(rows.rows, weights.data(), n_vectors, out.data(), begin, end);
  });
}

static Found inspect(const OwnedRows& rows, AnyFloatArray squared_norms) {
  if (rows.rows.numbers) throw std::invalid_argument("a view is of rows that were inspected.");
  const Index n = rows.rows.n_rows, parts = parts_of(n, rows.rows.threads);
  const Buffer out = buffer_of(squared_norms, n, "squared_norms");
  if (rows.rows.scalar == Scalar::float64 && out.scalar == Scalar::float32)
    throw std::invalid_argument("squared_norms of float64 rows must be float64.");
  std::vector<Inspection> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().inspect(rows.rows, out, begin, end);
  });
  return first_of(found);
}

// numpy's longdouble as bytes, since arrays of it cannot be exchanged otherwise.
using LongArray = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static long double* long_doubles(const LongArray& bytes, Index n) {
  if (Index(bytes.shape(0)) != n * Index(sizeof(long double)))
    throw std::invalid_argument("an array of long doubles must have as many as its rows or features.");
  return reinterpret_cast<long double*>(bytes.data());
}

static void check_range(const OwnedRows& rows, Index begin, Index end) {
  if (begin < 0 || end < begin || end > rows.rows.n_rows) throw std::invalid_argument("there are no such rows.");
}

static void long_scores(const OwnedRows& rows, Index begin, Index end, LongArray weights, LongArray scores,
                        LongArray sizes) {
  check_range(rows, begin, end);
  const long double* given = long_doubles(weights, rows.rows.n_features + 1);
  long double *found = long_doubles(scores, end - begin), *bounds = long_doubles(sizes, end - begin);
  nb::gil_scoped_release release;
  loops().long_scores(rows.rows, given, found, bounds, begin, end);
}

static void add_long(const OwnedRows& rows, Index begin, Index end, LongArray coefficients, LongArray sums,
                     LongArray sizes, LongArray room) {
  check_range(rows, begin, end);
  const Index side = rows.rows.n_features + 1;
  const long double* given = long_doubles(coefficients, end - begin);
  long double *found = long_doubles(sums, side), *bounds = long_doubles(sizes, side);
  long double* spare = long_doubles(room, 2 * side);
  nb::gil_scoped_release release;
  loops().add_long(rows.rows, given, found, bounds, spare, begin, end);
}

void bind_objective(nb::module_& m) {
  m.def("dual_sums", dual_sums, nb::arg("problem"), nb::arg("alpha"), nb::arg("weights"),
        "Writes w(alpha), alpha clipped to its bounds; returns gain, spent, wander, climbed and ridge of objective.h.");
  m.def("losses", losses, nb::arg("problem"), nb::arg("weights"),
        "The sum of the costs times the losses, and the least margin of the rows that cost anything.");
  m.def("losses_of_zero", losses_of_zero, nb::arg("problem"), "The sum of the costs times the losses, of weights 0.");
  m.def("scores", scores, nb::arg("rows"), nb::arg("weights"), nb::arg("scores"),
        "Writes the score of each row under each weight vector.");
  m.def("checked_scores", checked_scores, nb::arg("rows"), nb::arg("weights"), nb::arg("scores"),
        "Writes the scores of rows that were not inspected; returns what `inspect` returns.");
  m.def("inspect", inspect, nb::arg("rows"), nb::arg("squared_norms"),
        "Writes |x_i|^2 + bias^2; returns the first row (or -1) out of bounds, unsorted, not finite, and with a square "
        "beyond the type of the squares.");
  m.def("long_scores", long_scores, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("weights"),
        nb::arg("scores"), nb::arg("sizes"),
        "Writes the scores of the rows begin..end in long doubles, without the constant column, and the sums of their "
        "absolute terms.");
  m.def("add_long", add_long, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("coefficients"),
        nb::arg("sums"), nb::arg("sizes"), nb::arg("room"),
        "Adds the rows begin..end times their coefficients to sums, without the constant column, and the absolute "
        "terms to sizes; room is 0 before and after.");
}

}  // namespace pegasos
