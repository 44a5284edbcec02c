// Where a product, a quotient or a sum of reals is nearly too large or too small for one,
// PostgreSQL raises an error; the guarded phrase gives what IEEE arithmetic does, and what the
// embedded engine gives.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engines/postgres_server.h"
#include "sql/postgres_phrases_internal.h"

namespace discreet::testing {
namespace {

using sql::Function;

struct Operation {
  Function function;
  double (*plain)(double, double);
};

TEST(RealLimitsTest, PostgresAgreesWithIeeeAtBothEnds) {
  std::mt19937_64 random(20);
  std::uniform_real_distribution<double> mantissa(1, 2);
  constexpr double kMost = std::numeric_limits<double>::max(), kLeast = 0x1p-1074;
  std::vector<std::pair<double, double>> pairs = {
      {2 * kLeast, 0.5},     {kLeast, 0.5},        {3 * kLeast, 0.5},
      {kLeast, 0.75},        {kMost, 1},           {kMost, 0x1p-1},
      {kMost, kMost},        {kMost / 2, 2},       {kMost, kLeast},
      {0x1p970, kMost},      {0x1p969, kMost},     {kLeast, kLeast},
      {0x1p-537, -0x1p-537}, {0x1p-538, 0x1p-537}, {0x1p512, -0x1p512}};
  for (int i = 0; i < 1500; ++i) {
    // Products, and with the second turned over quotients, near 2^1024 and near 2^-1075.
    const int power = std::uniform_int_distribution(-500, 500)(random);
    const int end = i % 2 == 0 ? 1024 - std::uniform_int_distribution(0, 2)(random)
                               : -1076 + std::uniform_int_distribution(0, 4)(random);
    const double x = std::ldexp(mantissa(random), power);
    const double y = std::ldexp(mantissa(random), std::clamp(end - power, -1074, 1022));
    pairs.emplace_back(i % 3 == 0 ? -x : x, y);
    if (1 / y != 0 && !std::isinf(1 / y)) pairs.emplace_back(x, 1 / y);
  }
  std::string rows;
  for (const auto& [x, y] : pairs)
    rows += fmt::format("{}({}, {})", rows.empty() ? "" : ", ", sql::postgres::real_literal(x),
                        sql::postgres::real_literal(y));
  const Operation operations[] = {
      {Function::Add, [](double x, double y) { return x + y; }},
      {Function::Subtract, [](double x, double y) { return x - y; }},
      {Function::Multiply, [](double x, double y) { return x * y; }},
      {Function::Divide, [](double x, double y) { return x / y; }},
  };
  std::size_t checked = 0;
  for (const Operation& operation : operations) {
    const auto found = postgres_server().run(
        fmt::format("SET extra_float_digits = 3; SELECT {} FROM (VALUES {}) AS t(x, y)",
                    sql::postgres::real(operation.function, "x", "y"), rows));
    ASSERT_EQ(static_cast<std::size_t>(found.rows()), pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const std::string text(found.bytes(static_cast<int>(i), 0));
      EXPECT_EQ(std::strtod(text.c_str(), nullptr),
                operation.plain(pairs[i].first, pairs[i].second))
          << pairs[i].first << " and " << pairs[i].second << " give " << text;
      ++checked;
    }
  }
  EXPECT_GT(checked, 8000u);
}

}  // namespace
}  // namespace discreet::testing
