#include "accounting/renyi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "accounting/renyi_closed_internal.h"
#include "accounting/renyi_subsampled_internal.h"
#include "privacy/group.h"

namespace discreet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Error refused(std::string message) {
  return Error{ErrorCode::Refused, std::move(message)};
}

// What is being asked of an event: an order, a relation, and how many units move together.
struct Question {
  double order;
  Neighbours neighbours;
  std::uint64_t group = 1;

  double sensitivity_factor() const {
    return mul_up(count_up(group), add_remove_steps(neighbours));
  }
  bool one_unit() const { return group == 1; }
};

Result<ApproximateRenyi> price(const LossEvent& event, const Question& question);

ApproximateRenyi exactly(double divergence) {
  return {divergence, 0};
}

double sum_delta(double a, double b) {
  return std::fmin(1.0, add_up(a, b));
}

// mu of an event that is Gaussian noise throughout: squares add under composition.
std::optional<double> gaussian_mu_squared(const LossEvent& event, const Question& question) {
  if (const auto* e = std::get_if<loss::Gaussian>(&event.kind)) {
    const double mu = div_up(mul_up(e->sensitivity, question.sensitivity_factor()), e->sigma);
    return mul_up(mu, mu);
  }
  if (const auto* e = std::get_if<loss::Repeated>(&event.kind)) {
    const auto one = gaussian_mu_squared(*e->inner, question);
    if (!one) return std::nullopt;
    return e->count == 0 ? 0.0 : mul_up(count_up(e->count), *one);
  }
  if (const auto* e = std::get_if<loss::Composed>(&event.kind)) {
    double sum = 0;
    for (const LossEvent& part : e->parts) {
      const auto one = gaussian_mu_squared(part, question);
      if (!one) return std::nullopt;
      sum = add_up(sum, *one);
    }
    return sum;
  }
  return std::nullopt;
}

// A discrete Gaussian is a continuous one of variance smaller by 3, rounded at random, up to a
// factor e^(+-1e-25) for each coordinate (docs/proofs/discrete_gaussian.md, claim 3). For vectors,
// and for wide noise, whose sums over outcomes would be long: the distance between neighbours in
// its units.
std::optional<double> smooth_mu(const loss::DiscreteGaussian& e, double factor) {
  constexpr double kWide = 800, kSmoothing = 3;
  if (e.dimension == 1 ? !(e.sigma2 >= kWide) : !(e.sigma2 > 2 * kSmoothing)) return std::nullopt;
  const double reach = mul_up(e.sensitivity, factor);
  const double distance = e.dimension == 1 ? std::floor(reach) : reach;
  return div_up(distance, sqrt_down(sub_down(e.sigma2, kSmoothing)));
}
// What those factors add to a divergence: (2a - 1) / (a - 1) times their logarithm.
double smoothing_cost(const LossEvent& event, const Question& question) {
  constexpr double kLogFactor = 1e-25;
  const auto* e = std::get_if<loss::DiscreteGaussian>(&event.kind);
  if (!e || !smooth_mu(*e, question.sensitivity_factor())) return 0;
  const double order = question.order;
  return mul_up(mul_up(count_up(e->dimension), kLogFactor),
                div_up(mul_up(2, order), sub_down(order, 1)));
}

// The pair of distributions that is worst for the event, where one is known.
std::optional<DominatingPair> dominating_pair(const LossEvent& event, const Question& question) {
  const double factor = question.sensitivity_factor();
  const auto stated = [&](Epsilon epsilon) {
    return randomized_response_pair((question.group * epsilon).value(), 2);
  };
  if (const auto mu2 = gaussian_mu_squared(event, question)) return GaussianPair{sqrt_up(*mu2)};
  if (const auto* e = std::get_if<loss::Laplace>(&event.kind))
    return LaplacePair{div_up(mul_up(e->sensitivity, factor), e->scale)};
  if (const auto* e = std::get_if<loss::DiscreteLaplace>(&event.kind)) {
    const double shift = mul_up(static_cast<double>(e->sensitivity), factor);
    const double rate = div_up(1, e->scale);
    if (auto pair = discrete_laplace_pair(rate, shift)) return *std::move(pair);
    return randomized_response_pair(mul_up(rate, shift), 2);
  }
  if (const auto* e = std::get_if<loss::DiscreteGaussian>(&event.kind)) {
    if (const auto smooth = smooth_mu(*e, factor)) return GaussianPair{*smooth};
    const double shift = std::floor(mul_up(e->sensitivity, factor));
    if (e->dimension != 1 || shift < 1) return std::nullopt;
    if (auto pair = discrete_gaussian_pair(e->sigma2, shift, question.order))
      return *std::move(pair);
    return std::nullopt;
  }
  if (const auto* e = std::get_if<loss::RandomizedResponse>(&event.kind))
    return question.one_unit()
               ? randomized_response_pair(
                     e->epsilon.value(), static_cast<double>(std::max<std::uint64_t>(2, e->values)))
               : stated(e->epsilon);
  if (const auto* e = std::get_if<loss::Pure>(&event.kind)) return stated(e->epsilon);
  if (const auto* e = std::get_if<loss::SparseVector>(&event.kind)) return stated(e->epsilon);
  if (const auto* e = std::get_if<loss::BoundedRange>(&event.kind)) return stated(e->epsilon);
  return std::nullopt;
}

