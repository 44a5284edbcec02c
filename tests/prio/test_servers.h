// All servers of one task in one process, for tests and benchmarks: reports in, totals out.
#pragma once

#include <utility>
#include <vector>

#include "prio/prio3.h"
#include "random/random_source.h"

namespace discreet::prio {

inline Bytes random_bytes(std::size_t size, RandomSource& random) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  random.fill(words);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  return {bytes, bytes + size};
}

struct TestReport {
  Bytes nonce;
  Report shares;
};

class TestServers {
 public:
  TestServers(const Prio3& prio, RandomSource& random)
      : prio_(prio),
        random_(random),
        key_(random_bytes(kVerifyKeyBytes, random)),
        sums_(prio.servers(), prio.aggregate_init()) {}

  TestReport report(const Measurement& measurement) {
    Bytes nonce = random_bytes(kNonceBytes, random_);
    const Bytes randomness = random_bytes(prio_.randomness_bytes(), random_);
    Report shares = prio_.shard(as_bytes(kContext), measurement, nonce, randomness).value();
    return {std::move(nonce), std::move(shares)};
  }
  /// Of a client that shares elements no measurement encodes to.
  TestReport lie(const std::vector<std::uint64_t>& elements) {
    Bytes nonce = random_bytes(kNonceBytes, random_);
    const Bytes randomness = random_bytes(prio_.randomness_bytes(), random_);
    Report shares = prio_.shard_encoded(as_bytes(kContext), elements, nonce, randomness).value();
    return {std::move(nonce), std::move(shares)};
  }

  Result<std::vector<VerifyStart>> begin(const TestReport& report) const {
    std::vector<VerifyStart> starts;
    for (unsigned server = 0; server < prio_.servers(); ++server) {
      DISCREET_TRY(VerifyStart start,
                   prio_.verify_init({.verify_key = key_,
                                      .context = as_bytes(kContext),
                                      .server = server,
                                      .nonce = report.nonce,
                                      .public_share = report.shares.public_share,
                                      .input_share = report.shares.input_shares[server]}));
      starts.push_back(std::move(start));
    }
    return starts;
  }
  Result<Bytes> combine(const std::vector<VerifyStart>& starts) const {
    std::vector<Bytes> shares;
    for (const VerifyStart& start : starts) shares.push_back(start.verifier_share);
    return prio_.verifier_shares_to_message(as_bytes(kContext), shares);
  }
  /// The out shares of all servers, or the first refusal.
  Result<std::vector<FieldVector>> finish(std::vector<VerifyStart> starts, ByteSpan message) const {
    std::vector<FieldVector> outs;
    for (VerifyStart& start : starts) {
      DISCREET_TRY(FieldVector out, prio_.verify_next(std::move(start.state), message));
      outs.push_back(std::move(out));
    }
    return outs;
  }
  Result<std::vector<FieldVector>> check(const TestReport& report) const {
    DISCREET_TRY(std::vector<VerifyStart> starts, begin(report));
    DISCREET_TRY(const Bytes message, combine(starts));
    return finish(std::move(starts), message);
  }

  /// Adds the report if all servers accept it.
  bool take(const TestReport& report) {
    auto outs = check(report);
    if (!outs) return false;
    for (unsigned server = 0; server < prio_.servers(); ++server)
      prio_.aggregate(sums_[server], (*outs)[server]);
    return true;
  }
  std::vector<Wide> total() const { return total_of(sums_); }
  std::vector<Wide> total_of(const std::vector<FieldVector>& shares) const {
    std::vector<Bytes> encoded;
    for (const FieldVector& share : shares) encoded.push_back(prio_.encode_vector(share));
    return prio_.unshard(encoded).value();
  }

 private:
  static constexpr std::string_view kContext = "test";
  const Prio3& prio_;
  RandomSource& random_;
  Bytes key_;
  std::vector<FieldVector> sums_;
};

}  // namespace discreet::prio
