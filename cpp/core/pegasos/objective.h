// The sums of the certificate, in double precision, from the data, independent of any solver.
#pragma once

#include "problem.h"
#include "types.h"

namespace pegasos {

// What one inspection of the rows finds, before anything is computed from them.
struct Inspection {
  Index out_of_bounds = -1;  // first row with a column outside [0, n_features) or broken starts
  Index unsorted = -1;       // first row whose columns do not strictly increase
  Index not_finite = -1;     // first row with NaN or infinity
  Index out_of_range = -1;   // first row whose squared norm exceeds the range of its type
};

// The sums of a dual point, and what bounds the rounding error of w(alpha): docs/theory/rounding.md. The rows are cut
// into stretches, at whose beginning the length of the weights so far is measured.
struct DualSums {
  double gain = 0.0;     // sum_i alpha_i (1 - sign_i offset_i), minus `ridge`
  double spent = 0.0;    // sum_i alpha_i
  double wander = 0.0;   // sum over the stretches of |weights at its beginning|, once per row that is added
  double climbed = 0.0;  // sum over the stretches of the alpha in it, once per row that is added
  double ridge = 0.0;    // sum_i ridge alpha_i^2 / (2 cost_i)
};

// The cost of weights: sum_i cost_i loss_i, and the least margin of the rows with a positive cost.
struct Losses {
  double sum;
  double least_margin;
};

}  // namespace pegasos
