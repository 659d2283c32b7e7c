#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "bindings.h"

namespace pegasos {

using CodeArray = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using GivenOrder = nb::ndarray<const RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static StepRule step_rule_of(std::string_view word) {
  if (word == "perceptron") return StepRule::perceptron;
  if (word == "pa") return StepRule::passive_aggressive;
  if (word == "pa-1") return StepRule::passive_aggressive_1;
  if (word == "pa-2") return StepRule::passive_aggressive_2;
  if (word == "cw") return StepRule::confidence_weighted;
  if (word == "arow") return StepRule::arow;
  if (word == "pegasos") return StepRule::pegasos;
  if (word == "norma") return StepRule::norma;
  throw std::invalid_argument("there is no step rule of this name.");
}

static bool is_second_order(StepRule rule) { return rule == StepRule::confidence_weighted || rule == StepRule::arow; }

static double* matrix_of(const std::optional<WeightArray>& array, Index n_rows, Index n_columns, const char* sentence) {
  if (!array) return nullptr;
  if (array->ndim() != 2 || Index(array->shape(0)) != n_rows || Index(array->shape(1)) != n_columns)
    throw std::invalid_argument(sentence);
  return array->data();
}

// Checks that every row to be visited exists, and that its class is one of the problems' classes.
static void check_places(const OnlineStream& stream, Index n_rows, Index begin, Index end) {
  const Index n_classes = stream.n_problems == 1 ? 2 : stream.n_problems;
  for (Index p = begin; p < end; ++p) {
    const Index i = stream.order[p];
    if (i >= n_rows || stream.codes[i] < 0 || stream.codes[i] >= n_classes)
      throw std::invalid_argument("order names a row that is not there, or one of no class.");
  }
}

static Index online_advance(const OwnedRows& owned, CodeArray codes, InputArray cost, GivenOrder order, Index begin,
                            Index end, Index max_moves, std::string_view rule, double size, double lam, double nu,
                            OnlineCounters& counters, WeightArray weights, WeightArray rho,
                            std::optional<WeightArray> sums, std::optional<WeightArray> variances, WeightArray scores,
                            std::optional<WeightArray> moves) {
  const Rows& rows = owned.rows;
  const Index n = rows.n_rows, n_problems = Index(rho.shape(0));
  if (Index(codes.shape(0)) != n || cost.ndim() != 1 || Index(cost.shape(0)) != n ||
      cost.dtype() != nb::dtype<double>())
    throw std::invalid_argument("codes (int64) and cost (float64) must have one entry a row.");
  if (!rows.values && n > 0) throw std::invalid_argument("rows of which only the scores are known cannot be learnt.");
  if (begin < 0 || begin > end || end > Index(order.shape(0)))
    throw std::invalid_argument("begin and end must be places of the order.");
  if (rho.ndim() != 1 || scores.ndim() != 1 || Index(scores.shape(0)) != n_problems || n_problems < 1)
    throw std::invalid_argument("rho and scores must have one entry a problem.");
  const OnlineSettings settings{step_rule_of(rule), size, lam, nu};
  const char* shape = "weights, sums and variances must be (problems, features + 1).";
  const Index d = rows.n_features + 1, n_moves = moves ? Index(moves->shape(1)) : 0;
  const OnlineState state{matrix_of(weights, n_problems, d, shape),
                          matrix_of(sums, n_problems, d, shape),
                          matrix_of(variances, n_problems, d, shape),
                          rho.data(),
                          scores.data(),
                          matrix_of(moves, n_problems, n_moves, "moves must have one row a problem."),
                          n_moves,
                          &counters};
  if (is_second_order(settings.rule) != (state.variances != nullptr))
    throw std::invalid_argument("variances belong to rules of second order.");
  if (moves && n_moves < end - begin) throw std::invalid_argument("moves must have room for each visit.");
  const OnlineStream stream{
      rows, codes.data(), {static_cast<const double*>(cost.data()), cost.stride(0)}, order.data(), n_problems};
  check_places(stream, n, begin, end);
  nb::gil_scoped_release release;
  return loops().online_advance(stream, settings, state, {begin, end, max_moves});
}

void bind_online(nb::module_& m) {
  using C = OnlineCounters;
  nb::class_<C>(m, "OnlineCounters", "The scalars of an online learner's state.")
      .def(nb::init<>())
      .def_rw("step", &C::step)
      .def_rw("mistakes", &C::mistakes)
      .def_rw("loss", &C::loss)
      .def_rw("scale", &C::scale)
      .def_rw("scale_sum", &C::scale_sum)
      .def(nb::init<Index, Index, double, double, double>())
      // Numbers for a constructor, also for readers of pickles that do not trust states.
      .def("__reduce__", [](nb::handle self) {
        const C& c = nb::cast<const C&>(self);
        return nb::make_tuple(self.type(), nb::make_tuple(c.step, c.mistakes, c.loss, c.scale, c.scale_sum));
      });
  m.def("online_advance", online_advance, nb::arg("rows"), nb::arg("codes"), nb::arg("cost"), nb::arg("order"),
        nb::arg("begin"), nb::arg("end"), nb::arg("max_moves"), nb::arg("rule"), nb::arg("size"), nb::arg("lam"),
        nb::arg("nu"), nb::arg("counters"), nb::arg("weights"), nb::arg("rho"), nb::arg("sums").none(),
        nb::arg("variances").none(), nb::arg("scores"), nb::arg("moves").none(),
        "Visits the rows at the places begin..end of the order, up to max_moves that move something; the arrays and "
        "counters are changed in place. Returns the place that comes next.");
  m.def(
      "shuffle",
      [](OrderArray order, std::uint64_t random) {
        return loops().shuffle(order.data(), Index(order.shape(0)), random);
      },
      nb::arg("order"), nb::arg("random"), "Shuffles in place; returns the generator's next state.");
}

}  // namespace pegasos
