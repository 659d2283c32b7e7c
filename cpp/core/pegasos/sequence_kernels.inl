#pragma once

#include <cmath>
#include <limits>

#include "exponential.h"
#include "sequence_kernels.h"
#include "simd.h"

namespace pegasos::PEGASOS_ISA::sequence_kernels {

inline constexpr int lanes = simd::vector_bytes / int(sizeof(double));
using Lanes = simd::Vector<double, lanes>;
using Masks = simd::Vector<std::int64_t, lanes>;

inline Lanes lanes_at(const double* packed, Index k) { return simd::load<double, lanes>(packed + k * lanes); }
inline void put_lanes(double* packed, Index k, Lanes v) { simd::store<double, lanes>(packed + k * lanes, v); }
inline Lanes where(Masks mask, Lanes v) { return (Lanes)((Masks)v & mask); }

// As many pairs as there are lanes; the numbers are stored position by position, channel by channel, lane by lane.
struct Group {
  const double *a, *b;
  Index rows, columns;  // the longest of each side
  Index n_channels;
  Index length_a[lanes], length_b[lanes];
  Patience* patience;

  // Whether to stop, at the end of a row with this many states per column.
  bool is_over(Index n_states) const { return patience->ends_after(columns * n_states); }

  const double* at_a(Index i) const { return a + i * n_channels * lanes; }
  const double* at_b(Index j) const { return b + j * n_channels * lanes; }
};

// sum over channels of (scale (x_c - y_c))^2
inline Lanes squared_distance(const double* x, const double* y, Index n_channels, double scale) {
  const Lanes first = (lanes_at(x, 0) - lanes_at(y, 0)) * scale;
  Lanes sum = first * first;
  for (Index c = 1; c < n_channels; ++c) {
    const Lanes difference = (lanes_at(x, c) - lanes_at(y, c)) * scale;
    sum += difference * difference;
  }
  return sum;
}

// Lane by lane; what is shorter than the longest is padded. Returns the end of what was written.
inline double* pack(const Sequences& from, const Index* chosen, Index longest, double padding, double* room) {
  const Index n_channels = from.n_channels, size = longest * n_channels;
  for (int lane = 0; lane < lanes; ++lane) {
    const double* values = from.values + from.starts[chosen[lane]] * n_channels;
    const Index given = (from.starts[chosen[lane] + 1] - from.starts[chosen[lane]]) * n_channels;
    for (Index k = 0; k < given; ++k) room[k * lanes + lane] = values[k];
    for (Index k = given; k < size; ++k) room[k * lanes + lane] = padding;
  }
  return room + size * lanes;
}

struct Padding {
  double a, b;
};

// Calls programme(group, room, values), which writes one value per lane, for all pairs.
template <class Programme>
void run_in_groups(const SequencePairs& given, Padding padding, double* room, double* out, Programme&& programme) {
  Patience patience(given.stop);
  for (Index begin = 0; begin < given.n && !patience.ends_after(lanes); begin += lanes) {
    Group group{};
    group.patience = &patience;
    Index a[lanes], b[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      // Lanes without a pair repeat the last one.
      const Pair& pair = given.pairs[begin + lane < given.n ? begin + lane : given.n - 1];
      a[lane] = pair.a, b[lane] = pair.b;
      group.length_a[lane] = given.a.starts[pair.a + 1] - given.a.starts[pair.a];
      group.length_b[lane] = given.b.starts[pair.b + 1] - given.b.starts[pair.b];
      if (group.length_a[lane] > group.rows) group.rows = group.length_a[lane];
      if (group.length_b[lane] > group.columns) group.columns = group.length_b[lane];
    }
    group.n_channels = given.a.n_channels;
    double* const packed_b = pack(given.a, a, group.rows, padding.a, room);
    double* const rest = pack(given.b, b, group.columns, padding.b, packed_b);
    group.a = room, group.b = packed_b;
    double values[lanes];
    programme(group, rest, values);
    for (int lane = 0; lane < lanes && begin + lane < given.n; ++lane) out[begin + lane] = values[lane];
  }
}

// Lodhi et al., equations of their section 4, without the factor decay^2 of each letter, which is put back at the end
// so that nothing underflows on the way. Row i holds, for each j and for p = 1, ..., k - 1,
//
//   prefixes_p(i, j) = decay prefixes_p(i - 1, j) + ending_p(i, j)
//   ending_p(i, j)   = decay ending_p(i, j - 1) + [x_i = y_j] prefixes_(p-1)(i - 1, j - 1),     prefixes_0 = 1,
//
// and the kernel is the sum of prefixes_(k-1)(i - 1, j - 1) over all x_i = y_j.
//
// With K = k known to the compiler the states of a column stay in registers; K = 0 is any k.
template <int K>
void count_subsequences(const Group& group, const SubsequenceSettings& settings, double* room, double* values) {
  const Index n_states = K > 0 ? K : settings.k;
  const double decay = settings.decay;
  Lanes registers[2 * (K > 0 ? K : 1)];
  const auto state = [&](Index p) -> Lanes { return K > 0 ? registers[p] : lanes_at(room, p); };
  const auto put_state = [&](Index p, Lanes v) { K > 0 ? void(registers[p] = v) : put_lanes(room, p, v); };
  // ending_p is state p, prefixes_p(i - 1, j - 1) is state n_states + p.
  double* const prefixes = room + 2 * n_states * lanes;
  for (Index q = 0; q < group.columns * n_states; ++q) put_lanes(prefixes, q, Lanes{});
  Lanes total{};
  for (Index i = 0; i < group.rows && !group.is_over(n_states); ++i) {
    const Lanes letter = lanes_at(group.a, i);
    for (Index p = 0; p < 2 * n_states; ++p) put_state(p, p == n_states ? Lanes{} + 1.0 : Lanes{});
    for (Index j = 0; j < group.columns; ++j) {
      const Masks match = (Masks)(letter == lanes_at(group.b, j));
      double* const column = prefixes + j * n_states * lanes;
      Lanes shorter = state(n_states);
      for (Index p = 1; p < n_states; ++p) {
        const Lanes above = lanes_at(column, p), ending = decay * state(p) + where(match, shorter);
        shorter = state(n_states + p);
        put_state(n_states + p, above);
        put_state(p, ending);
        put_lanes(column, p, decay * above + ending);
      }
      total += where(match, shorter);
    }
  }
  simd::store<double, lanes>(values, total * std::pow(decay, 2.0 * double(settings.k)));
}

inline void subsequences(const SequencePairs& pairs, const SubsequenceSettings& settings, double* room, double* out) {
  // No letter is negative: padding matches nothing, on neither side.
  run_in_groups(pairs, {-1.0, -2.0}, room, out, [&](const Group& group, double* rest, double* values) {
    switch (settings.k) {
      case 2:
        return count_subsequences<2>(group, settings, rest, values);
      case 3:
        return count_subsequences<3>(group, settings, rest, values);
      case 4:
        return count_subsequences<4>(group, settings, rest, values);
      case 5:
        return count_subsequences<5>(group, settings, rest, values);
      default:
        return count_subsequences<0>(group, settings, rest, values);
    }
  });
}

// M(i, j) = local(i, j) (M(i - 1, j) + M(i, j - 1) + M(i - 1, j - 1)), M(0, 0) = 1, and 0 on the rest of the border.
//
// Logarithms would cost three more exponentials a cell. Instead M is kept in strips of columns, as a number times
// 2^exponent with one exponent a strip and lane, and what falls below 2^-400 of the largest of its row in its strip is
// 0. That is harmless: M(i, j) is the kernel of two prefixes, so that by Cauchy-Schwarz sqrt(M(j, j)) of one sequence
// with itself grows at most by a factor 1 + sqrt(2) a position, and what is lost is at most 2^-400 (1 + sqrt(2))^128 <
// 1e-70 of sqrt(k(x, x) k(y, y)).
class Alignment {
 public:
  Alignment(const Group& group, const AlignmentSettings& settings, double* room, double* values)
      : group_(group),
        settings_(settings),
        cells_(room),
        border_(cells_ + strip_columns * lanes),
        border_exponents_(border_ + group.rows * lanes),
        values_(values) {}

