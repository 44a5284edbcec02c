#include "attack/single_bit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "attack/served.h"
#include "mechanisms/discrete_laplace.h"
#include "mechanisms/grid_laplace.h"
#include "random/bernoulli.h"
#include "town/people.h"

namespace discreet::attack {
namespace {

double since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<DiscreteLaplace> laplace(double epsilon, double sensitivity) {
  const auto checked = Epsilon::make(epsilon);
  if (!checked) return checked.error();
  return DiscreteLaplace::make(*checked, L1Sensitivity::make(sensitivity).value());
}

std::string ours(double epsilon) {
  return fmt::format("Discreet, epsilon {:g}", epsilon);
}

// Whole questions take milliseconds, so there are fewer of them.
ServedOptions through_curator(const SingleOptions& options) {
  return {std::clamp<std::uint64_t>(options.attempts / 20, 1, 500), options.epsilon, options.seed};
}

// Counts the words that a sampler takes: what a stopwatch sees, without its jitter.
class CountedRandom final : public RandomSource {
 public:
  explicit CountedRandom(RandomSource& inner) : inner_(inner) {}
  std::uint64_t bits64() override {
    ++words_;
    return inner_.bits64();
  }
  void fill(std::span<std::uint64_t> words) override {
    words_ += words.size();
    inner_.fill(words);
  }
  std::uint64_t words() const { return words_; }

 private:
  RandomSource& inner_;
  std::uint64_t words_ = 0;
};

}  // namespace

Result<Report> differencing(const SingleOptions& options, RandomSource& random) {
  const auto people = town::make_people(5000, options.seed);
  std::vector<std::int64_t> incomes;
  for (const auto& person : people)
    if (person.income > 0) incomes.push_back(person.income);
  std::int64_t total = 0;
  for (const std::int64_t income : incomes) total += income;
  const auto close = [](double guess, std::int64_t truth) {
    return std::fabs(guess - static_cast<double>(truth)) <= 0.05 * static_cast<double>(truth);
  };
  std::vector<std::int64_t> sorted = incomes;
  std::sort(sorted.begin(), sorted.end());
  // The best blind guess: the income that is within five per cent of most people's.
  std::uint64_t most = 0;
  for (const std::int64_t guess : sorted)
    most = std::max<std::uint64_t>(most, static_cast<std::uint64_t>(std::count_if(
                                             sorted.begin(), sorted.end(), [&](std::int64_t truth) {
                                               return close(static_cast<double>(guess), truth);
                                             })));
  const double baseline = static_cast<double>(most) / static_cast<double>(sorted.size());

  Report report{
      "Differencing", "share of people whose income is found within 5 % from two sums", {}};
  // Two questions, half of the budget each; one person moves a sum by at most the largest income.
  const auto loose = laplace(50, static_cast<double>(town::kIncomeMax));
  const auto tight = laplace(options.epsilon / 2, static_cast<double>(town::kIncomeMax));
  if (!tight) return tight.error();
  const std::pair<std::string, std::function<std::int64_t(std::int64_t)>> targets[] = {
      {"exact sums", [](std::int64_t sum) { return sum; }},
      {"noise at epsilon 100", [&](std::int64_t sum) { return loose->release(sum, random); }},
      {ours(options.epsilon), [&](std::int64_t sum) { return tight->release(sum, random); }}};
  for (const auto& [name, release] : targets) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < options.attempts; ++i) {
      const std::int64_t truth = incomes[random.bits64() % incomes.size()];
      const auto guess = static_cast<double>(release(total) - release(total - truth));
      hits += close(guess, truth);
    }
    report.outcomes.push_back(outcome(name, hits, options.attempts, baseline, since(start)));
  }
  DISCREET_TRY(auto served, served_differencing(through_curator(options), baseline, random));
  report.outcomes.push_back(std::move(served));
  return report;
}

