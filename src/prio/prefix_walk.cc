#include "prio/prefix_walk.h"

#include <algorithm>

#include "prio/codec.h"

namespace discreet::prio {

Result<PrefixQuery> PrefixQuery::make(std::vector<BitString> prefixes) {
  const BitString root;
  return walk({&root, 1}, std::move(prefixes));
}

Result<PrefixQuery> PrefixQuery::after(const PrefixQuery& previous,
                                       std::vector<BitString> prefixes) {
  return walk(previous.prefixes_, std::move(prefixes));
}

Result<PrefixQuery> PrefixQuery::walk(std::span<const BitString> from, std::vector<BitString> to) {
  if (to.empty() || to.front().empty())
    return invalid_parameter("a query asks about at least one prefix of at least one bit");
  const std::size_t length = to.front().size(), start = from.front().size();
  if (length > kPrefixBitsMax) return invalid_parameter("prefixes are at most 65536 bits long");
  if (length <= start) return invalid_parameter("a query after another asks about longer prefixes");
  for (std::size_t i = 0; i < to.size(); ++i) {
    if (to[i].size() != length)
      return invalid_parameter("the prefixes of one query have one length");
    if (i > 0 && !(to[i - 1] < to[i]))
      return invalid_parameter("prefixes are listed once each, in lexicographic order");
  }

  PrefixQuery query;
  query.roots_ = from.size();
  std::vector<std::uint32_t> at(to.size());  // the node each prefix hangs from
  for (std::size_t i = 0; i < to.size(); ++i) {
    const BitString head = to[i].prefix(start);
    const auto found = std::lower_bound(from.begin(), from.end(), head);
    if (found == from.end() || *found != head)
      return invalid_parameter("a prefix extends none of the prefixes asked about before");
    at[i] = static_cast<std::uint32_t>(found - from.begin());
  }
  for (std::size_t depth = start; depth < length; ++depth) {
    // Prefixes are in order, so those below one node stand together.
    std::vector<Edge> edges;
    std::vector<std::uint32_t> next(to.size());
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Edge edge{at[i], to[i].bit(depth)};
      if (i == 0 || edge.parent != at[i - 1] || edge.bit != to[i - 1].bit(depth))
        edges.push_back(edge);
      next[i] = static_cast<std::uint32_t>(edges.size()) - 1;
    }
    query.steps_.push_back(std::move(edges));
    at = std::move(next);
  }
  query.prefixes_ = std::move(to);
  return query;
}

Bytes PrefixQuery::encode() const {
  Writer writer;
  writer.integer(static_cast<std::uint16_t>(level()))
      .integer(static_cast<std::uint32_t>(prefixes_.size()));
  for (const BitString& prefix : prefixes_) writer.raw(prefix.bytes());
  return writer.take();
}

Result<PrefixQuery> PrefixQuery::decode(ByteSpan bytes) {
  Reader reader(bytes);
  const std::size_t length = std::size_t{reader.integer<std::uint16_t>()} + 1;
  const auto count = reader.integer<std::uint32_t>();
  const std::size_t prefix_bytes = (length + 7) / 8;
  if (reader.failed() || count != (bytes.size() - 6) / prefix_bytes)
    return invalid_input("the number of prefixes is not that of the bytes");
  std::vector<BitString> prefixes;
  prefixes.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const ByteSpan packed = reader.raw(prefix_bytes);
    prefixes.emplace_back(packed, length);
    if (!std::ranges::equal(prefixes.back().bytes(), packed))
      return invalid_input("bits are set after the end of a prefix");
  }
  if (!reader.end()) return invalid_input("bytes follow the last prefix");
  auto query = make(std::move(prefixes));
  if (!query) return invalid_input(query.error().message);
  return query;
}

}  // namespace discreet::prio
