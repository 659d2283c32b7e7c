#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "pairs.h"
#include "threads.h"
#include "watch.h"

namespace pegasos {

using ValueArray = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using StartArray = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using PlaneArray = nb::ndarray<const std::uint64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using DegreeArray = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BlockArray = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// The view together with the arrays it refers to.
struct OwnedSequences {
  Sequences sequences;
  Index longest;
  ValueArray values;
  StartArray starts;
};

static OwnedSequences sequences_of(ValueArray values, StartArray starts) {
  const Index n = Index(starts.shape(0)) - 1;
  if (n < 0 || starts.data()[0] != 0 || starts.data()[n] != Index(values.shape(0)))
    throw std::invalid_argument("starts must go from 0 to the number of positions.");
  Index longest = 0;
  for (Index i = 0; i < n; ++i) {
    const Index length = starts.data()[i + 1] - starts.data()[i];
    if (length < 1) throw std::invalid_argument("a sequence has no position.");
    longest = std::max(longest, length);
  }
  return {{values.data(), starts.data(), n, Index(values.shape(1))}, longest, values, starts};
}

// Pairs that a worker takes at once: enough that those of like length meet in a vector, few enough to go round.
constexpr Index most_pairs = 256, fewest_pairs = 32;

struct Worker {
  std::vector<double> room;
  Pair pairs[most_pairs];
  double values[most_pairs];
};

template <class Loop>
static void fill(const OwnedSequences& a, const OwnedSequences& b, Index n_states, const WeightArray& out,
                 Index n_threads, Loop&& loop) {
  const Index n_channels = a.sequences.n_channels;
  const bool is_same = a.sequences.values == b.sequences.values && a.sequences.starts == b.sequences.starts;
  const Pairing pairing(a.sequences.n, b.sequences.n, is_same, out);
  if (n_channels != b.sequences.n_channels) throw std::invalid_argument("a and b must have as many channels.");
  const Index n_pairs = pairing.size();
  const Index pairs_at_once = std::clamp(n_pairs / (4 * std::max(Index(1), n_threads)), fewest_pairs, most_pairs);
  const Index n_tasks = (n_pairs + pairs_at_once - 1) / pairs_at_once;
  std::vector<Worker> workers(std::size_t(workers_for(n_tasks, n_threads)));
  for (Worker& worker : workers)
    worker.room.resize(std::size_t(pairs_room(a.longest, b.longest, n_channels, n_states)));

  Watch watch;
  const auto work = [&](Index task, Index number) {
    if (watch.is_asked()) return;
    Worker& worker = workers[std::size_t(number)];
    Index n = 0;
    const Index end = std::min(n_pairs, (task + 1) * pairs_at_once);
    for (Index p = task * pairs_at_once; p < end; ++p) {
      const Pair pair = pairing.at(p);
      if (pairing.needs(pair)) worker.pairs[n++] = pair;
    }
    const auto shorter = [&](const Pair& left, const Pair& right) {
      const auto lengths = [&](const Pair& pair) {
        return std::pair(a.sequences.starts[pair.a + 1] - a.sequences.starts[pair.a],
                         b.sequences.starts[pair.b + 1] - b.sequences.starts[pair.b]);
      };
      return lengths(left) < lengths(right);
    };
    if (!std::is_sorted(worker.pairs, worker.pairs + n, shorter)) std::sort(worker.pairs, worker.pairs + n, shorter);
    loop(SequencePairs{a.sequences, b.sequences, worker.pairs, n, watch.stop()}, worker.room.data(), worker.values);
    for (Index k = 0; k < n; ++k) pairing.put(worker.pairs[k], worker.values[k]);
  };
  {
    nb::gil_scoped_release release;
    share(n_tasks, Index(workers.size()), work);
  }
  watch.raise();
}

static void subsequences(const OwnedSequences& a, const OwnedSequences& b, Index k, double decay, WeightArray out,
                         Index n_threads) {
  if (k < 1) throw std::invalid_argument("k must be at least 1.");
  if (a.sequences.n_channels != 1) throw std::invalid_argument("letters have one channel.");
  const SubsequenceSettings settings{k, decay};
  fill(a, b, k, out, n_threads, [&](const SequencePairs& pairs, double* room, double* values) {
    loops().subsequences(pairs, settings, room, values);
  });
}

static void alignments(const OwnedSequences& a, const OwnedSequences& b, double scale, Index band, WeightArray out,
                       Index n_threads) {
  const AlignmentSettings settings{scale, band};
  fill(a, b, 1, out, n_threads, [&](const SequencePairs& pairs, double* room, double* values) {
    loops().alignments(pairs, settings, room, values);
  });
}

static void warpings(const OwnedSequences& a, const OwnedSequences& b, WeightArray out, Index n_threads) {
  fill(a, b, 1, out, n_threads,
       [&](const SequencePairs& pairs, double* room, double* values) { loops().warpings(pairs, room, values); });
}

static BitPlanes planes_of(const PlaneArray& array) {
  return {array.data(), Index(array.shape(0)), Index(array.shape(1)), Index(array.shape(2))};
}

static void weighted_degrees(PlaneArray a, PlaneArray b, Index length, DegreeArray weights, BlockArray out,
                             Index n_threads) {
  const BitPlanes mine = planes_of(a), theirs = planes_of(b);
  if (length < 1 || mine.n_words != (length + 63) / 64 || mine.n_words != theirs.n_words ||
      mine.n_planes != theirs.n_planes)
    throw std::invalid_argument("a and b must have as many planes, and words for `length` letters.");
  if (Index(out.shape(0)) != mine.n || Index(out.shape(1)) != theirs.n)
    throw std::invalid_argument("out must be (len(a), len(b)).");
  const DegreeSettings settings{length, weights.data(), Index(weights.shape(0))};
  const bool same = mine.words == theirs.words && mine.n == theirs.n;
  const Index rows_at_once = 1 + 8192 / (1 + theirs.n);  // a thread takes as long to start as some thousand pairs
  const Index n_tasks = (mine.n + rows_at_once - 1) / rows_at_once;
  std::vector<std::vector<std::uint64_t>> rooms(std::size_t(workers_for(n_tasks, n_threads)),
                                                std::vector<std::uint64_t>(std::size_t(mine.n_words)));
  double* const values = out.data();

  Watch watch;
  const auto work = [&](Index task, Index worker) {
    const Index end = std::min(mine.n, (task + 1) * rows_at_once);
    for (Index i = task * rows_at_once; i < end && !watch.is_asked(); ++i)
      loops().weighted_degrees(mine, i, theirs, same ? i : 0, theirs.n, settings, rooms[std::size_t(worker)].data(),
                               values + i * theirs.n);
  };
  {
    nb::gil_scoped_release release;
    share(n_tasks, Index(rooms.size()), work);
  }
  watch.raise();
  for (Index i = 0; same && i < mine.n; ++i)
    for (Index j = 0; j < i; ++j) values[i * mine.n + j] = values[j * mine.n + i];
}

void bind_sequences(nb::module_& m) {
  nb::class_<OwnedSequences>(m, "Sequences", "Sequences of unequal length, end to end in one array.")
      .def(
          "__init__",
          [](OwnedSequences* self, ValueArray values, StartArray starts) {
            new (self) OwnedSequences(sequences_of(std::move(values), std::move(starts)));
          },
          nb::arg("values"), nb::arg("starts"),
          "Sequence i is values[starts[i]:starts[i + 1]], of shape (positions, channels).");
  m.def("subsequences", subsequences, nb::arg("a"), nb::arg("b"), nb::arg("k"), nb::arg("decay"), nb::arg("out"),
        nb::arg("n_threads"), "Writes the gapped subsequence kernel of each pair.");
  m.def("alignments", alignments, nb::arg("a"), nb::arg("b"), nb::arg("scale"), nb::arg("band"), nb::arg("out"),
        nb::arg("n_threads"), "Writes the logarithm of the global alignment kernel of each pair; a band of 0 is none.");
  m.def("warpings", warpings, nb::arg("a"), nb::arg("b"), nb::arg("out"), nb::arg("n_threads"),
        "Writes the dynamic time warping cost of each pair, the least sum of squared distances.");
  m.def("weighted_degrees", weighted_degrees, nb::arg("a"), nb::arg("b"), nb::arg("length"), nb::arg("weights"),
        nb::arg("out"), nb::arg("n_threads"),
        "Writes the weighted degree kernel of each pair of strings, given as planes of bits.");
}

}  // namespace pegasos
