// A graphical model: the distribution of greatest entropy among those that fit noisy marginals.
//
// Parameters live in log space on the nodes of a junction tree; marginals come from one pass of
// messages up and one down. Fitted by mirror descent with a step that halves when the loss rises
// (McKenna, Sheldon and Miklau 2019). Post-processing only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "synth/dice.h"
#include "synth/domain.h"
#include "synth/junction_tree.h"

namespace discreet::synth {

/// Noisy counts over attributes in ascending order.
struct ModelMeasurement {
  Clique attributes;
  std::vector<double> counts;
  double sigma = 1;
};

class GraphicalModel {
 public:
  GraphicalModel(const Domain& domain, double rows, JunctionTree tree);

  /// The same distribution as far as the new tree can express it: parameters of old nodes are put
  /// into new nodes that hold them.
  GraphicalModel on(JunctionTree tree) const;

  /// Takes up to `iterations` steps; fewer when five in a row lower the loss by less than
  /// `tolerance` of itself. Every measurement must lie
  /// inside a node. Returns the loss, sum of squared distances over sigma^2, halved.
  double fit(std::span<const ModelMeasurement> measurements, int iterations,
             double tolerance = 1e-5);

  /// Counts over attributes that lie inside one node, ascending.
  std::vector<double> marginal(std::span<const std::uint32_t> clique) const;

  /// Records by systematic sampling down the tree, shuffled within equal separators.
  CodedTable sample(std::size_t rows, Dice& dice) const;

  const JunctionTree& tree() const { return tree_; }

 private:
  struct Node {
    std::uint64_t cells = 0;
    std::vector<double> log_potential;
    std::vector<double> belief;            // counts
    std::vector<std::uint32_t> separator;  // per cell, its cell of the separator with the parent
    std::vector<std::uint32_t> in_parent;  // per parent's cell, the same
    std::uint64_t separator_cells = 1;
    std::vector<double> up;  // the message to the parent
  };
  void infer();

  Domain domain_;
  double rows_;
  JunctionTree tree_;
  std::vector<Node> nodes_;
};

/// For every cell of `from` (ascending attributes), the cell of `to`, a subset, that it falls in.
std::vector<std::uint32_t> projection(const Domain& domain, std::span<const std::uint32_t> from,
                                      std::span<const std::uint32_t> to);

}  // namespace discreet::synth
