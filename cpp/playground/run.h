// One run of the playground: points of the plane in two or more classes, an algorithm, and what a look at it shows.
//
// The loops are those of the core, one step at a time. Several classes are one problem each, against the rest, with the
// same draws. With a kernel the loops run on the kernel matrix, and a point is its coefficients c: f(x) = sum_i c_i
// (k(x_i, x) + bias^2).
#pragma once

#include <vector>

#include "deck.h"
#include "pegasos/dual_ascent.inl"
#include "pegasos/kernel_blocks.inl"
#include "pegasos/linear_pegasos.inl"
#include "pegasos/objective.inl"
#include "pegasos/online.inl"

namespace pegasos::playground {

using namespace pegasos::PEGASOS_ISA;
using Values = std::vector<double>;

enum class Algorithm { pegasos, projected, averaged, perceptron, passive_aggressive, norma, dual_ascent };
enum class KernelKind { linear, radial, polynomial };

struct Choice {
  Algorithm algorithm;
  KernelKind kernel;
  Sampling sampling;
  double lam;
  double gamma;
  Index degree;
  Index batch_size;
  double size;  // C of passive-aggressive, eta of NORMA
  double bias;
  std::uint32_t seed;
};

// Weights, or with a kernel scores of all points; with the coefficients, and the dual point they belong to.
struct Point {
  Values weights;
  Values coefficients;
  Values alpha;
};

// An objective with the point that has it.
struct Best {
  double value;
  Point point;
};

// All weights that may be optimal lie in a ball.
struct Ball {
  Values weights;
  Values coefficients;
  double radius;
};

struct BinaryProblem {
  std::vector<std::int8_t> sign;
  Values weights, alphas, weight_sums, alpha_sums, coefficients;
  std::vector<RowNumber> order;
  PegasosCounters pegasos;
  DualCounters dual;
  Values margins;  // of the rows of the last step, before it
  std::vector<std::int32_t> violated;  // which of them moved the weights
  Point shown;
  Best primal, dual_bound;
  Ball ball;
  double primal_now, dual_now;
};

class Run {
 public:
  Run(Values points, std::vector<Index> codes, Index n_classes, const Choice& choice);

  void advance(Index n_steps);
  void look();  // objectives, and the ball that follows from the best of them

  // Scores of a point on a grid of size x size places, from -reach to reach in either direction, row by row from below.
  void scores_on_grid(const Values& weights, const Values& coefficients, Index size, double reach, double* out);
  double squared_norm_at(double x, double y) const;

  Index n_rows() const { return n_; }
  Index step() const { return step_; }
  double eta() const;
  bool has_kernel() const { return choice_.kernel != KernelKind::linear; }
  double largest_norm() const;
  const std::vector<std::int32_t>& drawn() const { return drawn_; }
  BinaryProblem& problem(Index k) { return problems_[std::size_t(k)]; }
  Index n_problems() const { return Index(problems_.size()); }

 private:
  Problem view(const BinaryProblem& mine) const;
  bool is_online() const;

  // Only the two kinds of rows that the playground has, so that the loops are not compiled for the others.
  template <class F>
  auto with_rows(F&& f) const {
    if (has_kernel()) return f(GramRows<double>{{matrix_.data(), n_, n_, 0.0, {nullptr}}});
    return f(DenseRows<double>{points_.data(), n_, 2, choice_.bias, {nullptr}});
  }

  double shrink() const { return choice_.algorithm == Algorithm::norma ? 1.0 - choice_.size * choice_.lam : 1.0; }
  double product(const Point& a, const Point& b) const;

  void step_pegasos(bool observed);
  void step_dual(bool observed);
  void step_online();
  void draw_batch();
  RowNumber next_of_order();
  Point point_of(const BinaryProblem& mine) const;
  Point point_of_dual(const BinaryProblem& mine, const Values& alpha, double& gain) const;
  void find_ball(BinaryProblem& mine);
  void grid_of_decay(const Values& coefficients, Index size, double reach, double* out);
  void grid_of_monomials(const Values& coefficients, Index size, double reach, double* out) const;

  Values points_;
  std::vector<Index> codes_;
  Choice choice_;
  Index n_;
  Values matrix_;  // the kernel matrix, with the square of the bias
  Rows rows_;
  Values squared_norms_;
  std::vector<BinaryProblem> problems_;
  std::vector<RowNumber> order_;  // of the online learners
  Deck deck_;  // of kernel Pegasos
  std::uint64_t random_;
  Index position_;
  OnlineCounters online_;
  Values online_weights_, rho_;
  Index step_ = 0;
  std::vector<std::int32_t> drawn_;
  Values decay_x_, decay_y_;  // exp(-gamma (place - x_i)^2), which the grid of a radial kernel factors into
  Index decay_size_ = 0;
};

}  // namespace pegasos::playground
