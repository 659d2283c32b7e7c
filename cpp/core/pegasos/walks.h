// The random-walk kernel of two graphs (Gaertner, Flach, Wrobel 2003; Vishwanathan et al. 2010): the sum over the pairs
// of a walk in the one and a walk in the other that meet the same labels in the same order, of decay^length.
//
// These are the walks on the direct product of the graphs, whose nodes are the pairs of nodes with one label. With A
// its adjacency matrix times decay, the sum over all lengths is 1' (I - A)^-1 1, found by conjugate gradients; up to a
// length it is 1' (I + A + A^2 + ...) 1, found from half the powers: 1' A^(j + k) 1 = (A^j 1)' (A^k 1). A is never
// formed.
//
// Nothing here would gain from vector instructions, so the code is compiled once, and its results do not depend on the
// instruction set.
#pragma once

#include <cstdint>

#include "stop.h"
#include "types.h"

namespace pegasos {

// The nodes of graph g are nodes[g] to nodes[g + 1]; the neighbours of node i are neighbours[links[i]] to
// neighbours[links[i + 1]], numbered within their graph.
struct Graphs {
  const std::int64_t* labels;
  const Index* nodes;
  const Index* links;
  const Index* neighbours;
  Index n;
};

struct WalkSettings {
  double decay;
  Index n_steps;  // edges of a walk at most; 0: as many as there are
  Stop stop{};  // after a stop, the value is meaningless
};

// The memory that a pair of graphs with these numbers of nodes needs: doubles, and numbers.
inline Index walk_values(Index largest_a, Index largest_b) { return 3 * largest_a * largest_b + largest_b; }
inline Index walk_numbers(Index largest_a, Index largest_b) { return largest_a * (largest_b + 1) + 1; }

// The kernel of graph i of a with graph j of b.
double walks(const Graphs& a, Index i, const Graphs& b, Index j, const WalkSettings& settings, double* values,
             Index* numbers);

}  // namespace pegasos
