// Tries to refute that tables cost what their plan says, beside a plan whose noise forgets one
// axis.
#include <gtest/gtest.h>

#include <cmath>

#include "mechanisms/discrete_gaussian.h"
#include "support/seeded_random.h"
#include "tables/release.h"

namespace discreet::tables {
namespace {

std::shared_ptr<const Plan> plan_of(std::vector<Axis> axes, std::uint32_t ways, double rho) {
  auto marginals = all_marginals(axes, ways, Weighting::Marginals, true);
  return std::make_shared<const Plan>(
      Plan::make(std::move(axes), std::move(marginals), Rho::make(rho).value()).value());
}

// The marginals of `weight` records in one cell.
Counter records_in(const Plan& plan, std::vector<std::uint32_t> cell, std::int64_t weight) {
  return [&plan, cell = std::move(cell),
          weight](const Attributes& attributes) -> Result<std::vector<std::int64_t>> {
    std::size_t place = 0;
    for (const std::uint32_t a : attributes) place = place * plan.axes()[a].size() + cell[a];
    std::vector<std::int64_t> counts(plan.cells(attributes), 0);
    counts[place] = weight;
    return counts;
  };
}

// How far one record moves each coefficient, exactly: what a release with almost no noise shows.
std::vector<std::vector<double>> shifts(const Plan& plan, std::vector<std::uint32_t> cell,
                                        SeededRandom& random) {
  const auto quiet = std::make_shared<const Plan>(
      Plan::make({plan.axes().begin(), plan.axes().end()},
                 {plan.marginals().begin(), plan.marginals().end()}, Rho::make(1e9).value())
          .value());
  const auto released = release(quiet, records_in(*quiet, std::move(cell), 1), random).value();
  std::vector<std::vector<double>> shift;
  for (std::size_t s = 0; s < quiet->spaces().size(); ++s) {
    const auto values = released.coefficients(s);
    shift.emplace_back(values.begin(), values.end());
  }
  return shift;
}

// Half the squared distance of neighbours in units of the noise: the zCDP of independent discrete
// Gaussians.
double cost(const Plan& plan, const std::vector<std::vector<double>>& shift) {
  double sum = 0;
  for (std::size_t s = 0; s < shift.size(); ++s) {
    const auto variances = coefficient_variances(plan, plan.spaces()[s]);
    for (std::size_t i = 0; i < variances.size(); ++i)
      sum += shift[s][i] * shift[s][i] / (2 * variances[i]);
  }
  return sum;
}

TEST(TablesPrivacyTest, ARecordInAnyCellCostsAtMostRhoAndInSomeCellAllOfIt) {
  SeededRandom random(20261115);
  std::vector<std::vector<Axis>> bases;
  bases.push_back(
      {Axis::cells("a", 3).value(), Axis::cells("b", 6).value(), Axis::cells("c", 5).value()});
  bases.push_back({Axis::cells("a", 3).value(), Axis::ranges("b", 6).value(),
                   Axis::hierarchy("c", 5, {{0, 4}}).value()});
  for (auto& axes : bases) {
    const auto plan = plan_of(std::move(axes), 2, 0.3);
    double most = 0;
    for (std::uint32_t i = 0; i < 3; ++i)
      for (std::uint32_t j = 0; j < 6; ++j)
        for (std::uint32_t k = 0; k < 5; ++k) {
          const double paid = cost(*plan, shifts(*plan, {i, j, k}, random));
          EXPECT_LE(paid, plan->rho().value() * (1 + 1e-9));
          most = std::max(most, paid);
        }
    std::printf("claimed %.9f, most expensive cell %.9f\n", plan->rho().value(), most);
    EXPECT_NEAR(most, plan->rho().value(), 1e-9);
  }
}

// The best attack on Gaussian noise: project what was released on the direction of the record. Its
// mean moves by 2 rho between neighbours and its standard deviation is sqrt(2 rho), whatever the
// number of coefficients. Returns the estimated mu^2 / 2, which may not exceed the claimed rho.
struct Estimate {
  double rho, error;
};
template <class Draw>
Estimate attack(const Plan& plan, const std::vector<std::vector<double>>& shift, int trials,
                const Draw& draw) {
  double sums[2] = {0, 0}, squares[2] = {0, 0};
  for (int world = 0; world < 2; ++world)
    for (int trial = 0; trial < trials; ++trial) {
      const std::vector<std::vector<std::int64_t>> seen = draw(world == 1);
      double score = 0;
      for (std::size_t s = 0; s < seen.size(); ++s) {
        const auto variances = coefficient_variances(plan, plan.spaces()[s]);
        for (std::size_t i = 0; i < variances.size(); ++i)
          score += static_cast<double>(seen[s][i]) * shift[s][i] / variances[i];
      }
      sums[world] += score / trials;
      squares[world] += score * score / trials;
    }
  const double variance = (squares[0] - sums[0] * sums[0] + squares[1] - sums[1] * sums[1]) / 2;
  const double mu = (sums[1] - sums[0]) / std::sqrt(variance);
  // mu has standard error about sqrt((2 + mu^2 / 4) / trials).
  return {mu * mu / 2, std::fabs(mu) * std::sqrt((2 + mu * mu / 4) / trials)};
}

TEST(TablesPrivacyTest, TheBestAttackLearnsNoMoreThanRhoAndTheTwinThatForgetsAnAxisIsCaught) {
  SeededRandom random(20261116);
  const auto plan = plan_of({Axis::cells("a", 3).value(), Axis::cells("b", 3).value()}, 2, 0.5);
  const auto shift = shifts(*plan, {2, 2}, random);
  constexpr int kTrials = 3000;

  std::vector<std::vector<DiscreteGaussian>> sound, twin;
  for (const Space& space : plan->spaces()) {
    auto& good = sound.emplace_back();
    auto& bad = twin.emplace_back();
    const auto variances = coefficient_variances(*plan, space);
    for (std::size_t i = 0; i < variances.size(); ++i) {
      const auto with = [](double variance) {
        return DiscreteGaussian::make(Rho::make(1 / (2 * variance)).value(), L2Sensitivity{1})
            .value();
      };
      good.push_back(with(variances[i]));
      // The twin scales by the lengths of the rows of all axes but the last.
      double forgotten = 1;
      if (!space.attributes.empty() && space.attributes.back() == 1) {
        const std::size_t k = space.attributes.size() == 1 ? i : i % 2;
        forgotten = static_cast<double>(plan->axes()[1].contrasts()[k].norm2);
      }
      bad.push_back(with(variances[i] / forgotten));
    }
  }
  const auto drawn = [&](const std::vector<std::vector<DiscreteGaussian>>& noise) {
    return [&](bool with_record) {
      std::vector<std::vector<std::int64_t>> seen(noise.size());
      for (std::size_t s = 0; s < noise.size(); ++s)
        for (std::size_t i = 0; i < noise[s].size(); ++i)
          seen[s].push_back(noise[s][i].release(
              with_record ? static_cast<std::int64_t>(shift[s][i]) : 0, random));
      return seen;
    };
  };
  const Estimate honest = attack(*plan, shift, 400, [&](bool with_record) {
    const auto released =
        release(plan, records_in(*plan, {2, 2}, with_record ? 1 : 0), random).value();
    std::vector<std::vector<std::int64_t>> seen;
    for (std::size_t s = 0; s < plan->spaces().size(); ++s) {
      const auto values = released.coefficients(s);
      seen.emplace_back(values.begin(), values.end());
    }
    return seen;
  });
  const Estimate same_noise = attack(*plan, shift, kTrials, drawn(sound));
  const Estimate broken = attack(*plan, shift, kTrials, drawn(twin));
  std::printf("claimed rho %.4f; release %.4f +- %.4f, its noise %.4f +- %.4f, twin %.4f +- %.4f\n",
              plan->rho().value(), honest.rho, honest.error, same_noise.rho, same_noise.error,
              broken.rho, broken.error);
  EXPECT_LE(honest.rho, plan->rho().value() + 6 * honest.error);
  EXPECT_GE(honest.rho, plan->rho().value() - 6 * honest.error);
  EXPECT_LE(same_noise.rho, plan->rho().value() + 6 * same_noise.error);
  EXPECT_GT(broken.rho, plan->rho().value() + 6 * broken.error);
}

TEST(TablesPrivacyTest, APersonWithSeveralRecordsCostsTheSquareOfTheirNumberAtMost) {
  SeededRandom random(20261117);
  const auto plan = plan_of({Axis::cells("a", 4).value(), Axis::cells("b", 3).value()}, 2, 0.2);
  // Three records of one person in any cells: the worst is all three in one.
  for (std::uint32_t x = 0; x < 12; ++x)
    for (std::uint32_t y = 0; y < 12; ++y) {
      auto first = shifts(*plan, {x / 3, x % 3}, random);
      const auto second = shifts(*plan, {y / 3, y % 3}, random);
      for (std::size_t s = 0; s < first.size(); ++s)
        for (std::size_t i = 0; i < first[s].size(); ++i) first[s][i] += 2 * second[s][i];
      EXPECT_LE(cost(*plan, first), 9 * plan->rho().value() * (1 + 1e-9));
      if (x == y) {
        EXPECT_NEAR(cost(*plan, first), 9 * plan->rho().value(), 1e-8);
      }
    }
}

}  // namespace
}  // namespace discreet::tables
