#include "prio/heavy_strings.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "accounting/conversion.h"
#include "base/rounding.h"

namespace discreet::prio {
namespace {

constexpr std::size_t kCandidatesMax = std::size_t{1} << 16;
constexpr double kFalseListing = 0.05;

/// All continuations of the prefixes to this length, in order.
std::vector<BitString> extended(std::span<const BitString> prefixes, std::size_t length) {
  std::vector<BitString> out;
  for (const BitString& prefix : prefixes) {
    const std::size_t more = length - prefix.size();
    for (std::size_t tail = 0; tail < std::size_t{1} << more; ++tail) {
      BitString& string = out.emplace_back(prefix);
      for (std::size_t i = more; i-- > 0;) string.push_back((tail >> i & 1) != 0);
    }
  }
  return out;
}

Bytes random_bytes(std::size_t size, RandomSource& random) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  random.fill(words);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return {bytes, bytes + size};
}

/// One server's side of a run: where it stands in each report's tree.
struct Server {
  std::vector<std::vector<IdpfNode>> nodes;
  FieldVector sum;
};

}  // namespace

Result<HeavyStrings> HeavyStrings::make(const HeavyStringsPolicy& policy) {
  DISCREET_TRY(const Poplar1 poplar, Poplar1::make(policy.bits));
  if (policy.bits_per_round < 1 || policy.bits_per_round > 8)
    return invalid_parameter("a round asks about 1 to 8 more bits");
  if (policy.kept_max < 1 || policy.kept_max << policy.bits_per_round > kCandidatesMax)
    return invalid_parameter(fmt::format(
        "a round asks about at most {} prefixes; keep fewer, or take fewer bits a round",
        kCandidatesMax));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(policy.epsilon));
  HeavyStrings out(policy, poplar);
  for (std::size_t length = 0; length < policy.bits;)
    out.lengths_.push_back(length = std::min(length + policy.bits_per_round, policy.bits));
  const double rounds = count_up(out.rounds());
  // One report replaced moves two counts of a round by one each.
  if (policy.delta == 0) {
    DISCREET_TRY(const Epsilon share, Epsilon::make(div_down(epsilon.value(), rounds)));
    DISCREET_TRY(auto laplace, DiscreteLaplace::make(share, L1Sensitivity{2}));
    out.laplace_.emplace(std::move(laplace));
  } else {
    DISCREET_TRY(const Delta delta, Delta::make(policy.delta));
    DISCREET_TRY(const Rho rho, zcdp_rho({epsilon, delta}));
    DISCREET_TRY(const Rho share, Rho::make(div_down(rho.value(), rounds)));
    DISCREET_TRY(const L2Sensitivity l2, L2Sensitivity::make(sqrt_up(2)));
    DISCREET_TRY(auto gaussian, DiscreteGaussian::make(share, l2, kCandidatesMax));
    out.gaussian_.emplace(std::move(gaussian));
  }
  return out;
}

double HeavyStrings::variance() const {
  return 2 * (gaussian_ ? gaussian_->variance() : laplace_->variance());
}

double HeavyStrings::error95() const {
  if (gaussian_) return std::ceil(std::sqrt(2 * variance() * std::log(2 / 0.05)));
  return 2 * laplace_->error_bound(1 - 0.05 / 2);
}

double HeavyStrings::noise_bound(std::size_t candidates) const {
  const double chance = kFalseListing / static_cast<double>(rounds());
  if (gaussian_)  // sub-Gaussian (Canonne, Kamath and Steinke 2020, Corollary 17), one side
    return std::ceil(
        std::sqrt(2 * variance() * std::log(static_cast<double>(candidates) / chance)));
  return 2 * laplace_->error_bound_of_worst(1 - chance / 2, candidates) + 1;
}

StringReport HeavyStrings::shard(ByteSpan context, const BitString& string,
                                 RandomSource& random) const {
  Bytes nonce = random_bytes(kNonceBytes, random);
  const Bytes randomness = random_bytes(Poplar1::kRandomnessBytes, random);
  Report shares = poplar_.shard(context, string, nonce, randomness).value();
  return {std::move(nonce), std::move(shares)};
}

void HeavyStrings::add_noise(const PrefixQuery& query, FieldVector& share,
                             RandomSource& random) const {
  std::vector<std::int64_t> drawn(query.size());
  if (gaussian_)
    gaussian_->release(drawn, random);
  else
    laplace_->release(drawn, random);
  poplar_.add_integers(query, share, drawn);
}

PrefixQuery HeavyStrings::first() const {
  const BitString root;
  return PrefixQuery::make(extended({&root, 1}, lengths_.front())).value();
}