  void run() {
    for (Index begin = 0; begin < group_.columns; begin += strip_columns) {
      const Index end = begin + strip_columns < group_.columns ? begin + strip_columns : group_.columns;
      add_strip(begin, end);
    }
  }

 private:
  static constexpr double large = 0x1p100, larger = 0x1p200;
  static constexpr double none = -1e15;  // the exponent of nothing

  void add_strip(Index begin, Index end) {
    const Index band = settings_.band;
    for (Index q = 0; q < end - begin; ++q) put_lanes(cells_, q, Lanes{});
    for (double& exponent : exponents_) exponent = begin == 0 ? 0.0 : none;
    Lanes corner = begin == 0 ? Lanes{} + 1.0 : Lanes{};  // M(i - 1, begin - 1)
    for (Index i = 0; i < group_.rows && !group_.patience->ends_after(end - begin); ++i) {
      const Index first = band > 0 && i - band + 1 > begin ? i - band + 1 : begin;
      const Index last = band > 0 && i + band < end ? i + band : end;
      const Lanes entering = begin == 0 ? Lanes{} : entering_from_the_left(i, corner);
      Lanes largest{};
      if (first < last) {
        const Lanes left = first > begin ? Lanes{} : entering;
        largest = band > 0 ? add_row<true>(i, begin, first, last, left, corner)
                           : add_row<false>(i, begin, first, last, left, corner);
      }
      corner = entering;
      // A column that the band has left, or not yet reached, counts as 0.
      put_lanes(border_, i, first < end && last == end ? lanes_at(cells_, end - 1 - begin) : Lanes{});
      for (int lane = 0; lane < lanes; ++lane) border_exponents_[i * lanes + lane] = exponents_[lane];
      take_results(i, begin, end);
      keep_in_range(largest, corner);
    }
  }

