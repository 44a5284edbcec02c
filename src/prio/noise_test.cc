#include "prio/noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

Shape shape(const Circuit& circuit) {
  return shape_of(circuit).value();
}

/// Every measurement of a small circuit.
std::vector<Measurement> all_measurements(const Shape& small) {
  const Circuit& circuit = small.circuit;
  const std::size_t entries = circuit.kind == CircuitKind::Histogram ? 1 : circuit.length;
  const std::uint64_t most =
      circuit.kind == CircuitKind::Histogram ? circuit.length - 1 : circuit.max;
  std::vector<Measurement> out;
  Measurement current(entries);
  for (;;) {
    if (encode(small, current)) out.push_back(current);
    std::size_t i = 0;
    while (i < entries && current[i] == most) current[i++] = 0;
    if (i == entries) return out;
    ++current[i];
  }
}

std::vector<double> contribution(const Shape& small, const Measurement& measurement) {
  std::vector<double> out(small.output);
  if (small.circuit.kind == CircuitKind::Histogram)
    out[measurement[0]] = 1;
  else
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(measurement[i]);
  return out;
}

// The stated sensitivities are those of the worst pair, found by trying all.
TEST(PrioNoiseTest, SensitivitiesAreExactlyTheWorstCase) {
  for (const Circuit& circuit :
       {Circuit{CircuitKind::Count, 1, 1}, Circuit{CircuitKind::Sum, 1, 5},
        Circuit{CircuitKind::SumVec, 3, 2}, Circuit{CircuitKind::SumVecMultiproof, 2, 3},
        Circuit{CircuitKind::Histogram, 4}, Circuit{CircuitKind::MultihotCountVec, 5, 2},
        Circuit{CircuitKind::MultihotCountVec, 5, 4}, Circuit{CircuitKind::MultihotCountVec, 3, 3},
        Circuit{CircuitKind::L1BoundSum, 3, 4}, Circuit{CircuitKind::L1BoundSum, 1, 4}}) {
    const Shape small = shape(circuit);
    const auto all = all_measurements(small);
    for (const Neighbours relation : {Neighbours::AddRemove, Neighbours::ReplaceOne}) {
      double l1 = 0, l2 = 0;
      const std::vector<double> nothing(small.output);
      for (const Measurement& first : all)
        for (std::size_t j = 0; j < (relation == Neighbours::AddRemove ? 1 : all.size()); ++j) {
          const auto a = contribution(small, first);
          const auto b = relation == Neighbours::AddRemove ? nothing : contribution(small, all[j]);
          double sum = 0, squares = 0;
          for (std::size_t i = 0; i < a.size(); ++i) {
            sum += std::abs(a[i] - b[i]);
            squares += (a[i] - b[i]) * (a[i] - b[i]);
          }
          l1 = std::max(l1, sum);
          l2 = std::max(l2, std::sqrt(squares));
        }
      const CircuitSensitivity stated = sensitivity(small, relation);
      EXPECT_EQ(stated.l1, l1) << name(circuit.kind) << " " << name(relation);
      EXPECT_GE(stated.l2, l2) << name(circuit.kind) << " " << name(relation);
      EXPECT_LE(stated.l2, l2 * (1 + 1e-12)) << name(circuit.kind) << " " << name(relation);
    }
  }
}

TEST(PrioNoiseTest, NegativeTotalsDecodeAsNegativeNumbers) {
  for (const Circuit& circuit : {Circuit{CircuitKind::Count}, Circuit{CircuitKind::Histogram, 3}}) {
    const auto prio = Prio3::make(circuit, 2).value();
    FieldVector share = prio->aggregate_init();
    const std::vector<std::int64_t> noise(prio->shape().output, -41);
    prio->add_integers(share, noise);
    const std::vector<Bytes> shares = {prio->encode_vector(share),
                                       prio->encode_vector(prio->aggregate_init())};
    const auto totals = prio->unshard(shares).value();
    for (const Wide value : totals) EXPECT_TRUE(centred(value, prio->modulus()) == -41);
  }
  EXPECT_TRUE(centred(0, 101) == 0);
  EXPECT_TRUE(centred(50, 101) == 50);
  EXPECT_TRUE(centred(51, 101) == -50);
  EXPECT_TRUE(centred(100, 101) == -1);
}