std::vector<BitString> HeavyStrings::survivors(const HeavyRound& round) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < round.counts.size(); ++i)
    if (static_cast<double>(round.counts[i]) >= round.threshold) order.push_back(i);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return round.counts[a] > round.counts[b]; });
  if (order.size() > policy_.kept_max) order.resize(policy_.kept_max);
  std::sort(order.begin(), order.end());
  std::vector<BitString> kept;
  for (const std::size_t i : order) kept.push_back(round.query.prefixes()[i]);
  return kept;
}

Result<std::optional<PrefixQuery>> HeavyStrings::next(const HeavyRound& round) const {
  const auto length =
      std::upper_bound(lengths_.begin(), lengths_.end(), std::size_t{round.query.level()} + 1);
  const std::vector<BitString> kept = survivors(round);
  if (length == lengths_.end() || kept.empty()) return std::optional<PrefixQuery>();
  DISCREET_TRY(PrefixQuery query, PrefixQuery::after(round.query, extended(kept, *length)));
  return std::optional(std::move(query));
}

Result<HeavyStringsResult> HeavyStrings::run(ByteSpan context, ByteSpan verify_key,
                                             std::span<const StringReport> reports,
                                             std::array<RandomSource*, 2> noise) const {
  const auto input = [&](const StringReport& report, unsigned server) {
    return VerifyInput{.verify_key = verify_key,
                       .context = context,
                       .server = server,
                       .nonce = report.nonce,
                       .public_share = report.shares.public_share,
                       .input_share = report.shares.input_shares[server]};
  };
  std::array<Server, 2> servers;
  std::vector<bool> taken(reports.size(), true);
  for (std::size_t i = 0; i < reports.size(); ++i)
    for (unsigned server : {0U, 1U}) {
      auto nodes = reports[i].shares.input_shares.size() == 2
                       ? poplar_.root(input(reports[i], server))
                       : Result<std::vector<IdpfNode>>(invalid_input("two input shares"));
      taken[i] = taken[i] && nodes;
      servers[server].nodes.push_back(nodes ? *std::move(nodes) : std::vector<IdpfNode>());
    }

  HeavyStringsResult result;
  std::optional<PrefixQuery> query = first();
  while (query) {
    for (Server& server : servers) server.sum = poplar_.aggregate_init(*query);
    // A report's two verifier rounds; refused by both servers or by none.
    const auto check = [&](std::size_t i) -> Result<void> {
      std::array<PrefixVerifyState, 2> states;
      std::vector<Bytes> shares(2), second(2);
      for (unsigned server : {0U, 1U}) {
        DISCREET_TRY(PrefixVerifyStart start, poplar_.verify_init(input(reports[i], server), *query,
                                                                  servers[server].nodes[i]));
        states[server] = std::move(start.state);
        shares[server] = std::move(start.verifier_share);
      }
      DISCREET_TRY(const Bytes message, poplar_.verifier_shares_to_message(*query, shares));
      for (unsigned server : {0U, 1U}) {
        DISCREET_TRY(second[server], poplar_.verify_next(states[server], message));
      }
      DISCREET_TRY(const Bytes last, poplar_.verifier_shares_to_message(*query, second));
      for (unsigned server : {0U, 1U}) {
        DISCREET_TRY(const FieldVector out, poplar_.verify_finish(std::move(states[server]), last));
        poplar_.aggregate(*query, servers[server].sum, out);
      }
      return {};
    };
    std::size_t refused = 0;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (!taken[i]) continue;
      taken[i] = check(i).has_value();
      refused += taken[i] ? 0 : 1;
    }
    std::vector<Bytes> shares;
    for (std::size_t server : {0, 1}) {
      if (noise[server] != nullptr) add_noise(*query, servers[server].sum, *noise[server]);
      shares.push_back(Poplar1::encode_vector(servers[server].sum));
    }
    DISCREET_TRY(std::vector<std::int64_t> counts, poplar_.unshard(*query, shares));
    const double threshold = policy_.threshold.value_or(noise_bound(query->size()));
    result.rounds.push_back({*std::move(query), std::move(counts), threshold, refused});
    DISCREET_TRY(query, next(result.rounds.back()));
  }

  const HeavyRound& last = result.rounds.back();
  if (last.query.level() + 1 != policy_.bits) return result;
  for (const BitString& string : survivors(last)) {
    const auto at = std::ranges::lower_bound(last.query.prefixes(), string);
    result.strings.push_back(
        {string, last.counts[static_cast<std::size_t>(at - last.query.prefixes().begin())]});
  }
  std::ranges::stable_sort(result.strings, std::greater(), &HeavyString::count);
  return result;
}

}  // namespace discreet::prio