  // The cells [first, last) of row i; returns the largest.
  template <bool Banded>
  Lanes add_row(Index i, Index begin, Index first, Index last, Lanes left, Lanes corner) {
    if (first > begin) corner = lanes_at(cells_, first - 1 - begin);
    const double slope = Banded ? 1.0 / double(settings_.band) : 0.0, scale = settings_.scale;
    const Index n_channels = group_.n_channels;
    const double *const x = group_.at_a(i), *y = group_.at_b(first);
    double* cell = cells_ + (first - begin) * lanes;
    Lanes largest{};
    for (Index j = first; j < last; ++j, y += n_channels * lanes, cell += lanes) {
      Lanes e = simd::decayed<lanes>(squared_distance(x, y, n_channels, scale));
      if constexpr (Banded) e *= 1.0 - double(i > j ? i - j : j - i) * slope;
      const Lanes above = lanes_at(cell, 0);
      // In this order the value is the same when the sequences are swapped.
      const Lanes value = e / (2.0 - e) * ((left + above) + corner);
      left = where((Masks)(value >= simd::smallest), value);
      corner = above;
      largest = largest > left ? largest : left;
      put_lanes(cell, 0, left);
    }
    return largest;
  }

  // M(i, begin - 1) in units of this strip; when it is too large for them, the units change.
  Lanes entering_from_the_left(Index i, Lanes& corner) {
    Lanes left = lanes_at(border_, i);
    for (int lane = 0; lane < lanes; ++lane) {
      if (left[lane] == 0.0) continue;
      const double theirs = border_exponents_[i * lanes + lane];
      if (left[lane] * power_of_two(theirs - exponents_[lane]) > larger) change_units(lane, theirs, corner);
      left[lane] *= power_of_two(theirs - exponents_[lane]);
    }
    return left;
  }

  // Numbers of the strip stay within [1 / large, large], by the largest of them.
  void keep_in_range(Lanes largest, Lanes& corner) {
    for (int lane = 0; lane < lanes; ++lane) {
      const double size = largest[lane];
      if (size > large || (size > 0.0 && size < 1.0 / large))
        change_units(lane, exponents_[lane] + double(std::ilogb(size)), corner);
    }
  }

  void change_units(int lane, double exponent, Lanes& corner) {
    const double factor = power_of_two(exponents_[lane] - exponent);
    for (Index q = 0; q < strip_columns; ++q) cells_[q * lanes + lane] *= factor;
    corner[lane] *= factor;
    exponents_[lane] = exponent;
  }

  // Exact; beyond what a number holds, something that is as small or as large.
  static double power_of_two(double exponent) {
    const double within = exponent < -1000.0 ? -1000.0 : exponent > 1000.0 ? 1000.0 : exponent;
    const std::int64_t bits = (std::int64_t(within) + 1023) << 52;
    double result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
  }

  void take_results(Index i, Index begin, Index end) {
    for (int lane = 0; lane < lanes; ++lane) {
      const Index j = group_.length_b[lane] - 1;
      if (group_.length_a[lane] - 1 != i || j < begin || j >= end) continue;
      const Index apart = i > j ? i - j : j - i;
      const double cell = settings_.band > 0 && apart >= settings_.band ? 0.0 : cells_[(j - begin) * lanes + lane];
      values_[lane] = logarithm(cell, exponents_[lane]);
    }
  }

