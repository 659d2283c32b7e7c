// SplitMix64: the state is one number that travels with the solver's state, so a run can be stopped,
// stored and resumed, and does not depend on threads.
#pragma once

#include "types.h"

namespace pegasos::PEGASOS_ISA {

struct Random {
  std::uint64_t state;

  static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15ULL;

  std::uint64_t next() {
    std::uint64_t z = (state += increment);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound), without bias (Lemire 2019).
  RowNumber below(RowNumber bound) {
    std::uint64_t product = std::uint64_t(std::uint32_t(next() >> 32)) * bound;
    if (std::uint32_t(product) < bound) {
      const std::uint32_t threshold = std::uint32_t(-bound) % bound;
      while (std::uint32_t(product) < threshold) product = std::uint64_t(std::uint32_t(next() >> 32)) * bound;
    }
    return RowNumber(product >> 32);
  }

  // Fisher and Yates, in place.
  void shuffle(RowNumber* order, Index n) {
    for (Index i = n - 1; i > 0; --i) {
      const RowNumber j = below(RowNumber(i + 1));
      const RowNumber kept = order[i];
      order[i] = order[j];
      order[j] = kept;
    }
  }
};

}  // namespace pegasos::PEGASOS_ISA
