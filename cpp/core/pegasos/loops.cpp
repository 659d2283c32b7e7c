// Compiled once per instruction set, with PEGASOS_ISA naming it (see CMakeLists.txt).
#include "loops.h"

#include "crammer_singer.inl"
#include "cutting_plane.inl"
#include "decomposition.inl"
#include "dual_ascent.inl"
#include "face.inl"
#include "finite_newton.inl"
#include "interior_point.inl"
#include "kernel_blocks.inl"
#include "linear_pegasos.inl"
#include "long_sums.inl"
#include "newton.inl"
#include "objective.inl"
#include "online.inl"
#include "region.inl"
#include "sequence_kernels.inl"
#include "small_decomposition.inl"
#include "small_linear.inl"

#define PEGASOS_TEXT(name) #name
#define PEGASOS_NAME(name) PEGASOS_TEXT(name)

namespace pegasos::PEGASOS_ISA {

extern const Loops table;
const Loops table{PEGASOS_NAME(PEGASOS_ISA),
                  pegasos_advance,
                  dual_advance,
                  class_width,
                  joint_pegasos_advance,
                  joint_dual_advance,
                  joint_dual_sums,
                  joint_losses,
                  dual_sums,
                  losses,
                  losses_of_zero,
                  scores,
                  checked_scores,
                  inspect,
                  long_scores,
                  add_long,
                  residuals,
                  slope,
                  smooth,
                  arrive,
                  bend,
                  gram_room,
                  curvature,
                  finite_newton_advance,
                  alpha_of_scores,
                  gram_step,
                  weighted_gram,
                  weighted_sum,
                  reach_room,
                  squared_reaches,
                  cut,
                  outer,
                  interior_advance,
                  face_advance,
                  small_linear,
                  factor_room,
                  factor,
                  solve,
                  sequence_kernels::subsequences,
                  sequence_kernels::alignments,
                  sequence_kernels::warpings,
                  sequence_kernels::weighted_degrees,
                  apply_kernel,
                  few_rows_kernel,
                  packed_length,
                  pack_rows,
                  dense_kernel,
                  kernel_sums,
                  products_width,
                  csr_products,
                  pair_sums,
                  swap_columns,
                  mirror,
                  add_columns,
                  add_columns_exactly,
                  climb,
                  small_room,
                  small_solve,
                  online_advance,
                  shuffle};

}  // namespace pegasos::PEGASOS_ISA
