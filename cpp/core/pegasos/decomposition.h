// The inner loop of decomposition: greedy coordinate ascent of the dual on a working set, its kernel matrix at hand.
//
//   max_b  sum_j b_j target_j - 1/2 b' K b / (lam total),   lower_j <= b_j <= upper_j
//
// with b_j = sign_j alpha_j, so that lower..upper is 0..cost for sign +1 and -cost..0 for sign -1. The slope of
// coordinate j is h_j = sign_j - offset_j - score_j; moving it by m gains m (h_j - m / (2 step_j)),
// step_j = lam total / K_jj. Each step takes the coordinate that gains most, as far as it goes, and subtracts its
// column from the slopes: what SVM-light (Joachims 1999) and SMO (Platt 1998; Fan, Chen, Lin 2005 for the choice by
// gain) do, without the equality constraint that makes them move two at a time.
//
// Given: the slopes, b and its bounds. Results: b and the slopes after at most n_steps steps, or once no coordinate
// gains `enough`; the number of steps.
#pragma once

#include "kernel_blocks.h"

namespace pegasos {

struct WorkingSet {
  Block kernel;      // n x n
  Buffer slope;      // n, in the type of the kernel, like all that follow
  Buffer down;       // lower - b, at most 0
  Buffer up;         // upper - b, at least 0
  Buffer step;
  Buffer curvature;  // 1 / step
  bool one_step;     // all entries of `step` are equal
};

}  // namespace pegasos
