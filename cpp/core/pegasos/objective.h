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

// What weights cost: sum_i cost_i loss_i, and the least margin of the rows with a cost.
struct Losses {
  double sum;
  double least_margin;
};

}  // namespace pegasos
