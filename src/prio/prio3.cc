#include "prio/prio3.h"

#include <cstring>

#include <fmt/format.h>

#include "prio/elements_internal.h"
#include "prio/flp.h"
#include "prio/xof_lanes.h"

namespace discreet::prio {
namespace {

template <class F>
const std::uint8_t* bytes_of(const std::vector<F>& elements) {
  static_assert(sizeof(F) == F::kBytes);  // elements lie in memory as they travel
  return reinterpret_cast<const std::uint8_t*>(elements.data());
}

/// Elements that live for one call: on the stack if they are few, as in all but very long circuits.
template <class F>
class Scratch {
 public:
  explicit Scratch(std::size_t size) : heap_(size > kFew ? size : 0), size_(size) {
    elements_ = size > kFew ? heap_.data() : reinterpret_cast<F*>(few_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  F& operator[](std::size_t i) { return elements_[i]; }
  std::span<const F> span() const { return {elements_, size_}; }

 private:
  static constexpr std::size_t kFew = 128;
  static_assert(std::is_trivially_copyable_v<F>);
  alignas(F) std::byte few_[kFew * sizeof(F)];  // not cleared: every element is written first
  std::vector<F> heap_;
  std::size_t size_;
  F* elements_;
};

template <class F>
class Prio3Of final : public Prio3 {
 public:
  Prio3Of(const Shape& shape, unsigned servers) : Prio3(shape, servers), flp_(shape) {}

  Result<Report> shard(ByteSpan context, std::span<const std::uint64_t> measurement, ByteSpan nonce,
                       ByteSpan randomness) const override {
    DISCREET_TRY(const std::vector<std::uint8_t> digits, encode(shape_, measurement));
    std::vector<F> elements;
    elements.reserve(digits.size());
    for (const std::uint8_t digit : digits) elements.emplace_back(digit);
    return share(context, elements, nonce, randomness);
  }

  Result<Report> shard_encoded(ByteSpan context, std::span<const std::uint64_t> elements,
                               ByteSpan nonce, ByteSpan randomness) const override {
    if (elements.size() != shape_.measurement)
      return invalid_parameter("the encoded measurement has another length");
    std::vector<F> shared;
    for (const std::uint64_t element : elements) shared.emplace_back(element % F::kModulus);
    return share(context, shared, nonce, randomness);
  }

  Result<VerifyStart> verify_init(const VerifyInput& input) const override;
  Result<Bytes> verifier_shares_to_message(ByteSpan context,
                                           std::span<const ByteSpan> shares) const override;

  void add_integers(FieldVector& sum, std::span<const std::int64_t> integers) const override {
    DISCREET_CHECK(sum.size() == integers.size() * F::kWords, "one integer an entry");
    for (std::size_t i = 0; i < integers.size(); ++i) {
      const std::int64_t value = integers[i];
      const std::uint64_t magnitude =
          value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
      const F reduced(static_cast<typename F::Integer>(magnitude) % F::kModulus);
      const F old = F::from_words(&sum[i * F::kWords]);
      (value < 0 ? old - reduced : old + reduced).to_words(&sum[i * F::kWords]);
    }
  }

  Result<FieldVector> decode_vector(ByteSpan bytes) const override {
    std::vector<F> elements(shape_.output);
    if (bytes.size() != elements.size() * F::kBytes)
      return invalid_input("an aggregate share has another length than its task says");
    if (!load_elements<F>(bytes, elements))
      return invalid_input("an aggregate share holds a number that is not reduced");
    return to_words<F>(elements);
  }

  Result<std::vector<Wide>> unshard(std::span<const Bytes> aggregate_shares) const override {
    if (aggregate_shares.size() != servers_)
      return invalid_input(
          fmt::format("{} aggregate shares are needed, not {}", servers_, aggregate_shares.size()));
    FieldVector sum = aggregate_init();
    for (const Bytes& share : aggregate_shares) {
      DISCREET_TRY(const FieldVector decoded, decode_vector(share));
      aggregate(sum, decoded);
    }
    std::vector<Wide> out;
    for (const F& element : from_words<F>(sum)) out.push_back(element.integer());
    return out;
  }

  Wide modulus() const override { return F::kModulus; }

 private:
  std::uint8_t proofs_byte() const { return static_cast<std::uint8_t>(shape_.proofs); }

  Bytes message(Usage usage, ByteSpan context, ByteSpan seed, ByteSpan binder) const {
    Bytes bytes = xof_prefix(shape_.algorithm, usage, context, seed, binder.size() + kNonceBytes);
    append(bytes, binder);
    return bytes;
  }
  Bytes part_message(ByteSpan context, ByteSpan blind, std::uint8_t server, ByteSpan nonce) const {
    Bytes bytes = message(Usage::JointPart, context, blind, {{server}});
    append(bytes, nonce);
    return bytes;
  }
  std::vector<F> joint_randomness(ByteSpan context, const Seed& seed) const {
    std::vector<F> out(shape_.joint * shape_.proofs);
    const std::uint8_t proofs = proofs_byte();
    Xof(message(Usage::JointRandomness, context, seed, {&proofs, 1})).template elements<F>(out);
    return out;
  }

  Result<Report> share(ByteSpan context, const std::vector<F>& measurement, ByteSpan nonce,
                       ByteSpan randomness) const;

  Flp<F> flp_;
};

template <class F>
Result<Report> Prio3Of<F>::share(ByteSpan context, const std::vector<F>& measurement,
                                 ByteSpan nonce, ByteSpan randomness) const {
  if (nonce.size() != kNonceBytes || randomness.size() != randomness_bytes())
    return invalid_parameter("a nonce of 16 bytes and the circuit's random bytes are needed");
  const bool joint = shape_.uses_joint_randomness();
  const auto next_seed = [&randomness] {
    const ByteSpan seed = randomness.first(kSeedBytes);
    randomness = randomness.subspan(kSeedBytes);
    return seed;
  };
  struct HelperSeeds {
    ByteSpan share, blind;
  };
  std::vector<HelperSeeds> helpers;
  for (unsigned helper = 1; helper < servers_; ++helper) {
    const ByteSpan seed = next_seed();
    helpers.push_back({seed, joint ? next_seed() : ByteSpan{}});
  }
  const ByteSpan leader_blind = joint ? next_seed() : ByteSpan{};
  const ByteSpan prove_seed = next_seed();
  const std::uint8_t proofs = proofs_byte();

  const std::size_t proof_length = shape_.proof() * shape_.proofs;
  std::vector<F> leader = measurement, helper_share(measurement.size());
  std::vector<F> leader_proof(proof_length), helper_proof(proof_length);
  std::vector<F> prove_randomness(shape_.arity * shape_.proofs);
  std::vector<Seed> parts(servers_);
  for (unsigned helper = 1; helper < servers_; ++helper) {
    const bool last = helper + 1 == servers_;
    const auto id = static_cast<std::uint8_t>(helper);
    const HelperSeeds& seeds = helpers[helper - 1];
    XofLanes lanes;
    lanes.expand<F>(0, message(Usage::MeasurementShare, context, seeds.share, {{id}}),
                    helper_share);
    lanes.expand<F>(3, message(Usage::ProofShare, context, seeds.share, {{proofs, id}}),
                    helper_proof);
    const std::size_t share_bytes = measurement.size() * F::kBytes;
    if (joint)
      lanes.commit(1, part_message(context, seeds.blind, id, nonce), bytes_of(helper_share),
                   share_bytes, parts[helper]);
    if (joint && last)
      lanes.commit(2, part_message(context, leader_blind, 0, nonce), bytes_of(leader), share_bytes,
                   parts[0]);
    const Bytes prove_message = message(Usage::ProveRandomness, context, prove_seed, {{proofs}});
    bool proving = !last;  // the last helper's proof lane draws the prover's randomness afterwards
    if (last && !joint) {
      lanes.expand<F>(1, prove_message, prove_randomness);
      proving = true;
    }
    for (std::size_t done = 0;;) {
      lanes.step();
      const std::size_t now = lanes.produced(0) / F::kBytes;
      for (; done < now; ++done) leader[done] -= helper_share[done];
      if (joint) lanes.provide(1, now * F::kBytes);
      if (joint && last) lanes.provide(2, now * F::kBytes);
      if (!proving && lanes.done(3)) {
        proving = true;
        lanes.expand<F>(3, prove_message, prove_randomness);
      }
      if (proving && lanes.done(0) && lanes.done(1) && lanes.done(2) && lanes.done(3)) break;
    }
    for (std::size_t i = 0; i < proof_length; ++i) leader_proof[i] -= helper_proof[i];
  }

  Report report;
  std::vector<F> joint_elements;
  if (joint) {
    for (const Seed& part : parts) append(report.public_share, part);
    joint_elements = joint_randomness(context, joint_seed(context, report.public_share));
  }
  std::vector<F> proof(shape_.proof());
  for (unsigned i = 0; i < shape_.proofs; ++i) {
    flp_.prove(measurement,
               std::span<const F>(prove_randomness).subspan(i * shape_.arity, shape_.arity),
               std::span<const F>(joint_elements).subspan(i * shape_.joint, shape_.joint), proof);
    for (std::size_t k = 0; k < proof.size(); ++k) leader_proof[i * proof.size() + k] += proof[k];
  }

  Bytes& leader_bytes = report.input_shares.emplace_back();
  leader_bytes.reserve((leader.size() + proof_length) * F::kBytes + kSeedBytes);
  store_elements<F>(leader_bytes, leader);
  store_elements<F>(leader_bytes, leader_proof);
  append(leader_bytes, leader_blind);
  for (const HelperSeeds& seeds : helpers) {
    Bytes& bytes = report.input_shares.emplace_back(seeds.share.begin(), seeds.share.end());
    append(bytes, seeds.blind);
  }
  return report;
}

template <class F>
Result<VerifyStart> Prio3Of<F>::verify_init(const VerifyInput& input) const {
  const bool joint = shape_.uses_joint_randomness();
  const std::size_t proof_length = shape_.proof() * shape_.proofs;
  const std::size_t blind_bytes = joint ? kSeedBytes : 0;
  const std::size_t elements_bytes = (shape_.measurement + proof_length) * F::kBytes;
  if (input.verify_key.size() != kVerifyKeyBytes || input.nonce.size() != kNonceBytes ||
      input.server >= servers_)
    return invalid_parameter("verify key, nonce or server number does not fit the task");
  if (input.input_share.size() != (input.server == 0 ? elements_bytes : kSeedBytes) + blind_bytes)
    return invalid_input("an input share has another length than its task says");
  if (input.public_share.size() != (joint ? servers_ * kSeedBytes : 0))
    return invalid_input("a public share has another length than its task says");

  const std::uint8_t proofs = proofs_byte();
  const auto id = static_cast<std::uint8_t>(input.server);
  const ByteSpan blind = input.input_share.last(blind_bytes);
  Bytes query_message =
      message(Usage::QueryRandomness, input.context, input.verify_key, {{proofs}});
  append(query_message, input.nonce);
  std::vector<F> measurement(shape_.measurement), proof(proof_length);
  std::vector<F> query_randomness(shape_.query_randomness() * shape_.proofs);
  const std::size_t share_bytes = measurement.size() * F::kBytes;
  Seed part{};
  if (input.server == 0) {
    if (!load_elements<F>(input.input_share, measurement) ||
        !load_elements<F>(input.input_share.subspan(share_bytes), proof))
      return invalid_input("an input share holds a number that is not reduced");
    TurboShake128 query(1);
    query.absorb(query_message);
    for (F& element : query_randomness) {
      std::uint8_t bytes[F::kBytes];
      do query.squeeze(bytes);
      while (!F::load(bytes, element));
    }
    if (joint) {
      TurboShake128 commitment(1);
      commitment.absorb(part_message(input.context, blind, id, input.nonce));
      commitment.absorb(input.input_share.first(share_bytes));
      commitment.squeeze(part);
    }
  } else {
    const ByteSpan seed = input.input_share.first(kSeedBytes);
    XofLanes lanes;
    lanes.expand<F>(0, message(Usage::MeasurementShare, input.context, seed, {{id}}), measurement);
    lanes.expand<F>(2, message(Usage::ProofShare, input.context, seed, {{proofs, id}}), proof);
    lanes.expand<F>(3, std::move(query_message), query_randomness);
    if (joint)
      lanes.commit(1, part_message(input.context, blind, id, input.nonce), bytes_of(measurement),
                   share_bytes, part);
    while (!(lanes.done(0) && lanes.done(1) && lanes.done(2) && lanes.done(3))) {
      lanes.step();
      if (joint) lanes.provide(1, lanes.produced(0));
    }
  }

  VerifyStart start;
  std::vector<F> joint_elements;
  if (joint) {
    // Its own part is the only one a server can vouch for.
    Bytes parts(input.public_share.begin(), input.public_share.end());
    std::memcpy(&parts[input.server * kSeedBytes], part.data(), kSeedBytes);
    start.state.joint_seed = joint_seed(input.context, parts);
    joint_elements = joint_randomness(input.context, *start.state.joint_seed);
  }
  std::vector<F> verifiers(shape_.verifier() * shape_.proofs);
  for (unsigned i = 0; i < shape_.proofs; ++i) {
    const std::size_t queries = shape_.query_randomness();
    const bool answered = flp_.query(
        measurement, std::span<const F>(proof).subspan(i * shape_.proof(), shape_.proof()),
        std::span<const F>(query_randomness).subspan(i * queries, queries),
        std::span<const F>(joint_elements).subspan(i * shape_.joint, shape_.joint), servers_,
        std::span(verifiers).subspan(i * shape_.verifier(), shape_.verifier()));
    if (!answered)
      return Error{ErrorCode::Refused, "the query point is a root of unity; the report is dropped"};
  }
  start.verifier_share.reserve(verifiers.size() * F::kBytes + kSeedBytes);
  store_elements<F>(start.verifier_share, verifiers);
  if (joint) append(start.verifier_share, part);
  start.state.out_share = to_words<F>(flp_.truncate(measurement));
  return start;
}

template <class F>
Result<Bytes> Prio3Of<F>::verifier_shares_to_message(ByteSpan context,
                                                     std::span<const ByteSpan> shares) const {
  const bool joint = shape_.uses_joint_randomness();
  const std::size_t length = shape_.verifier() * shape_.proofs;
  if (shares.size() != servers_) return invalid_input("a verifier share of every server is needed");
  Scratch<F> sum(length);
  for (const ByteSpan share : shares)
    if (share.size() != length * F::kBytes + (joint ? kSeedBytes : 0))
      return invalid_input("a verifier share has another length than its task says");
  const std::uint8_t* const first = shares[0].data();
  bool reduced = true;
  for (std::size_t i = 0; i < length; ++i) {
    F total;
    reduced &= F::load(first + i * F::kBytes, total);
    for (const ByteSpan share : shares.subspan(1)) {
      F element;
      reduced &= F::load(share.data() + i * F::kBytes, element);
      total += element;
    }
    sum[i] = total;
  }
  if (!reduced) return invalid_input("a verifier share holds a number that is not reduced");
  for (unsigned i = 0; i < shape_.proofs; ++i)
    if (!flp_.decide(sum.span().subspan(i * shape_.verifier(), shape_.verifier())))
      return Error{ErrorCode::Refused, "the proof does not hold; the report is dropped"};
  if (!joint) return Bytes{};
  Bytes parts;
  parts.reserve(servers_ * kSeedBytes);
  for (const ByteSpan share : shares) append(parts, share.last(kSeedBytes));
  const Seed seed = joint_seed(context, parts);
  return Bytes(seed.begin(), seed.end());
}

}  // namespace

Result<std::unique_ptr<const Prio3>> Prio3::make(const Circuit& circuit, unsigned servers) {
  if (servers < 2 || servers > 255)
    return invalid_parameter(fmt::format("2 to 255 servers can share a report, not {}", servers));
  DISCREET_TRY(const Shape shape, shape_of(circuit));
  if (shape.field_bits == 64)
    return std::unique_ptr<const Prio3>(new Prio3Of<Field64>(shape, servers));
  return std::unique_ptr<const Prio3>(new Prio3Of<Field128>(shape, servers));
}

std::size_t Prio3::randomness_bytes() const {
  const std::size_t helpers = servers_ - 1;
  return kSeedBytes * (shape_.uses_joint_randomness() ? 2 * helpers + 2 : helpers + 1);
}

Result<FieldVector> Prio3::verify_next(VerifyState state, ByteSpan message) const {
  const ByteSpan expected = state.joint_seed ? ByteSpan(*state.joint_seed) : ByteSpan{};
  if (message.size() != expected.size())
    return invalid_input("a verifier message has another length than its task says");
  if (!equal_constant_time(message, expected))
    return Error{ErrorCode::Refused,
                 "the servers derived different joint randomness; the report is dropped"};
  return std::move(state.out_share);
}

Bytes Prio3::announced_message(ByteSpan context, ByteSpan public_share) const {
  if (!shape_.uses_joint_randomness()) return {};
  const Seed seed = joint_seed(context, public_share);
  return {seed.begin(), seed.end()};
}

Seed Prio3::joint_seed(ByteSpan context, ByteSpan parts) const {
  Bytes message = xof_prefix(shape_.algorithm, Usage::JointSeed, context, Seed{}, parts.size());
  append(message, parts);
  return Xof(message).seed();
}

FieldVector Prio3::aggregate_init() const {
  return FieldVector(shape_.output * (shape_.field_bits / 64));
}

Bytes Prio3::encode_vector(const FieldVector& vector) const {
  Bytes bytes(vector.size() * sizeof(std::uint64_t));
  std::memcpy(bytes.data(), vector.data(), bytes.size());
  return bytes;
}

Bytes VerifyState::encode() const {
  Bytes bytes = {joint_seed ? std::uint8_t{1} : std::uint8_t{0}};
  if (joint_seed) append(bytes, *joint_seed);
  const auto* words = reinterpret_cast<const std::uint8_t*>(out_share.data());
  append(bytes, {words, out_share.size() * sizeof(std::uint64_t)});
  return bytes;
}

Result<VerifyState> VerifyState::decode(ByteSpan bytes) {
  VerifyState state;
  const std::size_t header = bytes.empty() || bytes[0] == 0 ? 1 : 1 + kSeedBytes;
  if (bytes.size() < header || bytes[0] > 1 || (bytes.size() - header) % sizeof(std::uint64_t) != 0)
    return invalid_input("not a stored verification state");
  if (bytes[0] == 1) {
    state.joint_seed.emplace();
    std::memcpy(state.joint_seed->data(), &bytes[1], kSeedBytes);
  }
  state.out_share.resize((bytes.size() - header) / sizeof(std::uint64_t));
  if (!state.out_share.empty())
    std::memcpy(state.out_share.data(), &bytes[header], bytes.size() - header);
  return state;
}

}  // namespace discreet::prio
