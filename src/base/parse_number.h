// Numbers as people type them: strict, because a parameter half understood is a privacy parameter
// half meant.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace discreet {

/// A finite decimal number such as 0.1, -3, 1e-7. InvalidParameter, naming `what`, for anything
/// else: empty text, spaces, trailing characters, hexadecimal, nan, infinities, values beyond the
/// range of doubles.
Result<double> parse_number(std::string_view text, std::string_view what);

/// A whole number within 64 bits, digits with an optional sign.
Result<std::int64_t> parse_integer(std::string_view text, std::string_view what);

}  // namespace discreet
