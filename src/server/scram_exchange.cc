#include "server/scram_exchange.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include <array>
#include <optional>
#include <vector>

#include "ledger/scram.h"
#include "ledger/sha256.h"

namespace discreet::server {
namespace {

using ledger::Digest;

Digest hmac(const Digest& key, std::string_view text) {
  Digest mac{};
  unsigned int size = 0;
  const auto* done =
      HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(), mac.data(), &size);
  DISCREET_CHECK(done && size == mac.size(), "HMAC is not available");
  return mac;
}

std::vector<std::uint8_t> from_base64(std::string_view text) {
  if (text.empty() || text.size() % 4 != 0 || text.size() > 4096) return {};
  std::vector<std::uint8_t> bytes(text.size() / 4 * 3 + 3);
  const int size =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  if (size < 0) return {};
  std::size_t padding = 0;
  while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(static_cast<std::size_t>(size) - padding);
  return bytes;
}

Digest digest_of(std::string_view text) {
  Digest digest{};
  const auto bytes = from_base64(text);
  if (bytes.size() == digest.size()) std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

/// SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey in its parts.
struct Verifier {
  std::string iterations, salt;
  Digest stored{}, server{};
};
Verifier parts_of(std::string_view text) {
  Verifier parts;
  const auto take = [&](char end) {
    const auto at = std::min(text.find(end), text.size());
    std::string piece(text.substr(0, at));
    text.remove_prefix(std::min(at + 1, text.size()));
    return piece;
  };
  take('$');
  parts.iterations = take(':');
  parts.salt = take('$');
  parts.stored = digest_of(take(':'));
  parts.server = digest_of(text);
  return parts;
}

Error refused() {
  return {ErrorCode::PermissionDenied, "password authentication failed"};
}

/// The value of "x=..." at the front of a comma-separated message, and the rest.
std::optional<std::string_view> attribute(std::string_view& message, char name) {
  if (message.size() < 2 || message[0] != name || message[1] != '=') return std::nullopt;
  const auto end = std::min(message.find(','), message.size());
  const auto value = message.substr(2, end - 2);
  message.remove_prefix(std::min(end + 1, message.size()));
  return value;
}

}  // namespace

std::string make_nonce() {
  std::array<std::uint8_t, 18> bytes{};
  DISCREET_CHECK(RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) == 1,
                 "no randomness for a nonce");
  return ledger::base64(bytes);
}

ScramExchange::ScramExchange(std::string verifier, bool real, std::string binding,
                             std::string nonce)
    : verifier_(std::move(verifier)),
      binding_(std::move(binding)),
      nonce_(std::move(nonce)),
      real_(real) {}

Result<std::string> ScramExchange::first(std::string_view mechanism,
                                         std::string_view client_first) {
  bound_ = mechanism == "SCRAM-SHA-256-PLUS";
  if (mechanism != "SCRAM-SHA-256" && !bound_)
    return Error{ErrorCode::PermissionDenied, "this server speaks SCRAM-SHA-256 only"};
  // gs2-header: "n,," (no binding), "y,," (would, but thinks we cannot) or "p=type,,".
  const auto comma = client_first.find(',');
  const auto second = comma == std::string_view::npos ? comma : client_first.find(',', comma + 1);
  if (second == std::string_view::npos || second != comma + 1) return refused();
  const auto flag = client_first.substr(0, comma);
  header_ = std::string(client_first.substr(0, second + 1));
  if (bound_ ? flag != "p=tls-server-end-point" || binding_.empty() : flag != "n" && flag != "y")
    return refused();
  // "y" while we offered binding means that somebody in the middle hid the offer.
  if (flag == "y" && !binding_.empty())
    return Error{ErrorCode::PermissionDenied,
                 "channel binding was offered but the client did not see it"};
  std::string_view bare = client_first.substr(second + 1);
  client_first_bare_ = std::string(bare);
  if (!attribute(bare, 'n')) return refused();
  const auto client_nonce = attribute(bare, 'r');
  if (!client_nonce || client_nonce->empty() || client_nonce->size() > 256) return refused();
  nonce_ = std::string(*client_nonce) + nonce_;
  const Verifier verifier = parts_of(verifier_);
  server_first_ = "r=" + nonce_ + ",s=" + verifier.salt + ",i=" + verifier.iterations;
  return server_first_;
}

Result<std::string> ScramExchange::last(std::string_view client_final) {
  if (server_first_.empty()) return refused();
  const auto proof_at = client_final.rfind(",p=");
  if (proof_at == std::string_view::npos) return refused();
  const std::string_view without_proof = client_final.substr(0, proof_at);
  const auto proof = from_base64(client_final.substr(proof_at + 3));
  std::string_view rest = without_proof;
  const auto channel = attribute(rest, 'c');
  const auto nonce = attribute(rest, 'r');
  if (!channel || !nonce || *nonce != nonce_ || proof.size() != sizeof(Digest)) return refused();
  const std::string expected = header_ + (bound_ ? binding_ : "");
  const std::string wanted =
      ledger::base64({reinterpret_cast<const std::uint8_t*>(expected.data()), expected.size()});
  if (channel->size() != wanted.size() ||
      CRYPTO_memcmp(channel->data(), wanted.data(), wanted.size()) != 0)
    return refused();

  const Verifier verifier = parts_of(verifier_);
  const std::string message =
      client_first_bare_ + "," + server_first_ + "," + std::string(without_proof);
  const Digest signature = hmac(verifier.stored, message);
  Digest client_key{};
  for (std::size_t i = 0; i < client_key.size(); ++i)
    client_key[i] = static_cast<std::uint8_t>(proof[i] ^ signature[i]);
  const Digest stored =
      ledger::sha256({reinterpret_cast<const char*>(client_key.data()), client_key.size()});
  const bool fits = CRYPTO_memcmp(stored.data(), verifier.stored.data(), stored.size()) == 0;
  if (!fits || !real_) return refused();
  return "v=" + ledger::base64(hmac(verifier.server, message));
}

}  // namespace discreet::server
