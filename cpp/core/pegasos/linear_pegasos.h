// Linear Pegasos (Shalev-Shwartz, Singer, Srebro, Cotter: Mathematical Programming 127, 2011, Fig. 1-2).
//
//   min_w  lam/2 |w|^2 + (1/total) sum_i cost_i phi(r_i),   r_i = 1 - sign_i (<w, x_i> + offset_i)
//
// Step t draws a batch A of k rows, finds those that violate (r_i > 0), and with eta = 1/(lam t) and the slope
// s_i = phi'(r_i) of the loss, which is 1 for the hinge, sets
//
//   w     <- (1 - 1/t) w     + eta/k (n/total) sum_violators s_i weight_i cost_i sign_i x_i
//   alpha <- (1 - 1/t) alpha + n/(t k) s_i weight_i cost_i        for each violator i
//   w, alpha <- both scaled down to |w| <= radius                 when projecting
//
// A loss without a cap has slopes of any size, and the first steps are long: there the slope is taken where the step
// ends (Kulis, Bartlett: Implicit online learning. ICML 2010), s_i = r_i / (ridge + eta (n/total) weight_i cost_i
// |x_i|^2), which tends to phi'(r_i).
//
// where weight_i = 1/n over the probability of drawing i: 1, or 2 n_c / n when the two signs are drawn equally often
// and n_c rows have the sign of i. The expected step is then that of P, however rows are drawn.
//
// so that w = 1/(lam total) sum_i alpha_i sign_i x_i at every step: Pegasos maintains a dual point.
//
// Given: the problem, a state at step t. Results: the state at step t + n_steps. A step costs
// O(non-zeros of the batch): the shrinking is kept in one scale.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

struct PegasosSettings {
  Index batch_size;
  Sampling sampling;
  bool project;
  bool average;
  double radius;
};

// Invariant: w = scale * weights, alpha = scale * alphas, |weights|^2 = squared_norm (kept when projecting).
// Averages of the iterates w_t over the last `averaged` steps, at no cost per feature:
//   sum of w_t     = scale_sum * weights - weight_sums
//   sum of alpha_t = scale_sum * alphas  - alpha_sums
struct PegasosCounters {
  Index step = 0;
  Index position = 0;
  std::uint64_t random = 0;
  double scale = 1.0;
  double squared_norm = 0.0;
  double scale_sum = 0.0;
  Index averaged = 0;
};

struct PegasosState {
  Buffer weights;      // n_features + 1
  Buffer alphas;       // n_rows, same type
  Buffer weight_sums;  // n_features + 1, or empty when not averaging
  Buffer alpha_sums;   // n_rows, or empty when not averaging
  RowNumber* order;    // n_rows when shuffling; negative rows first when balanced
  RowNumber* batch;    // batch_size: room for the violators of one step
  double* slopes;      // batch_size: room for the slopes of their losses
  PegasosCounters* counters;
};

}  // namespace pegasos
