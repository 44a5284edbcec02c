#include "curator/direct_sums.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "mechanisms/bivariate.h"
#include "random/discrete_laplace_sampler.h"
#include "random/pooled_random.h"

namespace discreet {
namespace {

const sql::Value& value_of(const sql::Release& release, std::size_t feature) {
  return release.values[*release.features[feature].value];
}

/// Cells of two columns, where whole sums of the engine give them exactly.
std::optional<Bivariate> make_cells(const sql::Release& release, const sql::CovarianceRelease& kind,
                                    Epsilon epsilon) {
  const bool correlation = kind.kind == sql::CovarianceRelease::Kind::Correlation;
  // The mixed products are the engine's own sums: only where those are used (ReleaseJob).
  if (correlation && !(kind.mixed && release.bounds.one_row_per_unit && release.totals_sql))
    return std::nullopt;
  const sql::Value &x = value_of(release, kind.sum_x), &y = value_of(release, kind.sum_y);
  constexpr std::int64_t kBoundMax = std::int64_t{1} << 31;  // products of rows fit 128 bits
  for (const sql::Value* value : {&x, &y})
    if (value->lower < -kBoundMax || value->upper > kBoundMax) return std::nullopt;
  auto made =
      Bivariate::make(epsilon, {x.lower, x.upper}, {y.lower, y.upper},
                      correlation ? BivariateDegree::Correlation : BivariateDegree::Covariance);
  if (!made || !made->exact_grid()) return std::nullopt;
  return *std::move(made);
}

/// Uses that count the same rows, together: they share a count.
std::vector<std::vector<std::size_t>> same_rows(const sql::Release& release, const SumPlan& plan,
                                                const std::vector<std::size_t>& uses) {
  std::map<std::size_t, std::vector<std::size_t>> shared;
  std::vector<std::vector<std::size_t>> parts;
  for (const std::size_t u : uses) {
    if (JointMoments::serves(release, plan.uses[u]))
      shared[plan.uses[u].count].push_back(u);
    else
      parts.push_back({u});
  }
  for (auto& [count, together] : shared) parts.push_back(std::move(together));
  return parts;
}

std::vector<std::int64_t> cells_of(const sql::Release& release, const sql::CovarianceRelease& kind,
                                   const GroupTotals& totals) {
  const sql::Value &x = value_of(release, kind.sum_x), &y = value_of(release, kind.sum_y);
  BivariateSums sums;
  sums.rows = totals.features[kind.count];
  sums.first = totals.features[kind.sum_x];
  sums.second = totals.features[kind.sum_y];
  sums.product = totals.features[kind.products];
  if (kind.mixed) {
    sums.first2 = totals.features[kind.squares_x];
    sums.second2 = totals.features[kind.squares_y];
    sums.first2_second = totals.features[(*kind.mixed)[0]];
    sums.first_second2 = totals.features[(*kind.mixed)[1]];
    sums.first2_second2 = totals.features[(*kind.mixed)[2]];
  }
  const bool correlation = kind.kind == sql::CovarianceRelease::Kind::Correlation;
  return bivariate_cells({x.lower, x.upper}, {y.lower, y.upper},
                         correlation ? BivariateDegree::Correlation : BivariateDegree::Covariance,
                         sums);
}

}  // namespace

// One share of epsilon: a joint draw, cells of two columns, or independent noise.
struct DirectSums::Part {
  std::vector<std::size_t> uses;  // indexes into the plan

  std::optional<JointMoments> joint;
  std::optional<Bivariate> cells;

