// Which of the compiled instruction sets this processor can run.
#include <string_view>

#include "loops.h"

namespace pegasos {

namespace baseline {
extern const Loops table;
}

#ifdef PEGASOS_X86_VARIANTS
namespace avx2 {
extern const Loops table;
}
namespace avx512 {
extern const Loops table;
}

static const Loops* const candidates[] = {&avx512::table, &avx2::table, &baseline::table};

static bool runs_here(std::string_view name) {
  __builtin_cpu_init();
  if (name == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
  if (name == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return true;
}
#else
static const Loops* const candidates[] = {&baseline::table};

static bool runs_here(std::string_view) { return true; }
#endif

const Loops* find_loops(const char* wanted) {
  for (const Loops* loops : candidates)
    if ((*wanted == '\0' || std::string_view(loops->instruction_set) == wanted) && runs_here(loops->instruction_set))
      return loops;
  return nullptr;
}

}  // namespace pegasos
