// Online learners: one row after another, each with its own step rule (online_rules.h), all with one loop.
//
// A row x of class y is scored by each of the problems k (one-vs-rest; two classes form one problem), and
// with sign = +1 for the problem of its class, -1 for the others, a rule that is due moves
//
//   first order    w_k <- shrink w_k,  w_k <- w_k + push sign x
//   second order   w_k <- w_k + push sign S_k x,   1 / S_kj <- 1 / S_kj + gain x_j^2       (S_k diagonal)
//
// Given: rows with their classes and costs, the order to visit them in, a state. Results: the state after the rows at
// positions begin..end of that order. A step costs the non-zeros of its row.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

enum class StepRule {
  perceptron,
  passive_aggressive,
  passive_aggressive_1,
  passive_aggressive_2,
  confidence_weighted,
  arow,
  pegasos,
  norma
};

// `size` is the parameter that most rules have: C, phi, r or eta.
struct OnlineSettings {
  StepRule rule;
  double size;
  double lam;
  double nu;
};

// `order` holds numbers of rows. A row is never given a cost of 0: such rows are left out of the order.
struct OnlineStream {
  Rows rows;
  const Index* codes;
  Column cost;
  const RowNumber* order;
  Index n_problems;
};

// Invariant: w_k = scale * weights_k. The sum of the iterates w_1 .. w_t is scale_sum * weights - sums.
struct OnlineCounters {
  Index step = 0;
  Index mistakes = 0;
  double loss = 0.0;
  double scale = 1.0;
  double scale_sum = 0.0;
};

struct OnlineState {
  double* weights;    // n_problems x (n_features + 1)
  double* sums;       // the same, or null when not averaging
  double* variances;  // the same: the diagonals S_k of a second order rule, or null
  double* rho;        // n_problems: the margins that NORMA requires
  double* scores;     // n_problems: room
  double* moves;      // n_problems x n_moves: the signed push of each visit, or null
  Index n_moves;
  OnlineCounters* counters;
};

// The positions of the order to visit. The loop ends early after max_moves rows that moved something.
struct Visits {
  Index begin;
  Index end;
  Index max_moves;
};

}  // namespace pegasos
