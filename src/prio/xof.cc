#include "prio/xof.h"

namespace discreet::prio {

Bytes domain_tag(std::uint32_t algorithm, Usage usage, ByteSpan context) {
  Bytes tag;
  tag.reserve(8 + context.size());
  tag.push_back(kVdafVersion);
  tag.push_back(0);  // the class of VDAFs
  for (int shift = 24; shift >= 0; shift -= 8)
    tag.push_back(static_cast<std::uint8_t>(algorithm >> shift));
  tag.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(usage) >> 8));
  tag.push_back(static_cast<std::uint8_t>(usage));
  append(tag, context);
  return tag;
}

Bytes xof_prefix(ByteSpan domain, ByteSpan seed) {
  DISCREET_CHECK(domain.size() <= 0xffff && seed.size() <= 0xff, "tag or seed too long");
  Bytes prefix;
  prefix.reserve(3 + domain.size() + seed.size() + 64);  // room for a binder
  prefix.push_back(static_cast<std::uint8_t>(domain.size()));
  prefix.push_back(static_cast<std::uint8_t>(domain.size() >> 8));
  append(prefix, domain);
  prefix.push_back(static_cast<std::uint8_t>(seed.size()));
  append(prefix, seed);
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
