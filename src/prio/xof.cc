#include "prio/xof.h"

namespace discreet::prio {

namespace {

constexpr std::size_t kTagBytes = 8;

void append_tag(Bytes& to, TagClass tag_class, std::uint32_t algorithm, std::uint16_t number,
                ByteSpan context) {
  const std::uint8_t tag[kTagBytes] = {kVdafVersion,
                                       static_cast<std::uint8_t>(tag_class),
                                       static_cast<std::uint8_t>(algorithm >> 24),
                                       static_cast<std::uint8_t>(algorithm >> 16),
                                       static_cast<std::uint8_t>(algorithm >> 8),
                                       static_cast<std::uint8_t>(algorithm),
                                       static_cast<std::uint8_t>(number >> 8),
                                       static_cast<std::uint8_t>(number)};
  append(to, tag);
  append(to, context);
}

void append_tag_length(Bytes& to, std::size_t length) {
  DISCREET_CHECK(length <= 0xffff, "tag too long");
  to.push_back(static_cast<std::uint8_t>(length));
  to.push_back(static_cast<std::uint8_t>(length >> 8));
}

void append_seed(Bytes& to, ByteSpan seed) {
  DISCREET_CHECK(seed.size() <= 0xff, "seed too long");
  to.push_back(static_cast<std::uint8_t>(seed.size()));
  append(to, seed);
}

}  // namespace

Bytes domain_tag(TagClass tag_class, std::uint32_t algorithm, std::uint16_t usage,
                 ByteSpan context) {
  Bytes tag;
  tag.reserve(kTagBytes + context.size());
  append_tag(tag, tag_class, algorithm, usage, context);
  return tag;
}

Bytes xof_prefix(ByteSpan domain, ByteSpan seed) {
  Bytes prefix;
  prefix.reserve(3 + domain.size() + seed.size());
  append_tag_length(prefix, domain.size());
  append(prefix, domain);
  append_seed(prefix, seed);
  return prefix;
}

Bytes xof_prefix(std::uint32_t algorithm, Usage usage, ByteSpan context, ByteSpan seed,
                 std::size_t binder_bytes) {
  Bytes prefix;
  prefix.reserve(3 + kTagBytes + context.size() + seed.size() + binder_bytes);
  append_tag_length(prefix, kTagBytes + context.size());
  append_tag(prefix, TagClass::Vdaf, algorithm, static_cast<std::uint16_t>(usage), context);
  append_seed(prefix, seed);
  return prefix;
}

Xof::Xof(ByteSpan seed, ByteSpan domain, ByteSpan binder) : sponge_(1) {
  sponge_.absorb(xof_prefix(domain, seed));
  sponge_.absorb(binder);
}

Seed Xof::seed() {
  Seed out;
  fill(out);
  return out;
}

}  // namespace discreet::prio
