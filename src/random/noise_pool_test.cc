#include "random/noise_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "random/discrete_laplace_sampler.h"
#include "random/secure_random.h"
#include "support/chi_square.h"
#include "support/seeded_random.h"

namespace discreet {
namespace {

NoiseKey laplace(Rational rate) {
  return {NoiseKey::Kind::DiscreteLaplace, std::move(rate)};
}
NoiseKey gaussian(Rational sigma2) {
  return {NoiseKey::Kind::DiscreteGaussian, std::move(sigma2)};
}
NoisePool::SourceFactory seeded(std::uint64_t seed) {
  return [=] { return std::make_unique<SeededRandom>(seed); };
}

TEST(NoisePoolTest, RefusesInvalidDistributionsAndEndlessShelves) {
  NoisePool pool(seeded(1));
  EXPECT_FALSE(pool.prepare(laplace(0), 10));
  EXPECT_FALSE(pool.prepare(gaussian(-1), 10));
  EXPECT_FALSE(pool.take(laplace(-1)));
  EXPECT_FALSE(pool.prepare(laplace(1), NoisePool::kReadyMax + 1));
}

void wait_for(const NoisePool& pool, const NoiseKey& key, std::size_t count) {
  for (int i = 0; i < 4000 && pool.ready(key) < count; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_GE(pool.ready(key), count);
}

TEST(NoisePoolTest, ShelvesUsedLongestAgoMakeRoomForNewOnes) {
  NoisePool pool(seeded(5));
  const int shelves = static_cast<int>(NoisePool::kShelvesMax);
  for (int i = 1; i <= shelves; ++i) ASSERT_TRUE(pool.prepare(laplace(i), 1));
  wait_for(pool, laplace(shelves), 1);
  ASSERT_TRUE(pool.take(laplace(1)));  // used last now
  ASSERT_TRUE(pool.prepare(laplace(Rational(1, 2)), 1));
  EXPECT_EQ(pool.counts().shelves, NoisePool::kShelvesMax);
  EXPECT_EQ(pool.ready(laplace(2)), 0u);
  EXPECT_GT(pool.ready(laplace(1)), 0u);
  EXPECT_TRUE(pool.take(laplace(2))) << "what went is drawn again";
}

TEST(NoisePoolTest, MemoryIsBoundedHoweverMuchIsPrepared) {
  NoisePool pool(seeded(6));
  const std::size_t most = NoisePool::kReadyMax / 4;
  for (int i = 1; i <= 12; ++i) {
    ASSERT_TRUE(pool.prepare(laplace(i), most));
    wait_for(pool, laplace(i), most);
    EXPECT_LE(pool.counts().held, 2 * NoisePool::kReadyMax);  // rings grow by doubling
  }
  EXPECT_LT(pool.counts().shelves, 5u);
  // What was wanted once is not kept ready for good.
  std::vector<std::int64_t> out(most);
  ASSERT_TRUE(pool.take(laplace(12), out));
  std::vector<std::int64_t> rest(pool.ready(laplace(12)));
  ASSERT_TRUE(pool.take(laplace(12), rest));
  EXPECT_LE(pool.ready(laplace(12)), NoisePool::kBatch);
}

// The pool hands out the worker's stream, in order and each sample once.
TEST(NoisePoolTest, EverySampleIsHandedOutOnce) {
  const auto sampler = DiscreteLaplaceSampler::make(Rational(1, 1'000'000)).value();
  SeededRandom random(2);
  std::vector<std::int64_t> expected;
  for (int batch = 0; batch < 4; ++batch) {
    std::vector<std::int64_t> drawn(NoisePool::kBatch);
    sampler.draw_many(drawn, random);
    expected.insert(expected.end(), drawn.begin(), drawn.end());
  }
  NoisePool pool(seeded(2));
  std::vector<std::int64_t> taken;
  for (const std::size_t count : {1UL, 5UL, 1024UL, 2000UL}) {
    std::vector<std::int64_t> part(count);
    ASSERT_TRUE(pool.take(laplace(Rational(1, 1'000'000)), part));
    taken.insert(taken.end(), part.begin(), part.end());
  }
  expected.resize(taken.size());
  EXPECT_EQ(taken, expected);
}

TEST(NoisePoolTest, ManyThreadsNeverShareASample) {
  NoisePool pool(seeded(3));
  const auto key =
      laplace(Rational(BigInt(1), BigInt(1) << 50));  // so wide that no two samples are equal
  std::vector<std::vector<std::int64_t>> taken(4);
  std::vector<std::thread> threads;
  for (auto& mine : taken)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) mine.push_back(pool.take(key).value());
    });
  for (auto& thread : threads) thread.join();
  std::set<std::int64_t> all;
  for (const auto& mine : taken) all.insert(mine.begin(), mine.end());
  EXPECT_EQ(all.size(), 2000u);
}

