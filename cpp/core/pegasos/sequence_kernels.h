// Kernels of two sequences, each a dynamic program over all their positions, and one that counts matches.
//
//   subsequences      Lodhi, Saunders, Shawe-Taylor, Cristianini, Watkins (2002), Text classification using string
//                     kernels: the sum over all pairs of equal subsequences of k letters of decay^(length of the first
//                     + length of the second), lengths counted with the gaps.
//   alignments        Cuturi (2011), Fast global alignment kernels: the logarithm of the sum over all alignments of
//                     the product of e / (2 - e), e = max(0, 1 - |i - j| / band) exp(-|scale (x_i - y_j)|^2).
//   warpings          Sakoe, Chiba (1978), Dynamic time warping: the least sum of |x_i - y_j|^2 over all alignments.
//   weighted_degrees  Raetsch, Sonnenburg (2004), Accurate splice site prediction: the sum over l of weight_l times
//                     the number of places at which the two strings agree on l letters.
//
// The programs run on as many pairs at once as a vector has lanes. The lanes are independent, so a value depends only
// on its own two sequences: not on its neighbors, nor on the number of threads.
#pragma once

#include "stop.h"
#include "types.h"

namespace pegasos {

// Sequence i is values[starts[i] * n_channels] to values[starts[i + 1] * n_channels], position by position. Letters
// are numbers of at least 0.
struct Sequences {
  const double* values;
  const Index* starts;
  Index n;
  Index n_channels;
};

struct Pair {
  Index a, b;
};

struct SequencePairs {
  Sequences a, b;
  const Pair* pairs;
  Index n;
  Stop stop{};  // when a stop is requested, values are left unchanged
};

struct SubsequenceSettings {
  Index k;
  double decay;
};

struct AlignmentSettings {
  double scale;
  Index band;  // 0: none
};

// String i is n_planes rows of n_words words; bit p of the letter at position q is bit q mod 64 of word q / 64 of row
// p.
struct BitPlanes {
  const std::uint64_t* words;
  Index n, n_planes, n_words;
};

struct DegreeSettings {
  Index length;           // of every string
  const double* weights;  // of 1, ..., degree common letters
  Index degree;
};

// Alignments are summed in strips of this many columns.
inline constexpr Index strip_columns = 128;

// The buffer the programs need, in doubles, for pairs of sequences no longer than these; `n_states` is k of the
// subsequences, and 1 otherwise.
inline Index pairs_room(Index longest_a, Index longest_b, Index n_channels, Index n_states) {
  constexpr Index most_lanes = 8;
  return most_lanes *
         ((longest_a + longest_b) * n_channels + (longest_b + 2) * n_states + 2 * longest_a + strip_columns);
}

}  // namespace pegasos
