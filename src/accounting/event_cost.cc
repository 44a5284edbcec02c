#include "accounting/event_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <boost/math/special_functions/erf.hpp>

#include "accounting/conversion.h"
#include "accounting/renyi.h"
#include "accounting/textbook.h"
#include "privacy/group.h"

namespace discreet {
namespace {

Error refused(std::string message) {
  return Error{ErrorCode::Refused, std::move(message)};
}

struct Context {
  Neighbours neighbours;
  std::uint64_t group = 1;

  double factor() const { return mul_up(count_up(group), add_remove_steps(neighbours)); }
  Result<Context> grouped(std::uint64_t size) const {
    if (size != 0 && group > std::numeric_limits<std::uint64_t>::max() / 2 / size)
      return refused("the group is too large");
    return Context{neighbours, group * size};
  }
  // What a sample without replacement sees when one unit differs. A unit that joins or leaves
  // pushes another out of the sample or lets it in, which is two steps; for several such units the
  // share of the sample would change with each.
  Result<Context> within(const loss::SampledWithoutReplacement& e) const {
    if (neighbours == Neighbours::ReplaceOne) return *this;
    if (e.population != 0 && e.sample == e.population)
      return refused(
          "a sample of everybody cannot be drawn once a unit has left: under add/remove account "
          "for the event without sampling");
    if (group > 1)
      return refused("groups are not accounted for samples without replacement under add/remove");
    return Context{neighbours, 2};
  }
};

Result<ApproxDp> basic(const LossEvent& event, const Context& context);
Result<ConcentratedCost> concentrated(const LossEvent& event, const Context& context);

Rho rho_of(double value) {
  return Rho::make(std::fmin(value, std::numeric_limits<double>::max())).value();
}

// A unit that moves the answer by a random amount, revealed or not, is at most as exposed as one
// that always moves it by the largest.
double largest_shift(const loss::MixtureOfGaussians& e) {
  return e.sensitivities.empty() ? 0 : *std::ranges::max_element(e.sensitivities);
}

struct BasicPricer {
  const Context& context;
  using Answer = Result<ApproxDp>;

  Answer pure(double epsilon) const {
    DISCREET_TRY(const Epsilon bound, Epsilon::make(epsilon));
    return ApproxDp{bound, Delta::zero()};
  }
  Answer stated(Epsilon epsilon) const { return pure((context.group * epsilon).value()); }
  Answer not_pure(const char* what) const {
    return refused(fmt::format(
        "{} has no finite epsilon at delta 0; use a zCDP, Renyi or Gaussian filter", what));
  }

  Answer operator()(const loss::Pure& e) const { return stated(e.epsilon); }
  Answer operator()(const loss::RandomizedResponse& e) const { return stated(e.epsilon); }
  Answer operator()(const loss::BoundedRange& e) const { return stated(e.epsilon); }
  Answer operator()(const loss::SparseVector& e) const { return stated(e.epsilon); }
  Answer operator()(const loss::Approximate& e) const {
    return group_privacy(ApproxDp{e.epsilon, e.delta}, context.group);
  }
  Answer operator()(const loss::TruncatedGeometric& e) const {
    return group_privacy(ApproxDp{e.epsilon, e.delta},
                         context.group * add_remove_steps(context.neighbours));
  }
  Answer operator()(const loss::Laplace& e) const {
    return pure(div_up(mul_up(e.sensitivity, context.factor()), e.scale));
  }
  Answer operator()(const loss::DiscreteLaplace& e) const {
    return pure(div_up(
        mul_up(count_up(static_cast<std::uint64_t>(e.sensitivity)), context.factor()), e.scale));
  }
  Answer operator()(const loss::Zcdp&) const { return not_pure("a zCDP event"); }
  Answer operator()(const loss::Gaussian&) const { return not_pure("Gaussian noise"); }
  Answer operator()(const loss::MixtureOfGaussians&) const { return not_pure("Gaussian noise"); }
  Answer operator()(const loss::DiscreteGaussian&) const {
    return not_pure("discrete Gaussian noise");
  }
  Answer operator()(const loss::PoissonSubsampled& e) const {
    DISCREET_TRY(const ApproxDp one, basic(*e.inner, {context.neighbours}));
    DISCREET_TRY(const ApproxDp sampled, amplify_by_poisson_sampling(one, e.probability));
    return group_privacy(sampled, context.group);
  }
  Answer operator()(const loss::SampledWithoutReplacement& e) const {
    DISCREET_TRY(const Context inside, context.within(e));
    DISCREET_TRY(const ApproxDp one,
                 basic(*e.inner, {inside.neighbours, inside.group / context.group}));
    DISCREET_TRY(const ApproxDp sampled,
                 amplify_by_sampling_without_replacement(one, e.sample, e.population));
    return group_privacy(sampled, context.group);
  }
  Answer operator()(const loss::Repeated& e) const {
    if (e.count == 0) return ApproxDp{Epsilon::zero(), Delta::zero()};
    DISCREET_TRY(const ApproxDp one, basic(*e.inner, context));
    return basic_composition(one, e.count);
  }
  Answer operator()(const loss::Composed& e) const {
    std::vector<ApproxDp> costs;
    for (const LossEvent& part : e.parts) {
      DISCREET_TRY(const ApproxDp one, basic(part, context));
      costs.push_back(one);
    }
    return basic_composition(costs);
  }
  Answer operator()(const loss::Parallel& e) const {
    std::vector<ApproxDp> costs;
    for (const LossEvent& part : e.parts) {
      DISCREET_TRY(const ApproxDp one, basic(part, context));
      costs.push_back(one);
    }
    // A group may spread over as many parts as it has members.
    if (context.group == 1) return parallel_composition(costs, context.neighbours);
    return basic_composition(costs);
  }
  Answer operator()(const loss::Group& e) const {
    if (e.size == 0) return ApproxDp{Epsilon::zero(), Delta::zero()};
    DISCREET_TRY(const Context inner, context.grouped(e.size));
    return basic(*e.inner, inner);
  }
};

Result<ApproxDp> basic(const LossEvent& event, const Context& context) {
  return std::visit(BasicPricer{context}, event.kind);
}

struct ConcentratedPricer {
  const Context& context;
  const LossEvent& event;
  using Answer = Result<ConcentratedCost>;