  std::vector<std::size_t> sums;  // of the plan, with independent noise
  std::vector<DiscreteLaplaceSampler> noise;
  std::vector<double> noise_sd;
  double count_floor = 1;
};

Result<DirectSums> DirectSums::make(const sql::Release& release, const SumPlan& plan,
                                    Epsilon epsilon) {
  if (epsilon.value() == 0)
    return invalid_parameter("epsilon must be positive: at zero nothing can be released");
  DirectSums direct;
  direct.release_ = &release;
  direct.plan_ = plan;

  // What one joint draw serves is one part; where it cannot be made, its uses are parts of their
  // own. Everything else is by itself.
  std::vector<Part> parts;
  std::vector<std::size_t> joint, alone;
  for (std::size_t u = 0; u < plan.uses.size(); ++u)
    (JointMoments::serves(release, plan.uses[u]) ? joint : alone).push_back(u);
  // A lone count is discrete Laplace either way, and that sampler takes every epsilon.
  const bool lone_count = joint.size() == 1 && !plan.uses[joint.front()].linear;
  if (!joint.empty() && !lone_count) {
    auto made = JointMoments::make(release, plan, joint, epsilon.share(alone.size() + 1));
    if (made) {
      Part part;
      part.uses = joint;
      part.joint = *std::move(made);
      parts.push_back(std::move(part));
      joint.clear();
    }
  }
  alone.insert(alone.end(), joint.begin(), joint.end());
  for (auto& uses : same_rows(release, plan, alone)) {
    Part part;
    part.uses = std::move(uses);
    parts.push_back(std::move(part));
  }
  const Epsilon share = epsilon.share(parts.size());

  for (Part& part : parts) {
    part.count_floor = std::max(1.0, 4 / share.value());
    if (const auto* kind = std::get_if<sql::CovarianceRelease>(
            &release.aggregates[plan.uses[part.uses.front()].aggregate].kind))
      part.cells = make_cells(release, *kind, share);
    if (!part.joint && !part.cells) {
      // Independent noise: with J sums each measured by its row maximum, a row has L1 size at most
      // J (one for the bins of a histogram, which exclude each other).
      bool exclusive = true;
      for (const std::size_t u : part.uses) {
        const SumUse& use = plan.uses[u];
        const auto add = [&](std::size_t sum) {
          if (std::find(part.sums.begin(), part.sums.end(), sum) == part.sums.end())
            part.sums.push_back(sum);
        };
        for (const std::size_t bin : use.bins) add(bin);
        if (!use.bins.empty()) continue;
        if (!use.raw) add(use.count);
        for (const auto& sum : {use.linear, use.square, use.linear_y, use.square_y, use.product})
          if (sum) {
            add(*sum);
            exclusive = false;
          }
      }
      const std::size_t size = exclusive ? 1 : part.sums.size();
      for (const std::size_t sum : part.sums) {
        const auto row_max = static_cast<UInt128>(plan.sums[sum].row_max);
        const BigInt maximum = (BigInt(static_cast<std::uint64_t>(row_max >> 64)) << 64) |
                               static_cast<std::uint64_t>(row_max);
        const Rational rate = exact_rational(share.value()).value() / Rational(maximum * size);
        DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(rate));
        part.noise_sd.push_back(laplace_sd(rate));
        part.noise.push_back(std::move(sampler));
      }
    }
    direct.parts_.push_back(std::make_shared<const Part>(std::move(part)));
  }
  return direct;
}

TotalsRead DirectSums::reads() const {
  const std::size_t features = release_->features.size();
  TotalsRead read{std::vector<bool>(features, false), false};
  for (const auto& part : parts_) {
    if (part->joint || part->cells) return TotalsRead::all(features);
    for (const std::size_t s : part->sums) {
      const Sum& sum = plan_.sums[s];
      for (const auto& term : sum.terms) read.features[term.feature] = true;
      if (sum.takes_part) read.features[*sum.takes_part] = true;
      read.units = read.units || (sum.counts_units() && !sum.takes_part);
    }
  }
  return read;
}

void DirectSums::prepare_noise(std::size_t groups, NoiseAhead& ahead) const {
  for (const auto& part : parts_)
    for (const DiscreteLaplaceSampler& sampler : part->noise) ahead.prepare(sampler, groups);
}

