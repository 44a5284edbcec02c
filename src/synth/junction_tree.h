// A junction tree over attributes: maximal cliques of a triangulated graph, joined so that the
// cliques that hold an attribute are connected. Looks at sizes of domains only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/domain.h"

namespace discreet::synth {

struct TreeNode {
  Clique attributes;  ///< ascending
  int parent = -1;    ///< an earlier node; -1 for a root
  Clique separator;   ///< shared with the parent; empty for a root or a joined island
};

/// Parents come before children.
struct JunctionTree {
  std::vector<TreeNode> nodes;

  /// A tree in which every given clique lies inside a node, and every attribute in some node.
  /// Triangulates by eliminating, each time, the attribute whose clique has the fewest cells.
  static JunctionTree make(const Domain& domain, std::span<const Clique> cliques);

  /// The cells of all nodes together; saturates.
  std::uint64_t cells(const Domain& domain) const;
  /// The first node that holds all of these attributes, or -1.
  int node_of(std::span<const std::uint32_t> clique) const;
};

}  // namespace discreet::synth
