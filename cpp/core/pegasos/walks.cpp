#include "walks.h"

#include <algorithm>
#include <utility>

namespace pegasos {

namespace {

// The direct product of two graphs. A vector on it has an entry for every pair of nodes, row by row of the first graph;
// those of pairs with unlike labels are 0 and stay so.
class Product {
 public:
  Product(const Graphs& a, Index i, const Graphs& b, Index j, double decay, double* row, Index* numbers)
      : a_(a), b_(b), first_a_(a.nodes[i]), first_b_(b.nodes[j]), decay_(decay), row_(row), starts_(numbers) {
    n_a_ = a.nodes[i + 1] - first_a_;
    n_b_ = b.nodes[j + 1] - first_b_;
    columns_ = numbers + n_a_ + 1;
    Index n = 0;
    for (Index u = 0; u < n_a_; ++u) {
      starts_[u] = n;
      const std::int64_t label = a.labels[first_a_ + u];
      for (Index v = 0; v < n_b_; ++v)
        if (b.labels[first_b_ + v] == label) columns_[n++] = v;
    }
    starts_[n_a_] = n;
  }

  Index size() const { return n_a_ * n_b_; }

  // Calls f(place) for the position of each pair of like nodes.
  template <class F>
  void each(F&& f) const {
    for (Index u = 0; u < n_a_; ++u)
      for (Index k = starts_[u]; k < starts_[u + 1]; ++k) f(u * n_b_ + columns_[k]);
  }

  double inner(const double* x, const double* y) const {
    double sum = 0.0;
    each([&](Index p) { sum += x[p] * y[p]; });
    return sum;
  }

  // y = A x: both walks advance by one edge, one after the other.
  void step(const double* x, double* y) const {
    for (Index u = 0; u < n_a_; ++u) {
      if (starts_[u] == starts_[u + 1]) continue;
      std::fill_n(row_, n_b_, 0.0);
      for (Index k = a_.links[first_a_ + u]; k < a_.links[first_a_ + u + 1]; ++k) {
        const double* const from = x + a_.neighbours[k] * n_b_;
        for (Index v = 0; v < n_b_; ++v) row_[v] += from[v];
      }
      for (Index k = starts_[u]; k < starts_[u + 1]; ++k) {
        const Index v = columns_[k];
        double sum = 0.0;
        for (Index l = b_.links[first_b_ + v]; l < b_.links[first_b_ + v + 1]; ++l) sum += row_[b_.neighbours[l]];
        y[u * n_b_ + v] = decay_ * sum;
      }
    }
  }

 private:
  const Graphs& a_;
  const Graphs& b_;
  const Index first_a_, first_b_;
  const double decay_;
  double* const row_;
  Index* const starts_;  // starts of the like nodes of each node of the first graph
  Index* columns_;
  Index n_a_, n_b_;
};

double bounded(const Product& product, Index n_steps, double* half, double* last, Patience patience) {
  double sum = product.inner(half, half);  // ones
  for (Index length = 1; length <= n_steps && !patience.ends_after(product.size()); ++length) {
    if (length % 2 == 1) {
      std::swap(half, last);
      product.step(last, half);
      sum += product.inner(last, half);
    } else {
      sum += product.inner(half, half);
    }
  }
  return sum;
}

double unbounded(const Product& product, double* residual, double* direction, double* image, Patience patience) {
  product.each([&](Index p) { direction[p] = residual[p]; });
  double squared = product.inner(residual, residual), sum = 0.0;
  const double enough = 1e-26 * squared;
  while (squared > enough && !patience.ends_after(product.size())) {
    product.step(direction, image);
    product.each([&](Index p) { image[p] = direction[p] - image[p]; });
    const double curvature = product.inner(direction, image);
    if (!(curvature > 0.0)) break;
    const double length = squared / curvature;
    product.each([&](Index p) {
      sum += length * direction[p];
      residual[p] -= length * image[p];
    });
    const double before = std::exchange(squared, product.inner(residual, residual));
    product.each([&](Index p) { direction[p] = residual[p] + squared / before * direction[p]; });
  }
  return sum;
}

}  // namespace

double walks(const Graphs& a, Index i, const Graphs& b, Index j, const WalkSettings& settings, double* values,
             Index* numbers) {
  const Index n_b = b.nodes[j + 1] - b.nodes[j];
  const Product product(a, i, b, j, settings.decay, values, numbers);
  double* const first = values + n_b;
  double* const second = first + product.size();
  std::fill_n(first, (settings.n_steps > 0 ? 2 : 3) * product.size(), 0.0);
  product.each([&](Index p) { first[p] = 1.0; });
  return settings.n_steps > 0 ? bounded(product, settings.n_steps, first, second, Patience(settings.stop))
                              : unbounded(product, first, second, second + product.size(), Patience(settings.stop));
}

}  // namespace pegasos
