#include "engines/unit_cells_internal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace discreet {
namespace {

// Of what is out of bounds by any distance, the same words as of the bound.
TEST(UnitCells, ValuesOutOfBoundsAreClampedInWordsOfAnyWidth) {
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 30;
  const std::pair<std::int64_t, std::int64_t> ranges[] = {{0, 1000},
                                                          {-5, 5},
                                                          {7, 7},
                                                          {-kBoundMax, -1},
                                                          {1, kBoundMax},
                                                          {0, kBoundMax},
                                                          {-kBoundMax, kBoundMax}};
  std::vector<std::int64_t> far;
  for (int bits = 0; bits < 63; ++bits)
    for (const std::int64_t sign : {-1, 1})
      for (const std::int64_t off : {-1, 0, 1})
        far.push_back(sign * (std::int64_t{1} << bits) + off);
  far.push_back(std::numeric_limits<std::int64_t>::min());
  far.push_back(std::numeric_limits<std::int64_t>::max());
  for (const auto& [lower, upper] : ranges) {
    CellLayout layout;
    layout.has_value = true;
    layout.lower = lower;
    layout.upper = upper;
    std::vector<std::int64_t> values = far;
    for (const std::int64_t bound : {lower, upper})
      for (const std::int64_t off : {-1, 0, 1}) values.push_back(bound + off);
    const auto low = [](std::size_t row) { return std::uint64_t{row % 2}; };
    // One by one, so that each decides for itself whether something is out of bounds, and together.
    const auto check = [&](std::span<const std::int64_t> some) {
      std::vector<std::uint32_t> narrow(some.size());
      std::vector<std::uint64_t> wide(some.size());
      put_values(layout, some, 1, low, narrow.data());
      put_values(layout, some, 1, low, wide.data());
      for (std::size_t row = 0; row < some.size(); ++row) {
        const auto above =
            static_cast<std::uint64_t>(std::clamp(some[row], lower, upper) - lower) << 1 | row % 2;
        EXPECT_EQ(wide[row], above) << some[row] << " in " << lower << " .. " << upper;
        EXPECT_EQ(narrow[row], static_cast<std::uint32_t>(above))
            << some[row] << " in " << lower << " .. " << upper;
      }
    };
    for (const std::int64_t& value : values) check({&value, 1});
    check(values);
  }
}

}  // namespace
}  // namespace discreet
