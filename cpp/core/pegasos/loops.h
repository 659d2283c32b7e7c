// The loops, compiled once per instruction set, behind one table of functions.
#pragma once

#include "crammer_singer.h"
#include "cutting_plane.h"
#include "decomposition.h"
#include "dual_ascent.h"
#include "face.h"
#include "finite_newton.h"
#include "interior_point.h"
#include "kernel_blocks.h"
#include "linear_pegasos.h"
#include "newton.h"
#include "objective.h"
#include "online.h"
#include "problem.h"
#include "region.h"
#include "sequence_kernels.h"
#include "small_linear.h"

namespace pegasos {

struct Loops {
  const char* instruction_set;
  void (*pegasos_advance)(const Problem&, const PegasosSettings&, const PegasosState&, Index n_steps);
  void (*dual_advance)(const Problem&, const DualState&, Index n_visits);
  Index (*class_width)(Index n_classes);
  void (*joint_pegasos_advance)(const JointProblem&, const PegasosSettings&, const JointPegasosState&, Index n_steps);
  void (*joint_dual_advance)(const JointProblem&, const JointDualState&, Index n_visits);
  DualSums (*joint_dual_sums)(const JointProblem&, const Buffer& alpha, double* weights, double* room);
  Losses (*joint_losses)(const JointProblem&, const double* weights, double* room);
  DualSums (*dual_sums)(const Problem&, const Buffer& alpha, double* weights, Index begin, Index end);
  Losses (*losses)(const Problem&, const double* weights, Index begin, Index end);
  double (*losses_of_zero)(const Problem&, Index begin, Index end);
  void (*scores)(const Rows&, const double* weights, Index n_vectors, double* scores, Index begin, Index end);
  Inspection (*checked_scores)(const Rows&, const double* weights, Index n_vectors, double* scores, Index begin,
                               Index end);
  Inspection (*inspect)(const Rows&, const Buffer& squared_norms, Index begin, Index end);
  void (*long_scores)(const Rows&, const long double* weights, long double* scores, long double* sizes, Index begin,
                      Index end);
  void (*add_long)(const Rows&, const long double* coefficients, long double* sums, long double* sizes,
                   long double* room, Index begin, Index end);
  void (*residuals)(const Problem&, const Buffer& weights, const Buffer& out, Index begin, Index end);
  Slope (*slope)(const Problem&, const Line&, double softness, Index begin, Index end);
  Smoothed (*smooth)(const Problem&, const SmoothedState&, double softness, Index begin, Index end);
  Arrival (*arrive)(const Problem&, const Buffer& weights, const SmoothedState&, double softness, Index begin,
                    Index end);
  void (*bend)(const Problem&, const Buffer& residual, double softness, const Buffer& vector, double* out, double* room,
               Index begin, Index end);
  Index (*gram_room)(Index side);
  void (*curvature)(const Problem&, const Buffer& residual, double softness, Index every, double* matrix, double* room,
                    Index begin, Index end);
  void (*finite_newton_advance)(const Problem&, const FiniteState&, const Parallel&, Index n_steps, double target);
  void (*alpha_of_scores)(const Problem&, const double* scores, double* alpha, Index begin, Index end);
  Index gram_step;
  void (*weighted_gram)(const Rows&, const double* scale, double* matrix, double* room, Index from, Index to);
  void (*weighted_sum)(const Rows&, const double* coefficients, double* out);
  Index (*reach_room)(Index side);
  void (*squared_reaches)(const Rows&, const Pattern&, double* out, double* room, Index begin, Index end);
  Plane (*cut)(const Problem&, const double* weights, std::uint8_t* violated, double* normal, Index begin, Index end);
  void (*outer)(const Problem&, const Chosen&, double* matrix, const Parallel&);
  void (*interior_advance)(const Problem&, const Chosen&, const InteriorState&, const Parallel&, Index n_iterations,
                           double target, double constant);
  FaceMove (*face_advance)(const Problem&, const Chosen&, const Parallel&, double* weights, double* alpha,
                           Index most_products);
  void (*small_linear)(const Problem&, const SmallGoal&, SmallLinear&);
  Index (*factor_room)(Index side);
  bool (*factor)(double* matrix, Index side, double* room, const Parallel&);
  void (*solve)(const double* matrix, Index side, double* vector);
  void (*subsequences)(const SequencePairs&, const SubsequenceSettings&, double* room, double* out);
  void (*alignments)(const SequencePairs&, const AlignmentSettings&, double* room, double* out);
  void (*warpings)(const SequencePairs&, double* room, double* out);
  void (*weighted_degrees)(const BitPlanes& a, Index i, const BitPlanes& b, Index begin, Index end,
                           const DegreeSettings&, std::uint64_t* room, double* out);
  void (*apply_kernel)(const KernelFunction&, const Block&, const double* left, const void* right);
  void (*few_rows_kernel)(const KernelFunction&, const Block& x, const Block& z, const double* left, const void* right,
                          const Block& out);
  Index (*packed_length)(Scalar, Index n_rows, Index n_features);
  void (*pack_rows)(const Block& z, void* packed);
  void (*dense_kernel)(const KernelFunction&, const Block& x, const void* packed, const double* left, const void* right,
                       const Block& out);
  void (*kernel_sums)(const KernelFunction&, const Block& x, const void* packed, const double* left, const void* right,
                      const double* factors, Index n_columns, double* scores);
  Index (*products_width)(Scalar);
  void (*csr_products)(const Rows&, Index begin, Index end, const void* transposed, const Block& out);
  void (*pair_sums)(PairTerm, const Block& left, const Block& right, const Block& out);
  void (*swap_columns)(const Block& table, const Index* first, const Index* second, Index n, Index begin, Index end);
  void (*mirror)(const Block& table, Index old, Index begin, Index end);
  void (*add_columns)(const Block& table, const Index* slots, const double* factors, Index n, Index begin, Index end,
                      double* scores);
  void (*add_columns_exactly)(const Block& table, const Index* slots, const double* factors, Index n, Index begin,
                              Index end, double* high, double* low);
  Ascent (*climb)(KernelColumns&, DualPoint&, const Goal&);
  Index (*small_room)(Index n, Index n_features);
  Index (*small_solve)(const KernelColumns& larger, const SmallProblem&, double* room);
  Index (*online_advance)(const OnlineStream&, const OnlineSettings&, const OnlineState&, const Visits&);
  std::uint64_t (*shuffle)(RowNumber* order, Index n, std::uint64_t random);
};

// The table of the named instruction set ("avx512", "avx2", "baseline"), or of the best one when the name is
// empty; null when this processor, or this build, does not support it.
const Loops* find_loops(const char* wanted);

}  // namespace pegasos
