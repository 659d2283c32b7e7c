// The order in which kernel Pegasos of the Python library draws rows: that of numpy's default generator, so that a seed
// means the same steps here and there.
//
// O'Neill: PCG, a family of simple fast space-efficient statistically good algorithms for random number generation.
// Harvey Mudd College, 2014 (XSL-RR 128/64). The state comes from the seed by numpy's SeedSequence.
#pragma once

#include <numeric>
#include <vector>

#include "pegasos/types.h"

namespace pegasos::playground {

class NumpyGenerator {
 public:
  explicit NumpyGenerator(std::uint32_t seed) {
    std::uint32_t words[8];
    expand(seed, words);
    const auto wide = [&](int k) { return std::uint64_t(words[k + 1]) << 32 | words[k]; };
    const Wide start = Wide(wide(0)) << 64 | wide(2), sequence = Wide(wide(4)) << 64 | wide(6);
    increment_ = sequence << 1 | 1;
    step();
    state_ += start;
    step();
  }

  // Uniform in [0, bound), without bias (Lemire 2019).
  std::uint32_t below(std::uint32_t bound) {
    if (bound == 1) return 0;
    std::uint64_t product = std::uint64_t(next32()) * bound;
    if (std::uint32_t(product) < bound) {
      const std::uint32_t threshold = std::uint32_t(-bound) % bound;
      while (std::uint32_t(product) < threshold) product = std::uint64_t(next32()) * bound;
    }
    return std::uint32_t(product >> 32);
  }

  // Uniform in [0, largest]: what numpy shuffles with.
  std::uint32_t up_to(std::uint32_t largest) {
    std::uint32_t mask = largest;
    for (int by = 1; by < 32; by *= 2) mask |= mask >> by;
    for (;;) {
      const std::uint32_t value = next32() & mask;
      if (value <= largest) return value;
    }
  }

 private:
  using Wide = unsigned __int128;

  void step() { state_ = state_ * (Wide(0x2360ed051fc65da4) << 64 | 0x4385df649fccf645) + increment_; }

  std::uint64_t next64() {
    step();
    const std::uint64_t mixed = std::uint64_t(state_ >> 64) ^ std::uint64_t(state_);
    const unsigned turn = unsigned(state_ >> 122);
    return mixed >> turn | mixed << (-turn & 63);
  }

  // Two of them come from one wide number, the lower half first.
  std::uint32_t next32() {
    has_half_ = !has_half_;
    if (!has_half_) return half_;
    const std::uint64_t both = next64();
    half_ = std::uint32_t(both >> 32);
    return std::uint32_t(both);
  }

  static void expand(std::uint32_t seed, std::uint32_t* words) {
    std::uint32_t factor = 0x43b0d7e5, pool[4];
    const auto hashed = [&](std::uint32_t value) {
      value ^= factor;
      factor *= 0x931e8875;
      value *= factor;
      return value ^ value >> 16;
    };
    for (int k = 0; k < 4; ++k) pool[k] = hashed(k == 0 ? seed : 0);
    for (int from = 0; from < 4; ++from)
      for (int to = 0; to < 4; ++to) {
        if (from == to) continue;
        const std::uint32_t mixed = 0xca01f9ddu * pool[to] - 0x4973f715u * hashed(pool[from]);
        pool[to] = mixed ^ mixed >> 16;
      }
    factor = 0x8b51f9dd;
    for (int k = 0; k < 8; ++k) {
      std::uint32_t value = pool[k % 4] ^ factor;
      factor *= 0x58f38ded;
      value *= factor;
      words[k] = value ^ value >> 16;
    }
  }

  Wide state_ = 0, increment_ = 0;
  std::uint32_t half_ = 0;
  bool has_half_ = false;
};

// Rows to draw from: by shuffled rounds, uniformly at random, or in order.
class Deck {
 public:
  Deck(Index n, Sampling sampling, std::uint32_t seed)
      : order_(std::size_t(n)), position_(order_.size()), sampling_(sampling), random_(seed) {}

  RowNumber draw() {
    if (sampling_ == Sampling::uniform) return random_.below(std::uint32_t(order_.size()));
    if (position_ == order_.size()) {
      std::iota(order_.begin(), order_.end(), RowNumber(0));
      if (sampling_ == Sampling::shuffle)
        for (std::size_t i = order_.size() - 1; i > 0; --i)
          std::swap(order_[i], order_[random_.up_to(std::uint32_t(i))]);
      position_ = 0;
    }
    return order_[position_++];
  }

 private:
  std::vector<RowNumber> order_;
  std::size_t position_;
  Sampling sampling_;
  NumpyGenerator random_;
};

}  // namespace pegasos::playground
