#include "prio/idpf.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/check.h"
#include "prio/codec.h"

namespace discreet::prio {
namespace {

enum class IdpfUsage : std::uint16_t { Extend = 0, Convert = 1 };

/// All ones where the bit is set.
std::uint8_t mask_of(std::uint8_t bit) {
  return static_cast<std::uint8_t>(0 - bit);
}
void add_masked(AesBlock& to, const AesBlock& from, std::uint8_t bit) {
  const std::uint8_t mask = mask_of(bit);
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<std::uint8_t>(to[i] ^ (from[i] & mask));
}
AesBlock sum_of(AesBlock a, const AesBlock& b) {
  add_masked(a, b, 1);
  return a;
}
AesBlock choose(const std::array<AesBlock, 2>& pair, std::uint8_t bit) {
  AesBlock out = pair[0];
  add_masked(out, sum_of(pair[0], pair[1]), bit);
  return out;
}
std::uint8_t choose(const std::array<std::uint8_t, 2>& pair, std::uint8_t bit) {
  return static_cast<std::uint8_t>(pair[0] ^ ((pair[0] ^ pair[1]) & bit));
}
/// a or b, by multiplication.
template <class F>
F choose(const F& a, const F& b, std::uint8_t bit) {
  return a + (b - a) * F(std::uint64_t{bit});
}

/// Both children of a node, before correction.
struct Children {
  std::array<AesBlock, 2> seeds;
  std::array<std::uint8_t, 2> controls;
};

Children split(const AesBlock& left, const AesBlock& right) {
  Children out{{left, right}, {}};
  for (int side : {0, 1}) {
    out.controls[side] = out.seeds[side][0] & 1;
    out.seeds[side][0] &= 0xfe;
  }
  return out;
}

/// The streams of one level: AES above the leaves, where speed matters, a sponge at the leaves,
/// where a random oracle is needed.
template <class F>
class Level;

template <>
class Level<Field64> {
 public:
  explicit Level(const IdpfBinding& binding)
      : extend_(tag(IdpfUsage::Extend, binding.context), binding.nonce),
        convert_(tag(IdpfUsage::Convert, binding.context), binding.nonce) {}

  static Bytes tag(IdpfUsage usage, ByteSpan context) {
    return domain_tag(TagClass::Idpf, 0, static_cast<std::uint16_t>(usage), context);
  }

  void extend(std::span<const IdpfNode> nodes, std::vector<Children>& out) {
    blocks_.clear();
    for (const IdpfNode& node : nodes)
      for (const std::uint64_t i : {0, 1}) blocks_.push_back(stream_block(node.seed, i));
    extend_.hash(blocks_);
    out.clear();
    for (std::size_t i = 0; i < nodes.size(); ++i)
      out.push_back(split(blocks_[2 * i], blocks_[2 * i + 1]));
  }

  /// The next seeds in place of the seeds, and, where asked for, the values.
  void convert(std::span<IdpfNode> nodes, std::vector<IdpfValue<Field64>>* values) {
    const std::size_t stride = values != nullptr ? 2 : 1;
    blocks_.clear();
    for (const IdpfNode& node : nodes)
      for (std::size_t i = 0; i < stride; ++i) blocks_.push_back(stream_block(node.seed, i));
    convert_.hash(blocks_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (values != nullptr) {
        IdpfValue<Field64>& value = values->emplace_back();
        const std::uint8_t* bytes = blocks_[2 * i + 1].data();
        if (!Field64::load(bytes, value[0]) || !Field64::load(bytes + 8, value[1]))
          value = by_rejection(nodes[i].seed);  // chance 2^-31
      }
      nodes[i].seed = blocks_[stride * i];
    }
  }

 private:
  IdpfValue<Field64> by_rejection(const AesBlock& seed) {
    XofFixedKeyAes128 stream(convert_, seed);
    AesBlock skipped;
    stream.fill(skipped);
    IdpfValue<Field64> value;
    stream.elements<Field64>(value);
    return value;
  }

  FixedKeyAes128 extend_, convert_;
  std::vector<AesBlock> blocks_;
};

template <>
class Level<Field255> {
 public:
  explicit Level(const IdpfBinding& binding)
      : extend_(Level<Field64>::tag(IdpfUsage::Extend, binding.context)),
        convert_(Level<Field64>::tag(IdpfUsage::Convert, binding.context)),
        nonce_(binding.nonce) {}