void DirectSums::release(const GroupTotals& totals, RandomSource& random,
                         std::vector<ReleasedColumn>& columns) const {
  const auto put = [&](const SumUse& use, double value, double error95) {
    ReleasedColumn& column = columns[use.aggregate];
    column.values.emplace_back(value);
    column.error95.emplace_back(error95);
  };
  for (const auto& part : parts_) {
    if (part->joint) {
      part->joint->release(plan_, totals, random, put);
      continue;
    }
    if (part->cells) {
      const SumUse& use = plan_.uses[part->uses.front()];
      const auto& kind = std::get<sql::CovarianceRelease>(release_->aggregates[use.aggregate].kind);
      const auto noisy = part->cells->release(cells_of(*release_, kind, totals), random);
      const bool correlation = kind.kind == sql::CovarianceRelease::Kind::Correlation;
      const bool sample = kind.kind == sql::CovarianceRelease::Kind::Sample;
      const Estimate found = correlation
                                 ? noisy.correlation()
                                 : noisy.covariance(sample ? Divisor::Sample : Divisor::Population);
      const double unit = correlation ? 1 : use.x.grid_unit * use.y.grid_unit;
      put(use, found.value * unit,
          std::min(correlation ? 2.0 : INFINITY, kLaplace95 * found.standard_error * unit));
      continue;
    }
    NoisyGroup noisy{std::vector<double>(plan_.sums.size()),
                     std::vector<double>(plan_.sums.size())};
    for (std::size_t i = 0; i < part->sums.size(); ++i) {
      const Sum& sum = plan_.sums[part->sums[i]];
      const Int128 exact = sum.counts_units() && !sum.takes_part ? totals.units
                           : sum.counts_units()                  ? totals.features[*sum.takes_part]
                                                                 : sum.of(totals.features);
      noisy.value[part->sums[i]] = static_cast<double>(exact + draw_noise(part->noise[i], random));
      noisy.sd[part->sums[i]] = part->noise_sd[i];
    }
    for (const std::size_t u : part->uses) {
      const SumUse& use = plan_.uses[u];
      const auto& aggregate = release_->aggregates[use.aggregate];
      if (const auto* histogram = std::get_if<sql::HistogramRelease>(&aggregate.kind)) {
        columns[use.aggregate].is_list = true;
        columns[use.aggregate].lists.push_back(estimate_bins(*histogram, use, noisy));
        columns[use.aggregate].error95.emplace_back(bins_error95(*histogram, use, noisy));
        continue;
      }
      const Estimated e = estimate(aggregate, use, noisy, part->count_floor);
      put(use, e.value, e.error95);
    }
  }
}

std::vector<std::optional<double>> DirectSums::error95_before(double rows) const {
  std::vector<std::optional<double>> errors(release_->aggregates.size());
  for (const auto& part : parts_) {
    if (part->joint) {
      const auto found = part->joint->error95_before(plan_, rows);
      for (std::size_t i = 0; i < part->uses.size(); ++i)
        errors[plan_.uses[part->uses[i]].aggregate] = found[i];
      continue;
    }
    if (part->cells) {
      const SumUse& use = plan_.uses[part->uses.front()];
      const auto& kind = std::get<sql::CovarianceRelease>(release_->aggregates[use.aggregate].kind);
      // Rows spread evenly over the corners of the ranges: a column's share of each cell is equal.
      const double cells = static_cast<double>(part->cells->cells());
      const double sd = part->cells->cell_sd() * std::sqrt(cells) / std::max(1.0, rows);
      const bool correlation = kind.kind == sql::CovarianceRelease::Kind::Correlation;
      errors[use.aggregate] = correlation ? std::min(2.0, kLaplace95 * sd)
                                          : kLaplace95 * sd * static_cast<double>(use.x.half) *
                                                static_cast<double>(use.y.half) * use.x.grid_unit *
                                                use.y.grid_unit;
      continue;
    }
    for (const std::size_t u : part->uses) {
      const SumUse& use = plan_.uses[u];
      NoisyGroup typical{std::vector<double>(plan_.sums.size()),
                         std::vector<double>(plan_.sums.size())};
      for (std::size_t s = 0; s < part->sums.size(); ++s)
        typical.sd[part->sums[s]] = part->noise_sd[s];
      typical.value[use.count] = rows;
      errors[use.aggregate] =
          use.bins.empty() ? estimate(release_->aggregates[use.aggregate], use, typical, 1).error95
                           : whole_error95(part->noise_sd.front());
    }
  }
  return errors;
}

std::vector<std::string> DirectSums::mechanisms() const {
  std::vector<std::string> names(release_->aggregates.size());
  for (const auto& part : parts_)
    for (const std::size_t u : part->uses)
      names[plan_.uses[u].aggregate] = part->joint   ? "K-norm"
                                       : part->cells ? "cells, discrete Laplace"
                                                     : "discrete Laplace";
  return names;
}

}  // namespace discreet