  static ConcentratedCost only(double rho) { return {rho_of(rho), Delta::zero()}; }
  static Answer from_basic(const Result<ApproxDp>& cost) {
    if (!cost) return cost.error();
    return ConcentratedCost{pure_to_zcdp(cost->epsilon), cost->delta};
  }

  // Every event with an (epsilon, delta): epsilon^2/2 outside a failure of probability delta.
  template <class Event>
  Answer operator()(const Event&) const {
    return from_basic(basic(event, context));
  }
  Answer operator()(const loss::BoundedRange& e) const {
    return ConcentratedCost{bounded_range_to_zcdp(context.group * e.epsilon), Delta::zero()};
  }
  Answer operator()(const loss::Zcdp& e) const {
    const double size = count_up(context.group);
    return only(mul_up(mul_up(size, size), e.rho.value()));
  }
  Answer operator()(const loss::Gaussian& e) const {
    const double mu = div_up(mul_up(e.sensitivity, context.factor()), e.sigma);
    return only(mul_up(mu, mu) / 2);
  }
  Answer operator()(const loss::MixtureOfGaussians& e) const {
    const double mu = div_up(mul_up(largest_shift(e), context.factor()), e.sigma);
    return only(mul_up(mu, mu) / 2);
  }
  Answer operator()(const loss::DiscreteGaussian& e) const {
    const double shift = mul_up(e.sensitivity, context.factor());
    return only(div_up(mul_up(shift, shift), e.sigma2) / 2);
  }
  Answer operator()(const loss::PoissonSubsampled& e) const { return sample(*e.inner, context); }
  Answer operator()(const loss::SampledWithoutReplacement& e) const {
    DISCREET_TRY(const Context inside, context.within(e));
    return sample(*e.inner, inside);
  }
  Answer operator()(const loss::Repeated& e) const {
    if (e.count == 0) return only(0);
    DISCREET_TRY(const auto one, concentrated(*e.inner, context));
    const double count = count_up(e.count);
    return ConcentratedCost{rho_of(mul_up(count, one.rho.value())),
                            Delta::make(std::fmin(1.0, mul_up(count, one.delta.value()))).value()};
  }
  Answer operator()(const loss::Composed& e) const { return sum(e.parts); }
  Answer operator()(const loss::Parallel& e) const {
    // A replaced unit may move between two parts, a group between many: then the parts add up.
    if (context.group != 1 || context.neighbours != Neighbours::AddRemove) return sum(e.parts);
    ConcentratedCost worst = only(0);
    for (const LossEvent& part : e.parts) {
      DISCREET_TRY(const auto one, concentrated(part, context));
      worst = {std::max(worst.rho, one.rho), std::max(worst.delta, one.delta)};
    }
    return worst;
  }
  Answer operator()(const loss::Group& e) const {
    if (e.size == 0) return only(0);
    DISCREET_TRY(const Context inner, context.grouped(e.size));
    return concentrated(*e.inner, inner);
  }