  // log(number 2^exponent), the same whichever way the two share it.
  static double logarithm(double number, double exponent) {
    if (!(number > 0.0)) return -std::numeric_limits<double>::infinity();
    const double own = double(std::ilogb(number));
    return std::log(number * power_of_two(-own)) + (exponent + own) * 0x1.62e42fefa39efp-1;
  }

  const Group& group_;
  const AlignmentSettings& settings_;
  double* const cells_;             // of the row in the strip
  double* const border_;            // M(., begin - 1), in units of 2^border_exponents
  double* const border_exponents_;  // one per row and lane
  double* const values_;
  double exponents_[lanes] = {};
};

inline void alignments(const SequencePairs& pairs, const AlignmentSettings& settings, double* room, double* out) {
  // What is infinitely far away adds nothing.
  run_in_groups(
      pairs, {0.0, std::numeric_limits<double>::infinity()}, room, out,
      [&](const Group& group, double* rest, double* values) { Alignment(group, settings, rest, values).run(); });
}

// D(i, j) = |x_i - y_j|^2 + min(D(i - 1, j), D(i, j - 1), D(i - 1, j - 1)), D(0, 0) = 0, infinity on the border.
inline void warp(const Group& group, double* cells, double* values) {
  const Lanes infinite = Lanes{} + std::numeric_limits<double>::infinity();
  for (Index j = 0; j < group.columns; ++j) put_lanes(cells, j, infinite);
  const Index n_channels = group.n_channels;
  Lanes start{};
  for (Index i = 0; i < group.rows && !group.is_over(n_channels); ++i) {
    const double* const x = group.at_a(i);
    Lanes left = infinite, corner = start;
    start = infinite;
    for (Index j = 0; j < group.columns; ++j) {
      const Lanes above = lanes_at(cells, j), nearer = above < corner ? above : corner;
      left = squared_distance(x, group.at_b(j), n_channels, 1.0) + (left < nearer ? left : nearer);
      corner = above;
      put_lanes(cells, j, left);
    }
    for (int lane = 0; lane < lanes; ++lane)
      if (group.length_a[lane] - 1 == i) values[lane] = cells[(group.length_b[lane] - 1) * lanes + lane];
  }
}

inline void warpings(const SequencePairs& pairs, double* room, double* out) {
  run_in_groups(pairs, {0.0, 0.0}, room, out, warp);
}

// Bit q of `agree` says that the strings agree on the l letters from place q on; anded with itself moved by one place,
// it says so for l + 1. The loop ends with the longest common run.
inline double weigh_matches(std::uint64_t* agree, Index n_words, const DegreeSettings& settings) {
  double total = 0.0;
  for (Index l = 0; l < settings.degree; ++l) {
    Index n_places = 0;
    for (Index q = 0; q < n_words; ++q) n_places += __builtin_popcountll(agree[q]);
    if (n_places == 0) break;
    total += settings.weights[l] * double(n_places);
    for (Index q = 0; q + 1 < n_words; ++q) agree[q] &= agree[q] >> 1 | agree[q + 1] << 63;
    agree[n_words - 1] &= agree[n_words - 1] >> 1;
  }
  return total;
}

// One string with the strings [begin, end) of b; `room` has n_words entries.
inline void weighted_degrees(const BitPlanes& a, Index i, const BitPlanes& b, Index begin, Index end,
                             const DegreeSettings& settings, std::uint64_t* room, double* out) {
  const Index n_words = a.n_words, size = a.n_planes * n_words;
  const std::uint64_t* const mine = a.words + i * size;
  const std::uint64_t inside = ~std::uint64_t(0) >> (63 - (settings.length - 1) % 64);
  for (Index j = begin; j < end; ++j) {
    const std::uint64_t* const theirs = b.words + j * size;
    for (Index q = 0; q < n_words; ++q) {
      std::uint64_t differ = 0;
      for (Index k = q; k < size; k += n_words) differ |= mine[k] ^ theirs[k];
      room[q] = ~differ;
    }
    room[n_words - 1] &= inside;
    out[j] = weigh_matches(room, n_words, settings);
  }
}

}  // namespace pegasos::PEGASOS_ISA::sequence_kernels