  void extend(std::span<const IdpfNode> nodes, std::vector<Children>& out) const {
    out.clear();
    for (const IdpfNode& node : nodes) {
      std::array<AesBlock, 2> blocks;
      Xof(node.seed, extend_, nonce_).fill({blocks[0].data(), sizeof blocks});
      out.push_back(split(blocks[0], blocks[1]));
    }
  }
  void convert(std::span<IdpfNode> nodes, std::vector<IdpfValue<Field255>>* values) const {
    for (IdpfNode& node : nodes) {
      Xof stream(node.seed, convert_, nonce_);
      stream.fill(node.seed);
      if (values != nullptr) stream.elements<Field255>(values->emplace_back());
    }
  }

 private:
  Bytes extend_, convert_;
  ByteSpan nonce_;
};

/// One level of key generation: both parties' nodes go down the path, and what makes them differ
/// only there is published.
template <class F>
IdpfValue<F> generate_level(Level<F>& level, std::uint8_t bit, const IdpfValue<F>& wanted,
                            std::array<IdpfNode, 2>& nodes,
                            IdpfPublicShare::Correction& correction) {
  std::vector<Children> children;
  level.extend(nodes, children);
  const auto other = static_cast<std::uint8_t>(1 ^ bit);
  correction.seed = sum_of(choose(children[0].seeds, other), choose(children[1].seeds, other));
  for (std::size_t side : {0, 1})
    correction.control[side] = static_cast<std::uint8_t>(
        children[0].controls[side] ^ children[1].controls[side] ^ bit ^ (side == 0 ? 1 : 0));
  const std::uint8_t control = choose(correction.control, bit);
  for (std::size_t party : {0, 1}) {
    IdpfNode& node = nodes[party];
    const std::uint8_t corrected = node.control;
    node.seed = choose(children[party].seeds, bit);
    add_masked(node.seed, correction.seed, corrected);
    node.control =
        static_cast<std::uint8_t>(choose(children[party].controls, bit) ^ (control & corrected));
  }
  std::vector<IdpfValue<F>> values;
  level.convert(nodes, &values);
  IdpfValue<F> out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const F difference = wanted[i] - values[0][i] + values[1][i];
    out[i] = choose(difference, F() - difference, nodes[1].control);
  }
  return out;
}

template <class F>
void step_down(Level<F>& level, const IdpfPublicShare::Correction& correction,
               std::span<const PrefixQuery::Edge> edges, std::vector<IdpfNode>& nodes,
               std::vector<IdpfValue<F>>* values) {
  // Edges are in the order of their parents; a parent that nobody asks about is not opened.
  std::vector<IdpfNode> parents;
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (i == 0 || edges[i].parent != edges[i - 1].parent) parents.push_back(nodes[edges[i].parent]);
  std::vector<Children> children;
  level.extend(parents, children);
  std::vector<IdpfNode> next;
  next.reserve(edges.size());
  std::size_t at = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (i > 0 && edges[i].parent != edges[i - 1].parent) ++at;
    const std::uint8_t bit = edges[i].bit;  // prefixes are public: a plain index
    IdpfNode node{children[at].seeds[bit], children[at].controls[bit]};
    add_masked(node.seed, correction.seed, parents[at].control);
    node.control =
        static_cast<std::uint8_t>(node.control ^ (correction.control[bit] & parents[at].control));
    next.push_back(node);
  }
  nodes = std::move(next);
  level.convert(nodes, values);
}

template <class F>
void write_value(Writer& writer, const IdpfValue<F>& value) {
  for (const F& element : value) {
    std::uint8_t bytes[F::kBytes];
    element.store(bytes);
    writer.raw(bytes);
  }
}
template <class F>
bool read_value(Reader& reader, IdpfValue<F>& value) {
  for (F& element : value) {
    const ByteSpan bytes = reader.raw(F::kBytes);
    if (reader.failed() || !F::load(bytes.data(), element)) return false;
  }
  return true;
}

}  // namespace

Result<IdpfPublicShare> idpf_generate(const BitString& path,
                                      std::span<const IdpfValue<Field64>> inner,
                                      const IdpfValue<Field255>& leaf, const IdpfBinding& binding,
                                      const std::array<AesBlock, 2>& keys) {
  if (path.empty() || path.size() > kPrefixBitsMax)
    return invalid_parameter("a string has 1 to 65536 bits");
  if (inner.size() + 1 != path.size()) return invalid_parameter("there is one value a level");
  IdpfPublicShare out;
  out.corrections.resize(path.size());
  std::array<IdpfNode, 2> nodes = {idpf_root(0, keys[0]), idpf_root(1, keys[1])};
  Level<Field64> upper(binding);
  for (std::size_t i = 0; i < inner.size(); ++i)
    out.inner.push_back(generate_level(upper, path.bit(i), inner[i], nodes, out.corrections[i]));
  Level<Field255> last(binding);
  out.leaf = generate_level(last, path.bit(inner.size()), leaf, nodes, out.corrections.back());
  return out;
}

