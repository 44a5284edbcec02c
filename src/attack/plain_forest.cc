#include "attack/plain_forest.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "random/uniform.h"

namespace discreet::attack {
namespace {

struct Split {
  std::uint16_t cut = 0;
  double impurity = 0;
};

// The cut of one column that leaves least impurity (Gini), or nothing where all codes are equal.
std::optional<Split> best_cut(const learn::CodedRows& rows, std::vector<std::size_t>& members,
                              std::size_t column) {
  const auto& codes = rows.columns[column];
  std::sort(members.begin(), members.end(),
            [&](std::size_t a, std::size_t b) { return codes[a] < codes[b]; });
  double ones = 0, seen_ones = 0;
  for (const std::size_t row : members) ones += rows.labels[row];
  const auto size = static_cast<double>(members.size());
  const auto gini = [](double count, double of_one) {
    return count > 0 ? of_one * (count - of_one) / count : 0;
  };
  std::optional<Split> best;
  for (std::size_t i = 0; i + 1 < members.size(); ++i) {
    seen_ones += rows.labels[members[i]];
    if (codes[members[i]] == codes[members[i + 1]]) continue;
    const auto seen = static_cast<double>(i + 1);
    const double impurity = gini(seen, seen_ones) + gini(size - seen, ones - seen_ones);
    if (!best || impurity < best->impurity) best = Split{codes[members[i]], impurity};
  }
  return best;
}

}  // namespace

std::uint32_t PlainForest::grow_node(const learn::CodedRows& rows, std::vector<std::size_t> members,
                                     Tree& tree, RandomSource& random) {
  const auto here = static_cast<std::uint32_t>(tree.size());
  tree.emplace_back();
  std::size_t ones = 0;
  for (const std::size_t row : members) ones += rows.labels[row];
  tree[here].label = 2 * ones > members.size() ? 1 : 0;
  if (ones == 0 || ones == members.size()) return here;
  // Columns in random order: the first two that can be cut at all compete.
  std::vector<std::size_t> order(rows.columns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[uniform_below(i, random)]);
  std::optional<Split> best;
  std::size_t column = 0;
  for (std::size_t tried = 0; const std::size_t candidate : order) {
    const auto split = best_cut(rows, members, candidate);
    if (!split) continue;
    if (!best || split->impurity < best->impurity) {
      best = split;
      column = candidate;
    }
    if (++tried == 2) break;
  }
  if (!best) return here;
  std::vector<std::size_t> left, right;
  for (const std::size_t row : members)
    (rows.columns[column][row] <= best->cut ? left : right).push_back(row);
  const std::uint32_t at_left = grow_node(rows, std::move(left), tree, random);
  const std::uint32_t at_right = grow_node(rows, std::move(right), tree, random);
  tree[here] = Node{column, best->cut, at_left, at_right, -1};
  return here;
}

PlainForest PlainForest::grow(const learn::CodedRows& rows, std::size_t trees,
                              RandomSource& random) {
  PlainForest forest;
  for (std::size_t i = 0; i < trees; ++i) {
    std::vector<std::size_t> members;
    for (std::size_t row = 0; row < rows.rows; ++row)
      members.push_back(uniform_below(rows.rows, random));
    Tree tree;
    grow_node(rows, std::move(members), tree, random);
    forest.trees_.push_back(std::move(tree));
  }
  return forest;
}

double PlainForest::chance(const learn::CodedRows& rows, std::size_t row) const {
  double ones = 0;
  for (const Tree& tree : trees_) {
    std::uint32_t at = 0;
    while (tree[at].label < 0)
      at = rows.columns[tree[at].column][row] <= tree[at].cut ? tree[at].left : tree[at].right;
    ones += tree[at].label;
  }
  return ones / static_cast<double>(trees_.size());
}

}  // namespace discreet::attack