// (epsilon, delta)-DP on a sample is (ln(1 + q (e^epsilon - 1)), q delta)-DP under either relation
// (Balle, Barthe and Gaboardi 2018).
ApproximateRenyi sampled_approximate(ApproxDp inner, double q, double order) {
  const double e = inner.epsilon.value();
  const double amplified = e > 700 ? e : log1p_up(mul_up(q, expm1_up(e)));
  return {renyi_randomized_response(std::fmin(e, amplified), 2, order),
          std::fmin(1.0, mul_up(q, inner.delta.value()))};
}

std::optional<ApproxDp> stated_approximate(const LossEvent& event, Neighbours neighbours) {
  if (const auto* e = std::get_if<loss::Approximate>(&event.kind))
    return ApproxDp{e->epsilon, e->delta};
  if (const auto* e = std::get_if<loss::TruncatedGeometric>(&event.kind))
    return group_privacy(ApproxDp{e->epsilon, e->delta}, add_remove_steps(neighbours));
  return std::nullopt;
}

enum class Sampling { Poisson, WithoutReplacement };

// A sampled event seen by one unit. Without replacement a unit that joins or leaves pushes another
// out of the sample or lets it in, so the inner event is seen by two: with A the release on a
// sample without the unit and B on one with it, A and (1-q) A + q B are compared, as for Poisson
// samples (docs/proofs/privacy_loss_distribution.md).
Result<ApproximateRenyi> sampled(Sampling kind, const LossEvent& inner, double q,
                                 const Question& outer) {
  const bool replace = outer.neighbours == Neighbours::ReplaceOne;
  const bool pushes = kind == Sampling::WithoutReplacement && !replace;
  const Question question{outer.order, outer.neighbours, pushes ? 2U : 1U};
  if (q <= 0) return exactly(0);
  if (q >= 1) return price(inner, question);
  if (const auto approximate = stated_approximate(inner, question.neighbours))
    return sampled_approximate(group_privacy(*approximate, question.group), q, question.order);

  double best = kInfinity;
  if (const auto pair = dominating_pair(inner, question)) {
    const auto* gaussian = std::get_if<GaussianPair>(&*pair);
    if (gaussian && gaussian->mu == 0) return exactly(0);
    auto value = replace ? renyi_mixture_both_ways(*pair, q, question.order)
                         : renyi_mixture(*pair, q, question.order);
    if (replace && gaussian && kind == Sampling::Poisson) {
      // The pair's distance is for replacing; a unit that is merely absent is half as far away.
      const auto tight = renyi_gaussian_replace(gaussian->mu / 2, q, question.order);
      if (tight) value = value ? std::fmin(*value, *tight) : *tight;
    }
    if (value) best = add_up(*value, smoothing_cost(inner, question));
    if (value && !std::holds_alternative<loss::BoundedRange>(inner.kind)) {
      DISCREET_TRY(const auto plain, price(inner, question));
      return exactly(std::fmin(best, plain.divergence));
    }
  }
  double delta = 0;
  const RenyiCurve curve = [&](double order) -> Result<double> {
    DISCREET_TRY(const auto cost, price(inner, {order, question.neighbours, question.group}));
    delta = std::fmax(delta, cost.delta);
    return cost.divergence;
  };
  DISCREET_TRY(const double general, replace ? renyi_replace_general(curve, q, question.order)
                                             : renyi_poisson_general(curve, q, question.order));
  // Under add/remove the failure event of the inner pair carries over as it is; under replace-one
  // three distributions meet and their failures need not agree.
  if (delta > 0 && replace)
    return refused("a sampled event with a delta inside has no Renyi bound under replace-one");
  return ApproximateRenyi{std::fmin(best, general), delta};
}

