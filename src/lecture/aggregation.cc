#include "lecture/aggregation.h"

#include <fmt/format.h>

#include "lecture/people.h"
#include "prio/prio3.h"

namespace discreet::lecture {
namespace {

using prio::Bytes;
using prio::ByteSpan;
using prio::FieldVector;

constexpr std::string_view kContext = "lecture";

Bytes random_bytes(std::size_t size, RandomSource& random) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  random.fill(words);
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::uint8_t>(words[i / 8] >> 8 * (i % 8));
  return bytes;
}

// Both servers of a sum, in one process.
class TwoServers {
 public:
  TwoServers(const prio::Prio3& prio, RandomSource& random)
      : prio_(prio),
        random_(random),
        key_(random_bytes(prio::kVerifyKeyBytes, random)),
        sums_(2, prio.aggregate_init()) {}

  Result<void> send(const std::vector<std::uint64_t>& measurement) {
    const Bytes nonce = random_bytes(prio::kNonceBytes, random_);
    const Bytes dice = random_bytes(prio_.randomness_bytes(), random_);
    DISCREET_TRY(const auto report,
                 prio_.shard(prio::as_bytes(kContext), measurement, nonce, dice));
    return take(nonce, report);
  }
  /// What a client sends that shares elements of its own choice.
  Result<void> cheat(const std::vector<std::uint64_t>& elements) {
    const Bytes nonce = random_bytes(prio::kNonceBytes, random_);
    const Bytes dice = random_bytes(prio_.randomness_bytes(), random_);
    DISCREET_TRY(const auto report,
                 prio_.shard_encoded(prio::as_bytes(kContext), elements, nonce, dice));
    return take(nonce, report);
  }
  void lie(std::int64_t added) {
    const std::int64_t by[] = {added};
    prio_.add_integers(sums_[1], by);
  }
  /// The total both shares make, and what each says alone.
  Result<std::string> total() const {
    const std::vector<Bytes> shares = {prio_.encode_vector(sums_[0]),
                                       prio_.encode_vector(sums_[1])};
    DISCREET_TRY(const auto sums, prio_.unshard(shares));
    return fmt::format("{}", static_cast<std::int64_t>(prio::centred(sums[0], prio_.modulus())));
  }

 private:
  Result<void> take(const Bytes& nonce, const prio::Report& report) {
    std::vector<prio::VerifyStart> starts;
    std::vector<Bytes> verifiers;
    for (unsigned server = 0; server < 2; ++server) {
      DISCREET_TRY(auto start, prio_.verify_init({.verify_key = key_,
                                                  .context = prio::as_bytes(kContext),
                                                  .server = server,
                                                  .nonce = nonce,
                                                  .public_share = report.public_share,
                                                  .input_share = report.input_shares[server]}));
      verifiers.push_back(start.verifier_share);
      starts.push_back(std::move(start));
    }
    DISCREET_TRY(const Bytes message,
                 prio_.verifier_shares_to_message(prio::as_bytes(kContext), verifiers));
    std::vector<FieldVector> outs;
    for (auto& start : starts) {
      DISCREET_TRY(auto out, prio_.verify_next(std::move(start.state), message));
      outs.push_back(std::move(out));
    }
    for (unsigned server = 0; server < 2; ++server) prio_.aggregate(sums_[server], outs[server]);
    return {};
  }

  const prio::Prio3& prio_;
  RandomSource& random_;
  Bytes key_;
  std::vector<FieldVector> sums_;
};

}  // namespace

Result<Shown> aggregation(const AggregationOptions& o, RandomSource& random) {
  if (o.people < 2 || o.people > 10'000)
    return invalid_parameter("--people must lie between 2 and 10,000");
  if (o.max < 1 || o.max > std::uint64_t{1} << 20)
    return invalid_parameter("--max must lie between 1 and 2^20");
  DISCREET_TRY(const auto prio, prio::Prio3::make({prio::CircuitKind::Sum, 1, o.max}, 2));
  TwoServers servers(*prio, random);
  MadeUp dice(o.seed);
  std::uint64_t expected = 0;
  for (std::uint64_t person = 0; person < o.people; ++person) {
    const std::uint64_t value = dice.bits() % (o.max + 1);
    expected += value;
    DISCREET_TRY_VOID(servers.send({value}));
  }
  Shown shown;
  shown.statement = fmt::format("{} clients send a number in {{0..{}}} to two servers, as shares.",
                                o.people, o.max);
  shown.columns = {"what happens", "servers say", "total"};
  DISCREET_TRY(const std::string honest, servers.total());
  shown.rows.push_back({"everybody is honest", "all proofs hold", honest});
  shown.holds = honest == fmt::format("{}", expected);

  const auto refused = servers.send({o.max + 1});
  shown.rows.push_back({fmt::format("a client types {}", o.max + 1),
                        refused ? "taken" : "refused before it is sent", servers.total().value()});
  // The digits of a number, one of them replaced by a large one.
  DISCREET_TRY(const auto digits, prio::encode(prio->shape(), std::vector<std::uint64_t>{o.max}));
  std::vector<std::uint64_t> forged(digits.begin(), digits.end());
  forged[0] = 1'000'000;
  const auto cheated = servers.cheat(forged);
  DISCREET_TRY(const std::string after, servers.total());
  shown.rows.push_back({"a client forges shares worth 1,000,000",
                        cheated ? "taken" : "the proof fails, report dropped", after});
  shown.holds = shown.holds && !refused && !cheated && after == honest;
  servers.lie(1000);
  DISCREET_TRY(const std::string lied, servers.total());
  shown.rows.push_back({"a server adds 1000 to its own share", "nobody notices", lied});
  shown.holds = shown.holds && lied == fmt::format("{}", expected + 1000);

  TwoServers survey(*prio, random);
  for (std::uint64_t person = 0; person < o.people; ++person)
    DISCREET_TRY_VOID(survey.send({o.max}));
  DISCREET_TRY(const std::string all, survey.total());
  shown.rows.push_back(
      {fmt::format("another day everybody says {}", o.max), "all proofs hold", all});
  shown.notes = {
      "Privacy needs one honest server, correctness needs both.",
      fmt::format(
          "The last total is {} x {}: it has one explanation only, and tells everyone's answer. "
          "The sum was computed privately; it was not a private sum.",
          o.people, o.max)};
  return shown;
}

}  // namespace discreet::lecture
