// How often does each test reject a true null at 5 %? A grid of tests, laws of rows, numbers of
// rows and epsilons, by the real mechanisms.
//
// Usage: levels [data sets a cell, 20000] [only tests whose name starts so] [only this law]
// [only this epsilon] [only so many rows] [seed, 20261116]. A corner that all five name and the
// grid does not hold is simulated too: laws normal, exponential, two-point, lognormal, uniform,
// bimodal; "share .35" of counts.
// A line is a cell of the
// grid: how often a p-value was given at all, and how often a given one was at most .05. Of 20,000
// data sets the standard error is .15 points; a cell outside 5 % +- .5 is marked.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "support/levels.h"

namespace discreet::inference {

std::vector<LevelCell> corner(std::string_view only, std::string_view law, double epsilon,
                              int rows) {
  for (int t = 0; t <= static_cast<int>(LevelTest::Slope); ++t) {
    LevelCell cell{static_cast<LevelTest>(t), RowLaw::Normal, 0, epsilon, rows};
    if (!std::string_view(name(cell.test)).starts_with(only)) continue;
    if (cell.counts() && law.starts_with("share ")) {
      cell.share = std::atof(law.data() + 6);
      return {cell};
    }
    for (int l = 0; l <= static_cast<int>(RowLaw::Bimodal); ++l)
      if (discreet::name(static_cast<RowLaw>(l)) == law) {
        cell.law = static_cast<RowLaw>(l);
        return {cell};
      }
  }
  return {};
}

}  // namespace discreet::inference

int main(int argc, char** argv) {
  using namespace discreet::inference;
  const int trials = argc > 1 ? std::atoi(argv[1]) : 20000;
  const std::string_view only = argc > 2 ? argv[2] : "";
  std::printf("%-14s %-12s %8s %6s | %7s %10s\n", "test", "rows' law", "epsilon", "rows", "given %",
              "rejected %");
  const std::string_view law = argc > 3 ? argv[3] : "";
  const double epsilon = argc > 4 ? std::atof(argv[4]) : 0;
  const int rows = argc > 5 ? std::atoi(argv[5]) : 0;
  const std::uint64_t seed = argc > 6 ? std::strtoull(argv[6], nullptr, 10) : 20261116;
  int outside = 0, cells = 0;
  std::vector<LevelCell> asked;
  for (const LevelCell& cell : level_grid())
    if (std::string_view(name(cell.test)).starts_with(only) && cell.law_name().starts_with(law) &&
        (epsilon <= 0 || cell.epsilon == epsilon) && (rows <= 0 || cell.rows == rows))
      asked.push_back(cell);
  if (asked.empty() && argc > 5) asked = corner(only, law, epsilon, rows);
  for (const LevelCell& cell : asked) {
    const LevelCount count = simulate_level(cell, trials, seed);
    const double rate = 100.0 * count.rejected / std::fmax(1, count.given);
    const double error = 100 * std::sqrt(0.0475 / std::fmax(1, count.given));
    const bool off = count.given > 0 && std::fabs(rate - 5) > 0.5 + 2 * error;
    outside += off;
    ++cells;
    std::printf("%-14s %-12s %8.2g %6d | %7.1f %10.2f +- %.2f%s\n", name(cell.test),
                cell.law_name().c_str(), cell.epsilon, cell.rows, 100.0 * count.given / trials,
                rate, error, off ? "  outside" : "");
    std::fflush(stdout);
  }
  std::printf("%d of %d cells outside 4.5 .. 5.5 by more than two standard errors\n", outside,
              cells);
}
