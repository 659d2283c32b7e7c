#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decomposition.inl"

namespace pegasos::PEGASOS_ISA {

// Where sum_j b_j = 0 except for rounding: reduces the heavier side, using rows between their bounds where possible.
inline void balance(Index n, const double* lower, const double* upper, double* b) {
  constexpr double small_share = 0.1;
  double sums[2] = {}, between[2] = {};
  for (Index k = 0; k < n; ++k) {
    sums[b[k] < 0.0] += std::abs(b[k]);
    if (b[k] > lower[k] && b[k] < upper[k]) between[b[k] < 0.0] += std::abs(b[k]);
  }
  const bool heavier = sums[1] > sums[0];
  const double excess = sums[heavier] - sums[!heavier];
  if (!(excess > 0.0)) return;
  const bool is_small = excess < small_share * between[heavier];
  const double factor = is_small ? 1.0 - excess / between[heavier] : sums[!heavier] / sums[heavier];
  for (Index k = 0; k < n; ++k)
    if (b[k] != 0.0 && (b[k] < 0.0) == heavier && (!is_small || (b[k] > lower[k] && b[k] < upper[k]))) b[k] *= factor;
}

// Solves a small problem on some of the rows of a larger one; `room` is for small_room(n, features) doubles.
inline Index small_room(Index n, Index n_features) {
  return (6 + 2 * n_features) * n + (3 + n_features) * n + 2 * packed_length(Scalar::float64, n, n_features);
}

// Moves the first rows of each sign from 0 to their bounds, until `spent` is spent.
template <class T>
void spend(KernelColumns& columns, DualPoint& point, double spent) {
  double left[2] = {spent, spent};
  double linear = 0.0;
  Vector<std::pair<Index, double>> moves;
  for (Index k = 0; k < point.n; ++k) {
    const int g = point.group_of(k);
    const double m = g == 0 ? std::min(left[0], point.up[k]) : std::max(-left[1], point.down[k]);
    if (m == 0.0) continue;
    left[g] -= std::abs(m);
    point.up[k] -= m;
    point.down[k] -= m;
    linear += m * point.slope[k];
    moves.push_back({k, m});
  }
  for (const auto& [k, m] : moves) simd::add(-point.unit * m, ColumnStore<T>{columns}.column(k), point.slope, point.n);
  point.dual = 0.5 * linear;
  for (const auto& [k, m] : moves) point.dual += 0.5 * m * point.slope[k];
}

// Ascends until the gap is a share of the objective of the problem whose solution spends as much; writes the parameter
// of that problem, see SmallProblem.
inline Index climb_to_width(KernelColumns& columns, DualPoint& point, const SmallProblem& problem, bool has_both) {
  constexpr int rounds = 20;
  Goal goal = problem.goal;
  goal.share = 0.0;
  goal.enough = 0.01 * climb(columns, point, {0.0, 0.0, 0, 0.0}).gap;  // without a step
  const double spent = problem.spent * (has_both ? 2.0 : 1.0);
  for (int round = 0; round < rounds; ++round) {
    const Ascent ascent = climb(columns, point, goal);
    *problem.width = has_both ? 0.5 * (ascent.level[0] - ascent.level[1]) : ascent.level[0];
    goal.n_steps -= ascent.n_steps;
    const double enough = problem.goal.share * std::max(point.dual - *problem.width * spent, 0.0);
    const bool is_at_limit = ascent.gap > goal.enough;
    if (ascent.gap <= enough || ascent.is_stuck || is_at_limit) break;
    goal.enough = enough > 0.0 ? std::min(0.5 * goal.enough, enough) : 0.1 * goal.enough;
  }
  return problem.goal.n_steps - goal.n_steps;
}

// The arrays of a small problem while it is solved, within `room`.
template <class T>
struct SmallSolver {
  const KernelColumns& larger;
  const SmallProblem& problem;
  double* const room;
  const Index n = problem.n, d = larger.is_computed ? larger.rows.n_columns : 0;
  double *const slope = room, *const down = slope + n, *const up = down + n, *const curvature = up + n;
  double *const left = curvature + n, *const packed = slope + (6 + 2 * d) * n;
  T *const right = reinterpret_cast<T*>(left + n), *const x = reinterpret_cast<T*>(left + 2 * n), *const z = x + n * d;
  Vector<Index> slots = Vector<Index>(std::size_t(n), -1);
  Vector<std::int8_t> sign = {};
  KernelColumns own = larger;
  DualPoint point{n, slope, down, up, curvature, nullptr, problem.unit, problem.keeps_sum, 0.0};

  bool is_mixed() const { return larger.exact != nullptr; }

  void gather() {
    own.table = problem.table;
    own.slot_of = slots.data();
    own.place_of = nullptr;
    own.n_kept = 0;
    if (!larger.is_computed && n == larger.larger.n_rows && std::is_sorted(problem.members, problem.members + n)) {
      own.table = larger.larger;
      std::iota(slots.begin(), slots.end(), Index(0));
      own.n_kept = n;
    }
    own.members = problem.members;
    own.rows = Block{x, larger.table.scalar, n, d, d};
    own.transposed = Block{z, larger.table.scalar, d, n, n};
    own.left = left;
    own.right = right;
    for (Index k = 0; k < n; ++k) {
      const Index member = problem.members[k];
      slope[k] = problem.target[k];
      down[k] = problem.lower[k];
      up[k] = problem.upper[k];
      curvature[k] = problem.unit * problem.diagonal[member];
      if (!larger.is_computed) continue;
      left[k] = larger.left[member];
      right[k] = T(left[k]);
      const T* from = static_cast<const T*>(larger.rows.data) + member * larger.rows.stride;
      std::copy_n(from, d, x + k * d);
    }
    const Index half = n / 2;
    if (larger.is_computed && n == 2 * half && std::equal(x, x + half * d, x + half * d) &&
        std::equal(left, left + half, left + half)) {
      own.half = half;
      own.transposed.n_columns = half;
    }
    if (larger.is_computed && own.half == 0 && are_far(own.rows)) {
      pack_rows(own.rows, packed);
      own.packed = packed;
      return;
    }
    for (Index k = 0; k < n; ++k)
      for (Index f = 0; f < d; ++f) z[f * n + k] = x[k * d + f];
  }

