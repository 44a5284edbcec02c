#include "synth/junction_tree.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <set>

namespace discreet::synth {
namespace {

Clique intersection(const Clique& a, const Clique& b) {
  Clique both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

// The cliques met while eliminating attributes, without those inside another.
std::vector<Clique> maximal_cliques(const Domain& domain, std::span<const Clique> cliques) {
  const std::size_t n = domain.size();
  std::vector<std::set<std::uint32_t>> neighbours(n);
  for (const Clique& clique : cliques)
    for (const std::uint32_t a : clique)
      for (const std::uint32_t b : clique)
        if (a != b) neighbours[a].insert(b);
  std::vector<bool> gone(n, false);
  std::vector<Clique> found;
  for (std::size_t step = 0; step < n; ++step) {
    std::uint32_t best = 0;
    double best_cells = std::numeric_limits<double>::infinity();
    for (std::uint32_t a = 0; a < n; ++a) {
      if (gone[a]) continue;
      double cells = domain[a].size;
      for (const std::uint32_t b : neighbours[a]) cells *= domain[b].size;
      if (cells < best_cells) {
        best_cells = cells;
        best = a;
      }
    }
    Clique clique(neighbours[best].begin(), neighbours[best].end());
    for (const std::uint32_t a : clique) {
      neighbours[a].erase(best);
      for (const std::uint32_t b : clique)
        if (a != b) neighbours[a].insert(b);
    }
    clique.insert(std::lower_bound(clique.begin(), clique.end(), best), best);
    gone[best] = true;
    if (std::none_of(found.begin(), found.end(), [&](const Clique& other) {
          return std::includes(other.begin(), other.end(), clique.begin(), clique.end());
        }))
      found.push_back(std::move(clique));
  }
  return found;
}

}  // namespace

JunctionTree JunctionTree::make(const Domain& domain, std::span<const Clique> cliques) {
  const std::vector<Clique> maximal = maximal_cliques(domain, cliques);
  // Prim's algorithm for the spanning tree of greatest separators.
  JunctionTree tree;
  std::vector<bool> used(maximal.size(), false);
  std::vector<int> position(maximal.size(), -1);
  for (std::size_t step = 0; step < maximal.size(); ++step) {
    std::size_t best = maximal.size();
    std::size_t best_parent = 0, best_size = 0;
    for (std::size_t c = 0; c < maximal.size(); ++c) {
      if (used[c]) continue;
      if (best == maximal.size()) best = c;  // an island starts where no separator is left
      for (std::size_t p = 0; p < maximal.size(); ++p) {
        if (!used[p]) continue;
        const std::size_t size = intersection(maximal[c], maximal[p]).size();
        if (size > best_size) {
          best_size = size;
          best = c;
          best_parent = p;
        }
      }
    }
    used[best] = true;
    position[best] = static_cast<int>(tree.nodes.size());
    TreeNode node{maximal[best], -1, {}};
    if (best_size > 0) {
      node.parent = position[best_parent];
      node.separator = intersection(maximal[best], maximal[best_parent]);
    }
    tree.nodes.push_back(std::move(node));
  }
  return tree;
}

std::uint64_t JunctionTree::cells(const Domain& domain) const {
  std::uint64_t sum = 0;
  for (const TreeNode& node : nodes) {
    sum += domain.cells(node.attributes);
    if (sum >= std::uint64_t{1} << 62) break;
  }
  return sum;
}

int JunctionTree::node_of(std::span<const std::uint32_t> clique) const {
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (std::includes(nodes[i].attributes.begin(), nodes[i].attributes.end(), clique.begin(),
                      clique.end()))
      return static_cast<int>(i);
  return -1;
}

}  // namespace discreet::synth
