// A small linear problem from its start to the sums of its certificate, in one call and on one thread.
//
// Where the loss is curved everywhere (cap infinite), finite Newton steps solve it (finite_newton.h). Otherwise (ridge
// 0) an interior point does (interior_point.h); its dual variables are then moved to the bounds that their multipliers
// indicate, while the rows between their bounds compensate (face.h). If that leaves too large a gap, the iterations
// continue. The sums are computed at the end, from the data, by the functions of objective.h.
#pragma once

#include "objective.h"
#include "problem.h"
#include "types.h"

namespace pegasos {

struct SmallGoal {
  double gap;  // relative gap that suffices
  double aim;  // relative gap that the iterations aim at first
};

// Arrays owned by the caller, and what is found about them.
struct SmallLinear {
  double* weights;  // n_features + 1
  double* alpha;    // one entry per row, within its bounds
  double* own;      // n_features + 1: w(alpha)
  Index steps = 0;
  Index visits = 0;  // rows that the steps have read
  DualSums dual{};
  Losses losses{};
};

}  // namespace pegasos
