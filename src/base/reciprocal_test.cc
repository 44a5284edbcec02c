#include "base/reciprocal.h"

#include <gtest/gtest.h>

#include <vector>

namespace discreet {
namespace {

TEST(Reciprocal, IsDivisionForEveryNumberNearAMultiple) {
  std::vector<std::uint64_t> divisors = {3, 7, 10, 641, 1000, 1'000'003, 6'700'417};
  for (int bits = 0; bits < 64; ++bits)
    for (const std::uint64_t near : {-1, 0, 1})
      if (const std::uint64_t divisor = (std::uint64_t{1} << bits) + near; divisor > 0)
        divisors.push_back(divisor);
  divisors.push_back(UINT64_MAX);
  for (const std::uint64_t divisor : divisors) {
    const Reciprocal by(divisor);
    const std::uint64_t last = UINT64_MAX / divisor;
    for (const std::uint64_t times : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{2},
                                      last / 3, last / 2, last - 1, last}) {
      for (const std::uint64_t off : {-2, -1, 0, 1, 2}) {
        const std::uint64_t number = times * divisor + off;
        EXPECT_EQ(by.of(number), number / divisor) << number << " by " << divisor;
      }
    }
    EXPECT_EQ(by.of(UINT64_MAX), UINT64_MAX / divisor) << divisor;
  }
}

}  // namespace
}  // namespace discreet
