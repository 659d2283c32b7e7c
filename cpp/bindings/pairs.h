// Which pairs of items a call computes, and where their values go.
#pragma once

#include <stdexcept>

#include "bindings.h"
#include "pegasos/sequence_kernels.h"

namespace pegasos {

// A block of shape (len(a), len(b)), one triangle and its mirror image when a is b; or, where `out` has one dimension,
// each item of a with its counterpart in b.
class Pairing {
 public:
  Pairing(Index n_a, Index n_b, bool is_same, const WeightArray& out)
      : n_a_(n_a), n_b_(n_b), counterparts_(out.ndim() == 1), same_(is_same && !counterparts_), values_(out.data()) {
    if (counterparts_ ? n_a != n_b || Index(out.shape(0)) != n_a
                      : out.ndim() != 2 || Index(out.shape(0)) != n_a || Index(out.shape(1)) != n_b)
      throw std::invalid_argument("out must be (len(a), len(b)), or (len(a),) for pairs of counterparts.");
  }

  // Pairs are numbered 0 to size() - 1; not all of them are needed.
  Index size() const { return counterparts_ ? n_a_ : n_a_ * n_b_; }
  Pair at(Index p) const { return counterparts_ ? Pair{p, p} : Pair{p / n_b_, p % n_b_}; }
  bool needs(const Pair& pair) const { return !same_ || pair.a <= pair.b; }

  void put(const Pair& pair, double value) const {
    values_[counterparts_ ? pair.a : pair.a * n_b_ + pair.b] = value;
    if (same_) values_[pair.b * n_b_ + pair.a] = value;
  }

 private:
  Index n_a_, n_b_;
  bool counterparts_, same_;
  double* values_;
};

}  // namespace pegasos
