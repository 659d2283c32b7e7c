// Products with the matrix Z of chosen rows, z_i = sign_i (x_i, bias), in threads.
#pragma once

#include "interior_point.h"
#include "rows.h"
#include "vector.h"

namespace pegasos::PEGASOS_ISA {

template <class R>
struct ChosenRows {
  const Problem& problem;
  const R& rows;
  const Chosen& chosen;
  const Parallel& parallel;
  const Index n = chosen.n, side = rows.n_features + 1;
  const double work = row_work();
  Vector<double> parts{};  // sums of the threads

  // Multiplications that a row takes, on average.
  double row_work() const {
    Index entries = 0;
    for (Index k = 0; k < n; ++k) entries += rows.entries(chosen.rows[k]).n + 1;
    return 2.0 * double(entries) / double(n > 0 ? n : 1) + 10.0;
  }

  template <class F>
  void each(Index begin, Index end, F&& f) const {
    for (Index k = begin; k < end; ++k) {
      const Index i = chosen.rows[k];
      rows.prefetch(chosen.rows[k + 4 < end ? k + 4 : k]);
      f(k, i, double(problem.sign[i]));
    }
  }

  // out = the sum of what f(k, row, sign, sum) adds for the chosen rows k.
  template <class F>
  void add_up(double* out, F&& f) {
    const Index shares = parallel.parts_of(n, work);
    parts.assign(std::size_t(shares * side), 0.0);
    parallel(n, work, [&](Index part, Index begin, Index end) {
      double* mine = parts.data() + part * side;
      each(begin, end, [&](Index k, Index i, double sign) { f(k, i, sign, mine); });
    });
    for (Index j = 0; j < side; ++j) {
      double total = 0.0;
      for (Index part = 0; part < shares; ++part) total += parts[std::size_t(part * side + j)];
      out[j] = total;
    }
  }

  // out = Z' values
  void sum(const double* values, double* out) {
    add_up(out, [&](Index k, Index i, double sign, double* mine) { rows.add(i, sign * values[k], mine); });
  }

  // out = Z vector
  void scores(const double* vector, double* out) const {
    parallel(n, work, [&](Index, Index begin, Index end) {
      each(begin, end, [&](Index k, Index i, double sign) { out[k] = sign * rows.dot(i, vector); });
    });
  }
};

}  // namespace pegasos::PEGASOS_ISA
