// Products with the matrix Z of chosen rows, z_i = sign_i (x_i, bias), in threads. A small Z can be held in double,
// feature by feature: its products then run over contiguous memory, several times as fast as row by row.
#pragma once

#include <algorithm>

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
  Vector<double> parts{};    // sums of the threads
  Vector<double> columns{};  // Z, feature by feature; empty where the rows are read in place

  static constexpr Index most_packed = Index(1) << 18;  // entries: 2 MB
  static constexpr Index at_once = 8;                   // rows packed together

  // Average number of multiplications per row.
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

  // Packs Z where it is small.
  void pack() {
    if (n == 0 || n * side > most_packed) return;
    columns.resize(std::size_t(n * side));
    Vector<double> room(std::size_t(at_once * side));
    for (Index begin = 0; begin < n; begin += at_once) {
      const Index count = std::min(at_once, n - begin);
      std::fill(room.begin(), room.end(), 0.0);
      for (Index k = 0; k < count; ++k) {
        const Index i = chosen.rows[begin + k];
        rows.add(i, double(problem.sign[i]), room.data() + k * side);
      }
      for (Index j = 0; j < side; ++j)
        for (Index k = 0; k < count; ++k) columns[std::size_t(j * n + begin + k)] = room[std::size_t(k * side + j)];
    }
  }

  // out = Z' values
  void sum(const double* values, double* out) {
    if (!columns.empty())
      for (Index j = 0; j < side; ++j) out[j] = simd::dot(columns.data() + j * n, values, n, 0.0);
    else
      add_up(out, [&](Index k, Index i, double sign, double* mine) { rows.add(i, sign * values[k], mine); });
  }

  // out = Z vector, and added = Z' values, in one pass over the rows.
  void scores_and_sum(const double* vector, double* out, const double* values, double* added) {
    if (!columns.empty()) return scores(vector, out), sum(values, added);
    add_up(added, [&](Index k, Index i, double sign, double* mine) {
      out[k] = sign * rows.dot(i, vector);
      rows.add(i, sign * values[k], mine);
    });
  }

  // out = Z' diag(scale) Z vector, in one pass over the rows; `between` has room for an entry of each.
  void bend(const double* vector, const double* scale, double* between, double* out) {
    if (columns.empty())
      return add_up(out, [&](Index k, Index i, double sign, double* mine) {
        rows.add(i, sign * (sign * rows.dot(i, vector) * scale[k]), mine);
      });
    scores(vector, between);
    for (Index k = 0; k < n; ++k) between[k] *= scale[k];
    sum(between, out);
  }

  // out = Z vector
  void scores(const double* vector, double* out) const {
    if (!columns.empty()) return combine(vector, out);
    parallel(n, work, [&](Index, Index begin, Index end) {
      each(begin, end, [&](Index k, Index i, double sign) { out[k] = sign * rows.dot(i, vector); });
    });
  }

  // out = the sum of the columns, each times its entry of the vector, four columns at a time.
  void combine(const double* vector, double* out) const {
    constexpr int lanes = simd::vector_bytes / 8;
    std::fill(out, out + n, 0.0);
    Index j = 0;
    for (; j + 4 <= side; j += 4) {
      const double *a = columns.data() + j * n, *b = a + n, *c = b + n, *d = c + n, *v = vector + j;
      Index k = 0;
      for (; k + lanes <= n; k += lanes)
        simd::store<double, lanes>(
            out + k, simd::load<double, lanes>(out + k) +
                         (v[0] * simd::load<double, lanes>(a + k) + v[1] * simd::load<double, lanes>(b + k)) +
                         (v[2] * simd::load<double, lanes>(c + k) + v[3] * simd::load<double, lanes>(d + k)));
      for (; k < n; ++k) out[k] += (v[0] * a[k] + v[1] * b[k]) + (v[2] * c[k] + v[3] * d[k]);
    }
    for (; j < side; ++j) simd::add(vector[j], columns.data() + j * n, out, n);
  }
};

}  // namespace pegasos::PEGASOS_ISA
