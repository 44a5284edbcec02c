// Tries to refute the guarantee of noisy shares, and shows that the same attempt refutes the broken
// twins.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "audit/epsilon_lower_bound.h"
#include "prio/noise.h"
#include "prio/test_servers.h"
#include "support/seeded_random.h"

namespace discreet::prio {
namespace {

/// What the collector and a server that adds no noise see: a total to which only the others added
/// theirs. The statistic is the direction in which the worst neighbours differ.
AuditedRun release(const Circuit& circuit, const std::vector<std::int64_t>& exact,
                   const std::vector<std::int64_t>& direction, const NoisePolicy& policy,
                   unsigned honest_servers, unsigned servers = 2) {
  const auto prio = std::shared_ptr<const Prio3>(Prio3::make(circuit, servers).value());
  const auto noise =
      std::make_shared<ShareNoise>(ShareNoise::make(prio->shape(), servers, policy).value());
  return [=](RandomSource& random) {
    FieldVector total = prio->aggregate_init();
    prio->add_integers(total, exact);
    for (unsigned server = 0; server < honest_servers; ++server) noise->add(*prio, total, random);
    const Bytes encoded = prio->encode_vector(total);
    std::vector<Bytes> shares(servers, prio->encode_vector(prio->aggregate_init()));
    shares[0] = encoded;
    const auto values = prio->unshard(shares).value();
    Int128 statistic = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      statistic += centred(values[i], prio->modulus()) * direction[i];
    return static_cast<std::int64_t>(statistic);
  };
}

NoisePolicy laplace(double epsilon, NoiseSplit split = NoiseSplit::Full) {
  return {.kind = NoiseKind::Laplace, .epsilon = epsilon, .delta = 0, .split = split};
}

struct Pair {
  Circuit circuit;
  std::vector<std::int64_t> first, second, direction;
};

/// The worst neighbours under replacement, for every circuit.
std::vector<Pair> worst_pairs() {
  return {{{CircuitKind::Count}, {5}, {6}, {1}},
          {{CircuitKind::Sum, 1, 4}, {5}, {9}, {1}},
          {{CircuitKind::SumVec, 2, 2}, {5, 5}, {7, 7}, {1, 1}},
          {{CircuitKind::Histogram, 3}, {5, 5, 1}, {6, 4, 1}, {1, -1, 0}},
          {{CircuitKind::MultihotCountVec, 4, 1}, {5, 5, 0, 0}, {6, 4, 0, 0}, {1, -1, 0, 0}},
          {{CircuitKind::MultihotCountVec, 3, 2}, {5, 5, 5}, {6, 6, 4}, {1, 1, -1}},
          {{CircuitKind::L1BoundSum, 2, 3}, {5, 5}, {8, 2}, {1, -1}}};
}

// The false-alarm rate is 1e-9 an audit (its confidence).
TEST(PrioNoisePrivacyTest, OneHonestServerKeepsEveryCircuitWithinEpsilon) {
  SeededRandom random(20261210);
  for (const Pair& pair : worst_pairs()) {
    const AuditResult found = audit_epsilon(
        release(pair.circuit, pair.first, pair.direction, laplace(1), 1),
        release(pair.circuit, pair.second, pair.direction, laplace(1), 1), {}, random);
    std::cout << name(pair.circuit.kind) << ": claimed 1, at least " << found.lower_bound << "\n";
    EXPECT_LE(found.lower_bound, 1);
    EXPECT_GE(found.lower_bound, 0.4);  // the noise is not much more than is needed either
  }
}

// Broken twin: noise calibrated as if one report moved one entry by one, under replacement.
TEST(PrioNoisePrivacyTest, NoiseForAnAddedReportDoesNotCoverAReplacedOne) {
  SeededRandom random(20261211);
  NoisePolicy policy = laplace(1);
  policy.neighbours = Neighbours::AddRemove;
  const Circuit circuit{CircuitKind::L1BoundSum, 2, 3};
  const AuditResult found = audit_epsilon(release(circuit, {5, 5}, {1, -1}, policy, 1),
                                          release(circuit, {8, 2}, {1, -1}, policy, 1), {}, random);
  EXPECT_GT(found.lower_bound, 1);
}

TEST(PrioNoisePrivacyTest, DividedNoiseOfAllServersKeepsEpsilon) {
  SeededRandom random(20261212);
  const NoisePolicy policy = laplace(1, NoiseSplit::Divided);
  const Circuit circuit{CircuitKind::Count};
  const AuditResult found = audit_epsilon(release(circuit, {5}, {1}, policy, 3, 3),
                                          release(circuit, {6}, {1}, policy, 3, 3), {}, random);
  std::cout << "divided by three, all add: at least " << found.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, 1);
  EXPECT_GE(found.lower_bound, 0.8);
}

// Broken twin, and the reason why division is an option that must be asked for.
TEST(PrioNoisePrivacyTest, DividedNoiseBreaksWhenAServerDropsItsPart) {
  SeededRandom random(20261213);
  const NoisePolicy policy = laplace(1, NoiseSplit::Divided);
  const Circuit circuit{CircuitKind::Count};
  const AuditResult found = audit_epsilon(release(circuit, {5}, {1}, policy, 1, 3),
                                          release(circuit, {6}, {1}, policy, 1, 3), {}, random);
  std::cout << "divided by three, one adds: at least " << found.lower_bound << "\n";
  EXPECT_GT(found.lower_bound, 1);
}

// Exactness of the divided noise: the sum of all parts against the discrete Laplace law. Chi-square
// over |z| <= 7 and the two tails, 16 degrees of freedom; 65 is exceeded with chance below 1e-7.
TEST(PrioNoisePrivacyTest, PartsAddUpToTheDiscreteLaplaceLaw) {
  SeededRandom random(20261214);
  constexpr int kDraws = 200'000;
  for (const unsigned parts : {1U, 2U, 3U, 10U}) {
    const auto sampler = PolyaSampler::make(Rational(1, 2), parts).value();
    std::vector<double> seen(17);
    for (int draw = 0; draw < kDraws; ++draw) {
      std::int64_t sum = 0;
      for (unsigned part = 0; part < parts; ++part)
        sum += sampler.draw(random) - sampler.draw(random);
      seen[static_cast<std::size_t>(std::clamp<std::int64_t>(sum, -8, 8) + 8)] += 1;
    }
    const double r = std::exp(-0.5), scale = (1 - r) / (1 + r);
    double statistic = 0;
    for (int z = -8; z <= 8; ++z) {
      const double chance =
          std::abs(z) == 8 ? std::pow(r, 8) / (1 + r) : scale * std::pow(r, std::abs(z));
      const double difference = seen[static_cast<std::size_t>(z + 8)] - kDraws * chance;
      statistic += difference * difference / (kDraws * chance);
    }
    std::cout << parts << " parts: chi-square " << statistic << "\n";
    EXPECT_LT(statistic, 65);
  }
}

TEST(PrioNoisePrivacyTest, GaussianNoiseOfOneServerKeepsItsTarget) {
  SeededRandom random(20261215);
  NoisePolicy policy{.kind = NoiseKind::Gaussian, .epsilon = 1, .delta = 1e-3};
  const Circuit circuit{CircuitKind::Histogram, 3};
  AuditOptions options;
  options.delta = 1e-3;
  const AuditResult found =
      audit_epsilon(release(circuit, {5, 5, 1}, {1, -1, 0}, policy, 1),
                    release(circuit, {6, 4, 1}, {1, -1, 0}, policy, 1), options, random);
  std::cout << "gaussian: claimed 1, at least " << found.lower_bound << "\n";
  EXPECT_LE(found.lower_bound, 1);
}

}  // namespace
}  // namespace discreet::prio
