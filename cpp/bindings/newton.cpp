#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bindings.h"
#include "threads.h"
#include "watch.h"

namespace pegasos {

static void residuals(const OwnedProblem& owned, AnyFloatArray weights, AnyFloatArray out) {
  const Rows& rows = owned.problem.rows;
  const Buffer w = buffer_of(weights, rows.n_features + 1, "weights"), r = buffer_of(out, rows.n_rows, "out");
  check_one_type(rows, w, {&r});
  nb::gil_scoped_release release;
  const Index n = n_distinct(rows);
  in_parts(n, parts_of(n, rows.threads),
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
  const Index n = n_distinct(owned.problem.rows), parts = parts_of(n, owned.problem.rows.threads);
  std::vector<Slope> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = loops().slope(owned.problem, line, softness, begin, end);
  });
  Slope sum;
  for (const Slope& one : found) sum.first += one.first, sum.second += one.second;
  return {sum.first, sum.second};
}

// The sums of all parts of a pass, in their order.
static Arrival sum_of(const std::vector<Arrival>& found) {
  Arrival total;
  for (const Arrival& one : found) {
    total.sums.loss += one.sums.loss, total.sums.gap += one.sums.gap;
    total.sums.alpha_sum += one.sums.alpha_sum, total.sums.curved += one.sums.curved;
    total.slope.first += one.slope.first, total.slope.second += one.slope.second;
  }
  return total;
}

// pass(state, begin, end) in parts, each with its own sums.
template <class Pass>
static Arrival smoothed(const Rows& rows, const Line& line, const Buffer& alpha, const Buffer& moved, const Vector& sum,
                        Pass&& pass) {
  check_one_type(rows, line.residual, {&line.other, &alpha, &moved});
  require_length(sum, rows.n_features + 1);
  const Index n = n_distinct(rows), parts = parts_of(n, rows.threads);
  Sums sums(sum.data(), rows.n_features + 1, parts), rooms(nullptr, rows.n_features + 1, parts + 1);
  std::vector<Arrival> found(static_cast<std::size_t>(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    found[std::size_t(part)] = pass({line, alpha, moved, sums.of(part), rooms.of(part + 1)}, begin, end);
  });
  sums.combine();
  return sum_of(found);
}

static std::tuple<double, double, double, Index> smooth(const OwnedProblem& owned, AnyFloatArray residual,
                                                        AnyFloatArray other, double t, double softness,
                                                        AnyFloatArray alpha, Vector sum) {
  const Rows& rows = owned.problem.rows;
  const Line line = line_of(rows, residual, other, t);
  const Buffer dual = buffer_of(alpha, rows.n_rows, "alpha");
  const Smoothed total = smoothed(rows, line, dual, dual, sum, [&](const SmoothedState& state, Index begin, Index end) {
                           return Arrival{loops().smooth(owned.problem, state, softness, begin, end), {}};
                         }).sums;
  return {total.loss, total.gap, total.alpha_sum, total.curved};
}

static std::tuple<double, double, double, Index, double, double> arrive(const OwnedProblem& owned,
                                                                        AnyFloatArray weights, AnyFloatArray residual,
                                                                        AnyFloatArray other, double softness,
                                                                        AnyFloatArray alpha, AnyFloatArray moved,
                                                                        Vector sum) {
  const Rows& rows = owned.problem.rows;
  const Line line = line_of(rows, residual, other, 1.0);
  const Buffer w = buffer_of(weights, rows.n_features + 1, "weights");
  const Buffer before = buffer_of(alpha, rows.n_rows, "alpha"), after = buffer_of(moved, rows.n_rows, "moved");
  check_one_type(rows, w, {&line.residual});
  const auto [total, slope] = smoothed(rows, line, before, after, sum,
                                       [&](const SmoothedState& state, Index begin, Index end) {
                                         return loops().arrive(owned.problem, w, state, softness, begin, end);
                                       });
  return {total.loss, total.gap, total.alpha_sum, total.curved, slope.first, slope.second};
}

static void bend(const OwnedProblem& owned, AnyFloatArray residual, double softness, AnyFloatArray vector, Vector out) {
  const Rows& rows = owned.problem.rows;
  const Index side = rows.n_features + 1, n = n_distinct(rows), parts = parts_of(n, rows.threads);
  const Buffer given = buffer_of(residual, rows.n_rows, "residual"), factor = buffer_of(vector, side, "vector");
  check_one_type(rows, given, {&factor});
  require_length(out, side);
  Sums sums(out.data(), side, parts), rooms(nullptr, side, parts + 1);
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    loops().bend(owned.problem, given, softness, factor, sums.of(part), rooms.of(part + 1), begin, end);
  });
  sums.combine();
}

static void curvature(const OwnedProblem& owned, AnyFloatArray residual, double softness, Index every, Matrix out) {
  if (every < 1) throw std::invalid_argument("every must be at least 1.");
  const Rows& rows = owned.problem.rows;
  const Buffer given = buffer_of(residual, rows.n_rows, "residual");
  check_one_type(rows, given, {});
  const Index side = rows.n_features + 1, n = n_distinct(rows), parts = parts_of(n, rows.threads);
  require_side(out, side);
  Sums sums(out.data(), side * side, parts);
  const std::size_t room = std::size_t(loops().gram_room(side));
  std::vector<double> rooms(room * std::size_t(parts));
  nb::gil_scoped_release release;
  in_parts(n, parts, [&](Index part, Index begin, Index end) {
    double* mine = rooms.data() + room * std::size_t(part);
    loops().curvature(owned.problem, given, softness, every, sums.of(part), mine, begin, end);
  });
  sums.combine();
}

