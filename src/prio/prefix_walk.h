// Which prefixes of clients' strings servers ask about, and how to get there in the tree.
//
// Guarantee: a query lists distinct prefixes of one length in order, as the draft demands (section
//            8.2.2); one that extends another asks only about children of what that one asked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "prio/bit_string.h"

namespace discreet::prio {

/// The aggregation parameter of Poplar1. A value; reports share it.
class PrefixQuery {
 public:
  /// InvalidParameter: none, empty, too long or of different lengths, not in order, or twice.
  static Result<PrefixQuery> make(std::vector<BitString> prefixes);
  /// One that starts where `previous` ended: a server that remembers the nodes of `previous` walks
  /// only the rest. InvalidParameter: also a prefix that extends none of `previous`.
  static Result<PrefixQuery> after(const PrefixQuery& previous, std::vector<BitString> prefixes);

  const std::vector<BitString>& prefixes() const { return prefixes_; }
  std::size_t size() const { return prefixes_.size(); }
  unsigned level() const { return static_cast<unsigned>(prefixes_.front().size()) - 1; }

  /// Of the draft: level, number, and each prefix in whole bytes.
  Bytes encode() const;
  /// InvalidInput: not an encoding that encode() makes.
  static Result<PrefixQuery> decode(ByteSpan bytes);

  /// One edge of the tree, from a node of the level above.
  struct Edge {
    std::uint32_t parent;
    std::uint8_t bit;
  };
  /// The level of the first edges: 0, or that below the previous query.
  unsigned first_level() const { return level() + 1 - static_cast<unsigned>(steps_.size()); }
  /// The number of nodes the walk starts from.
  std::size_t roots() const { return roots_; }
  /// Edges a level, from first_level() to level(); children are in the order of prefixes.
  const std::vector<std::vector<Edge>>& steps() const { return steps_; }

 private:
  static Result<PrefixQuery> walk(std::span<const BitString> from, std::vector<BitString> to);

  std::vector<BitString> prefixes_;
  std::vector<std::vector<Edge>> steps_;
  std::size_t roots_ = 1;
};

inline constexpr std::size_t kPrefixBitsMax = 0x10000;  ///< a level is two bytes on the wire

}  // namespace discreet::prio