TEST(NoisePoolTest, PrepareKeepsSamplesReady) {
  NoisePool pool;
  const auto key = gaussian(100);
  ASSERT_TRUE(pool.prepare(key, 3000));
  for (int i = 0; i < 2000 && pool.ready(key) < 3000; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(pool.ready(key), 3000u);
  EXPECT_EQ(pool.ready(key) % NoisePool::kBatch, 0u);  // whole batches
}

TEST(NoisePoolTest, PooledGaussiansFollowTheirLaw) {
  NoisePool pool(seeded(4));
  std::vector<std::int64_t> samples(50'000);
  ASSERT_TRUE(pool.take(gaussian(9), samples));
  double total = 0;
  for (int z = -60; z <= 60; ++z) total += std::exp(-z * z / 18.0);
  const auto found = chi_square("pooled Gaussian", samples, -8, 8, [&](std::int64_t z) {
    return std::exp(-static_cast<double>(z * z) / 18.0) / total;
  });
  EXPECT_LT(found.statistic, found.limit);
}

// Duration of take() against |noise|. The samples are independent of everything, so z is standard
// normal however busy the machine: above six has chance 2e-9.
TEST(NoisePoolTest, TheTimeToTakeDoesNotShowTheNoise) {
  NoisePool pool;
  const auto key = gaussian(10'000);
  ASSERT_TRUE(pool.prepare(key, 4096));
  constexpr std::size_t kTakes = 4000;
  std::vector<double> size(kTakes), duration(kTakes);
  for (std::size_t i = 0; i < kTakes; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto sample = pool.take(key);
    duration[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    size[i] = std::fabs(static_cast<double>(sample.value()));
  }
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](auto i, auto j) { return values[i] < values[j]; });
    std::vector<double> rank(values.size());
    for (std::size_t i = 0; i < order.size(); ++i) rank[order[i]] = static_cast<double>(i);
    return rank;
  };
  const auto a = ranks(size), b = ranks(duration);
  const double n = kTakes, mean = (n - 1) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < kTakes; ++i) sum += (a[i] - mean) * (b[i] - mean);
  const double z = sum / (n * (n * n - 1) / 12) * std::sqrt(n - 1);
  std::cout << "rank correlation of duration and |noise|: z = " << z << "\n";
  EXPECT_LT(std::fabs(z), 6);
}

class FailingRandom final : public RandomSource {
 public:
  std::uint64_t bits64() override { throw InvariantViolation("no entropy"); }
  void fill(std::span<std::uint64_t>) override { throw InvariantViolation("no entropy"); }
};

TEST(NoisePoolTest, AFailedSourceIsReportedToEveryTaker) {
  NoisePool pool([] { return std::make_unique<FailingRandom>(); });
  EXPECT_THROW((void)pool.take(laplace(1)), InvariantViolation);
  EXPECT_THROW((void)pool.take(laplace(1)), InvariantViolation);
}

TEST(NoisePoolTest, AForkedProcessCannotUseItsParentsNoise) {
  NoisePool pool;
  ASSERT_TRUE(pool.take(laplace(1)));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    int code = 1;
    try {
      (void)pool.take(laplace(1));
    } catch (const InvariantViolation&) {
      code = 0;
    }
    _exit(code);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(pool.take(laplace(1)));
}

}  // namespace
}  // namespace discreet
