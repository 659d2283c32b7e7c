#include <nanobind/stl/optional.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>

#include "bindings.h"
#include "watch.h"

namespace pegasos {

const Loops& loops() {
  static const Loops& chosen = []() -> const Loops& {
    const char* wanted = std::getenv("PEGASOS_INSTRUCTION_SET");
    const Loops* found = find_loops(wanted ? wanted : "");
    if (!found)
      throw std::runtime_error("PEGASOS_INSTRUCTION_SET is '" + std::string(wanted) +
                               "', which this machine does not offer; unset it, or use 'baseline'.");
    return *found;
  }();
  return chosen;
}

static void set_deadline(std::optional<double> seconds) {
  if (!seconds) return deadline_of_thread().reset();
  constexpr double longest = 1e9;
  const std::chrono::duration<double> left(std::clamp(*seconds, 0.0, longest));
  deadline_of_thread() = Clock::now() + std::chrono::duration_cast<Clock::duration>(left);
}

static void check_deadline() {
  const auto deadline = deadline_of_thread();
  if (deadline && Clock::now() >= *deadline) throw TimeIsUp();
}

static std::optional<double> time_left() {
  const auto deadline = deadline_of_thread();
  if (!deadline) return std::nullopt;
  return std::chrono::duration<double>(*deadline - Clock::now()).count();
}

}  // namespace pegasos

NB_MODULE(_core, m) {
  m.doc() = "The native loops of pegasos: arrays in, arrays changed in place.";
  nb::exception<pegasos::TimeIsUp>(m, "TimeIsUp");
  m.def("set_deadline", pegasos::set_deadline, nb::arg("seconds").none(),
        "Long native calls of this thread raise TimeIsUp this many seconds from now; None: never.");
  m.def("check_deadline", pegasos::check_deadline, "Raises TimeIsUp where the deadline of this thread has passed.");
  m.def("time_left", pegasos::time_left, "The seconds to the deadline of this thread; None where it has none.");
  m.def(
      "instruction_set", [] { return pegasos::loops().instruction_set; },
      "The instruction set the loops run on: 'avx512', 'avx2' or 'baseline'.");
  pegasos::bind_problem(m);
  pegasos::bind_linear(m);
  pegasos::bind_online(m);
  pegasos::bind_objective(m);
  pegasos::bind_crammer_singer(m);
  pegasos::bind_interior_point(m);
  pegasos::bind_newton(m);
  pegasos::bind_region(m);
  pegasos::bind_cutting_plane(m);
  pegasos::bind_sequences(m);
  pegasos::bind_graphs(m);
  pegasos::bind_kernels(m);
  pegasos::bind_small_problems(m);
  pegasos::bind_svmlight(m);
}