  Index ascend() {
    constexpr Index few_steps_per_row = 2;
    Goal goal = problem.goal;
    if (is_mixed()) goal.share *= aim_of_single;
    const Ascent ascent = climb(own, point, goal);
    if (!(problem.fine > 0.0 && ascent.gap <= goal.share * point.dual)) return ascent.n_steps;
    goal.share = problem.fine;
    goal.n_steps = few_steps_per_row * n;
    return ascent.n_steps + climb(own, point, goal).n_steps;
  }

  // The solution of the nu-dual; also writes its width.
  Index ascend_to_width(bool has_both) {
    point.sign = sign.data();
    spend<T>(own, point, problem.spent);
    return climb_to_width(own, point, problem, has_both);
  }

  // Computed from the nearer bound, because the distance to the farther one has lost its last digits.
  void write_solution(bool has_both) {
    double* const b = problem.b;
    for (Index k = 0; k < n; ++k) b[k] = -down[k] < up[k] ? problem.lower[k] - down[k] : problem.upper[k] - up[k];
    if (problem.keeps_sum && has_both) balance(n, problem.lower, problem.upper, b);
    for (Index k = 0; k < n; ++k) problem.scores[k] = 0.0;
    if (is_mixed()) return add_exact_scores();
    for (Index k = 0; k < n; ++k)
      if (b[k] != 0.0) simd::add(problem.unit * b[k], ColumnStore<T>{own}.column(k), problem.scores, n);
  }

  // The scores by kernel values in double.
  void add_exact_scores() const {
    double* const all = packed + packed_length(Scalar::float64, n, d);
    double *rows = all + packed_length(Scalar::float64, n, d), *norms = rows + n * d, *factors = norms + n,
           *all_norms = factors + n;
    const auto copy = [&](Index k, Index to) { std::copy_n(larger.exact + problem.members[k] * d, d, rows + to * d); };
    for (Index k = 0; k < n; ++k) copy(k, k);
    for (Index k = 0; k < n; ++k) all_norms[k] = left[k];
    pack_rows(Block{rows, Scalar::float64, n, d, d}, all);
    Index n_moved = 0;
    for (Index k = 0; k < n; ++k) {
      if (problem.b[k] == 0.0) continue;
      copy(k, n_moved);
      norms[n_moved] = left[k];
      factors[n_moved++] = problem.unit * problem.b[k];
    }
    kernel_sums(larger.function, Block{rows, Scalar::float64, n_moved, d, d}, all, norms, all_norms, factors, n,
                problem.scores);
  }

  // Goes on from exact slopes while single precision has left too large a gap; what is still to be moved is small then,
  // and so are its errors.
  Index refine(Index n_steps, bool has_both) {
    constexpr int most_rounds = 4;
    for (int round = 0; round < most_rounds; ++round) {
      point.dual = 0.0;
      for (Index k = 0; k < n; ++k) {
        slope[k] = problem.target[k] - problem.scores[k];
        down[k] = problem.lower[k] - problem.b[k];
        up[k] = problem.upper[k] - problem.b[k];
        point.dual += 0.5 * problem.b[k] * (problem.target[k] + slope[k]);
      }
      Goal goal = problem.goal;
      goal.n_steps -= n_steps;
      goal.enough = goal.share * point.dual;
      goal.share = 0.0;
      if (goal.n_steps <= 0 || climb(own, point, {0.0, 0.0, 0, 0.0}).gap <= goal.enough) break;
      goal.enough *= aim_of_single;
      const Index taken = climb(own, point, goal).n_steps;
      if (taken == 0) break;
      n_steps += taken;
      write_solution(has_both);
    }
    return n_steps;
  }

  Index solve() {
    gather();
    if (problem.width != nullptr)
      for (Index k = 0; k < n; ++k) sign.push_back(problem.lower[k] < 0.0 ? -1 : 1);
    const bool has_both = sign.empty() || std::find(sign.begin(), sign.end(), -1) != sign.end();
    const Index n_steps = problem.width != nullptr ? ascend_to_width(has_both) : ascend();
    write_solution(has_both);
    return is_mixed() ? refine(n_steps, has_both) : n_steps;
  }

  static constexpr double aim_of_single = 0.6;  // of the gap asked for: the rest is for rounding
};

template <class T>
Index solve_small(const KernelColumns& larger, const SmallProblem& problem, double* room) {
  return SmallSolver<T>{larger, problem, room}.solve();
}

inline Index small_solve(const KernelColumns& larger, const SmallProblem& problem, double* room) {
  return larger.table.scalar == Scalar::float32 ? solve_small<float>(larger, problem, room)
                                                : solve_small<double>(larger, problem, room);
}

}  // namespace pegasos::PEGASOS_ISA
