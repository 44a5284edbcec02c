#include "prio/poplar1.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"
#include "prio/codec.h"
#include "prio/elements_internal.h"

namespace discreet::prio {
namespace {

enum class PoplarUsage : std::uint16_t {
  ShardRandomness = 1,
  CorrelationInner = 2,
  CorrelationLeaf = 3,
  VerifyRandomness = 4,
};

Xof stream_of(PoplarUsage usage, ByteSpan seed, ByteSpan context, ByteSpan binder) {
  return {
      seed,
      domain_tag(TagClass::Vdaf, Poplar1::kAlgorithm, static_cast<std::uint16_t>(usage), context),
      binder};
}

template <class F>
constexpr PoplarUsage kCorrelation =
    std::is_same_v<F, Field64> ? PoplarUsage::CorrelationInner : PoplarUsage::CorrelationLeaf;

/// The masks (a, b, c) of one server, level after level.
template <class F>
Xof correlation_stream(unsigned server, ByteSpan seed, ByteSpan context, ByteSpan nonce) {
  Bytes binder = {static_cast<std::uint8_t>(server)};
  append(binder, nonce);
  return stream_of(kCorrelation<F>, seed, context, binder);
}

template <class F>
using Triple = std::array<F, 3>;
template <class F>
using Pair = std::array<F, 2>;

template <class F, std::size_t kSize>
std::array<F, kSize> draw(Xof& stream) {
  std::array<F, kSize> out;
  stream.elements<F>(out);
  return out;
}

/// Runs `body` with the field of a level.
template <class Body>
auto with_field(bool leaf, Body body) {
  return leaf ? body(Field255()) : body(Field64());
}

template <class F>
Result<std::vector<F>> read_elements(ByteSpan bytes) {
  std::vector<F> out(bytes.size() / F::kBytes);
  if (bytes.size() % F::kBytes != 0) return invalid_input("not a whole number of elements");
  if (!load_elements<F>(bytes, out)) return invalid_input("an element is not reduced");
  return out;
}
template <class F>
F element_at(const FieldVector& words, std::size_t index) {
  return F::from_words(&words[index * F::kWords]);
}

/// One level's masks at the client: from both servers' (a, b, c) and the authenticator k, shares of
/// A = k - 2a and B = a^2 + b - ak + c. With them the servers can check z^2 = z' and kz = z'' of
/// masked sums (Boneh et al. 2021, appendix C.4).
template <class F>
std::array<Pair<F>, 2> share_masks(const Triple<F>& first, const Triple<F>& second, const F& k,
                                   Xof& shard_stream) {
  const F a = first[0] + second[0], b = first[1] + second[1], c = first[2] + second[2];
  const Pair<F> masks = {k - a - a, a * a + b - a * k + c};
  const auto other = draw<F, 2>(shard_stream);
  return {Pair<F>{masks[0] - other[0], masks[1] - other[1]}, other};
}

struct InputShare {
  AesBlock key;
  Seed correlation_seed;
  ByteSpan inner, leaf;
};

InputShare read_input_share(ByteSpan bytes, std::size_t bits) {
  Reader reader(bytes);
  InputShare out;
  out.key = reader.array<sizeof(AesBlock)>();
  out.correlation_seed = reader.array<kSeedBytes>();
  out.inner = reader.raw(2 * (bits - 1) * Field64::kBytes);
  out.leaf = reader.raw(2 * Field255::kBytes);
  return out;
}

}  // namespace

Result<Poplar1> Poplar1::make(std::size_t bits) {
  if (bits < 1 || bits > kPrefixBitsMax)
    return invalid_parameter(
        fmt::format("strings of 1 to {} bits can be counted, not of {}", kPrefixBitsMax, bits));
  return Poplar1(bits);
}

std::size_t Poplar1::input_share_bytes() const {
  return sizeof(AesBlock) + kSeedBytes + 2 * (bits_ - 1) * Field64::kBytes + 2 * Field255::kBytes;
}

Result<void> Poplar1::check(const PrefixQuery& query) const {
  if (query.level() < bits_) return {};
  return invalid_parameter(fmt::format(
      "a prefix of {} bits is longer than the strings, which have {}", query.level() + 1, bits_));
}

Result<Report> Poplar1::shard(ByteSpan context, const BitString& string, ByteSpan nonce,
                              ByteSpan randomness) const {
  return shard_weighted(context, string, 1, nonce, randomness);
}

Result<Report> Poplar1::shard_weighted(ByteSpan context, const BitString& string,
                                       std::uint64_t weight, ByteSpan nonce,
                                       ByteSpan randomness) const {
  if (string.size() != bits_)
    return invalid_parameter(
        fmt::format("a string has {} bits here, not {}", bits_, string.size()));
  if (nonce.size() != kNonceBytes || randomness.size() != kRandomnessBytes)
    return invalid_parameter("nonce or randomness of the wrong length");
  Reader reader(randomness);
  std::array<AesBlock, 2> keys;
  for (AesBlock& key : keys) key = reader.array<sizeof(AesBlock)>();
  std::array<Seed, 2> seeds;
  for (Seed& seed : seeds) seed = reader.array<kSeedBytes>();
  Xof stream = stream_of(PoplarUsage::ShardRandomness, reader.raw(kSeedBytes), context, nonce);

  std::vector<IdpfValue<Field64>> inner(bits_ - 1);
  for (auto& value : inner) value = {Field64(weight), draw<Field64, 1>(stream)[0]};
  const IdpfValue<Field255> leaf = {Field255(weight), draw<Field255, 1>(stream)[0]};
  DISCREET_TRY(const IdpfPublicShare public_share,
               idpf_generate(string, inner, leaf, {.context = context, .nonce = nonce}, keys));

  std::array<Bytes, 2> masks;
  const auto mask_level = [&](const auto& k, Xof& first, Xof& second) {
    using F = std::decay_t<decltype(k)>;
    const auto a = draw<F, 3>(first), b = draw<F, 3>(second);
    const auto shares = share_masks<F>(a, b, k, stream);
    for (std::size_t server : {0, 1}) store_elements<F>(masks[server], shares[server]);
  };
  Xof inner0 = correlation_stream<Field64>(0, seeds[0], context, nonce);
  Xof inner1 = correlation_stream<Field64>(1, seeds[1], context, nonce);
  for (const auto& value : inner) mask_level(value[1], inner0, inner1);
  Xof leaf0 = correlation_stream<Field255>(0, seeds[0], context, nonce);
  Xof leaf1 = correlation_stream<Field255>(1, seeds[1], context, nonce);
  mask_level(leaf[1], leaf0, leaf1);

  Report report{public_share.encode(), {}};
  for (std::size_t server : {0, 1})
    report.input_shares.push_back(
        Writer().raw(keys[server]).raw(seeds[server]).raw(masks[server]).take());
  return report;
}

Result<std::vector<IdpfNode>> Poplar1::root(const VerifyInput& input) const {
  if (input.server > 1) return invalid_input("there are two servers, 0 and 1");
  if (input.input_share.size() != input_share_bytes())
    return invalid_input("an input share has the wrong length");
  return std::vector{idpf_root(input.server, read_input_share(input.input_share, bits_).key)};
}

Result<PrefixVerifyStart> Poplar1::verify_init(const VerifyInput& input,
                                               const PrefixQuery& query) const {
  DISCREET_TRY(std::vector<IdpfNode> nodes, root(input));
  return verify_init(input, query, nodes);
}

Result<PrefixVerifyStart> Poplar1::verify_init(const VerifyInput& input, const PrefixQuery& query,
                                               std::vector<IdpfNode>& nodes) const {
  DISCREET_TRY_VOID(check(query));
  if (input.server > 1) return invalid_input("there are two servers, 0 and 1");
  if (input.nonce.size() != kNonceBytes || input.verify_key.size() != kVerifyKeyBytes)
    return invalid_input("nonce or verify key of the wrong length");
  if (input.input_share.size() != input_share_bytes())
    return invalid_input("an input share has the wrong length");
  if (nodes.size() != query.roots())
    return invalid_parameter("these are not the nodes the query starts from");
  DISCREET_TRY(const IdpfPublicShare public_share,
               IdpfPublicShare::decode(input.public_share, bits_));
  const InputShare share = read_input_share(input.input_share, bits_);
  return with_field(is_leaf(query), [&](auto field) -> Result<PrefixVerifyStart> {
    using F = decltype(field);
    constexpr bool kLeaf = std::is_same_v<F, Field255>;
    // All of them are checked, so that a report is well formed at every level or at none.
    DISCREET_TRY(const auto inner_masks, read_elements<Field64>(share.inner));
    DISCREET_TRY(const auto leaf_masks, read_elements<Field255>(share.leaf));
    PrefixVerifyStart start;
    start.state.leaf = kLeaf;
    start.state.server = input.server;
    if constexpr (kLeaf)
      start.state.masks = to_words<F>(leaf_masks);
    else
      start.state.masks = to_words<F>(std::span(inner_masks).subspan(2 * query.level(), 2));

    Xof masks =
        correlation_stream<F>(input.server, share.correlation_seed, input.context, input.nonce);
    if constexpr (!kLeaf)
      for (unsigned level = 0; level < query.level(); ++level) draw<F, 3>(masks);
    Triple<F> sketch = draw<F, 3>(masks);

    const auto values = idpf_evaluate<F>(input.server, public_share, query,
                                         {.context = input.context, .nonce = input.nonce}, nodes);
    Bytes binder(input.nonce.begin(), input.nonce.end());
    binder.push_back(static_cast<std::uint8_t>(query.level() >> 8));
    binder.push_back(static_cast<std::uint8_t>(query.level()));
    std::vector<F> weights(values.size());
    stream_of(PoplarUsage::VerifyRandomness, input.verify_key, input.context, binder)
        .elements<F>(weights);
    std::vector<F> out(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto& [datum, authenticator] = values[i];
      const F weighted = datum * weights[i];
      sketch[0] += weighted;
      sketch[1] += weighted * weights[i];
      sketch[2] += authenticator * weights[i];
      out[i] = datum;
    }
    start.state.out_share = to_words<F>(out);
    store_elements<F>(start.verifier_share, sketch);
    return start;
  });
}

Result<Bytes> Poplar1::verifier_shares_to_message(const PrefixQuery& query,
                                                  std::span<const Bytes> verifier_shares) const {
  DISCREET_TRY_VOID(check(query));
  if (verifier_shares.size() != 2) return invalid_input("there are two servers");
  return with_field(is_leaf(query), [&](auto field) -> Result<Bytes> {
    using F = decltype(field);
    DISCREET_TRY(auto sum, read_elements<F>(verifier_shares[0]));
    DISCREET_TRY(const auto other, read_elements<F>(verifier_shares[1]));
    if (sum.size() != other.size() || (sum.size() != 3 && sum.size() != 1))
      return invalid_input("a verifier share has the wrong length");
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
    if (sum.size() == 1) {
      if (!(sum[0] == F()))
        return Error{ErrorCode::Refused,
                     "the report is not valid: it would count for more than one prefix, or more "
                     "than once"};
      return Bytes();
    }
    Bytes message;
    store_elements<F>(message, sum);
    return message;
  });
}

Result<Bytes> Poplar1::verify_next(const PrefixVerifyState& state, ByteSpan message) const {
  return with_field(state.leaf, [&](auto field) -> Result<Bytes> {
    using F = decltype(field);
    DISCREET_TRY(const auto sketch, read_elements<F>(message));
    if (sketch.size() != 3)
      return invalid_input("the message of the first round has three elements");
    const F square = sketch[0] * sketch[0] - sketch[1] - sketch[2];
    const F share = F(std::uint64_t{state.server}) * square +
                    element_at<F>(state.masks, 0) * sketch[0] + element_at<F>(state.masks, 1);
    Bytes out;
    store_elements<F>(out, {&share, 1});
    return out;
  });
}

Result<FieldVector> Poplar1::verify_finish(PrefixVerifyState state, ByteSpan message) const {
  if (!message.empty()) return invalid_input("the message of the second round is empty");
  return std::move(state.out_share);
}

FieldVector Poplar1::aggregate_init(const PrefixQuery& query) const {
  return FieldVector(query.size() * (is_leaf(query) ? Field255::kWords : Field64::kWords));
}

void Poplar1::aggregate(const PrefixQuery& query, FieldVector& sum,
                        const FieldVector& out_share) const {
  DISCREET_CHECK(sum.size() == out_share.size(), "shares of one query");
  if (!is_leaf(query)) {
    Field64::add_words(sum.data(), out_share.data(), sum.size());
    return;
  }
  for (std::size_t i = 0; i < query.size(); ++i)
    (element_at<Field255>(sum, i) + element_at<Field255>(out_share, i))
        .to_words(&sum[i * Field255::kWords]);
}

void Poplar1::add_integers(const PrefixQuery& query, FieldVector& sum,
                           std::span<const std::int64_t> integers) const {
  DISCREET_CHECK(integers.size() == query.size(), "one integer a prefix");
  with_field(is_leaf(query), [&](auto field) {
    using F = decltype(field);
    for (std::size_t i = 0; i < integers.size(); ++i) {
      const auto integer = static_cast<std::uint64_t>(integers[i]);
      const std::uint64_t sign = 0 - (integer >> 63);
      const F size((integer ^ sign) - sign);  // at most 2^63, below either modulus
      const F positive = element_at<F>(sum, i) + size, negative = element_at<F>(sum, i) - size;
      (positive + (negative - positive) * F(sign & 1)).to_words(&sum[i * F::kWords]);
    }
  });
}

Bytes Poplar1::encode_vector(const FieldVector& vector) {
  Bytes out(vector.size() * 8);
  if (!out.empty()) std::memcpy(out.data(), vector.data(), out.size());
  return out;
}

Result<FieldVector> Poplar1::decode_vector(const PrefixQuery& query, ByteSpan bytes) const {
  DISCREET_TRY_VOID(check(query));
  return with_field(is_leaf(query), [&](auto field) -> Result<FieldVector> {
    using F = decltype(field);
    DISCREET_TRY(const auto elements, read_elements<F>(bytes));
    if (elements.size() != query.size())
      return invalid_input("an aggregate share has one element a prefix");
    return to_words<F>(elements);
  });
}

Result<std::vector<std::int64_t>> Poplar1::unshard(const PrefixQuery& query,
                                                   std::span<const Bytes> aggregate_shares) const {
  if (aggregate_shares.size() != 2) return invalid_input("there are two servers");
  FieldVector sum = aggregate_init(query);
  for (const Bytes& share : aggregate_shares) {
    DISCREET_TRY(const FieldVector words, decode_vector(query, share));
    aggregate(query, sum, words);
  }
  return with_field(is_leaf(query), [&](auto field) -> Result<std::vector<std::int64_t>> {
    using F = decltype(field);
    std::vector<std::int64_t> counts(query.size());
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const F count = element_at<F>(sum, i), negated = F() - count;
      std::uint64_t up[F::kWords], down[F::kWords];
      count.to_words(up);
      negated.to_words(down);
      const auto small = [](const std::uint64_t* words) {
        return words[0] < std::uint64_t{1} << 62 &&
               std::all_of(words + 1, words + F::kWords, [](std::uint64_t w) { return w == 0; });
      };
      if (small(up))
        counts[i] = static_cast<std::int64_t>(up[0]);
      else if (small(down))
        counts[i] = -static_cast<std::int64_t>(down[0]);
      else
        return Error{ErrorCode::Refused, "a count is beyond 62 bits: one of the shares is wrong"};
    }
    return counts;
  });
}

}  // namespace discreet::prio
