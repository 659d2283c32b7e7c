// The step rules of the online learners, one struct each.
//
//   shrink(step)        what the weights are multiplied by before the move, the step counted from 1
//   is_due(row, rho)    whether the row moves the weights; rho is the margin that NORMA asks for
//   move(row)           how far: push times sign x (times S, second order), gain to the confidence
//
// A new rule is one struct here, one line in `with_rule` and one word in the bindings.
#pragma once

#include <cmath>

#include "online.h"

namespace pegasos::PEGASOS_ISA {

// What a rule gets about a row. `square` is |x|^2, or x' S x for a rule of second order; only rules that request it get
// it.
struct Seen {
  double margin;
  double cost;
  double step;
  double square;
};

struct Move {
  double push;
  double gain = 0.0;
};

struct FirstOrder {
  static constexpr bool second_order = false;
  static constexpr bool needs_square = false;
  static constexpr bool square_decides = false;  // whether is_due needs it
  double shrink(double) const { return 1.0; }
};

struct SecondOrder {
  static constexpr bool second_order = true;
  static constexpr bool needs_square = true;
  static constexpr bool square_decides = false;
  double shrink(double) const { return 1.0; }
};

// Rosenblatt: The perceptron. Psychological Review 65, 1958.
struct Perceptron : FirstOrder {
  bool is_due(const Seen& row, double&) const { return row.margin <= 0.0; }
  Move move(const Seen& row) const { return {row.cost}; }
};

// Crammer, Dekel, Keshet, Shalev-Shwartz, Singer: Online passive-aggressive algorithms. JMLR 7, 2006, Fig. 1.
struct PassiveAggressive : FirstOrder {
  static constexpr bool needs_square = true;
  bool is_due(const Seen& row, double&) const { return row.margin < 1.0; }
  Move move(const Seen& row) const { return {(1.0 - row.margin) / row.square}; }
};

// PA-I: min_w 1/2 |w - w_t|^2 + C cost xi.
struct PassiveAggressive1 : PassiveAggressive {
  double C;
  explicit PassiveAggressive1(double C) : C(C) {}
  Move move(const Seen& row) const { return {std::fmin(C * row.cost, (1.0 - row.margin) / row.square)}; }
};

// PA-II: min_w 1/2 |w - w_t|^2 + C cost xi^2.
struct PassiveAggressive2 : PassiveAggressive {
  double C;
  explicit PassiveAggressive2(double C) : C(C) {}
  Move move(const Seen& row) const { return {(1.0 - row.margin) / (row.square + 0.5 / (C * row.cost))}; }
};

// Crammer, Dredze, Pereira: Exact convex confidence-weighted learning. NIPS 2008: the least change (Kullback and
// Leibler) of N(w, S) after which the row is right with probability eta; phi is the eta-quantile of the normal.
struct ConfidenceWeighted : SecondOrder {
  static constexpr bool square_decides = true;
  double phi;
  explicit ConfidenceWeighted(double phi) : phi(phi) {}

  bool is_due(const Seen& row, double&) const { return row.margin < phi * std::sqrt(row.square); }
  Move move(const Seen& row) const {
    const double m = row.margin, v = row.square, phi2 = phi * phi;
    const double psi = 1.0 + 0.5 * phi2, zeta = 1.0 + phi2;
    const double root = std::sqrt(0.25 * m * m * phi2 * phi2 + v * phi2 * zeta);
    const double push = std::fmax(0.0, (root - m * psi) / (v * zeta));
    const double b = push * v * phi;
    // The paper's sqrt(u) = (-b + sqrt(b^2 + 4 v)) / 2, without the difference, which cancels for small v.
    const double deviation = 2.0 * v / (b + std::sqrt(b * b + 4.0 * v));
    return {push, push * phi / deviation};
  }
};

// Crammer, Kulesza, Dredze: Adaptive regularization of weight vectors. Machine Learning 91, 2013. A cost divides r.
struct Arow : SecondOrder {
  double r;
  explicit Arow(double r) : r(r) {}
  bool is_due(const Seen& row, double&) const { return row.margin < 1.0; }
  Move move(const Seen& row) const { return {(1.0 - row.margin) / (row.square + r / row.cost), row.cost / r}; }
};

// Shalev-Shwartz, Singer, Srebro, Cotter: Pegasos. Mathematical Programming 127, 2011, Fig. 1.
struct PegasosStep : FirstOrder {
  double lam;
  explicit PegasosStep(double lam) : lam(lam) {}
  double shrink(double step) const { return 1.0 - 1.0 / step; }
  bool is_due(const Seen& row, double&) const { return row.margin < 1.0; }
  Move move(const Seen& row) const { return {row.cost / (lam * row.step)}; }
};

// Kivinen, Smola, Williamson: Online learning with kernels. IEEE Transactions on Signal Processing 52, 2004: gradient
// steps on lam/2 |f|^2 + max(0, rho - sign f(x)) - nu rho, of f and, where nu > 0, of rho.
struct Norma : FirstOrder {
  double eta, lam, nu;
  Norma(double eta, double lam, double nu) : eta(eta), lam(lam), nu(nu) {}
  double shrink(double) const { return 1.0 - eta * lam; }
  bool is_due(const Seen& row, double& rho) const {
    const bool due = row.margin < rho;
    if (nu > 0.0) rho += eta * row.cost * (due ? nu - 1.0 : nu);
    return due;
  }
  Move move(const Seen& row) const { return {eta * row.cost}; }
};

// Calls f with the rule that the settings name.
template <class F>
auto with_rule(const OnlineSettings& s, F&& f) {
  switch (s.rule) {
    case StepRule::perceptron:
      return f(Perceptron{});
    case StepRule::passive_aggressive:
      return f(PassiveAggressive{});
    case StepRule::passive_aggressive_1:
      return f(PassiveAggressive1{s.size});
    case StepRule::passive_aggressive_2:
      return f(PassiveAggressive2{s.size});
    case StepRule::confidence_weighted:
      return f(ConfidenceWeighted{s.size});
    case StepRule::arow:
      return f(Arow{s.size});
    case StepRule::pegasos:
      return f(PegasosStep{s.lam});
    case StepRule::norma:
      break;
  }
  return f(Norma{s.size, s.lam, s.nu});
}

}  // namespace pegasos::PEGASOS_ISA
