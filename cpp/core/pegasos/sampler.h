// Which row next: in the order given, by shuffled epochs, or uniformly at random.
#pragma once

#include "random.h"

namespace pegasos::PEGASOS_ISA {

// `order` is a permutation of the n rows, used and reshuffled by `shuffle` only; `position` counts the
// rows of the current epoch already visited, and n asks for a new epoch.
struct Sampler {
  Sampling sampling;
  RowNumber* order;
  Index n;
  Index position;
  Random random;

  RowNumber next() {
    if (sampling == Sampling::uniform) return random.below(RowNumber(n));
    if (position == n) {
      if (sampling == Sampling::shuffle) random.shuffle(order, n);
      position = 0;
    }
    const Index k = position++;
    return sampling == Sampling::shuffle ? order[k] : RowNumber(k);
  }

  // The row that next() will give `ahead` calls from now, or a harmless guess.
  RowNumber peek(Index ahead) const {
    if (sampling == Sampling::uniform)
      return Random{random.state + std::uint64_t(ahead) * Random::increment}.below(RowNumber(n));
    const Index k = position + ahead < n ? position + ahead : n - 1;
    return sampling == Sampling::shuffle ? order[k] : RowNumber(k);
  }
};

}  // namespace pegasos::PEGASOS_ISA
