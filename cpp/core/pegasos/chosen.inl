// Products with the matrix Z of chosen rows, z_i = sign_i (x_i, bias), in threads. A small Z can be held in double,
// feature by feature: its products then run over contiguous memory, several times as fast as row by row. Where the
// second half of the chosen rows repeats the first, as the two sides of regression targets do, each row is read once
// for both.
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
  const bool is_twice = repeats();
  const Index n = is_twice ? chosen.n / 2 : chosen.n, side = rows.n_features + 1;  // n rows that differ
  const double work = row_work();
  Vector<double> parts{};    // sums of the threads
  Vector<double> columns{};  // Z, feature by feature; empty where the rows are read in place
  Vector<double> folded{};   // what both copies of each row add up to

  static constexpr Index most_packed = Index(1) << 18;  // entries: 2 MB
  static constexpr Index at_once = 8;                   // rows packed together

  bool repeats() const {
    const Index half = chosen.n / 2, distinct = n_distinct(problem.rows);
    bool all = problem.rows.repeats == 2 && chosen.n > 0 && 2 * half == chosen.n;
    for (Index k = 0; all && k < half; ++k) all = Index(chosen.rows[half + k]) == Index(chosen.rows[k]) + distinct;
    return all;
  }

  // The sign of the second copy of row k over that of the first.
  double turn(Index k) const { return double(problem.sign[chosen.rows[n + k]] * problem.sign[chosen.rows[k]]); }

  // One number per row that differs: values, or the sum over both copies, with or without their signs.
  const double* fold(const double* values) {
    if (!is_twice) return values;
    folded.resize(std::size_t(n));
    for (Index k = 0; k < n; ++k) folded[std::size_t(k)] = values[k] + turn(k) * values[n + k];
    return folded.data();
  }
  const double* fold_squares(const double* values) {
    if (!is_twice) return values;
    folded.resize(std::size_t(n));
    for (Index k = 0; k < n; ++k) folded[std::size_t(k)] = values[k] + values[n + k];
    return folded.data();
  }

  // Scores of the second copies, from those of the first.
  void unfold(double* scores) const {
    for (Index k = 0; is_twice && k < n; ++k) scores[n + k] = turn(k) * scores[k];
  }

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
  void sum(const double* given, double* out) {
    const double* values = fold(given);
    if (!columns.empty())
      for (Index j = 0; j < side; ++j) out[j] = simd::dot(columns.data() + j * n, values, n, 0.0);
    else
      add_up(out, [&](Index k, Index i, double sign, double* mine) { rows.add(i, sign * values[k], mine); });
  }

  // out = Z vector, and added = Z' values, in one pass over the rows.
  void scores_and_sum(const double* vector, double* out, const double* given, double* added) {
    if (!columns.empty()) return scores(vector, out), sum(given, added);
    const double* values = fold(given);
    add_up(added, [&](Index k, Index i, double sign, double* mine) {
      out[k] = sign * rows.dot(i, vector);
      rows.add(i, sign * values[k], mine);
    });
    unfold(out);
  }

  // values = scale (right - Z vector), and added = Z' values, in one pass over the rows.
  void answers(const double* vector, const double* right, const double* scale, double* values, double* added) {
    if (!columns.empty()) {
      scores(vector, values);
      for (Index k = 0; k < chosen.n; ++k) values[k] = (right[k] - values[k]) * scale[k];
      return sum(values, added);
    }
    add_up(added, [&](Index k, Index i, double sign, double* mine) {
      const double score = sign * rows.dot(i, vector);
      double both = values[k] = (right[k] - score) * scale[k];
      if (is_twice) both += turn(k) * (values[n + k] = (right[n + k] - turn(k) * score) * scale[n + k]);
      rows.add(i, sign * both, mine);
    });
  }

  // out = Z vector
  void scores(const double* vector, double* out) const {
    if (!columns.empty())
      combine(vector, out);
    else
      parallel(n, work, [&](Index, Index begin, Index end) {
        each(begin, end, [&](Index k, Index i, double sign) { out[k] = sign * rows.dot(i, vector); });
      });
    unfold(out);
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
