#include "random/pooled_random.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"
#include "support/chi_square.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

NoisePool::SourceFactory seeded(std::uint64_t seed) {
  return [=] { return std::make_unique<SeededRandom>(seed); };
}

DiscreteLaplaceSampler laplace(Rational rate) {
  return DiscreteLaplaceSampler::make(std::move(rate)).value();
}

TEST(PooledRandomTest, ASourceWithoutAPoolDrawsAsTheSamplerDoes) {
  const auto sampler = laplace(Rational(1, 7));
  SeededRandom one(1), other(1);
  NoiseAhead ahead(one);
  EXPECT_FALSE(ahead.has_pool());
  ahead.prepare(sampler, 100);
  for (int i = 0; i < 50; ++i) ASSERT_EQ(draw_noise(sampler, one), sampler.draw(other));
  std::vector<std::int64_t> a(300), b(300);
  draw_noise(sampler, a, one);
  sampler.draw_many(b, other);
  EXPECT_EQ(a, b);
  EXPECT_EQ(noise_from_pool(one), 0u);
}

TEST(PooledRandomTest, WhatWasSaidBeforehandComesFromThePoolAndNoMore) {
  NoisePool pool(seeded(2));
  SeededRandom bits(3), same_bits(3);
  PooledRandom random(bits, pool);
  const auto sampler = laplace(Rational(BigInt(1), BigInt(1) << 50)), other = laplace(1);
  {
    NoiseAhead ahead(random);
    ASSERT_TRUE(ahead.has_pool());
    ahead.prepare(sampler, 1500);
    std::vector<std::int64_t> many(1400);
    draw_noise(sampler, many, random);
    for (int i = 0; i < 100; ++i) many.push_back(draw_noise(sampler, random));
    EXPECT_EQ(noise_from_pool(random), 1500u);
    EXPECT_EQ(pool.counts().taken, 1500u);
    EXPECT_EQ(std::set<std::int64_t>(many.begin(), many.end()).size(), many.size());
    // Beyond what was said, and of other distributions, the sampler draws from the bits.
    EXPECT_EQ(draw_noise(sampler, random), sampler.draw(same_bits));
    EXPECT_EQ(draw_noise(other, random), other.draw(same_bits));
    std::vector<std::int64_t> a(10), b(10);
    draw_noise(sampler, a, random);
    sampler.draw_many(b, same_bits);
    EXPECT_EQ(a, b);
    ahead.prepare(other, 1);
  }
  // The statement is over: what it did not use is gone.
  EXPECT_EQ(draw_noise(other, random), other.draw(same_bits));
  EXPECT_EQ(noise_from_pool(random), 1500u);
}

// Samples are so wide that two equal ones mean one handed out twice.
bool any_twice(std::vector<std::int64_t> samples) {
  std::sort(samples.begin(), samples.end());
  return std::adjacent_find(samples.begin(), samples.end()) != samples.end();
}

TEST(PooledRandomTest, StatementsAtOnceNeverShareASample) {
  NoisePool pool(seeded(4));
  const auto sampler = laplace(Rational(BigInt(1), BigInt(1) << 50));
  std::vector<std::vector<std::int64_t>> drawn(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < drawn.size(); ++t)
    threads.emplace_back([&, t] {
      SeededRandom bits(10 + t);
      PooledRandom random(bits, pool);
      for (int statement = 0; statement < 60; ++statement) {
        NoiseAhead ahead(random);
        ahead.prepare(sampler, 30);
        for (int i = 0; i < 20; ++i) drawn[t].push_back(draw_noise(sampler, random));
      }
    });
  for (auto& thread : threads) thread.join();
  std::vector<std::int64_t> all;
  for (const auto& mine : drawn) all.insert(all.end(), mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 4800u);
  EXPECT_FALSE(any_twice(all));
  // The broken twin: a pool that gives a sample again to somebody else.
  all.push_back(all[17]);
  EXPECT_TRUE(any_twice(all));
}

// A twin that hands each block out to two statements has pairs that agree: this counts them.
TEST(PooledRandomTest, NoiseOfTwoStatementsIsUncorrelatedAndATwinThatRepeatsBlocksIsCaught) {
  NoisePool pool(seeded(5));
  const auto sampler = laplace(Rational(1, 20));
  SeededRandom bits(6);
  PooledRandom random(bits, pool);
  constexpr int kPairs = 4000;
  const auto z_of = [&](auto second) {
    double sum = 0, squares = 0;
    for (int i = 0; i < kPairs; ++i) {
      NoiseAhead ahead(random);
      ahead.prepare(sampler, 2);
      const auto a = static_cast<double>(draw_noise(sampler, random));
      const auto b = static_cast<double>(second(a));
      sum += a * b;
      squares += a * a * b * b;
    }
    return sum / std::sqrt(squares);
  };
  const double honest = z_of([&](double) { return draw_noise(sampler, random); });
  const double twin = z_of([&](double a) { return static_cast<std::int64_t>(a); });
  std::cout << "z of two statements' noise: " << honest << ", of the twin: " << twin << "\n";
  EXPECT_LT(std::fabs(honest), 6);  // a false alarm has chance below 1e-8
  EXPECT_GT(twin, 6);
}

TEST(PooledRandomTest, WhatLeavesFollowsTheLawOfTheSampler) {
  NoisePool pool(seeded(7));
  SeededRandom bits(8);
  PooledRandom random(bits, pool);
  const auto sampler = laplace(Rational(1, 2));
  std::vector<std::int64_t> samples;
  for (int statement = 0; statement < 1000; ++statement) {
    NoiseAhead ahead(random);
    ahead.prepare(sampler, 40);
    for (int i = 0; i < 50; ++i) samples.push_back(draw_noise(sampler, random));
  }
  EXPECT_EQ(noise_from_pool(random), 40'000u);
  const double r = std::exp(-0.5);
  const auto found = chi_square("noise drawn ahead and not", samples, -12, 12, [&](std::int64_t z) {
    return (1 - r) / (1 + r) * std::pow(r, std::fabs(static_cast<double>(z)));
  });
  EXPECT_LT(found.statistic, found.limit);

  const auto gaussian = DiscreteGaussianSampler::make(9).value();
  std::vector<std::int64_t> normal(40'000);
  NoiseAhead ahead(random);
  ahead.prepare(gaussian, 30'000);
  draw_noise(gaussian, normal, random);
  EXPECT_EQ(noise_from_pool(random), 70'000u);
  double total = 0;
  for (int z = -60; z <= 60; ++z) total += std::exp(-z * z / 18.0);
  const auto gauss = chi_square("Gaussian noise", normal, -8, 8, [&](std::int64_t z) {
    return std::exp(-static_cast<double>(z * z) / 18.0) / total;
  });
  EXPECT_LT(gauss.statistic, gauss.limit);
}

TEST(PooledRandomTest, AForkedProcessGetsNoneOfWhatItsParentTook) {
  NoisePool pool;
  SeededRandom bits(9);
  PooledRandom random(bits, pool);
  const auto sampler = laplace(1);
  NoiseAhead ahead(random);
  ahead.prepare(sampler, 100);
  (void)draw_noise(sampler, random);  // a block of the parent lies in the child's memory too
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int code = 1;
    try {
      (void)draw_noise(sampler, random);
    } catch (const InvariantViolation&) {
      code = 0;
    }
    _exit(code);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace discreet
