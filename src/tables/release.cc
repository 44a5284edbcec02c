#include "tables/release.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <boost/math/special_functions/erf.hpp>

#include "base/rounding.h"
#include "mechanisms/discrete_gaussian.h"
#include "tables/tensor_internal.h"

namespace discreet::tables {
namespace {

std::vector<std::uint32_t> sizes_of(const Plan& plan, const Attributes& attributes) {
  std::vector<std::uint32_t> sizes;
  for (const std::uint32_t a : attributes) sizes.push_back(plan.axes()[a].size());
  return sizes;
}

// Visits the coefficients of a space: their place in the space, in the box of all coefficients of
// the marginal over `attributes` (a superset), and the product of the rows' squared lengths.
template <class Visit>
void each_coefficient(const Plan& plan, const Space& space, const Attributes& attributes,
                      const Visit& visit) {
  struct Walk {
    std::size_t stride;
    const Axis* axis;
    std::uint32_t first, count, at = 0;
  };
  std::vector<Walk> walks;
  std::size_t stride = 1;
  for (std::size_t i = attributes.size(), s = space.attributes.size(); i-- > 0;) {
    const Axis& axis = plan.axes()[attributes[i]];
    if (s > 0 && space.attributes[s - 1] == attributes[i]) {
      const auto [first, last] = axis.slice(space.parts[--s]);
      walks.push_back({stride, &axis, first, last - first});
    }
    stride *= axis.size();
  }
  for (std::size_t place = 0; place < space.coefficients; ++place) {
    std::size_t box = 0;
    double norm2 = 1;
    for (const Walk& walk : walks) {
      const std::uint32_t contrast = walk.first + walk.at;
      box += walk.stride * (contrast + 1);
      // Exact below 2^53; beyond that rounded up, which only adds noise.
      norm2 = mul_up(norm2, count_up(walk.axis->contrasts()[contrast].norm2));
    }
    visit(place, box, norm2);
    for (Walk& walk : walks) {
      if (++walk.at < walk.count) break;
      walk.at = 0;
    }
  }
}

// Adds noise of variance sigma2 * norm2 to each coefficient, a sampler for each distinct norm2.
Result<void> add_noise(std::vector<std::int64_t>& values, std::span<const double> norms2,
                       double sigma2, RandomSource& random) {
  std::map<double, std::vector<std::uint32_t>> by_norm;
  for (std::size_t i = 0; i < values.size(); ++i)
    by_norm[norms2[i]].push_back(static_cast<std::uint32_t>(i));
  std::vector<std::int64_t> line;
  for (const auto& [norm2, places] : by_norm) {
    DISCREET_TRY(const Rho rho, Rho::make(div_down(1, mul_up(2, mul_up(sigma2, norm2)))));
    DISCREET_TRY(const auto noise, DiscreteGaussian::make(rho, L2Sensitivity{1}, places.size()));
    line.clear();
    for (const std::uint32_t i : places) line.push_back(values[i]);
    noise.release(line, random);
    for (std::size_t i = 0; i < places.size(); ++i) values[places[i]] = line[i];
  }
  return {};
}

}  // namespace

Released::Released(std::shared_ptr<const Plan> plan,
                   std::vector<std::vector<std::int64_t>> coefficients)
    : plan_(std::move(plan)), coefficients_(std::move(coefficients)) {
  DISCREET_CHECK(coefficients_.size() == plan_->spaces().size(), "noise for every space");
}

Result<Released> release(std::shared_ptr<const Plan> plan, const Counter& counter,
                         RandomSource& random) {
  // Spaces of the same attributes share one count.
  std::map<Attributes, std::vector<std::size_t>> by_attributes;
  for (std::size_t s = 0; s < plan->spaces().size(); ++s)
    by_attributes[plan->spaces()[s].attributes].push_back(s);
  std::vector<std::vector<std::int64_t>> coefficients(plan->spaces().size());
  for (const auto& [attributes, spaces] : by_attributes) {
    DISCREET_TRY(const std::vector<std::int64_t> counts, counter(attributes));
    DISCREET_CHECK(counts.size() == plan->cells(attributes), "a count for every cell");
    std::vector<std::uint64_t> box(counts.begin(), counts.end());
    const auto sizes = sizes_of(*plan, attributes);
    for (std::size_t i = 0; i < attributes.size(); ++i)
      along_axis<std::uint64_t>(
          box, sizes, i, [&](std::span<std::uint64_t> line, std::span<std::uint64_t> scratch) {
            plan->axes()[attributes[i]].analyse(line, scratch);
          });
    for (const std::size_t s : spaces) {
      const Space& space = plan->spaces()[s];
      std::vector<std::int64_t> values(space.coefficients);
      std::vector<double> norms2(space.coefficients);
      each_coefficient(*plan, space, attributes,
                       [&](std::size_t place, std::size_t at, double norm2) {
                         values[place] = static_cast<std::int64_t>(box[at]);
                         norms2[place] = norm2;
                       });
      DISCREET_TRY_VOID(add_noise(values, norms2, space.sigma2, random));
      coefficients[s] = std::move(values);
    }
  }
  return Released(std::move(plan), std::move(coefficients));
}

std::vector<double> coefficient_variances(const Plan& plan, const Space& space) {
  std::vector<double> variances(space.coefficients);
  each_coefficient(plan, space, space.attributes,
                   [&](std::size_t place, std::size_t, double norm2) {
                     variances[place] = mul_up(space.sigma2, norm2);
                   });
  return variances;
}

std::vector<double> Released::marginal(const Attributes& attributes) const {
  const auto sizes = sizes_of(*plan_, attributes);
  std::vector<double> box(plan_->cells(attributes), 0.0);
  // Every choice of a part (0 for none) of each attribute.
  std::vector<std::uint32_t> parts(attributes.size(), 0);
  for (;;) {
    Attributes subset, used;
    double others = 1;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i] == 0) {
        others *= sizes[i];
        continue;
      }
      subset.push_back(attributes[i]);
      used.push_back(parts[i]);
    }
    if (const Space* space = plan_->find(subset, used)) {
      const auto& noisy = coefficients_[plan_->index(*space)];
      each_coefficient(*plan_, *space, attributes,
                       [&](std::size_t place, std::size_t at, double norm2) {
                         box[at] = static_cast<double>(noisy[place]) / (norm2 * others);
                       });
    }
    std::size_t i = 0;
    while (i < parts.size() && ++parts[i] == plan_->axes()[attributes[i]].parts()) parts[i++] = 0;
    if (i == parts.size()) break;
  }
  for (std::size_t i = 0; i < attributes.size(); ++i)
    along_axis<double>(box, sizes, i, [&](std::span<double> line, std::span<double> scratch) {
      plan_->axes()[attributes[i]].synthesise(line, scratch);
    });
  return box;
}

double Released::total() const {
  return marginal({}).front();
}

double interval_half_width(double variance, double confidence, double simultaneous) {
  DISCREET_CHECK(confidence > 0 && confidence < 1 && simultaneous >= 1,
                 "confidence within (0, 1) and at least one answer");
  const double beta = -std::expm1(std::log(confidence) / simultaneous);
  const double z = boost::math::erfc_inv(beta) * std::sqrt(2.0);
  return std::sqrt(variance) * z;
}

}  // namespace discreet::tables