Result<Report> day_by_day(const SingleOptions& options, RandomSource& random) {
  Report report{"Day by day",
                "share of people whose illness shows in the counts before and after they came",
                {}};
  const auto loose = laplace(10, 1);
  const auto tight = laplace(options.epsilon / 2, 1);
  if (!tight) return tight.error();
  const std::pair<std::string, std::function<std::int64_t(std::int64_t)>> targets[] = {
      {"exact counts", [](std::int64_t count) { return count; }},
      {"noise at epsilon 10 a day",
       [&](std::int64_t count) { return loose->release(count, random); }},
      {ours(options.epsilon), [&](std::int64_t count) { return tight->release(count, random); }}};
  constexpr std::int64_t kBefore = 14;
  for (const auto& [name, release] : targets) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < options.attempts; ++i) {
      const bool truth = (random.bits64() & 1) != 0;
      const std::int64_t before = release(kBefore), after = release(kBefore + truth);
      hits += (after > before) == truth;
    }
    const bool is_ours = &name == &targets[2].first;
    report.outcomes.push_back(outcome(name, hits, options.attempts, 0.5, since(start),
                                      is_ours ? bit_accuracy_bound(options.epsilon, 0) : 1));
  }
  DISCREET_TRY(auto served, served_days(through_curator(options), random));
  report.outcomes.push_back(std::move(served));
  return report;
}

Result<Report> averaging(const SingleOptions& options, RandomSource& random) {
  constexpr int kRepeats = 1000;
  constexpr std::int64_t kExact = 137;
  const auto noise = laplace(options.epsilon, 1);
  if (!noise) return noise.error();
  Report report{
      "Averaging", "share of counts found exactly by asking many times and taking the mean", {}};
  const std::uint64_t attempts = std::max<std::uint64_t>(1, options.attempts / 10);
  // One answer, rounded, is right with the chance that the noise is zero.
  const double alpha = std::exp(-options.epsilon), baseline = (1 - alpha) / (1 + alpha);
  const std::pair<std::string, bool> targets[] = {
      {"exact counts", false},
      {fmt::format("fresh noise {} times, epsilon {:g}", kRepeats, options.epsilon), true}};
  for (const auto& [name, noisy] : targets) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < attempts; ++i) {
      double sum = 0;
      for (int repeat = 0; repeat < kRepeats; ++repeat)
        sum += static_cast<double>(noisy ? noise->release(kExact, random) : kExact);
      hits += std::llround(sum / kRepeats) == kExact;
    }
    report.outcomes.push_back(outcome(name, hits, attempts, baseline, since(start)));
  }
  ServedOptions asked = through_curator(options);
  asked.attempts = std::clamp<std::uint64_t>(asked.attempts, 1, 30);
  DISCREET_TRY(auto served, served_averaging(asked, baseline, random));
  for (auto& found : served) report.outcomes.push_back(std::move(found));
  return report;
}

Result<Report> floating_point(const SingleOptions& options, RandomSource& random) {
  const auto epsilon = Epsilon::make(options.epsilon);
  if (!epsilon) return epsilon.error();
  const auto grid =
      GridLaplace::make(*epsilon, L1Sensitivity{1}, Grid::make(std::ldexp(1.0, -20)).value());
  if (!grid) return grid.error();
  const double scale = 1 / options.epsilon;
  // u is a multiple of 2^-53 in [-1/2, 1/2), as a generator of doubles gives it.
  const auto noise_of = [&](bool negative, std::int64_t steps) {
    const double magnitude = -scale * std::log1p(-2 * std::ldexp(static_cast<double>(steps), -53));
    return negative ? -magnitude : magnitude;
  };
  const auto textbook = [&](double exact) {
    return exact +
           noise_of((random.bits64() & 1) != 0, static_cast<std::int64_t>(random.bits64() >> 12));
  };
  // Can this answer come from that truth at all? Tries the few u that could have made it.
  const auto reachable = [&](double exact, double seen) {
    const double noise = seen - exact;
    const double share = -std::expm1(-std::fabs(noise) / scale) / 2;
    const auto near = static_cast<std::int64_t>(std::llround(std::ldexp(share, 53)));
    for (std::int64_t steps = std::max<std::int64_t>(0, near - 8); steps <= near + 8; ++steps)
      if (exact + noise_of(noise < 0, steps) == seen) return true;
    return false;
  };
  Report report{
      "Floating point", "share of single answers (0 or 1, with noise) that are told apart", {}};
  const double bound = bit_accuracy_bound(options.epsilon, 0);
  const std::pair<std::string, std::function<double(double)>> targets[] = {
      {"exact answers", [](double exact) { return exact; }},
      {"textbook Laplace in doubles", textbook},
      {ours(options.epsilon), [&](double exact) { return grid->release(exact, random); }}};
  for (const auto& [name, release] : targets) {
    const auto start = std::chrono::steady_clock::now();
    std::uint64_t hits = 0;
    for (std::uint64_t i = 0; i < options.attempts; ++i) {
      const bool truth = (random.bits64() & 1) != 0;
      const double seen = release(truth ? 1 : 0);
      // Where only one truth can have given these bits, it is certain; else the likelier is
      // guessed.
      const bool zero = reachable(0, seen), one = reachable(1, seen);
      const bool guess = zero != one ? one : seen > 0.5;
      hits += guess == truth;
    }
    const bool is_ours = &name == &targets[2].first;
    report.outcomes.push_back(
        outcome(name, hits, options.attempts, 0.5, since(start), is_ours ? bound : 1));
  }
  return report;
}

