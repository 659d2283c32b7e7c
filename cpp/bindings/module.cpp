#include <cstdlib>
#include <stdexcept>
#include <string>

#include "bindings.h"

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

}  // namespace pegasos

NB_MODULE(_core, m) {
  m.doc() = "The native loops of pegasos: arrays in, arrays changed in place.";
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
  pegasos::bind_cutting_plane(m);
  pegasos::bind_sequences(m);
  pegasos::bind_graphs(m);
  pegasos::bind_kernels(m);
  pegasos::bind_svmlight(m);
}
