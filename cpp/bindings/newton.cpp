#include <nanobind/stl/tuple.h>

#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "threads.h"

namespace pegasos {

static void residuals(const OwnedProblem& owned, AnyFloatArray weights, AnyFloatArray out) {
  const Rows& rows = owned.problem.rows;
  const Buffer w = buffer_of(weights, rows.n_features + 1, "weights"), r = buffer_of(out, rows.n_rows, "out");
  check_one_type(rows, w, {&r});
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts_of(rows.n_rows, rows.threads),
           [&](Index, Index begin, Index end) { loops().residuals(owned.problem, w, r, begin, end); });
}

static Line line_of(const Rows& rows, const AnyFloatArray& residual, const AnyFloatArray& other, double t) {
  const Line line{buffer_of(residual, rows.n_rows, "residual"), buffer_of(other, rows.n_rows, "other"), t};
  check_one_type(rows, line.residual, {&line.other});
  return line;
}

static std::tuple<double, double> slope(const OwnedProblem& owned, AnyFloatArray residual, AnyFloatArray other,
                                        double t, double softness) {
  const Line line = line_of(owned.problem.rows, residual, other, t);
  const Index n = owned.problem.rows.n_rows, parts = parts_of(n, owned.problem.rows.threads);
  std::vector<Slope> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().slope(owned.problem, line, softness, begin, end);
  });
  Slope sum;
  for (const Slope& one : found) sum.first += one.first, sum.second += one.second;
  return {sum.first, sum.second};
}

static std::tuple<double, double, double, Index> smooth(const OwnedProblem& owned, AnyFloatArray residual,
                                                        AnyFloatArray other, double t, double softness,
                                                        AnyFloatArray alpha, Vector sum) {
  const Rows& rows = owned.problem.rows;
  const Line line = line_of(rows, residual, other, t);
  const Buffer dual = buffer_of(alpha, rows.n_rows, "alpha");
  check_one_type(rows, line.residual, {&dual});
  require_length(sum, rows.n_features + 1);
  const Index parts = parts_of(rows.n_rows, rows.threads);
  Sums sums(sum.data(), rows.n_features + 1, parts), rooms(nullptr, rows.n_features + 1, parts + 1);
  std::vector<Smoothed> found(static_cast<std::size_t>(parts));
  Smoothed total;
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().smooth(owned.problem, {line, dual, sums.of(part), rooms.of(part + 1)}, softness,
                                              begin, end);
  });
  sums.combine();
  for (const Smoothed& one : found)
    total.loss += one.loss, total.gap += one.gap, total.alpha_sum += one.alpha_sum, total.curved += one.curved;
  return {total.loss, total.gap, total.alpha_sum, total.curved};
}

static void bend(const OwnedProblem& owned, AnyFloatArray residual, double softness, AnyFloatArray vector, Vector out) {
  const Rows& rows = owned.problem.rows;
  const Index side = rows.n_features + 1, parts = parts_of(rows.n_rows, rows.threads);
  const Buffer given = buffer_of(residual, rows.n_rows, "residual"), factor = buffer_of(vector, side, "vector");
  check_one_type(rows, given, {&factor});
  require_length(out, side);
  Sums sums(out.data(), side, parts), rooms(nullptr, side, parts + 1);
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts, [&](Index part, Index begin, Index end) {
    loops().bend(owned.problem, given, softness, factor, sums.of(part), rooms.of(part + 1), begin, end);
  });
  sums.combine();
}

static void curvature(const OwnedProblem& owned, AnyFloatArray residual, double softness, Index every, Matrix out) {
  if (every < 1) throw std::invalid_argument("every must be at least 1.");
  const Rows& rows = owned.problem.rows;
  const Buffer given = buffer_of(residual, rows.n_rows, "residual");
  check_one_type(rows, given, {});
  const Index side = rows.n_features + 1, parts = parts_of(rows.n_rows, rows.threads);
  require_side(out, side);
  Sums sums(out.data(), side * side, parts);
  const std::size_t room = std::size_t(loops().gram_room(side));
  std::vector<double> rooms(room * std::size_t(parts));
  nb::gil_scoped_release release;
  in_parts(rows.n_rows, parts, [&](Index part, Index begin, Index end) {
    double* mine = rooms.data() + room * std::size_t(part);
    loops().curvature(owned.problem, given, softness, every, sums.of(part), mine, begin, end);
  });
  sums.combine();
}

void bind_newton(nb::module_& m) {
  m.def("residuals", residuals, nb::arg("problem"), nb::arg("weights"), nb::arg("out"),
        "Writes r_i = 1 - sign_i (<w, x_i> + offset_i).");
  m.def("slope", slope, nb::arg("problem"), nb::arg("residual"), nb::arg("other"), nb::arg("t"), nb::arg("softness"),
        "First and second derivative in t of the sum of smoothed losses, at t on the line between two residuals.");
  m.def("smooth", smooth, nb::arg("problem"), nb::arg("residual"), nb::arg("other"), nb::arg("t"), nb::arg("softness"),
        nb::arg("alpha"), nb::arg("sum"),
        "Moves the residuals along the line and alpha with them, and adds the changes of sum_i alpha_i sign_i x_i; "
        "returns the losses, the gap, the sum of alpha and the number of rows that bend the objective.");
  m.def("bend", bend, nb::arg("problem"), nb::arg("residual"), nb::arg("softness"), nb::arg("vector"), nb::arg("out"),
        "Adds the second derivatives of the sum of smoothed losses, times the vector.");
  m.def("curvature", curvature, nb::arg("problem"), nb::arg("residual"), nb::arg("softness"), nb::arg("every"),
        nb::arg("out"), "Adds the second derivatives of the sum of smoothed losses, lower triangle.");
}

}  // namespace pegasos
