#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <vector>

#include "bindings.h"

namespace pegasos {

Sampling sampling_of(std::string_view word) {
  if (word == "shuffle") return Sampling::shuffle;
  if (word == "uniform") return Sampling::uniform;
  if (word == "sequential") return Sampling::sequential;
  if (word == "balanced") return Sampling::balanced;
  throw std::invalid_argument("sampling must be 'shuffle', 'uniform', 'balanced' or 'sequential'.");
}

void check_one_type(const Rows& rows, const Buffer& weights, std::initializer_list<const Buffer*> others) {
  if (!rows.values && rows.n_rows > 0 && rows.layout == Layout::gram)
    throw std::invalid_argument("rows of which only the scores are known cannot be moved along.");
  if (rows.scalar == Scalar::float64 && weights.scalar == Scalar::float32)
    throw std::invalid_argument("weights of float64 rows must be float64.");
  for (const Buffer* other : others)
    if (other->scalar != weights.scalar) throw std::invalid_argument("the arrays of a state must have one type.");
}

static void pegasos_advance(const OwnedProblem& owned, PegasosCounters& counters, AnyFloatArray weights,
                            AnyFloatArray alphas, std::optional<AnyFloatArray> weight_sums,
                            std::optional<AnyFloatArray> alpha_sums, OrderArray order, OrderArray batch,
                            std::string_view sampling, bool project, double radius, Index n_steps) {
  const Problem& problem = owned.problem;
  const Index n = problem.rows.n_rows, d = problem.rows.n_features;
  const bool average = weight_sums.has_value() && alpha_sums.has_value();
  const PegasosSettings settings{Index(batch.shape(0)), sampling_of(sampling), project, average, radius};
  const bool balanced = settings.sampling == Sampling::balanced;
  if ((balanced || settings.sampling == Sampling::shuffle) && Index(order.shape(0)) != n)
    throw std::invalid_argument("order must have one entry a row.");
  if (counters.position < 0 || (!balanced && counters.position > n))
    throw std::invalid_argument("position must be that of a row.");
  const Buffer none{nullptr, Scalar::float64};
  std::vector<double> slopes(std::size_t(settings.batch_size));
  const PegasosState state{buffer_of(weights, d + 1, "weights"),
                           buffer_of(alphas, n, "alphas"),
                           average ? buffer_of(*weight_sums, d + 1, "weight_sums") : none,
                           average ? buffer_of(*alpha_sums, n, "alpha_sums") : none,
                           order.data(),
                           batch.data(),
                           slopes.data(),
                           &counters};
  check_one_type(problem.rows, state.weights, {&state.alphas});
  if (average) check_one_type(problem.rows, state.weights, {&state.weight_sums, &state.alpha_sums});
  nb::gil_scoped_release release;
  loops().pegasos_advance(problem, settings, state, n_steps);
}

using LevelArray = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static std::uint8_t* levels_of(const std::optional<LevelArray>& levels, Index n) {
  if (!levels || Index(levels->shape(0)) != n) throw std::invalid_argument("levels must have one entry a row.");
  return levels->data();
}

static void dual_advance(const OwnedProblem& owned, DualCounters& counters, AnyFloatArray weights, AnyFloatArray alpha,
                         GivenFloatArray squared_norms, OrderArray order, Index n_visits, Rests* rests,
                         std::optional<LevelArray> levels, double goal) {
  const Problem& problem = owned.problem;
  const Index n = problem.rows.n_rows;
  if (Index(order.shape(0)) != n) throw std::invalid_argument("order must have one entry a row.");
  const DualState state{buffer_of(weights, problem.rows.n_features + 1, "weights"),
                        buffer_of(alpha, n, "alpha"),
                        row_values(squared_norms, n, "squared_norms"),
                        order.data(),
                        &counters,
                        rests,
                        rests ? levels_of(levels, n) : nullptr,
                        goal};
  check_one_type(problem.rows, state.weights, {&state.alpha});
  nb::gil_scoped_release release;
  loops().dual_advance(problem, state, n_visits);
}

static void recall_rows(DualCounters& counters, OrderArray order,
                        nb::ndarray<const RowNumber, nb::ndim<1>, nb::c_contig, nb::device::cpu> chosen, Rests* rests) {
  const Index n = Index(chosen.shape(0));
  if (n > Index(order.shape(0))) throw std::invalid_argument("there are not as many rows as were chosen.");
  for (Index k = 0; k < n; ++k) {
    if (chosen.data()[k] >= order.shape(0)) throw std::invalid_argument("a chosen row is not there.");
    order.data()[k] = chosen.data()[k];
  }
  counters.active = counters.position = n;
  counters.upper = 1e30;
  counters.lower = -1e30;
  if (rests) std::fill(std::begin(rests->ends), std::end(rests->ends), n);
}

void bind_linear(nb::module_& m) {
  using P = PegasosCounters;
  nb::class_<P>(m, "PegasosCounters", "The scalars of a Pegasos state.")
      .def(nb::init<>())
      .def_rw("step", &P::step)
      .def_rw("position", &P::position)
      .def_rw("random", &P::random)
      .def_rw("scale", &P::scale)
      .def_rw("squared_norm", &P::squared_norm)
      .def_rw("scale_sum", &P::scale_sum)
      .def_rw("averaged", &P::averaged)
      .def(nb::init<Index, Index, std::uint64_t, double, double, double, Index>())
      // Numbers for a constructor, also for readers of pickles that do not trust states.
      .def("__reduce__",
           [](nb::handle self) {
             const P& c = nb::cast<const P&>(self);
             return nb::make_tuple(self.type(), nb::make_tuple(c.step, c.position, c.random, c.scale, c.squared_norm,
                                                               c.scale_sum, c.averaged));
           })
      .def("__getstate__", [](const P& c) { return nb::bytes(reinterpret_cast<const char*>(&c), sizeof c); })
      .def("__setstate__", [](P& c, nb::bytes stored) { restore(c, stored); });
  m.def("pegasos_advance", pegasos_advance, nb::arg("problem"), nb::arg("counters"), nb::arg("weights"),
        nb::arg("alphas"), nb::arg("weight_sums").none(), nb::arg("alpha_sums").none(), nb::arg("order"),
        nb::arg("batch"), nb::arg("sampling"), nb::arg("project"), nb::arg("radius"), nb::arg("n_steps"),
        "n_steps more steps of linear Pegasos; the arrays and counters are changed in place.");

  using D = DualCounters;
  nb::class_<D>(m, "DualCounters", "The scalars of a dual ascent state.")
      .def(nb::init<>())
      .def_rw("random", &D::random)
      .def_rw("alpha_sum", &D::alpha_sum)
      .def_ro("visits", &D::visits)
      .def_ro("active", &D::active)
      .def_ro("position", &D::position)
      .def_ro("sweep_gap", &D::sweep_gap)
      .def(
          "recall_all_rows", [](D& c) { c.active = c.position = 0; }, "The next sweep visits every row again.")
      .def("__getstate__", [](const D& c) { return nb::bytes(reinterpret_cast<const char*>(&c), sizeof c); })
      .def("__setstate__", [](D& c, nb::bytes stored) { restore(c, stored); });
  nb::class_<Rests>(m, "Rests", "Where the rows of each level stand in an order.")
      .def(nb::init<>())
      .def_prop_ro("n_left", [](const Rests& r) { return r.ends[Rests::levels]; })
      .def("__getstate__", [](const Rests& r) { return nb::bytes(reinterpret_cast<const char*>(&r), sizeof r); })
      .def("__setstate__", [](Rests& r, nb::bytes stored) { restore(r, stored); });
  m.def("dual_advance", dual_advance, nb::arg("problem"), nb::arg("counters"), nb::arg("weights"), nb::arg("alpha"),
        nb::arg("squared_norms"), nb::arg("order"), nb::arg("n_visits"), nb::arg("rests") = nb::none(),
        nb::arg("levels") = nb::none(), nb::arg("goal") = 0.0,
        "n_visits more coordinate steps of dual ascent, or fewer, up to the sweep whose estimate of the relative gap "
        "is at "
        "most `goal`; the arrays and counters are changed in place.");
  m.def("recall_rows", recall_rows, nb::arg("counters"), nb::arg("order"), nb::arg("chosen"),
        nb::arg("rests") = nb::none(), "The next sweeps visit the chosen rows alone; all of them, if there is none.");
}

}  // namespace pegasos
