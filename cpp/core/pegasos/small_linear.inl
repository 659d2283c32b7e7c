#pragma once

#include <algorithm>
#include <cmath>

#include "face.inl"
#include "finite_newton.inl"
#include "interior_point.inl"
#include "objective.inl"
#include "small_linear.h"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

// The sums of the certificate of weights and alpha.
inline void measure(const Problem& problem, SmallLinear& found) {
  found.dual = dual_sums(problem, {found.alpha, Scalar::float64}, found.own, 0, problem.rows.n_rows);
  found.losses = losses(problem, found.weights, 0, n_distinct(problem.rows));
}

// The relative gap, without room for rounding.
inline double gap_of(const Problem& problem, const SmallLinear& found) {
  const Index side = problem.rows.n_features + 1;
  const double mu = problem.lam * problem.total;
  const double primal = found.losses.sum + 0.5 * mu * simd::squared_norm(found.weights, side);
  return (primal - (found.dual.gain - 0.5 * mu * simd::squared_norm(found.own, side))) / primal;
}

struct SmallInterior {
  using Doubles = Vector<double>;

  static constexpr Index most_iterations = 200, most_products = 300;
  static constexpr double least_width = 1e-8, least_aim = 1e-4;  // the second as a fraction of the first aim

  const Problem& problem;
  const SmallGoal& goal;
  SmallLinear& found;
  const Parallel& parallel;
  const std::size_t side = std::size_t(problem.rows.n_features) + 1;
  Vector<RowNumber> rows = rows_with_cost();
  const std::size_t n = rows.size();
  Doubles alpha{Doubles(n)}, slack{Doubles(n)}, lower{Doubles(n)}, upper{Doubles(n)}, best{Doubles(n)};
  Doubles weights{Doubles(side, 0.0)}, fixed{Doubles(side, 0.0)};
  InteriorCounters counters{};

  Vector<RowNumber> rows_with_cost() const {
    Vector<RowNumber> some;
    some.reserve(std::size_t(problem.rows.n_rows));
    for (Index i = 0; i < problem.rows.n_rows; ++i)
      if (at(problem.cost, i) > 0.0) some.push_back(RowNumber(i));
    return some;
  }

  double residual_of_zero(std::size_t k) const {
    return 1.0 - double(problem.sign[rows[k]]) * at(problem.offset, rows[k]);
  }

  // All products of a variable and its multiplier are equal, around the weights 0.
  void begin() {
    double width = 0.0, cost = 0.0;
    for (std::size_t k = 0; k < n; ++k) width += std::fabs(residual_of_zero(k)), cost += at(problem.cost, rows[k]);
    const double centre = std::max(width / double(n), least_width) * cost / double(n);
    for (std::size_t k = 0; k < n; ++k) {
      const double r = residual_of_zero(k), own = centre / upper_bound(problem, rows[k]);
      const double larger = 0.5 * (2.0 * own + std::fabs(r) + std::hypot(r, 2.0 * own));
      const double smaller = own * larger / (larger - own);  // larger - |r| would cancel
      lower[k] = r > 0.0 ? smaller : larger, upper[k] = r > 0.0 ? larger : smaller;
      alpha[k] = centre / lower[k], slack[k] = centre / upper[k];
    }
    counters.dual = 0.0;
  }

  void advance(double aim) {
    const Chosen chosen{rows.data(), Index(n)};
    const InteriorState state{weights.data(), fixed.data(),  alpha.data(), slack.data(), lower.data(),
                              upper.data(),   found.weights, best.data(),  nullptr,      &counters};
    interior_advance(problem, chosen, state, parallel, most_iterations, aim, 0.0);
  }

  // The best dual point, as it is or with every row on the bound that its multiplier indicates.
  void place(bool on_bounds) {
    std::fill(found.alpha, found.alpha + problem.rows.n_rows, 0.0);
    Vector<RowNumber> free;
    for (std::size_t k = 0; k < n; ++k) {
      const Index i = rows[k];
      const double cost = at(problem.cost, i), bound = upper_bound(problem, i);
      double& a = found.alpha[i] = std::clamp(best[k], 0.0, bound);
      if (!on_bounds) continue;
      if (upper[k] * cost > slack[k])
        a = bound;
      else if (lower[k] * cost > alpha[k])
        a = 0.0;
      else if (0.0 < a && a < bound)
        free.push_back(RowNumber(i));
    }
    if (on_bounds && !free.empty()) {
      dual_sums(problem, {found.alpha, Scalar::float64}, found.own, 0, problem.rows.n_rows);
      face_advance(problem, {free.data(), Index(free.size())}, parallel, found.own, found.alpha, most_products);
    }
    measure(problem, found);
  }

  void solve() {
    begin();
    for (double aim = goal.aim; aim >= least_aim * goal.aim; aim *= 0.1) {
      advance(aim);
      place(true);
      if (gap_of(problem, found) <= goal.gap || counters.stalled) break;
    }
    if (gap_of(problem, found) > goal.gap) place(false);
    found.steps = counters.iterations, found.visits = counters.iterations * Index(n);
  }
};

inline void small_newton(const Problem& problem, const SmallGoal& goal, SmallLinear& found, const Parallel& parallel) {
  constexpr Index usual_steps = 12, most_steps = 60;
  const std::size_t n = std::size_t(n_distinct(problem.rows)), side = std::size_t(problem.rows.n_features) + 1;
  Vector<double> sum(side, 0.0), scores(n), other(n);
  FiniteCounters counters;
  const FiniteState state{found.weights, sum.data(), scores.data(), other.data(), &counters};
  std::fill(found.weights, found.weights + side, 0.0);
  finite_newton_advance(problem, state, parallel, usual_steps, goal.aim);
  finite_newton_advance(problem, state, parallel, most_steps - usual_steps, goal.gap);
  alpha_of_scores(problem, scores.data(), found.alpha, 0, Index(n));
  found.steps = counters.steps, found.visits = counters.visits;
  measure(problem, found);
}

inline void small_linear(const Problem& problem, const SmallGoal& goal, SmallLinear& found) {
  const Parallel alone{1, nullptr};
  if (problem.ridge > 0.0)
    small_newton(problem, goal, found, alone);
  else
    SmallInterior{problem, goal, found, alone}.solve();
}

}  // namespace pegasos::PEGASOS_ISA
