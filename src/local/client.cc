#include "local/client.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <fmt/format.h>

#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

std::array<std::uint8_t, 32> hmac(const ClientSecret& secret, const std::string& message) {
  std::array<std::uint8_t, 32> out{};
  unsigned size = 0;
  DISCREET_CHECK(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                      reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                      out.data(), &size) != nullptr &&
                     size == out.size(),
                 "HMAC-SHA-256 is not available");
  return out;
}

std::string little_endian(std::uint64_t value) {
  std::uint8_t bytes[8];
  put(bytes, value, 8);
  return {reinterpret_cast<const char*>(bytes), 8};
}

}  // namespace

LastingRandom::LastingRandom(const ClientSecret& secret, std::string label)
    : secret_(secret), label_(std::move(label)) {}

std::uint64_t LastingRandom::bits64() {
  if (next_ == words_.size()) {
    const auto block = hmac(secret_, label_ + little_endian(block_++));
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] = get(block.data() + 8 * i, 8);
    next_ = 0;
  }
  return words_[next_++];
}

void LastingRandom::fill(std::span<std::uint64_t> words) {
  for (auto& word : words) word = bits64();
}

Result<Client> Client::make(Spec spec, ReportBudget& budget) {
  DISCREET_TRY(auto oracle, Oracle::make(std::move(spec)));
  return Client(std::move(oracle), budget);
}

Result<std::vector<std::uint8_t>> Client::report(std::string_view value,
                                                 RandomSource& random) const {
  DISCREET_TRY(const auto input, input_of(oracle_->spec(), value));
  DISCREET_TRY(const auto epsilon, Epsilon::make(oracle_->spec().epsilon));
  DISCREET_TRY_VOID(budget_->spend(epsilon));
  std::vector<std::uint8_t> report(oracle_->report_bytes());
  oracle_->randomize(input, random, report);
  return report;
}

// Labels: the collection's header, then 'c' for the client's stream, or 'v' and the input for the
// value's. The header is part of both, so that collections are independent of each other.
Result<std::vector<std::uint8_t>> Client::report_lasting(std::string_view value,
                                                         const ClientSecret& secret,
                                                         RandomSource& random) const {
  const Spec& spec = oracle_->spec();
  DISCREET_TRY(const auto input, input_of(spec, value));
  DISCREET_TRY(const auto epsilon,
               Epsilon::make(spec.permanent_epsilon > 0 ? spec.permanent_epsilon : spec.epsilon));
  const std::string collection = header_line(spec) + "\n";
  const std::string of_value = collection + "v" + little_endian(input);
  std::string tag;
  for (const auto byte : hmac(secret, of_value + "paid")) tag += fmt::format("{:02x}", byte);
  DISCREET_TRY_VOID(budget_->spend_once(tag, epsilon));
  LastingRandom of_client(secret, collection + "c"), for_value(secret, of_value);
  std::vector<std::uint8_t> report(oracle_->report_bytes());
  oracle_->randomize_lasting(input, {of_client, for_value, random}, report);
  return report;
}

}  // namespace discreet::local
