#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "class_weights.h"
#include "loss.h"
#include "objective.h"
#include "rows.h"

namespace pegasos::PEGASOS_ISA {

// sum of term(i) over first <= i < last, added in blocks, so that rounding grows with the number of blocks, not of
// rows.
template <class Term>
inline double sum_in_blocks(Index first, Index last, Term&& term) {
  constexpr Index block_rows = 512;
  double total = 0.0;
  for (Index begin = first; begin < last; begin += block_rows) {
    const Index end = begin + block_rows < last ? begin + block_rows : last;
    double part = 0.0;
    for (Index i = begin; i < end; ++i) part += term(i);
    total += part;
  }
  return total;
}

// The contribution of a stretch of rows to DualSums, in addition to the gain.
struct Stretch {
  double length = 0.0;  // length of the weights at its beginning
  double spent = 0.0;
  double added = 0.0;  // number of rows
  double ridge = 0.0;

  void close(DualSums& sums) const {
    sums.spent += spent;
    sums.wander += added * length;
    sums.climbed += added * spent;
    sums.ridge += ridge;
  }
};

// Upper bound of |weights|; infinite if a square overflows.
inline double length_above(const double* weights, Index n) {
  constexpr double lost = 1e-150;  // more than squares below the range of double can hide
  return std::sqrt(simd::squared_norm(weights, n)) + lost * std::sqrt(double(n));
}

// Rows of a stretch: enough that measuring the weights costs little compared to adding the rows.
template <class R>
inline Index stretch_rows(const R& rows, Index begin, Index end, Index block_rows) {
  constexpr Index sample = 64, cheapness = 16;
  const Index last = begin + sample < end ? begin + sample : end;
  Index stored = 1;
  for (Index i = begin; i < last; ++i) stored += rows.entries(i).n;
  const Index wanted = cheapness * rows.n_features * (last - begin) / stored;
  return (wanted / block_rows + 1) * block_rows;
}

// The sum of term(i, stretch) over begin <= i < end, added in the blocks of sum_in_blocks; `n_weights` of them grow.
template <class R, class Term>
inline DualSums sum_in_stretches(const R& rows, Index begin, Index end, const double* weights, Index n_weights,
                                 Term&& term) {
  constexpr Index block_rows = 512;
  DualSums sums;
  if (begin >= end) return sums;
  const Index n_stretch = stretch_rows(rows, begin, end, block_rows);
  for (Index first = begin; first < end; first += n_stretch) {
    const Index last = first + n_stretch < end ? first + n_stretch : end;
    Stretch stretch;
    stretch.length = length_above(weights, n_weights);
    for (Index block = first; block < last; block += block_rows) {
      const Index stop = block + block_rows < last ? block + block_rows : last;
      double part = 0.0;
      for (Index i = block; i < stop; ++i) part += term(i, stretch);
      sums.gain += part;
    }
    stretch.close(sums);
  }
  return sums;
}

// weights <- 1/(lam total) sum_i alpha_i sign_i x_i with alpha clipped to [0, cap cost_i], over a range of rows.
inline DualSums dual_sums(const Problem& problem, const Buffer& alpha, double* weights, Index begin, Index end) {
  return visit(problem.rows, alpha.scalar, [&]<class R, class W>(const R& rows, W) {
    const W* alphas = static_cast<const W*>(alpha.data);
    for (Index j = 0; j <= rows.n_features; ++j) weights[j] = 0.0;
    const double unit = 1.0 / (problem.lam * problem.total);
    return sum_in_stretches(rows, begin, end, weights, rows.n_features + 1, [&](Index i, Stretch& stretch) {
      const double bound = upper_bound(problem, i);
      const double given = double(alphas[i]);
      const double a = given > bound ? bound : given;
      if (!(a > 0.0)) return 0.0;
      stretch.spent += a;
      stretch.added += 1.0;
      rows.add(i, a * double(problem.sign[i]) * unit, weights);
      const double linear = a * (1.0 - double(problem.sign[i]) * at(problem.offset, i));
      if (problem.ridge == 0.0) return linear;
      const double curved = a * (a / at(problem.cost, i)) * (0.5 * problem.ridge);
      stretch.ridge += curved;
      return linear - curved;
    });
  });
}

// sum_i cost_i phi(1 - margin_i), margin_i = sign_i (<w, x_i> + offset_i), and the least margin of a row with a cost,
// over a range of distinct rows and all their copies. Without branches, which no processor could predict.
inline Losses losses(const Problem& problem, const double* weights, Index begin, Index end) {
  constexpr double never = std::numeric_limits<double>::infinity();
  return visit(problem.rows, [&]<class R>(const R& rows) {
    double least = never;
    const double sum = sum_in_blocks(begin, end, [&](Index i) {
      const double score = rows.dot(i, weights);
      double own = 0.0;
      for (Index k = i; k < rows.n_rows; k += n_distinct(problem.rows)) {
        const double margin = double(problem.sign[k]) * (score + at(problem.offset, k));
        const double cost = at(problem.cost, k), counted = cost > 0.0 ? margin : never;
        least = counted < least ? counted : least;
        own += cost * loss_value(problem, 1.0 - margin);  // NaN counts
      }
      return own;
    });
    return Losses{sum, least};
  });
}

// The sum of the losses of the zero vector, which needs no row.
inline double losses_of_zero(const Problem& problem, Index begin, Index end) {
  return sum_in_blocks(begin, end, [&](Index i) {
    return at(problem.cost, i) * loss_value(problem, 1.0 - double(problem.sign[i]) * at(problem.offset, i));
  });
}

// What row i of a joint problem may keep of its dual variables: those of other classes, not below 0, scaled down when
// they exceed its cost together. Writes them to `kept`, returns their sum.
template <class W>
inline double within_cost(const JointProblem& problem, Index i, const W* given, double* kept) {
  double spent = 0.0;
  for (Index r = 0; r < problem.n_classes; ++r) {
    const double a = double(given[r]);
    kept[r] = r != problem.codes[i] && a > 0.0 ? a : 0.0;
    spent += kept[r];
  }
  const double cost = at(problem.cost, i);
  if (!(spent > cost)) return spent;
  for (Index r = 0; r < problem.n_classes; ++r) kept[r] *= cost / spent;
  return cost;
}

// weights <- W(alpha), alpha brought within its bounds; the gain is sum_{i, r != y_i} alpha_ir (1 + offset_ir -
// offset_iy). `room` holds class_width numbers.
inline DualSums joint_dual_sums(const JointProblem& problem, const Buffer& alpha, double* weights, double* room) {
  return visit(problem.rows, alpha.scalar, [&]<class R, class W>(const R& rows, W) {
    const W* alphas = static_cast<const W*>(alpha.data);
    const Index width = class_width(problem.n_classes), n_weights = (rows.n_features + 1) * width;
    for (Index j = 0; j < n_weights; ++j) weights[j] = 0.0;
    for (Index r = 0; r < width; ++r) room[r] = 0.0;
    const double unit = 1.0 / (problem.lam * problem.total);
    return sum_in_stretches(rows, 0, rows.n_rows, weights, n_weights, [&](Index i, Stretch& stretch) {
      const Index own = problem.codes[i];
      const double spent = within_cost(problem, i, alphas + i * problem.n_classes, room);
      if (!(spent > 0.0)) return 0.0;
      stretch.spent += spent;
      stretch.added += 1.0;
      double gain = 0.0;
      for (Index r = 0; r < problem.n_classes; ++r) {
        gain += room[r] * (1.0 + at(problem.offset, i, r) - at(problem.offset, i, own));
        room[r] *= -unit;
      }
      room[own] = spent * unit;
      class_add(rows, i, room, width, weights);
      return gain;
    });
  });
}

// sum_i cost_i max_r ([r != y_i] + <w_r - w_y, x_i> + offset_ir - offset_iy), and the least margin, by which a row's
// own class is ahead, of the rows with a cost. `room` holds class_width numbers.
inline Losses joint_losses(const JointProblem& problem, const double* weights, double* room) {
  return visit(problem.rows, [&]<class R>(const R& rows) {
    const Index width = class_width(problem.n_classes);
    double least = std::numeric_limits<double>::infinity();
    const double sum = sum_in_blocks(0, rows.n_rows, [&](Index i) {
      const Index own = problem.codes[i];
      class_scores(rows, i, weights, width, room);
      const double mine = room[own] + at(problem.offset, i, own), cost = at(problem.cost, i);
      double worst = 0.0;
      for (Index r = 0; r < problem.n_classes; ++r) {
        if (r == own) continue;
        const double margin = mine - room[r] - at(problem.offset, i, r);
        if (!(1.0 - margin <= worst)) worst = 1.0 - margin;  // NaN counts
        if (margin < least && cost > 0.0) least = margin;
      }
      return cost * worst;
    });
    return Losses{sum, least};
  });
}

// scores[i, k] = <x_i, weights_k> + bias weights_k[n_features], in double.
inline void scores(const Rows& any_rows, const double* weights, Index n_vectors, double* scores, Index begin,
                   Index end) {
  visit(any_rows, [&]<class R>(const R& rows) {
    for (Index i = begin; i < end; ++i)
      for (Index k = 0; k < n_vectors; ++k)
        scores[i * n_vectors + k] = rows.dot(i, weights + k * (rows.n_features + 1));
  });
}

template <class T>
bool inspect_row(const DenseRows<T>&, Index, Inspection&) {
  return true;
}

// Returns whether row i may be read; its starts are checked against the number of values.
template <class T, class I>
bool inspect_row(const CsrRows<T, I>& rows, Index i, Inspection& found) {
  const Index begin = rows.starts[i], end = rows.starts[i + 1];
  bool inside = begin >= 0 && begin <= end && end <= Index(rows.starts[rows.n_rows]);
  const bool sorted = !inside || simd::strictly_increasing(rows.indices + begin, end - begin);
  const auto has_place = [&](Index k) { return rows.indices[k] >= 0 && Index(rows.indices[k]) < rows.n_features; };
  if (inside && end > begin) {
    inside = has_place(begin) && has_place(end - 1);
    for (Index k = begin; !sorted && inside && k < end; ++k) inside = has_place(k);
  }
  if (!inside && found.out_of_bounds < 0) found.out_of_bounds = i;
  if (!sorted && found.unsorted < 0) found.unsorted = i;
  return inside;
}

template <class T>
bool all_finite(const DenseRows<T>& rows, Index i) {
  for (Index j = 0; j < rows.n_features; ++j)
    if (!std::isfinite(rows.row(i)[j])) return false;
  return true;
}
template <class T, class I>
bool all_finite(const CsrRows<T, I>& rows, Index i) {
  for (Index k = rows.starts[i]; k < Index(rows.starts[i + 1]); ++k)
    if (!std::isfinite(rows.values[k])) return false;
  return true;
}

// One pass: squared_norms[i] = |x_i|^2 + bias^2, and whether the rows can be used at all.
inline Inspection inspect(const Rows& any_rows, const Buffer& squared_norms, Index begin, Index end) {
  return visit(any_rows, squared_norms.scalar, [&]<class R, class N>(const R& rows, N) {
    N* out = static_cast<N*>(squared_norms.data);
    Inspection found;
    for (Index i = begin; i < end; ++i) {
      const double square = inspect_row(rows, i, found) ? rows.squared_norm(i) : 0.0;
      out[i] = N(square);
      const bool fits = square == 0.0 || (out[i] >= std::numeric_limits<N>::min() && std::isfinite(out[i]));
      if (fits) continue;
      if (found.out_of_range < 0) found.out_of_range = i;
      // A squared norm that is not finite may come from large finite values, so the values are checked.
      if (!std::isfinite(square) && found.not_finite < 0 && !all_finite(rows, i)) found.not_finite = i;
    }
    return found;
  });
}

template <class T>
bool are_readable(const DenseRows<T>&, Index, Index) {
  return true;
}

// Whether rows begin..end lie within the stored values and their columns within the features. The columns of
// consecutive rows are one stretch, which is checked as a whole.
template <class T, class I>
bool are_readable(const CsrRows<T, I>& rows, Index begin, Index end) {
  const I* starts = rows.starts;
  bool in_order = starts[begin] >= 0 && starts[end] <= starts[rows.n_rows];
  for (Index i = begin; i < end; ++i) in_order &= starts[i] <= starts[i + 1];
  return in_order &&
         simd::all_within(rows.indices + starts[begin], Index(starts[end] - starts[begin]), I(rows.n_features));
}

// The scores of rows that have not been inspected, with the inspection in the same pass: a row with NaN or infinity
// gets a score that is not finite. Repeated columns are summed, as they should be. Rows are processed in blocks that
// stay in the cache.
inline Inspection checked_scores(const Rows& any_rows, const double* weights, Index n_vectors, double* scores,
                                 Index begin, Index end) {
  return visit(any_rows, [&]<class R>(const R& rows) {
    constexpr Index block = 64;
    Inspection found;
    for (Index first = begin; first < end; first += block) {
      const Index last = first + block < end ? first + block : end;
      const bool all = are_readable(rows, first, last);
      for (Index i = first; i < last; ++i) {
        if (!all && !are_readable(rows, i, i + 1)) {
          if (found.out_of_bounds < 0) found.out_of_bounds = i;
          continue;
        }
        double sum = 0.0;
        for (Index k = 0; k < n_vectors; ++k) {
          const double score = rows.dot(i, weights + k * (rows.n_features + 1));
          scores[i * n_vectors + k] = score;
          sum += score;
        }
        if (!std::isfinite(sum) && found.not_finite < 0 && !all_finite(rows, i)) found.not_finite = i;
      }
    }
    return found;
  });
}

}  // namespace pegasos::PEGASOS_ISA
