// Which of the compiled instruction sets this processor can run.
#ifdef PEGASOS_X86_VARIANTS
#include <cpuid.h>
#endif

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

// Read from the processor itself: not every compiler's runtime library has what __builtin_cpu_supports needs.
struct Processor {
  unsigned one = 0;         // leaf 1, ecx
  unsigned seven = 0;       // leaf 7, ebx
  unsigned long saved = 0;  // registers that the operating system saves

  Processor() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) one = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) seven = b;
    if (!has(one, 27)) return;  // OSXSAVE
    unsigned low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    saved = low;
  }

  static bool has(unsigned word, int bit) { return (word >> bit) & 1U; }
  bool saves(unsigned long registers) const { return (saved & registers) == registers; }
  bool has_avx2() const { return saves(0x6) && has(one, 28) && has(one, 12) && has(seven, 5); }  // AVX, FMA, AVX2
  bool has_avx512() const {
    return saves(0xe6) && has_avx2() && has(seven, 16) && has(seven, 17) && has(seven, 30) && has(seven, 31);
  }
};

static bool runs_here(std::string_view name) {
  static const Processor processor;
  if (name == "avx512") return processor.has_avx512();
  if (name == "avx2") return processor.has_avx2();
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
