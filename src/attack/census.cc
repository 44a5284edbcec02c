#include "attack/census.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "mechanisms/discrete_laplace.h"
#include "town/people.h"

namespace discreet::attack {
namespace {

constexpr int kOldest = 125;

int median_twice(const Ages& ages) {
  const std::size_t n = ages.size();
  return n == 0 ? 0 : ages[(n - 1) / 2] + ages[n / 2];
}
int total(const Ages& ages) {
  return std::accumulate(ages.begin(), ages.end(), 0);
}

struct Search {
  std::size_t count;
  int median_twice;
  int sum;
  Ages ages;
  std::vector<Ages> found;

  void place(std::size_t at, int from, int left) {
    if (at == count) {
      if (left == 0) found.push_back(ages);
      return;
    }
    const std::size_t lower = (count - 1) / 2, upper = count / 2;
    int least = from, most = kOldest;
    if (count % 2 == 1 && at == lower) least = most = median_twice / 2;
    if (count % 2 == 0 && at == upper) least = most = median_twice - ages[lower];
    if (at <= lower) most = std::min(most, median_twice / 2);
    if (least < from || most > kOldest) return;
    const auto rest = static_cast<int>(count - at);
    for (int age = least; age <= most; ++age) {
      if (age * rest > left) break;  // all that follow are as old
      if (left - age > (rest - 1) * kOldest) continue;
      ages[at] = age;
      place(at + 1, age, left - age);
    }
  }
};

struct Block {
  std::array<Ages, 2> by_sex;

  Ages all() const {
    Ages ages = by_sex[0];
    ages.insert(ages.end(), by_sex[1].begin(), by_sex[1].end());
    std::sort(ages.begin(), ages.end());
    return ages;
  }
};

std::array<int, kOldest / 10 + 1> decades(const Ages& ages) {
  std::array<int, kOldest / 10 + 1> counts{};
  for (const int age : ages) ++counts[static_cast<std::size_t>(age / 10)];
  return counts;
}

// What was published of one sex: how many, by decade too, their median and mean.
std::vector<Ages> fitting_sex(const Ages& truth) {
  std::vector<Ages> found;
  for (Ages& ages : fitting_ages(truth.size(), median_twice(truth), total(truth)))
    if (decades(ages) == decades(truth)) found.push_back(std::move(ages));
  return found;
}

// The tables that fit what was published: both sexes' own figures and everybody's median.
std::vector<Block> fitting_blocks(const Block& truth) {
  const auto women = fitting_sex(truth.by_sex[0]), men = fitting_sex(truth.by_sex[1]);
  const int everybody = median_twice(truth.all());
  std::vector<Block> found;
  for (const Ages& w : women)
    for (const Ages& m : men) {
      Block block{{w, m}};
      if (median_twice(block.all()) == everybody) found.push_back(std::move(block));
      if (found.size() > 200'000) return found;
    }
  return found;
}

// People whose sex and age stand in the guess.
std::uint64_t people_found(const Block& truth, const Block& guess) {
  std::uint64_t hits = 0;
  for (std::size_t sex = 0; sex < 2; ++sex) {
    Ages common;
    std::set_intersection(truth.by_sex[sex].begin(), truth.by_sex[sex].end(),
                          guess.by_sex[sex].begin(), guess.by_sex[sex].end(),
                          std::back_inserter(common));
    hits += common.size();
  }
  return hits;
}

// Counts by sex and decade with noise. How many live there is known; the guess takes that many of
// the people whom the noisy counts show, somewhere in their decades.
Block from_noisy_counts(const Block& truth, const DiscreteLaplace& noise, RandomSource& random) {
  std::vector<std::pair<std::size_t, int>> shown;
  for (std::size_t sex = 0; sex < 2; ++sex) {
    const auto exact = decades(truth.by_sex[sex]);
    for (std::size_t decade = 0; decade < exact.size(); ++decade) {
      const std::int64_t noisy =
          std::clamp<std::int64_t>(noise.release(exact[decade], random), 0, 100);
      for (std::int64_t i = 0; i < noisy; ++i)
        shown.emplace_back(sex, static_cast<int>(10 * decade + random.bits64() % 10));
    }
  }
  for (std::size_t i = shown.size(); i > 1; --i)
    std::swap(shown[i - 1], shown[random.bits64() % i]);
  shown.resize(std::min(shown.size(), truth.all().size()));
  Block guess;
  for (const auto& [sex, age] : shown) guess.by_sex[sex].push_back(age);
  for (Ages& ages : guess.by_sex) std::sort(ages.begin(), ages.end());
  return guess;
}

}  // namespace

std::vector<Ages> fitting_ages(std::size_t count, int median_twice, int sum) {
  if (count == 0) return sum == 0 ? std::vector<Ages>{{}} : std::vector<Ages>{};
  Search search{count, median_twice, sum, Ages(count), {}};
  search.place(0, 0, sum);
  return search.found;
}

Result<Report> census(const CensusOptions& options, RandomSource& random) {
  if (options.people < 2 || options.people > 8)
    return invalid_parameter("A block has 2 to 8 people here: the search is exhaustive.");
  const auto epsilon = Epsilon::make(options.epsilon);
  if (!epsilon) return epsilon.error();
  const auto noise = DiscreteLaplace::make(*epsilon, L1Sensitivity{1});
  if (!noise) return noise.error();
  const auto people = town::make_people(options.blocks * options.people, options.seed);
  std::vector<Block> blocks(options.blocks);
  std::array<std::uint64_t, kOldest + 1> ages{};
  for (std::size_t i = 0; i < people.size(); ++i) {
    blocks[i / options.people].by_sex[people[i].sex == town::Sex::Male].push_back(people[i].age);
    ++ages[people[i].age];
  }
  for (Block& block : blocks)
    for (Ages& by_sex : block.by_sex) std::sort(by_sex.begin(), by_sex.end());
  // A guess without the tables: the commonest ages, for as many people as there are.
  const double baseline = static_cast<double>(*std::max_element(ages.begin(), ages.end())) /
                          static_cast<double>(people.size());

  Report report{"A block from its statistics",
                fmt::format("share of people whose sex and age come out exactly ({} a block)",
                            options.people),
                {}};
  auto start = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t hits = 0, attempts = 0;
  for (const Block& block : blocks) {
    const auto fits = fitting_blocks(block);
    hits += people_found(block, fits[random.bits64() % fits.size()]);
    attempts += options.people;
  }
  report.outcomes.push_back(
      outcome("exact counts, median, mean", hits, attempts, baseline, since()));
  for (const double spent : {20.0, options.epsilon}) {
    start = std::chrono::steady_clock::now();
    const auto mechanism =
        DiscreteLaplace::make(Epsilon::make(spent).value(), L1Sensitivity{1}).value();
    hits = 0;
    for (const Block& block : blocks)
      hits += people_found(block, from_noisy_counts(block, mechanism, random));
    report.outcomes.push_back(
        outcome(fmt::format("{}counts by decade, epsilon {:g}",
                            spent == options.epsilon ? "Discreet: " : "", spent),
                hits, attempts, baseline, since()));
  }
  return report;
}

}  // namespace discreet::attack