template <class F>
std::vector<IdpfValue<F>> idpf_evaluate(unsigned party, const IdpfPublicShare& public_share,
                                        const PrefixQuery& query, const IdpfBinding& binding,
                                        std::vector<IdpfNode>& nodes) {
  constexpr bool kLeaf = std::is_same_v<F, Field255>;
  DISCREET_CHECK(
      query.level() < public_share.bits() && kLeaf == (query.level() + 1 == public_share.bits()),
      "a level of this tree, and its field");
  DISCREET_CHECK(nodes.size() == query.roots(), "nodes of the query's roots");
  std::optional<Level<Field64>> upper;
  std::vector<IdpfValue<F>> values;
  values.reserve(query.size());
  for (std::size_t i = 0; i < query.steps().size(); ++i) {
    const std::size_t at = query.first_level() + i;
    const bool last = at == query.level();
    const auto& edges = query.steps()[i];
    if constexpr (kLeaf) {
      if (last) {
        Level<Field255> leaves(binding);
        step_down(leaves, public_share.corrections[at], edges, nodes, &values);
        break;
      }
    }
    if (!upper) upper.emplace(binding);
    std::vector<IdpfValue<Field64>>* into = nullptr;
    if constexpr (!kLeaf)
      if (last) into = &values;
    step_down(*upper, public_share.corrections[at], edges, nodes, into);
  }

  const IdpfValue<F>& correction = [&]() -> const IdpfValue<F>& {
    if constexpr (kLeaf)
      return public_share.leaf;
    else
      return public_share.inner[query.level()];
  }();
  for (std::size_t i = 0; i < values.size(); ++i)
    for (std::size_t j = 0; j < values[i].size(); ++j) {
      F& value = values[i][j];
      value = choose(value, value + correction[j], nodes[i].control);
      if (party == 1) value = F() - value;
    }
  return values;
}

template std::vector<IdpfValue<Field64>> idpf_evaluate(unsigned, const IdpfPublicShare&,
                                                       const PrefixQuery&, const IdpfBinding&,
                                                       std::vector<IdpfNode>&);
template std::vector<IdpfValue<Field255>> idpf_evaluate(unsigned, const IdpfPublicShare&,
                                                        const PrefixQuery&, const IdpfBinding&,
                                                        std::vector<IdpfNode>&);

Bytes IdpfPublicShare::encode() const {
  Bytes packed((2 * bits() + 7) / 8);
  for (std::size_t i = 0; i < 2 * bits(); ++i)
    packed[i / 8] =
        static_cast<std::uint8_t>(packed[i / 8] | corrections[i / 2].control[i % 2] << (i % 8));
  Writer writer;
  writer.raw(packed);
  for (const Correction& correction : corrections) writer.raw(correction.seed);
  for (const auto& value : inner) write_value(writer, value);
  write_value(writer, leaf);
  return writer.take();
}

Result<IdpfPublicShare> IdpfPublicShare::decode(ByteSpan bytes, std::size_t bits) {
  Reader reader(bytes);
  const ByteSpan packed = reader.raw((2 * bits + 7) / 8);
  IdpfPublicShare out;
  if (!reader.failed()) {
    out.corrections.resize(bits);
    for (std::size_t i = 0; i < 8 * packed.size(); ++i) {
      const std::uint8_t bit = packed[i / 8] >> (i % 8) & 1;
      if (i < 2 * bits)
        out.corrections[i / 2].control[i % 2] = bit;
      else if (bit != 0)
        return invalid_input("a public share has bits set that nobody reads");
    }
    for (Correction& correction : out.corrections) correction.seed = reader.array<16>();
  }
  out.inner.resize(bits - 1);
  bool reduced = true;
  for (auto& value : out.inner) reduced = reduced && read_value(reader, value);
  reduced = reduced && read_value(reader, out.leaf);
  if (!reduced || !reader.end())
    return invalid_input(
        fmt::format("not a public share of strings of {} bits: another length, or an element that "
                    "is not reduced",
                    bits));
  return out;
}

}  // namespace discreet::prio
