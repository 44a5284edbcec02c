// SHA-256, the ledger's seal.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace discreet::ledger {

using Digest = std::array<std::uint8_t, 32>;

Digest sha256(std::string_view bytes);

std::string to_hex(const Digest& digest);

}  // namespace discreet::ledger
