#include <algorithm>
#include <stdexcept>
#include <vector>

#include "bindings.h"
#include "pairs.h"
#include "pegasos/walks.h"
#include "threads.h"
#include "watch.h"

namespace pegasos {

using NumberArray = nb::ndarray<const Index, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// The view together with the arrays it refers to.
struct OwnedGraphs {
  Graphs graphs;
  Index largest;  // nodes of the largest graph
  NumberArray labels, nodes, links, neighbours;
};

static void check_starts(const NumberArray& starts, Index end, const char* message) {
  const Index n = Index(starts.shape(0));
  const Index* const values = starts.data();
  if (n < 1 || values[0] != 0 || values[n - 1] != end || !std::is_sorted(values, values + n))
    throw std::invalid_argument(message);
}

static OwnedGraphs graphs_of(NumberArray labels, NumberArray nodes, NumberArray links, NumberArray neighbours) {
  const Index n = Index(nodes.shape(0)) - 1, n_nodes = Index(labels.shape(0));
  check_starts(nodes, n_nodes, "nodes must go from 0 to the number of nodes and not decrease.");
  if (Index(links.shape(0)) != n_nodes + 1) throw std::invalid_argument("links must have an entry for each node.");
  check_starts(links, Index(neighbours.shape(0)), "links must go from 0 to the number of neighbors and not decrease.");
  Index largest = 0;
  for (Index g = 0; g < n; ++g) {
    const Index begin = nodes.data()[g], end = nodes.data()[g + 1];
    largest = std::max(largest, end - begin);
    for (Index k = links.data()[begin]; k < links.data()[end]; ++k)
      if (neighbours.data()[k] < 0 || neighbours.data()[k] >= end - begin)
        throw std::invalid_argument("a neighbor is not in the graph.");
  }
  return {{labels.data(), nodes.data(), links.data(), neighbours.data(), n}, largest, labels, nodes, links, neighbours};
}

struct Walker {
  std::vector<double> values;
  std::vector<Index> numbers;
};

static void walk(const OwnedGraphs& a, const OwnedGraphs& b, double decay, Index n_steps, WeightArray out,
                 Index n_threads) {
  const bool is_same = a.graphs.nodes == b.graphs.nodes && a.graphs.labels == b.graphs.labels;
  const Pairing pairing(a.graphs.n, b.graphs.n, is_same, out);
  if (n_steps < 0) throw std::invalid_argument("n_steps must be at least 0.");
  constexpr Index pairs_at_once = 256;  // a thread takes as long to start as some dozen pairs
  const Index n_tasks = (pairing.size() + pairs_at_once - 1) / pairs_at_once;
  std::vector<Walker> walkers(std::size_t(workers_for(n_tasks, n_threads)));
  for (Walker& walker : walkers) {
    walker.values.resize(std::size_t(walk_values(a.largest, b.largest)));
    walker.numbers.resize(std::size_t(walk_numbers(a.largest, b.largest)));
  }
  Watch watch;
  const WalkSettings settings{decay, n_steps, watch.stop()};
  const auto work = [&](Index task, Index number) {
    Walker& walker = walkers[std::size_t(number)];
    const Index end = std::min(pairing.size(), (task + 1) * pairs_at_once);
    for (Index p = task * pairs_at_once; p < end && !watch.is_asked(); ++p) {
      const Pair pair = pairing.at(p);
      if (pairing.needs(pair))
        pairing.put(pair,
                    walks(a.graphs, pair.a, b.graphs, pair.b, settings, walker.values.data(), walker.numbers.data()));
    }
  };
  {
    nb::gil_scoped_release release;
    share(n_tasks, Index(walkers.size()), work);
  }
  watch.raise();
}

void bind_graphs(nb::module_& m) {
  nb::class_<OwnedGraphs>(m, "Graphs", "Graphs with labelled nodes, side by side.")
      .def(
          "__init__",
          [](OwnedGraphs* self, NumberArray labels, NumberArray nodes, NumberArray links, NumberArray neighbours) {
            new (self)
                OwnedGraphs(graphs_of(std::move(labels), std::move(nodes), std::move(links), std::move(neighbours)));
          },
          nb::arg("labels"), nb::arg("nodes"), nb::arg("links"), nb::arg("neighbours"),
          "Graph g has the nodes nodes[g] to nodes[g + 1]; node i has the neighbors links[i] to links[i + 1].");
  m.def("walks", walk, nb::arg("a"), nb::arg("b"), nb::arg("decay"), nb::arg("n_steps"), nb::arg("out"),
        nb::arg("n_threads"), "Writes the random-walk kernel of each pair; n_steps of 0 means no limit.");
}

}  // namespace pegasos
