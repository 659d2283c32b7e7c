// The sums of the certificate, in double precision, from the data: no solver has a part in them.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

// What one look at the rows tells, before anything is computed from them.
struct Inspection {
  Index out_of_bounds = -1;  // first row with a column outside [0, n_features) or broken starts
  Index unsorted = -1;       // first row whose columns do not strictly increase
  Index not_finite = -1;     // first row with NaN or infinity
  Index out_of_range = -1;   // first row whose squared norm is beyond the type that was to hold it
};

// What a dual point adds up to, and what tells how far rounding may have moved w(alpha): docs/theory/rounding.md.
// The rows are cut into stretches, at whose begin the length of the weights so far is looked at.
struct DualSums {
  double gain = 0.0;     // sum_i alpha_i (1 - sign_i offset_i), less `ridge`
  double spent = 0.0;    // sum_i alpha_i
  double wander = 0.0;   // sum over the stretches of |weights at its begin|, once per row that is added
  double climbed = 0.0;  // sum over the stretches of the alpha in it, once per row that is added
  double ridge = 0.0;    // sum_i ridge alpha_i^2 / (2 cost_i)
};

// What weights cost: sum_i cost_i loss_i, and the least margin of the rows with a cost.
struct Losses {
  double sum;
  double least_margin;
};

}  // namespace pegasos