TEST(PrioNoiseTest, TheMostExtremeIntegersWrapAsTheFieldDoes) {
  const auto prio = Prio3::make({CircuitKind::SumVec, 2, 1}, 2).value();
  FieldVector share = prio->aggregate_init();
  const std::vector<std::int64_t> noise = {std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::int64_t>::max()};
  prio->add_integers(share, noise);
  const std::vector<Bytes> shares = {prio->encode_vector(share),
                                     prio->encode_vector(prio->aggregate_init())};
  const auto total = prio->unshard(shares).value();
  EXPECT_TRUE(centred(total[0], prio->modulus()) == std::numeric_limits<std::int64_t>::min());
  EXPECT_TRUE(centred(total[1], prio->modulus()) == std::numeric_limits<std::int64_t>::max());
}

NoisePolicy laplace(double epsilon) {
  return {.kind = NoiseKind::Laplace, .epsilon = epsilon};
}

TEST(PrioNoiseTest, TotalsThatCouldPassHalfTheFieldAreRefused) {
  const auto noise =
      ShareNoise::make(shape({CircuitKind::Sum, 1, std::uint64_t{1} << 40}), 2, laplace(1)).value();
  EXPECT_TRUE(noise.check_fits(1 << 20));
  EXPECT_FALSE(noise.check_fits(1 << 23));
  const auto wide =
      ShareNoise::make(shape({CircuitKind::SumVec, 1, std::uint64_t{1} << 40}), 2, laplace(1))
          .value();
  EXPECT_TRUE(wide.check_fits(std::uint64_t{1} << 60));
  const Shape large = shape({CircuitKind::Sum, 1, std::uint64_t{1} << 60});
  EXPECT_TRUE(check_sums_fit(large, 3));
  EXPECT_FALSE(check_sums_fit(large, 4)) << "without noise a sum could wrap round as well";
}

TEST(PrioNoiseTest, ImpossiblePoliciesAreRefused) {
  const Shape count = shape({CircuitKind::Count});
  EXPECT_FALSE(ShareNoise::make(count, 2, {}));
  EXPECT_FALSE(ShareNoise::make(count, 2, laplace(0)));
  EXPECT_FALSE(ShareNoise::make(count, 2, laplace(-1)));
  NoisePolicy divided{
      .kind = NoiseKind::Gaussian, .epsilon = 1, .delta = 1e-6, .split = NoiseSplit::Divided};
  EXPECT_FALSE(ShareNoise::make(count, 2, divided));
  NoisePolicy with_delta = laplace(1);
  with_delta.delta = 1e-6;
  EXPECT_FALSE(ShareNoise::make(count, 2, with_delta));
  EXPECT_FALSE(
      ShareNoise::make(shape({CircuitKind::Sum, 1, std::uint64_t{1} << 61}), 2, laplace(1e-3)));
}

TEST(PrioNoiseTest, MoreReportsAClientMeanMoreNoise) {
  NoisePolicy one = laplace(1), three = laplace(1);
  three.reports_per_client = 3;
  const Shape count = shape({CircuitKind::Count});
  const double ratio = ShareNoise::make(count, 2, three).value().variance() /
                       ShareNoise::make(count, 2, one).value().variance();
  EXPECT_GT(ratio, 8);
}

// 20 000 totals; the stated bound is for at least 95 %. Six standard errors below 0.95.
TEST(PrioNoiseTest, ErrorsAreWithinTheStatedBoundAsOftenAsStated) {
  SeededRandom random(20261130);
  for (const NoisePolicy& policy :
       {laplace(0.5), NoisePolicy{.kind = NoiseKind::Gaussian, .epsilon = 1, .delta = 1e-6}}) {
    const auto prio = Prio3::make({CircuitKind::Count}, 2).value();
    const auto noise = ShareNoise::make(prio->shape(), 2, policy).value();
    int within = 0;
    constexpr int kTotals = 20'000;
    for (int i = 0; i < kTotals; ++i) {
      FieldVector share = prio->aggregate_init();
      noise.add(*prio, share, random);
      noise.add(*prio, share, random);
      const std::vector<Bytes> shares = {prio->encode_vector(share),
                                         prio->encode_vector(prio->aggregate_init())};
      const auto error =
          static_cast<double>(centred(prio->unshard(shares).value()[0], prio->modulus()));
      within += std::abs(error) <= noise.error95();
    }
    EXPECT_GE(within, kTotals * (0.95 - 6 * std::sqrt(0.95 * 0.05 / kTotals)));
  }
}

}  // namespace
}  // namespace discreet::prio