// Mironov 2017, on group privacy: for 2^c units, D_a <= 3^c D_{2^c a} of one unit, for a >= 2.
Result<ApproximateRenyi> group_of_sampled(const LossEvent& event, const Question& question) {
  double widened = std::fmax(question.order, 2), factor = 1;
  for (std::uint64_t size = 1; size<question.group; size = size>(1ULL << 62) ? ~0ULL : 2 * size) {
    widened *= 2;
    factor *= 3;
  }
  if (!(widened < 1e9)) return refused("a group this large has no finite Renyi bound");
  DISCREET_TRY(const auto one, price(event, {widened, question.neighbours}));
  if (one.delta > 0) return refused("a group of a sampled event with a delta has no Renyi bound");
  return exactly(mul_up(factor, one.divergence));
}

double sum_of_largest(std::vector<double> values, std::size_t count) {
  std::sort(values.begin(), values.end(), std::greater<>());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(count, values.size()); ++i) sum = add_up(sum, values[i]);
  return sum;
}

// Disjoint parts. One unit that joins or leaves touches one part; one that is replaced stays in
// its part, or leaves one and joins another; a larger group may touch that many parts.
Result<ApproximateRenyi> parallel(const loss::Parallel& event, const Question& question) {
  const auto over_parts = [&](const Question& asked,
                              std::size_t count) -> Result<ApproximateRenyi> {
    std::vector<double> divergences, deltas;
    for (const LossEvent& part : event.parts) {
      DISCREET_TRY(const auto cost, price(part, asked));
      divergences.push_back(cost.divergence);
      deltas.push_back(cost.delta);
    }
    return ApproximateRenyi{sum_of_largest(std::move(divergences), count),
                            std::fmin(1.0, sum_of_largest(std::move(deltas), count))};
  };
  const bool replace = question.neighbours == Neighbours::ReplaceOne;
  if (!question.one_unit()) {
    const std::uint64_t touched = std::min<std::uint64_t>(question.group, event.parts.size());
    return over_parts(question, touched * (replace ? 2 : 1));
  }
  DISCREET_TRY(const auto stays, over_parts(question, 1));
  if (!replace || event.parts.size() < 2) return stays;
  DISCREET_TRY(const auto moves, over_parts({question.order, Neighbours::AddRemove}, 2));
  return ApproximateRenyi{std::fmax(stays.divergence, moves.divergence),
                          std::fmax(stays.delta, moves.delta)};
}

struct Pricer {
  const Question& question;
  const LossEvent& event;

  double stated(Epsilon epsilon) const {
    return renyi_randomized_response((question.group * epsilon).value(), 2, question.order);
  }
  ApproximateRenyi approximate(ApproxDp one, std::uint64_t size) const {
    const ApproxDp all = group_privacy(one, size);
    return {renyi_randomized_response(all.epsilon.value(), 2, question.order), all.delta.value()};
  }
  double shifted(double sensitivity) const {
    return mul_up(sensitivity, question.sensitivity_factor());
  }

