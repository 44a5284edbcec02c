// What can be answered at all: accuracy against number of queries, each cell by experiment.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "attack/reconstruction.h"
#include "lecture/linear_internal.h"
#include "lecture/queries.h"
#include "mechanisms/discrete_gaussian.h"
#include "mechanisms/discrete_laplace.h"

namespace discreet::lecture {
namespace {

struct Attacked {
  std::size_t people, queries;
  attack::Decoder decoder;
  std::int64_t off_by;  // answers are wrong by up to this, evenly
};

Result<std::string> attacked(const Attacked& setting, RandomSource& random, bool& holds) {
  attack::ReconstructionOptions options;
  options.people = setting.people;
  options.queries = setting.queries;
  options.decoder = setting.decoder;
  const auto wrong = [&](std::span<std::int64_t> answers, RandomSource& bits) {
    const auto span = static_cast<std::uint64_t>(2 * setting.off_by + 1);
    for (std::int64_t& answer : answers)
      answer += static_cast<std::int64_t>(bits.bits64() % span) - setting.off_by;
  };
  DISCREET_TRY(const std::size_t right, attack::reconstruct(options, wrong, random));
  holds = holds && 10 * right >= 9 * setting.people;
  return fmt::format("attack: {} of {} bits back", right, setting.people);
}

// A private release whose worst error, as a share of the people, must stay within the target.
Result<std::string> answered(std::uint64_t people, std::uint64_t queries, double target, bool gauss,
                             std::uint64_t seed, RandomSource& random, bool& holds) {
  const LinearWorkload data(people, queries, seed);
  const auto epsilon = Epsilon::make(1.0).value();
  const double k = static_cast<double>(queries);
  DISCREET_TRY(const auto laplace, DiscreteLaplace::make(epsilon, L1Sensitivity::make(k).value()));
  DISCREET_TRY(const auto gaussian,
               DiscreteGaussian::make(ApproxDp{epsilon, Delta::make(1e-6).value()},
                                      L2Sensitivity::make(std::sqrt(k)).value(), queries));
  double worst = 0;
  for (std::size_t q = 0; q < queries; ++q) {
    const std::int64_t exact = data.exact(q);
    const std::int64_t told =
        gauss ? gaussian.release(exact, random) : laplace.release(exact, random);
    worst =
        std::max(worst, std::abs(static_cast<double>(told - exact)) / static_cast<double>(people));
  }
  holds = holds && worst <= target;
  return fmt::format("{}: worst {:.2g} of {:.2g}", gauss ? "Gaussian" : "Laplace", worst, target);
}

}  // namespace

Result<Shown> accuracy_table(std::uint64_t seed, RandomSource& random) {
  using attack::Decoder;
  Shown shown;
  shown.statement =
      "Accuracy against number of linear queries: what answers of that accuracy give away, or how "
      "they "
      "are given privately (epsilon 1).";
  shown.columns = {"accuracy", "k = 2^n", "k = O(n)", "k << n"};
  bool& holds = shown.holds;
  // The left column: 12 people, 4,096 counts; answers wrong by up to 2, 1 and 0.
  DISCREET_TRY(const auto a1, attacked({12, 4096, Decoder::Exhaustive, 2}, random, holds));
  DISCREET_TRY(const auto a2, answered(10'000, 10'000, 0.3, true, seed, random, holds));
  DISCREET_TRY(const auto a3, answered(10'000, 20, 0.3, false, seed, random, holds));
  DISCREET_TRY(const auto b1, attacked({12, 4096, Decoder::Exhaustive, 1}, random, holds));
  DISCREET_TRY(const auto b2, attacked({400, 1600, Decoder::LeastSquares, 5}, random, holds));
  DISCREET_TRY(const auto b3, answered(250'000, 10, 1 / 500.0, false, seed, random, holds));
  DISCREET_TRY(const auto c1, attacked({12, 4096, Decoder::Exhaustive, 0}, random, holds));
  DISCREET_TRY(const auto c2, attacked({400, 1600, Decoder::LeastSquares, 1}, random, holds));
  DISCREET_TRY(const auto c3, answered(4'000'000, 10, 0.1 / 2000.0, false, seed, random, holds));
  shown.rows = {{"any that is not trivial", a1, a2, a3},
                {"1/sqrt(n)", b1, b2, b3},
                {"far below 1/sqrt(n)", c1, c2, c3}};
  shown.notes = {"k = 2^n: 12 people, 4096 counts wrong by up to 2, 1, 0; all data sets tried.",
                 "k = O(n): attacks on 400 people, 1600 counts wrong by up to 5 (sqrt(n)/4) and 1; "
                 "least squares.",
                 "Where the lecture has a question mark, 10,000 people and 10,000 queries: "
                 "Gaussian noise answers "
                 "them (delta 1e-6).",
                 "k << n: 20 queries about 10,000 people; 10 about 250,000 and 4,000,000."};
  return shown;
}

}  // namespace discreet::lecture
