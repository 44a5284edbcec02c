// A random forest without any privacy, grown until every leaf holds one class: a model as it is
// often shipped, and one that remembers its rows.
#pragma once

#include <cstdint>
#include <vector>

#include "learn/coding.h"
#include "random/random_source.h"

namespace discreet::attack {

class PlainForest {
 public:
  /// Two classes, labels 0 and 1. Every tree sees a random sample of the rows, with repeats, and at
  /// each split a random column.
  static PlainForest grow(const learn::CodedRows& rows, std::size_t trees, RandomSource& random);

  /// Share of trees that say class 1.
  double chance(const learn::CodedRows& rows, std::size_t row) const;

 private:
  struct Node {
    std::size_t column = 0;
    std::uint16_t cut = 0;  ///< codes up to this go left
    std::uint32_t left = 0, right = 0;
    int label = -1;  ///< of a leaf
  };
  using Tree = std::vector<Node>;
  static std::uint32_t grow_node(const learn::CodedRows& rows, std::vector<std::size_t> members,
                                 Tree& tree, RandomSource& random);

  std::vector<Tree> trees_;
};

}  // namespace discreet::attack
