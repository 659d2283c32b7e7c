#pragma once

#include <algorithm>
#include <numeric>

#include "chosen.inl"
#include "face.h"
#include "loss.h"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

template <class R>
struct Face {
  using Doubles = Vector<double>;

  static constexpr double little = 1e-3;  // fraction of the whole gain: a product that adds less may be the last
  static constexpr double least = 1e-12;  // the same, where the point found lies within its bounds
  static constexpr int most_halvings = 12;

  const Problem& problem;
  ChosenRows<R> z;
  double* weights;  // n_features + 1
  double* alpha;    // of all rows
  const double mu = problem.lam * problem.total;
  const std::size_t n = std::size_t(z.chosen.n), side = std::size_t(z.side);
  Doubles damp{Doubles(n, 0.0)};

  static double inner(const Doubles& a, const Doubles& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  }

  // sum_i d_i x_i^2
  double bent(const Doubles& x) const {
    double sum = 0.0;
    for (std::size_t k = 0; k < n; ++k) sum += damp[k] * x[k] * x[k];
    return sum;
  }

  FaceMove advance(Index most_products) {
    Doubles r(n), x(n, 0.0);
    z.scores(weights, r.data());
    for (std::size_t k = 0; k < n; ++k) {
      const Index i = z.chosen.rows[k];
      damp[k] = damping(problem, i);
      r[k] = 1.0 - double(problem.sign[i]) * at(problem.offset, i) - r[k] - damp[k] * alpha[i];
    }
    FaceMove move;
    move.products = climb(r, x, most_products);
    return project(r, x, move);
  }

  // x, the approximate maximum of the quadratic; returns the number of products that it took.
  Index climb(const Doubles& r, Doubles& x, Index most_products) {
    Doubles left = r, eased(n), along(n), scale(n), image(n), vector(side);
    for (std::size_t k = 0; k < n; ++k) {
      const double square = z.rows.squared_norm(z.chosen.rows[k]);
      const double curvature = square + mu * damp[k];
      scale[k] = curvature > 0.0 ? mu / curvature : 0.0;
      along[k] = scale[k] * left[k];
    }
    double size = inner(left, along), gained = 0.0;
    Index products = 0;
    while (products < most_products && size > 0.0 && !z.parallel.is_stopped()) {
      z.sum(along.data(), vector.data());
      const double curvature = inner(vector, vector) / mu + bent(along);
      ++products;
      if (!(curvature > 0.0)) break;
      const double length = size / curvature, gain = 0.5 * length * size;
      z.scores(vector.data(), image.data());
      for (std::size_t k = 0; k < n; ++k) {
        x[k] += length * along[k];
        left[k] -= length * (image[k] / mu + damp[k] * along[k]);
        eased[k] = scale[k] * left[k];
      }
      gained += gain;
      const double next = inner(left, eased);
      if (!(next > 0.0) || gain < least * gained || (gain < little * gained && !is_within_bounds(x))) break;
      for (std::size_t k = 0; k < n; ++k) along[k] = eased[k] + next / size * along[k];
      size = next;
    }
    return products;
  }

  // Whether all of x can be added to alpha.
  bool is_within_bounds(const Doubles& x) const {
    for (std::size_t k = 0; k < n; ++k) {
      const Index i = z.chosen.rows[k];
      const double moved = alpha[i] + x[k];
      if (moved < 0.0 || moved > upper_bound(problem, i)) return false;
    }
    return true;
  }

  FaceMove project(const Doubles& r, const Doubles& x, FaceMove move) {
    Doubles change(n), vector(side);
    double step = 1.0;
    for (int k = 0; k < most_halvings; ++k, step *= 0.5) {
      for (std::size_t l = 0; l < n; ++l) {
        const Index i = z.chosen.rows[l];
        change[l] = std::clamp(alpha[i] + step * x[l], 0.0, upper_bound(problem, i)) - alpha[i];
      }
      z.sum(change.data(), vector.data());
      ++move.products;
      const double gain = inner(r, change) - 0.5 * (inner(vector, vector) / mu + bent(change));
      if (!(gain > 0.0)) continue;
      for (std::size_t l = 0; l < n; ++l) {
        const Index i = z.chosen.rows[l];
        const double before = alpha[i];
        alpha[i] = std::clamp(before + step * x[l], 0.0, upper_bound(problem, i));
        move.linear += change[l] *
                       (1.0 - double(problem.sign[i]) * at(problem.offset, i) - 0.5 * damp[l] * (before + alpha[i]));
      }
      for (std::size_t j = 0; j < side; ++j) weights[j] += vector[j] / mu;
      move.gain = gain;
      return move;
    }
    return move;
  }
};

inline FaceMove face_advance(const Problem& problem, const Chosen& chosen, const Parallel& parallel, double* weights,
                             double* alpha, Index most_products) {
  return visit(problem.rows, [&]<class R>(const R& rows) {
    return Face<R>{problem, {problem, rows, chosen, parallel}, weights, alpha}.advance(most_products);
  });
}

}  // namespace pegasos::PEGASOS_ISA