Result<Report> timing(const SingleOptions& options, RandomSource& random) {
  // A sum to which one person adds up to 100: noise wide enough to have two halves.
  constexpr int kMost = 100;
  const auto noise = laplace(options.epsilon, kMost);
  if (!noise) return noise.error();
  // Coins are tossed until one says stop, each goes on with e^-epsilon: the magnitude is the number
  // of tosses.
  const auto textbook = [](double epsilon) {
    return [goes_on = Bernoulli(Probability::exp_minus(exact_rational(epsilon).value()))](
               RandomSource& source) {
      std::int64_t magnitude = 0;
      while (goes_on.draw(source)) ++magnitude;
      return (source.bits64() & 1) != 0 ? magnitude : -magnitude;
    };
  };
  Report report{"Timing",
                "share of noise draws of which the effort tells whether they are above the median",
                {}};
  const std::pair<std::string, std::function<std::int64_t(RandomSource&)>> targets[] = {
      {"coins until one says stop", textbook(options.epsilon / kMost)},
      {"the same, a tenth of the noise", textbook(10 * options.epsilon / kMost)},
      {ours(options.epsilon), [&](RandomSource& source) { return noise->release(0, source); }}};
  for (const auto& [name, draw] : targets) {
    const auto start = std::chrono::steady_clock::now();
    // The first half learns where to cut, the second half is attacked.
    std::vector<std::pair<std::uint64_t, std::int64_t>> seen;
    for (std::uint64_t i = 0; i < 2 * options.attempts; ++i) {
      CountedRandom counted(random);
      const std::int64_t drawn = draw(counted);
      seen.emplace_back(counted.words(), std::abs(drawn));
    }
    const auto half = static_cast<std::ptrdiff_t>(options.attempts);
    std::vector<std::int64_t> magnitudes;
    std::vector<std::uint64_t> efforts;
    for (auto it = seen.begin(); it != seen.begin() + half; ++it) {
      efforts.push_back(it->first);
      magnitudes.push_back(it->second);
    }
    std::nth_element(magnitudes.begin(), magnitudes.begin() + half / 2, magnitudes.end());
    const std::int64_t median = magnitudes[static_cast<std::size_t>(half / 2)];
    std::uint64_t best_cut = 0, best_hits = 0;
    std::sort(efforts.begin(), efforts.end());
    efforts.erase(std::unique(efforts.begin(), efforts.end()), efforts.end());
    for (const std::uint64_t cut : efforts) {
      std::uint64_t hits = 0;
      for (auto it = seen.begin(); it != seen.begin() + half; ++it)
        hits += (it->first > cut) == (it->second > median);
      if (hits > best_hits) {
        best_hits = hits;
        best_cut = cut;
      }
    }
    std::uint64_t hits = 0, above = 0;
    for (auto it = seen.begin() + half; it != seen.end(); ++it) {
      hits += (it->first > best_cut) == (it->second > median);
      above += it->second > median;
    }
    const double share = static_cast<double>(above) / static_cast<double>(options.attempts);
    report.outcomes.push_back(
        outcome(name, hits, options.attempts, std::max(share, 1 - share), since(start)));
  }
  return report;
}

}  // namespace discreet::attack
