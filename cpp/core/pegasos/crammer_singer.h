// The problem of all classes at once: its own Pegasos, and its own dual ascent.
//
//   min_W  lam/2 |W|^2 + (1/total) sum_i cost_i (max_r g_ir - g_{i y_i})
//   g_ir = [r != y_i] + <w_r, x_i> + offset_ir
//
// Crammer, Singer: On the algorithmic implementation of multiclass kernel-based vector machines. JMLR 2, 2001. Dual:
//
//   max_a  (1/total) sum_{i, r != y_i} a_ir (1 + offset_ir - offset_{i y_i}) - lam/2 |W(a)|^2
//   a_ir >= 0,  sum_{r != y_i} a_ir <= cost_i,  w_r(a) = 1/(lam total) sum_i ([y_i = r] sum_s a_is - a_ir) x_i
//
// The entry of a row's own class is 0 wherever a is stored. What the row has left of its cost is its slack; with the
// slack instead of that entry, a_i is a point of the simplex {a >= 0, sum_r a_r = cost_i}.
//
// Pegasos (Shalev-Shwartz, Singer, Srebro, Cotter: Mathematical Programming 127, 2011): step t draws k rows; of each
// the class s != y_i with the largest g_is is its rival, and the row violates when g_is > g_{i y_i}. It sets, with
// eta = 1/(lam t),
//
//   W <- (1 - 1/t) W,   a <- (1 - 1/t) a,   and for each violator
//   w_{y_i} += eta/k (n/total) cost_i x_i,  w_s -= the same,  a_is += n/(t k) cost_i
//   W, a <- both scaled down to |W| <= radius                                   when projecting
//
// so that W = W(a) at every step.
//
// Dual ascent (Keerthi, Sundararajan, Chang, Hsieh, Lin: A sequential dual method for large scale multi-class linear
// SVMs, KDD 2008): a visit of row i maximizes over all of a_i. The maximum is the projection on the simplex of
//
//   a_i + step_i g_i,   step_i = lam total / |x_i|^2
//
// found by Michelot's method (Journal of Optimization Theory and Applications 50, 1986), which is exact and sorts
// nothing. For W = W(a) the duality gap is (1/total) sum_i sum_r a_ir (max_s g_is - g_ir), slacks included: each sweep
// over all rows yields an estimate of it at no cost. A row whose whole cost is on the class of the best claim leaves
// the sweep ("shrinking"). All rows come back when those left have brought their terms of the gap down to half of the
// gap that the last sweep over all rows saw.
#pragma once

#include "dual_ascent.h"
#include "linear_pegasos.h"
#include "problem.h"

namespace pegasos {

// As PegasosState, with weights laid out as in class_weights.h. The invariant of PegasosCounters holds.
struct JointPegasosState {
  Buffer weights;        // (n_features + 1) * class_width
  Buffer alphas;         // n_rows * n_classes, same type
  Buffer weight_sums;    // as weights, or empty when not averaging
  Buffer alpha_sums;     // as alphas, or empty when not averaging
  RowNumber* order;      // n_rows when shuffling
  RowNumber* batch;      // batch_size: room for the violators of one step
  std::int32_t* rivals;  // batch_size: room for their rivals
  Buffer room;           // 2 * class_width, of the weights' type
  PegasosCounters* counters;
};

// A class that has a share of a row's cost, or may gain one.
struct Contender {
  Index number;
  double share;
  double claim;        // g_ir - 1
  double push = 0.0;   // what its claim adds to the share, before the row is scaled back to its cost
  double moved = 0.0;  // the share it moves to
};

// In the counters of dual ascent, `sweep_gap` is that of the last sweep over all rows; there are no bounds on r_i.
struct JointCounters : DualCounters {
  Index begun = 0;  // number of rows at the beginning of the sweep
};

struct JointDualState {
  Buffer weights;           // (n_features + 1) * class_width
  Buffer alpha;             // n_rows * n_classes, same type
  RowValues squared_norms;  // n_rows
  RowNumber* order;         // n_rows
  Buffer room;              // 2 * class_width, of the weights' type
  Contender* list;          // n_classes: room for one row
  JointCounters* counters;
};

}  // namespace pegasos
