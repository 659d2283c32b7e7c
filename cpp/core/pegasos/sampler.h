// Which row next: in the order given, by shuffled epochs, uniformly at random, or the two signs in turn.
#pragma once

#include "random.h"

namespace pegasos::PEGASOS_ISA {

// `order` is a permutation of the n rows, used and reshuffled by `shuffle` and `balanced` only; `position` counts the
// rows of the current epoch already visited, and n asks for a new epoch.
//
// `balanced` draws from two groups in turn, the first `n_first` rows of `order` and the others, each reshuffled
// whenever it is used up. There `position` counts all draws. A group of all rows is the only one.
struct Sampler {
  Sampling sampling;
  RowNumber* order;
  Index n;
  Index position;
  Random random;
  Index n_first = n;

  RowNumber next() {
    if (sampling == Sampling::uniform) return random.below(RowNumber(n));
    if (sampling == Sampling::balanced) {
      const Place place = place_of(position++);
      if (place.rank == 0) random.shuffle(place.group, place.size);
      return place.group[place.rank];
    }
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
    if (sampling == Sampling::balanced) {
      const Place place = place_of(position + ahead);
      return place.group[place.rank];
    }
    const Index k = position + ahead < n ? position + ahead : n - 1;
    return sampling == Sampling::shuffle ? order[k] : RowNumber(k);
  }

  // 1/n over the probability of a draw, for rows of the first group or of the second: this keeps the expected
  // sub-gradient that of the mean over all rows.
  double weight(bool in_first) const {
    return n_first == n ? 1.0 : 2.0 * double(in_first ? n_first : n - n_first) / double(n);
  }

  struct Place {
    RowNumber* group;
    Index size;
    Index rank;
  };

  Place place_of(Index draw) const {
    if (n_first == n) return {order, n, draw % n};
    if (draw % 2 == 0) return {order, n_first, draw / 2 % n_first};
    return {order + n_first, n - n_first, draw / 2 % (n - n_first)};
  }
};

// How many rows at the head of an order grouped by sign are negative; all, when the rows have one sign.
inline Index size_of_first_group(const RowNumber* order, const std::int8_t* sign, Index n) {
  Index low = 0, high = n;
  while (low < high) {
    const Index middle = (low + high) / 2;
    if (sign[order[middle]] < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? n : low;
}

}  // namespace pegasos::PEGASOS_ISA