static void bent_factor(const OwnedProblem& owned, AnyFloatArray residual, double softness, Index every, Matrix out) {
  const Problem& problem = owned.problem;
  const Index side = problem.rows.n_features + 1;
  require_side(out, side);
  std::fill(out.data(), out.data() + side * side, 0.0);
  curvature(owned, std::move(residual), softness, every, out);
  std::vector<double> room(static_cast<std::size_t>(loops().factor_room(side)));
  nb::gil_scoped_release release;
  for (Index i = 0; i < side; ++i) {
    for (Index j = 0; j <= i; ++j) out.data()[i * side + j] /= problem.total;
    out.data()[i * side + i] += problem.lam;
  }
  loops().factor(out.data(), side, room.data(), Parallel{1, {}});
}

static void finite_newton_advance(const OwnedProblem& owned, FiniteCounters& counters, Vector weights, Vector sum,
                                  Vector scores, Vector other, Index n_steps, double target) {
  const Rows& rows = owned.problem.rows;
  if (!(owned.problem.ridge > 0.0)) throw std::invalid_argument("the loss must have a ridge.");
  for (const Vector* one : {&weights, &sum}) require_length(*one, rows.n_features + 1);
  for (const Vector* one : {&scores, &other}) require_length(*one, n_distinct(rows));
  const FiniteState state{weights.data(), sum.data(), scores.data(), other.data(), &counters};
  Watch watch;
  const Parallel parallel = threads_of(rows, watch);
  {
    nb::gil_scoped_release release;
    loops().finite_newton_advance(owned.problem, state, parallel, n_steps, target);
  }
  watch.raise();
}

static void alpha_of_scores(const OwnedProblem& owned, Vector scores, Vector alpha) {
  const Index n = n_distinct(owned.problem.rows);
  require_length(scores, n);
  require_length(alpha, owned.problem.rows.n_rows);
  nb::gil_scoped_release release;
  in_parts(n, parts_of(n, owned.problem.rows.threads), [&](Index, Index begin, Index end) {
    loops().alpha_of_scores(owned.problem, scores.data(), alpha.data(), begin, end);
  });
}

void bind_newton(nb::module_& m) {
  nb::class_<FiniteCounters>(m, "FiniteCounters")
      .def(nb::init<>())
      .def_rw("steps", &FiniteCounters::steps)
      .def_rw("visits", &FiniteCounters::visits)
      .def_rw("stride", &FiniteCounters::stride)
      .def_rw("primal", &FiniteCounters::primal)
      .def_rw("gap", &FiniteCounters::gap)
      .def_rw("stalled", &FiniteCounters::stalled)
      .def("__getstate__",
           [](const FiniteCounters& c) { return nb::bytes(reinterpret_cast<const char*>(&c), sizeof c); })
      .def("__setstate__", restore<FiniteCounters>);
  m.def("finite_newton_advance", finite_newton_advance, nb::arg("problem"), nb::arg("counters"), nb::arg("weights"),
        nb::arg("sum"), nb::arg("scores"), nb::arg("other"), nb::arg("n_steps"), nb::arg("target"),
        "Takes steps until the relative gap is at most target, or n_steps are done.");
  m.def("alpha_of_scores", alpha_of_scores, nb::arg("problem"), nb::arg("scores"), nb::arg("alpha"),
        "Writes alpha_i = cost_i phi'(r_i), from the scores of the distinct rows.");
  m.def("residuals", residuals, nb::arg("problem"), nb::arg("weights"), nb::arg("out"),
        "Writes r_i = 1 - sign_i (<w, x_i> + offset_i).");
  m.def("slope", slope, nb::arg("problem"), nb::arg("residual"), nb::arg("other"), nb::arg("t"), nb::arg("softness"),
        "First and second derivative in t of the sum of smoothed losses, at t on the line between two residuals.");
  m.def("smooth", smooth, nb::arg("problem"), nb::arg("residual"), nb::arg("other"), nb::arg("t"), nb::arg("softness"),
        nb::arg("alpha"), nb::arg("sum"),
        "Moves the residuals along the line and alpha with them, and adds the changes of sum_i alpha_i sign_i x_i; "
        "returns the losses, the gap, the sum of alpha and the number of rows that bend the objective.");
  m.def("arrive", arrive, nb::arg("problem"), nb::arg("weights"), nb::arg("residual"), nb::arg("other"),
        nb::arg("softness"), nb::arg("alpha"), nb::arg("moved"), nb::arg("sum"),
        "Writes the residuals of the weights to `other` and their alpha to `moved`, and adds the changes of sum_i "
        "alpha_i sign_i x_i; returns what `smooth` returns, then the derivatives that `slope` returns for t = 1.");
  m.def("bend", bend, nb::arg("problem"), nb::arg("residual"), nb::arg("softness"), nb::arg("vector"), nb::arg("out"),
        "Adds the second derivatives of the sum of smoothed losses, times the vector.");
  m.def("curvature", curvature, nb::arg("problem"), nb::arg("residual"), nb::arg("softness"), nb::arg("every"),
        nb::arg("out"), "Adds the second derivatives of the sum of smoothed losses, lower triangle.");
  m.def("bent_factor", bent_factor, nb::arg("problem"), nb::arg("residual"), nb::arg("softness"), nb::arg("every"),
        nb::arg("out"), "Writes the Cholesky factor of the second derivatives of the smoothed objective.");
}

}  // namespace pegasos
