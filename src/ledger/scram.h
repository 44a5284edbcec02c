// Password verifiers: enough to check a password, not enough to log in with.
//
// Guarantee: the verifier is PostgreSQL's, SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey
//            (RFC 5802 and 7677), so any PostgreSQL client can prove that it knows the password.
// Assumes:   OpenSSL's PBKDF2, HMAC and random bytes. (Salts and tokens only; noise never comes
//            from here.)
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace discreet::ledger {

inline constexpr int kScramIterations = 32768;
inline constexpr std::size_t kPasswordLengthMin = 8;

/// With a fresh salt. InvalidParameter: fewer than 8 characters, or others than printable ASCII
/// (which clients would rewrite before hashing, each in its own way).
Result<std::string> make_scram_verifier(std::string_view password);

/// The same for a given salt: for tests and for checking.
std::string scram_verifier(std::string_view password, std::span<const std::uint8_t> salt,
                           int iterations);

/// Does the password fit? In constant time once the form of the verifier is known to be good.
bool password_matches(std::string_view password, const std::string& verifier);

/// 256 random bits as text, "dsc_" first: shown once, kept only as a hash.
std::string make_token();

std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace discreet::ledger