  using Answer = Result<ApproximateRenyi>;
  Answer operator()(const loss::Pure& e) const { return exactly(stated(e.epsilon)); }
  Answer operator()(const loss::SparseVector& e) const { return exactly(stated(e.epsilon)); }
  Answer operator()(const loss::Approximate& e) const {
    return approximate({e.epsilon, e.delta}, question.group);
  }
  Answer operator()(const loss::TruncatedGeometric& e) const {
    const std::uint64_t steps = add_remove_steps(question.neighbours);
    if (question.group > std::numeric_limits<std::uint64_t>::max() / steps)
      return refused("the group is too large");
    return approximate({e.epsilon, e.delta}, question.group * steps);
  }
  Answer operator()(const loss::Zcdp& e) const {
    const double size = count_up(question.group);
    return exactly(mul_up(question.order, mul_up(mul_up(size, size), e.rho.value())));
  }
  Answer operator()(const loss::Laplace& e) const {
    return exactly(renyi_laplace(div_up(shifted(e.sensitivity), e.scale), question.order));
  }
  Answer operator()(const loss::DiscreteLaplace& e) const {
    return exactly(renyi_discrete_laplace(
        div_up(1, e.scale), shifted(static_cast<double>(e.sensitivity)), question.order));
  }
  Answer operator()(const loss::Gaussian& e) const {
    return exactly(renyi_gaussian(div_up(shifted(e.sensitivity), e.sigma), question.order));
  }
  // Renyi divergence is quasi-convex, so a random shift is at most as bad as its largest.
  Answer operator()(const loss::MixtureOfGaussians& e) const {
    const double largest = e.sensitivities.empty() ? 0 : *std::ranges::max_element(e.sensitivities);
    if (largest == 0) return exactly(0);
    return exactly(renyi_gaussian(div_up(shifted(largest), e.sigma), question.order));
  }
  Answer operator()(const loss::DiscreteGaussian& e) const {
    const double shift = shifted(e.sensitivity);
    return exactly(mul_up(question.order, div_up(mul_up(shift, shift), e.sigma2) / 2));
  }
  Answer operator()(const loss::RandomizedResponse& e) const {
    if (!question.one_unit()) return exactly(stated(e.epsilon));
    return exactly(renyi_randomized_response(e.epsilon.value(),
                                             std::max<std::uint64_t>(2, e.values), question.order));
  }
  Answer operator()(const loss::BoundedRange& e) const {
    return exactly(renyi_bounded_range((question.group * e.epsilon).value(), question.order));
  }
  Answer operator()(const loss::PoissonSubsampled& e) const {
    if (!(e.probability >= 0 && e.probability <= 1))
      return invalid_parameter("a sampling probability must be between 0 and 1");
    if (!question.one_unit()) return group_of_sampled(event, question);
    // A sample of a sample is a sample.
    if (const auto* nested = std::get_if<loss::PoissonSubsampled>(&e.inner->kind);
        nested && question.neighbours == Neighbours::AddRemove)
      return price(
          loss::PoissonSubsampled{std::fmin(1.0, mul_up(e.probability, nested->probability)),
                                  nested->inner},
          question);
    return sampled(Sampling::Poisson, *e.inner, e.probability, question);
  }
  Answer operator()(const loss::SampledWithoutReplacement& e) const {
    if (e.population == 0 || e.sample > e.population)
      return invalid_parameter("a sample cannot be larger than its population");
    if (question.neighbours == Neighbours::AddRemove) {
      if (e.sample == e.population)
        return refused(
            "a sample of everybody cannot be drawn once a unit has left: under add/remove account "
            "for the event without sampling");
      if (!question.one_unit())
        return refused("groups are not accounted for samples without replacement under add/remove");
    } else if (!question.one_unit()) {
      return group_of_sampled(event, question);
    }
    const double share = std::fmin(1.0, div_up(count_up(e.sample), count_down(e.population)));
    return sampled(Sampling::WithoutReplacement, *e.inner, share, question);
  }
  Answer operator()(const loss::Repeated& e) const {
    if (e.count == 0) return exactly(0);
    DISCREET_TRY(const auto one, price(*e.inner, question));
    const double count = count_up(e.count);
    return ApproximateRenyi{mul_up(count, one.divergence),
                            std::fmin(1.0, mul_up(count, one.delta))};
  }
  Answer operator()(const loss::Composed& e) const {
    ApproximateRenyi sum{0, 0};
    for (const LossEvent& part : e.parts) {
      DISCREET_TRY(const auto one, price(part, question));
      sum = {add_up(sum.divergence, one.divergence), sum_delta(sum.delta, one.delta)};
    }
    return sum;
  }
  Answer operator()(const loss::Parallel& e) const { return parallel(e, question); }
  Answer operator()(const loss::Group& e) const {
    if (e.size == 0) return exactly(0);
    if (question.group > std::numeric_limits<std::uint64_t>::max() / e.size)
      return refused("the group is too large");
    return price(*e.inner, {question.order, question.neighbours, question.group * e.size});
  }
};

Result<ApproximateRenyi> price(const LossEvent& event, const Question& question) {
  return std::visit(Pricer{question, event}, event.kind);
}

}  // namespace

Result<ApproximateRenyi> approximate_renyi_divergence(const LossEvent& event, double order,
                                                      Neighbours neighbours) {
  if (!(order > 1) || std::isinf(order))
    return invalid_parameter(
        fmt::format("a Renyi order must be above 1 and finite, not {}", order));
  DISCREET_TRY(const auto cost, price(event, {order, neighbours}));
  DISCREET_CHECK(cost.divergence >= 0 && cost.delta >= 0, "a divergence must not be negative");
  return cost;
}

Result<double> renyi_divergence(const LossEvent& event, double order, Neighbours neighbours) {
  DISCREET_TRY(const auto cost, approximate_renyi_divergence(event, order, neighbours));
  if (cost.delta > 0)
    return refused(
        "the event has a delta of its own, so its Renyi divergence is infinite; account for the "
        "delta separately");
  return cost.divergence;
}

}  // namespace discreet