 private:
  Answer sum(const std::vector<LossEvent>& parts) const {
    ConcentratedCost total = only(0);
    for (const LossEvent& part : parts) {
      DISCREET_TRY(const auto one, concentrated(part, context));
      total = {total.rho + one.rho, total.delta + one.delta};
    }
    return total;
  }
  // Sampling is a mixture, and divergences are quasi-convex: the whole's cost holds. Where the
  // inner event has an epsilon, amplification may do better.
  Answer sample(const LossEvent& inner, const Context& inside) const {
    const auto amplified = from_basic(basic(event, context));
    const auto whole = concentrated(inner, inside);
    if (!whole) return amplified;
    if (amplified && amplified->rho <= whole->rho && amplified->delta <= whole->delta)
      return amplified;
    return whole;
  }
};

Result<ConcentratedCost> concentrated(const LossEvent& event, const Context& context) {
  return std::visit(ConcentratedPricer{context, event}, event.kind);
}

// mu = 2 Phi^-1(1 / (1 + e^-eps)) = 2 sqrt2 erfc_inv(2 / (1 + e^eps)), widened past its rounding.
double gaussian_mu_of_pure(double epsilon) {
  if (epsilon == 0) return 0;
  const double tail = 2 / (1 + exp_up(std::fmin(epsilon, 690)));
  if (epsilon > 690) return std::numeric_limits<double>::infinity();
  const double mu = 2 * std::sqrt(2.0) * boost::math::erfc_inv(tail);
  // Near zero erfc_inv of 1 - x loses x's digits; there mu <= sqrt(pi/2) eps holds with room.
  if (epsilon < 1e-3) return mul_up(1.2533141373155005, epsilon);
  return mu * (1 + 1e-12);
}

struct GaussianPricer {
  const Context& context;
  using Answer = Result<double>;

  Answer stated(double epsilon) const {
    const double mu = gaussian_mu_of_pure(epsilon);
    return mul_up(mu, mu);
  }
  template <class Event>
  Answer operator()(const Event&) const {
    return refused("the event has no Gaussian-DP cost; use a zCDP or Renyi filter");
  }
  Answer operator()(const loss::Gaussian& e) const {
    const double mu = div_up(mul_up(e.sensitivity, context.factor()), e.sigma);
    return mul_up(mu, mu);
  }
  Answer operator()(const loss::MixtureOfGaussians& e) const {
    const double mu = div_up(mul_up(largest_shift(e), context.factor()), e.sigma);
    return mul_up(mu, mu);
  }
  Answer operator()(const loss::Pure& e) const {
    return stated((context.group * e.epsilon).value());
  }
  Answer operator()(const loss::RandomizedResponse& e) const {
    return stated((context.group * e.epsilon).value());
  }
  Answer operator()(const loss::BoundedRange& e) const {
    return stated((context.group * e.epsilon).value());
  }
  Answer operator()(const loss::SparseVector& e) const {
    return stated((context.group * e.epsilon).value());
  }
  Answer operator()(const loss::Laplace& e) const {
    return stated(div_up(mul_up(e.sensitivity, context.factor()), e.scale));
  }
  Answer operator()(const loss::DiscreteLaplace& e) const {
    return stated(div_up(
        mul_up(count_up(static_cast<std::uint64_t>(e.sensitivity)), context.factor()), e.scale));
  }
  Answer operator()(const loss::Repeated& e) const {
    if (e.count == 0) return 0.0;
    DISCREET_TRY(const double one, std::visit(*this, e.inner->kind));
    return mul_up(count_up(e.count), one);
  }
  Answer operator()(const loss::Composed& e) const {
    double sum = 0;
    for (const LossEvent& part : e.parts) {
      DISCREET_TRY(const double one, std::visit(*this, part.kind));
      sum = add_up(sum, one);
    }
    return sum;
  }
  Answer operator()(const loss::Group& e) const {
    if (e.size == 0) return 0.0;
    DISCREET_TRY(const Context inner, context.grouped(e.size));
    return std::visit(GaussianPricer{inner}, e.inner->kind);
  }
};

}  // namespace

Result<ApproxDp> basic_cost(const LossEvent& event, Neighbours neighbours) {
  return basic(event, {neighbours});
}

Result<ConcentratedCost> concentrated_cost(const LossEvent& event, Neighbours neighbours) {
  return concentrated(event, {neighbours});
}

Result<RenyiCost> renyi_cost(const LossEvent& event, std::span<const double> orders,
                             Neighbours neighbours) {
  RenyiCost cost{{}, 0};
  cost.divergences.reserve(orders.size());
  for (const double order : orders) {
    DISCREET_TRY(const auto one, approximate_renyi_divergence(event, order, neighbours));
    cost.divergences.push_back(one.divergence);
    cost.delta = std::fmax(cost.delta, one.delta);
  }
  return cost;
}

Result<double> gaussian_cost(const LossEvent& event, Neighbours neighbours) {
  const Context context{neighbours};
  return std::visit(GaussianPricer{context}, event.kind);
}

}  // namespace discreet
