#include "accounting/dominating_pairs.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "accounting/atomic_law.h"
#include "accounting/bounded_range_law.h"
#include "accounting/lattice_noise.h"
#include "accounting/shift_mixture_law.h"
#include "accounting/symmetric_law.h"
#include "base/rounding.h"
#include "privacy/group.h"

namespace discreet {
namespace {

constexpr std::uint64_t kGroupSampledMax = 64;
constexpr double kAtomsMax = 4e6;

Error refused(std::string message) {
  return Error{ErrorCode::Refused, std::move(message)};
}

// Three hypotheses about one unit: present with its data, absent, and present with other data.
struct Triple {
  double with, without, other;
};

std::uint64_t times_saturating(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

class Planner {
 public:
  Planner(Neighbours neighbours, Direction direction)
      : replace_(neighbours == Neighbours::ReplaceOne), direction_(direction) {
    plan_.log_finite = {0, 0};
  }

  Result<void> add(const LossEvent& event, std::uint64_t count, std::uint64_t group) {
    if (count == 0 || group == 0) return {};
    return std::visit([&](const auto& e) { return price(e, count, group); }, event.kind);
  }

  LossPlan finish() {
    for (const auto& [epsilon, count] : binary_) plan_.binary.push_back({epsilon, count});
    for (auto& [key, law] : laws_) plan_.laws.push_back(std::move(law));
    return std::move(plan_);
  }

 private:
  double factor(std::uint64_t group) const { return mul_up(count_up(group), replace_ ? 2 : 1); }

  static Result<void> check(const char* what, double value) {
    if (!(value > 0) || !std::isfinite(value))
      return invalid_parameter(fmt::format("{} must be positive and finite, not {}", what, value));
    return {};
  }

  // `make` builds the law unless an equal one is there.
  template <class Make>
  Result<void> add_law(std::string key, std::uint64_t count, Make make,
                       const LossLawPtr& lower = nullptr) {
    auto found = laws_.find(key);
    if (found == laws_.end()) {
      Result<LossLawPtr> law = make();
      if (!law) return std::move(law).error();
      found = laws_.emplace(key, LawCount{*std::move(law), 0, key, lower}).first;
    }
    if (found->second.count > UINT64_MAX - count) return refused("too many releases to count");
    found->second.count += count;
    return {};
  }

  Result<void> add_binary(double epsilon, double delta, std::uint64_t count) {
    if (epsilon > 0) {
      std::uint64_t& total = binary_[epsilon];
      if (total > UINT64_MAX - count) return refused("too many releases to count");
      total += count;
    } else {
      binary_.emplace(0.0, 0).first->second += count;
    }
    plan_.failures = add_up(plan_.failures, mul_up(count_up(count), delta));
    plan_.log_finite.lower =
        add_down(plan_.log_finite.lower, mul_down(count_up(count), log1p_down(-delta)));
    plan_.log_finite.upper =
        add_up(plan_.log_finite.upper, mul_up(count_down(count), log1p_up(-delta)));
    return {};
  }

  Result<void> price(const loss::Pure& e, std::uint64_t count, std::uint64_t group) {
    return add_binary((group * e.epsilon).value(), 0, count);
  }
  Result<void> price(const loss::SparseVector& e, std::uint64_t count, std::uint64_t group) {
    return add_binary((group * e.epsilon).value(), 0, count);
  }
  Result<void> price(const loss::Approximate& e, std::uint64_t count, std::uint64_t group) {
    const ApproxDp all = group_privacy({e.epsilon, e.delta}, group);
    return add_binary(all.epsilon.value(), all.delta.value(), count);
  }
  Result<void> price(const loss::TruncatedGeometric& e, std::uint64_t count, std::uint64_t group) {
    const ApproxDp all =
        group_privacy({e.epsilon, e.delta}, times_saturating(group, replace_ ? 2 : 1));
    return add_binary(all.epsilon.value(), all.delta.value(), count);
  }
  Result<void> price(const loss::Zcdp& e, std::uint64_t count, std::uint64_t group) {
    const double size = count_up(group);
    plan_.rho =
        add_up(plan_.rho, mul_up(count_up(count), mul_up(mul_up(size, size), e.rho.value())));
    return {};
  }
  Result<void> price(const loss::RandomizedResponse& e, std::uint64_t count, std::uint64_t group) {
    if (e.values <= 2 || group > 1) return add_binary((group * e.epsilon).value(), 0, count);
    return add_law(fmt::format("rr {} {}", e.epsilon.value(), e.values), count,
                   [&]() -> Result<LossLawPtr> {
                     return randomized_response_law(e.epsilon.value(), e.values);
                   });
  }
  Result<void> price(const loss::BoundedRange& e, std::uint64_t count, std::uint64_t group) {
    const double epsilon = (group * e.epsilon).value();
    if (epsilon == 0) return {};
    return add_law(fmt::format("range {}", epsilon), count,
                   [&]() -> Result<LossLawPtr> { return bounded_range_law(epsilon); });
  }
  Result<void> price(const loss::Gaussian& e, std::uint64_t count, std::uint64_t group) {
    DISCREET_TRY_VOID(check("sigma", e.sigma));
    if (e.sensitivity == 0) return {};
    DISCREET_TRY_VOID(check("sensitivity", e.sensitivity));
    const double shift = mul_up(e.sensitivity, factor(group));
    const double up = div_up(shift, e.sigma);
    const double down = div_down(mul_down(e.sensitivity, factor(group)), e.sigma);
    plan_.gaussian_mu2.upper =
        add_up(plan_.gaussian_mu2.upper, mul_up(count_up(count), mul_up(up, up)));
    plan_.gaussian_mu2.lower =
        add_down(plan_.gaussian_mu2.lower, mul_down(count_down(count), mul_down(down, down)));
    return {};
  }
  Result<void> price(const loss::Laplace& e, std::uint64_t count, std::uint64_t group) {
    DISCREET_TRY_VOID(check("scale", e.scale));
    if (e.sensitivity == 0) return {};
    DISCREET_TRY_VOID(check("sensitivity", e.sensitivity));
    const double shift = mul_up(e.sensitivity, factor(group));
    return add_law(
        fmt::format("laplace {} {}", e.scale, shift), count, [&]() -> Result<LossLawPtr> {
          return LossLawPtr(std::make_shared<ShiftMixtureLaw>(NoiseShape::Laplace, e.scale,
                                                              std::vector<Shift>{{1, shift}},
                                                              std::vector<Shift>{{1, 0}}));
        });
  }
  Result<void> price(const loss::DiscreteLaplace& e, std::uint64_t count, std::uint64_t group) {
    DISCREET_TRY_VOID(check("scale", e.scale));
    if (e.sensitivity == 0) return {};
    DISCREET_TRY_VOID(check("sensitivity", static_cast<double>(e.sensitivity)));
    const double moved = static_cast<double>(e.sensitivity) * factor(group);
    if (moved == 1) return add_binary(div_up(1, e.scale), 0, count);
    if (!(moved < kAtomsMax)) return refused("the sensitivity is too large for a list of losses");
    return add_law(fmt::format("discrete_laplace {} {}", e.scale, moved), count,
                   [&]() -> Result<LossLawPtr> { return discrete_laplace_law(e.scale, moved); });
  }
  Result<void> price(const loss::DiscreteGaussian& e, std::uint64_t count, std::uint64_t group) {
    DISCREET_TRY_VOID(check("sigma2", e.sigma2));
    if (e.sensitivity == 0) return {};
    DISCREET_TRY_VOID(check("sensitivity", e.sensitivity));
    const double shift = mul_up(e.sensitivity, factor(group));
    if (e.dimension != 1) {
      const double one = div_up(mul_up(shift, shift), e.sigma2) / 2;
      plan_.rho = add_up(plan_.rho, mul_up(count_up(count), one));
      return {};
    }
    // Integer data move by integers, so a sensitivity is worth its integer part.
    const double moved = std::floor(shift);
    if (moved < 1) return {};
    return add_law(fmt::format("discrete_gaussian {} {}", e.sigma2, moved), count,
                   [&]() -> Result<LossLawPtr> {
                     DISCREET_TRY(
                         const auto noise,
                         discrete_gaussian_noise(e.sigma2, static_cast<std::int64_t>(moved)));
                     return lattice_law(noise, static_cast<std::int64_t>(moved), 1);
                   });
  }
  Result<void> price(const loss::MixtureOfGaussians& e, std::uint64_t count, std::uint64_t group) {
    DISCREET_TRY(const auto shifts, mixture_shifts(e, 1));
    if (group > 1) return refused("a mixture of Gaussians is accounted for one unit at a time");
    std::string key = fmt::format("mixture {}", e.sigma);
    for (const Shift& s : shifts) key += fmt::format(" {}:{}", s.weight, s.shift);
    return add_shifts(std::move(key), NoiseShape::Gaussian, e.sigma, shifts, count);
  }
  Result<void> price(const loss::PoissonSubsampled& e, std::uint64_t count, std::uint64_t group) {
    double q = e.probability;
    if (!(q >= 0 && q <= 1))
      return invalid_parameter(
          fmt::format("a sampling probability must be between 0 and 1, not {}", q));
    const LossEvent* inner = e.inner.get();
    while (const auto* nested = std::get_if<loss::PoissonSubsampled>(&inner->kind)) {
      q = std::fmin(1.0, mul_up(q, nested->probability));
      inner = nested->inner.get();
    }
    if (q == 0) return {};
    if (q == 1) return add(*inner, count, group);
    return sampled(*inner, q, count, group);
  }
  Result<void> price(const loss::SampledWithoutReplacement& e, std::uint64_t count,
                     std::uint64_t group) {
    if (e.population == 0 || e.sample > e.population)
      return invalid_parameter("a sample cannot be larger than its population");
    if (e.sample == 0) return {};
    if (e.sample == e.population) {
      if (replace_) return add(*e.inner, count, group);
      return refused(
          "a sample of everybody cannot be drawn once a unit has left: under add/remove account "
          "for the event without sampling");
    }
    const double q = std::fmin(1.0, div_up(count_up(e.sample), count_down(e.population)));
    if (!replace_) return without_replacement(*e.inner, q, count, group);
    Planner stated(Neighbours::ReplaceOne, direction_);
    DISCREET_TRY_VOID(stated.add(*e.inner, 1, group));
    if (one_response(stated.finish())) return sampled_stated(*e.inner, q, count, group);
    return both_ways(count, [&](Planner& one_way) {
      return one_way.without_replacement(*e.inner, q, 1, group);
    });
  }
  Result<void> price(const loss::Repeated& e, std::uint64_t count, std::uint64_t group) {
    if (e.count != 0 && count > UINT64_MAX / e.count) return refused("too many releases to count");
    return add(*e.inner, count * e.count, group);
  }
  Result<void> price(const loss::Composed& e, std::uint64_t count, std::uint64_t group) {
    for (const LossEvent& part : e.parts) DISCREET_TRY_VOID(add(part, count, group));
    return {};
  }
  Result<void> price(const loss::Group& e, std::uint64_t count, std::uint64_t group) {
    return add(*e.inner, count, times_saturating(group, e.size));
  }
  // Parts of one kind have a worst one; otherwise the profiles may cross, and the caller can price
  // the parts separately.
  Result<void> price(const loss::Parallel& e, std::uint64_t count, std::uint64_t group) {
    if (e.parts.empty()) return {};
    if (e.parts.size() > 1 && (replace_ || group > 1))
      return refused(
          "parallel parts inside a composition are accounted under add/remove for one unit");
    std::optional<LossPlan> worst;
    for (const LossEvent& part : e.parts) {
      Planner alone(Neighbours::AddRemove, direction_);
      DISCREET_TRY_VOID(alone.add(part, 1, 1));
      LossPlan plan = alone.finish();
      if (!worst || dominates(plan, *worst)) {
        worst = std::move(plan);
        chosen_ = &part;
      } else if (!dominates(*worst, plan)) {
        return refused(
            "parallel parts of different kinds inside a composition have no single worst part; "
            "account for each part's composition separately");
      }
    }
    return add(*chosen_, count, group);
  }

  static bool dominates(const LossPlan& a, const LossPlan& b) {
    if (a.only_gaussian() && b.only_gaussian()) return a.gaussian_mu2.upper >= b.gaussian_mu2.upper;
    if (a.only_zcdp() && b.only_zcdp()) return a.rho >= b.rho;
    if (a.only_binary() && b.only_binary() && a.binary.size() == 1 && b.binary.size() == 1)
      return a.binary[0].epsilon >= b.binary[0].epsilon && a.binary[0].count >= b.binary[0].count &&
             a.log_finite.lower <= b.log_finite.lower;
    if (a.laws.size() != 1 || b.laws.size() != 1 || a.binary.size() + b.binary.size() > 0 ||
        a.gaussian_mu2.upper + b.gaussian_mu2.upper + a.rho + b.rho > 0)
      return false;
    return a.laws[0].key == b.laws[0].key && a.laws[0].count >= b.laws[0].count;
  }

  static Result<LossLawPtr> discrete_laplace_law(double scale, double moved) {
    // Losses (s - 2x) / scale for x = 0..s; the two ends hold all outcomes beyond them.
    const long double rate = 1 / static_cast<long double>(scale);
    const long double r = std::exp(-rate), one = -std::expm1(-rate) / (1 + r);
    std::vector<LossAtom> atoms;
    const auto last = static_cast<std::int64_t>(moved);
    for (std::int64_t x = 0; x <= last; ++x) {
      const auto position = static_cast<long double>(x);
      long double mass = one * std::exp(-rate * position);
      if (x == 0 || x == last) mass /= -std::expm1(-rate);
      atoms.push_back({static_cast<double>(rate * (static_cast<long double>(last) - 2 * position)),
                       static_cast<double>(mass)});
    }
    const double rounding = 4 * 0x1p-53 * moved / scale;
    return LossLawPtr(std::make_shared<AtomicLaw>(std::move(atoms), 0, 0, rounding));
  }

  // P is the noise moved by `shift`; with q < 1 the unit takes part with that probability.
  Result<LossLawPtr> lattice_law(const LatticeNoise& noise, std::int64_t shift, double q) const {
    std::vector<PairAtom> outcomes;
    const std::int64_t last = noise.first + static_cast<std::int64_t>(noise.mass.size()) - 1;
    const std::int64_t margin = 2 * shift;
    for (std::int64_t z = noise.first - margin; z <= last + margin; ++z) {
      const auto triple = Triple{noise.at(z - shift), noise.at(z), noise.at(z + shift)};
      const PairAtom pair = sampled_pair(triple, q);
      // Outcomes whose partner was cut off would look infinitely revealing; they are in cut_off.
      if (pair.p > 0 && pair.q > 0) outcomes.push_back(pair);
    }
    return AtomicLaw::from_outcomes(outcomes, 4 * noise.cut_off);
  }

  PairAtom sampled_pair(const Triple& t, double q) const {
    const double mixed = (1 - q) * t.without + q * t.with;
    if (replace_ && q < 1) return {mixed, (1 - q) * t.without + q * t.other};
    return direction_ == Direction::Remove ? PairAtom{mixed, t.without}
                                           : PairAtom{t.without, mixed};
  }

  // Additive noise on a random shift, in this planner's direction.
  Result<void> add_shifts(std::string key, NoiseShape shape, double scale,
                          const std::vector<Shift>& shifts, std::uint64_t count) {
    std::vector<Shift> mirrored = shifts;
    for (Shift& s : mirrored) s.shift = -s.shift;
    if (!replace_) plan_.symmetric = false;
    return add_law(std::move(key), count, [&]() -> Result<LossLawPtr> {
      const std::vector<Shift> still{{1, 0}};
      if (replace_)
        return LossLawPtr(std::make_shared<ShiftMixtureLaw>(shape, scale, shifts, mirrored));
      return direction_ == Direction::Remove
                 ? LossLawPtr(std::make_shared<ShiftMixtureLaw>(shape, scale, shifts, still))
                 : LossLawPtr(std::make_shared<ShiftMixtureLaw>(shape, scale, still, mirrored));
    });
  }

  static Result<std::vector<Shift>> mixture_shifts(const loss::MixtureOfGaussians& e, double q) {
    DISCREET_TRY_VOID(check("sigma", e.sigma));
    if (e.sensitivities.size() != e.probabilities.size() || e.sensitivities.empty())
      return invalid_parameter("a mixture needs as many probabilities as sensitivities");
    double sum = 0;
    std::vector<Shift> shifts;
    if (q < 1) shifts.push_back({1 - q, 0});
    for (std::size_t i = 0; i < e.sensitivities.size(); ++i) {
      if (!(e.probabilities[i] >= 0 && e.probabilities[i] <= 1) ||
          !(e.sensitivities[i] >= 0 && std::isfinite(e.sensitivities[i])))
        return invalid_parameter("a mixture's sensitivities and probabilities cannot be negative");
      sum += e.probabilities[i];
      shifts.push_back({q * e.probabilities[i], e.sensitivities[i]});
    }
    if (std::fabs(sum - 1) > 1e-9)
      return invalid_parameter(fmt::format("a mixture's probabilities add up to {}, not 1", sum));
    return shifts;
  }

  // A unit in a group of g takes part with probability q: the sum moves by a binomial number.
  static std::vector<Shift> group_shifts(double sensitivity, double q, std::uint64_t group) {
    std::vector<Shift> shifts;
    double weight = std::pow(1 - q, static_cast<double>(group));
    for (std::uint64_t j = 0; j <= group; ++j) {
      shifts.push_back({weight, static_cast<double>(j) * sensitivity});
      weight *= q / (1 - q) * static_cast<double>(group - j) / static_cast<double>(j + 1);
    }
    return shifts;
  }

  Result<void> sampled(const LossEvent& inner, double q, std::uint64_t count, std::uint64_t group) {
    const auto additive = [&](NoiseShape shape, double scale, double sensitivity) -> Result<void> {
      DISCREET_TRY_VOID(check("the noise scale", scale));
      if (sensitivity == 0) return {};
      DISCREET_TRY_VOID(check("sensitivity", sensitivity));
      if (group > kGroupSampledMax)
        return refused(fmt::format("sampled events are accounted for groups of at most {} units",
                                   kGroupSampledMax));
      if (replace_ && group > 1)
        return refused("groups of sampled events are accounted under add/remove only");
      return add_shifts(fmt::format("sampled {} {} {} {} {}", static_cast<int>(shape), q, scale,
                                    sensitivity, group),
                        shape, scale, group_shifts(sensitivity, q, group), count);
    };
    // Releases on one common sample: Gaussian ones together are one Gaussian release.
    if (std::holds_alternative<loss::Repeated>(inner.kind) ||
        std::holds_alternative<loss::Composed>(inner.kind)) {
      Planner together(Neighbours::AddRemove, direction_);
      DISCREET_TRY_VOID(together.add(inner, 1, 1));
      const LossPlan plan = together.finish();
      if (!plan.only_gaussian())
        return refused("several releases on one sample are accounted when all are Gaussian");
      return additive(NoiseShape::Gaussian, 1, sqrt_up(plan.gaussian_mu2.upper));
    }
    if (const auto* e = std::get_if<loss::Gaussian>(&inner.kind))
      return additive(NoiseShape::Gaussian, e->sigma, e->sensitivity);
    if (const auto* e = std::get_if<loss::Laplace>(&inner.kind))
      return additive(NoiseShape::Laplace, e->scale, e->sensitivity);
    if (group > 1)
      return refused("groups of sampled events are accounted for Gaussian and Laplace noise only");
    if (const auto* e = std::get_if<loss::MixtureOfGaussians>(&inner.kind)) {
      DISCREET_TRY(const auto shifts, mixture_shifts(*e, q));
      std::string key = fmt::format("sampled mixture {}", e->sigma);
      for (const Shift& s : shifts) key += fmt::format(" {}:{}", s.weight, s.shift);
      return add_shifts(std::move(key), NoiseShape::Gaussian, e->sigma, shifts, count);
    }
    if (const auto* e = std::get_if<loss::DiscreteGaussian>(&inner.kind); e && e->dimension == 1)
      return sampled_lattice(
          fmt::format("sampled discrete_gaussian {} {} {}", q, e->sigma2, e->sensitivity),
          discrete_gaussian_noise(e->sigma2, 2 * lattice_shift(e->sensitivity)), e->sensitivity, q,
          count);
    if (const auto* e = std::get_if<loss::DiscreteLaplace>(&inner.kind))
      return sampled_lattice(
          fmt::format("sampled discrete_laplace {} {} {}", q, e->scale, e->sensitivity),
          discrete_laplace_noise(e->scale, 2 * e->sensitivity), static_cast<double>(e->sensitivity),
          q, count);
    if (replace_) return sampled_stated(inner, q, count, group);
    return sampled_pairs(inner, q, count);
  }

  // Under add/remove. With the unit the sample is, with probability q, one that holds it; without
  // the unit another is in its place, so the two differ as under replacement.
  Result<void> without_replacement(const LossEvent& inner, double q, std::uint64_t count,
                                   std::uint64_t group) {
    if (group > 1) return refused("groups are not accounted for samples without replacement");
    const auto additive = [&](NoiseShape shape, double scale, double sensitivity) -> Result<void> {
      DISCREET_TRY_VOID(check("the noise scale", scale));
      if (sensitivity == 0) return {};
      DISCREET_TRY_VOID(check("sensitivity", sensitivity));
      return add_shifts(fmt::format("without replacement {} {} {} {}", static_cast<int>(shape), q,
                                    scale, sensitivity),
                        shape, scale, {{1 - q, 0}, {q, 2 * sensitivity}}, count);
    };
    if (const auto* e = std::get_if<loss::Gaussian>(&inner.kind))
      return additive(NoiseShape::Gaussian, e->sigma, e->sensitivity);
    if (const auto* e = std::get_if<loss::Laplace>(&inner.kind))
      return additive(NoiseShape::Laplace, e->scale, e->sensitivity);
    if (const auto* e = std::get_if<loss::DiscreteGaussian>(&inner.kind); e && e->dimension == 1)
      return sampled_lattice(fmt::format("without replacement discrete_gaussian {} {} {}", q,
                                         e->sigma2, e->sensitivity),
                             discrete_gaussian_noise(e->sigma2, 4 * lattice_shift(e->sensitivity)),
                             2 * std::floor(e->sensitivity), q, count);
    if (const auto* e = std::get_if<loss::DiscreteLaplace>(&inner.kind))
      return sampled_lattice(
          fmt::format("without replacement discrete_laplace {} {} {}", q, e->scale, e->sensitivity),
          discrete_laplace_noise(e->scale, 4 * e->sensitivity),
          2 * static_cast<double>(e->sensitivity), q, count);
    Planner twice(Neighbours::AddRemove, direction_);
    DISCREET_TRY_VOID(twice.add(inner, 1, 2));
    const LossPlan plan = twice.finish();
    if (plan.only_gaussian())  // several releases on one sample, together one Gaussian release
      return additive(NoiseShape::Gaussian, 2, sqrt_up(plan.gaussian_mu2.upper));
    if (one_response(plan)) return sampled_response(plan, q, count);
    return refused(
        "a sample without replacement of this event has no pair to compose; one of Gaussian or "
        "Laplace noise, discrete noise, or an event that states its epsilon has");
  }

  static std::int64_t lattice_shift(double sensitivity) {
    return static_cast<std::int64_t>(std::fmin(1e9, std::floor(sensitivity)));
  }

  Result<void> sampled_lattice(std::string key, Result<LatticeNoise> noise, double sensitivity,
                               double q, std::uint64_t count) {
    if (!noise) return std::move(noise).error();
    if (!(sensitivity >= 0 && sensitivity < kAtomsMax))
      return invalid_parameter(fmt::format("a sensitivity of {} cannot be accounted", sensitivity));
    const std::int64_t shift = lattice_shift(sensitivity);
    if (shift == 0) return {};
    if (!replace_) plan_.symmetric = false;
    return add_law(std::move(key), count, [&] { return lattice_law(*noise, shift, q); });
  }

  // Guarantees whose worst pair is a short list, under add/remove.
  Result<void> sampled_pairs(const LossEvent& inner, double q, std::uint64_t count) {
    const auto response = [&](Epsilon epsilon, Delta delta = Delta::zero(),
                              std::uint64_t values = 2) {
      return sampled_response(epsilon.value(), delta.value(), static_cast<double>(values), q,
                              count);
    };
    if (const auto* e = std::get_if<loss::Pure>(&inner.kind)) return response(e->epsilon);
    if (const auto* e = std::get_if<loss::SparseVector>(&inner.kind)) return response(e->epsilon);
    if (const auto* e = std::get_if<loss::BoundedRange>(&inner.kind)) return response(e->epsilon);
    if (const auto* e = std::get_if<loss::RandomizedResponse>(&inner.kind))
      return response(e->epsilon, Delta::zero(), std::max<std::uint64_t>(2, e->values));
    if (const auto* e = std::get_if<loss::Approximate>(&inner.kind))
      return response(e->epsilon, e->delta);
    if (const auto* e = std::get_if<loss::TruncatedGeometric>(&inner.kind))
      return response(e->epsilon, e->delta);
    return refused("a sample of this event has no pair to compose; use its Renyi bound");
  }

  // The mixture (1-q) Q + q P against Q, where (P, Q) is randomized response that fails openly with
  // probability delta: the worst pair of a stated (epsilon, delta), and reached.
  Result<void> sampled_response(double epsilon, double delta, double values, double q,
                                std::uint64_t count) {
    const double finite = 1 - delta, least = std::exp(-epsilon);
    const double total = 1 + (values - 1) * least;
    std::vector<PairAtom> pair{{finite / total, finite * least / total},
                               {finite * least / total, finite / total}};
    const double rest = (values - 2) * least / total;
    if (rest > 0) pair.push_back({finite * rest, finite * rest});
    if (delta > 0) pair.insert(pair.end(), {{delta, 0}, {0, delta}});
    plan_.symmetric = false;
    return add_law(fmt::format("sampled response {} {} {} {}", q, epsilon, delta, values), count,
                   [&]() -> Result<LossLawPtr> {
                     for (PairAtom& atom : pair) atom = sampled_pair({atom.p, atom.q, atom.q}, q);
                     return AtomicLaw::from_outcomes(pair, 0);
                   });
  }

  // A stated (epsilon, delta) that holds for replacing a unit and for one that joins or leaves:
  // q times its profile, at the other epsilon that advanced joint convexity gives (Balle, Barthe
  // and Gaboardi 2018), in both directions.
  Result<void> sampled_stated(const LossEvent& inner, double q, std::uint64_t count,
                              std::uint64_t group) {
    Planner alone(replace_ ? Neighbours::ReplaceOne : Neighbours::AddRemove, direction_);
    DISCREET_TRY_VOID(alone.add(inner, 1, group));
    const LossPlan plan = alone.finish();
    if (!one_response(plan))
      return refused(
          "under replace-one a sample of this event has no pair to compose; use its Renyi bound");
    return both_ways(count, [&](Planner& one_way) { return one_way.sampled_response(plan, q, 1); });
  }
  static bool one_response(const LossPlan& plan) {
    return plan.only_binary() && plan.binary.size() == 1 && plan.binary[0].count == 1;
  }
  Result<void> sampled_response(const LossPlan& plan, double q, std::uint64_t count) {
    return sampled_response(plan.binary[0].epsilon, -expm1_down(plan.log_finite.lower), 2, q,
                            count);
  }

  // Neighbours that can be exchanged: the pair is bounded by the worse direction at every epsilon,
  // and real neighbours reach the first.
  template <class Plan>
  Result<void> both_ways(std::uint64_t count, Plan plan) {
    Planner forward(Neighbours::AddRemove, Direction::Remove);
    Planner reverse(Neighbours::AddRemove, Direction::Add);
    DISCREET_TRY_VOID(plan(forward));
    DISCREET_TRY_VOID(plan(reverse));
    const LossPlan one = forward.finish(), other = reverse.finish();
    if (one.laws.empty()) return {};
    return add_law(
        "both ways " + one.laws[0].key, count,
        [&]() -> Result<LossLawPtr> {
          return LossLawPtr(std::make_shared<SymmetricLaw>(one.laws[0].law, other.laws[0].law));
        },
        one.laws[0].law);
  }

  bool replace_;
  Direction direction_;
  LossPlan plan_;
  std::map<double, std::uint64_t> binary_;
  std::map<std::string, LawCount> laws_;
  const LossEvent* chosen_ = nullptr;
};

}  // namespace

Result<LossPlan> make_plan(const LossEvent& event, Neighbours neighbours, Direction direction) {
  Planner planner(neighbours, direction);
  DISCREET_TRY_VOID(planner.add(event, 1, 1));
  return planner.finish();
}

LossLawPtr gaussian_law(double mu) {
  return std::make_shared<ShiftMixtureLaw>(NoiseShape::Gaussian, 1.0, std::vector<Shift>{{1, mu}},
                                           std::vector<Shift>{{1, 0}});
}

LossLawPtr randomized_response_law(double epsilon, std::uint64_t values) {
  const long double e = epsilon;
  const long double total = 1 + (static_cast<long double>(values) - 1) * std::exp(-e);
  std::vector<LossAtom> atoms{{-epsilon, static_cast<double>(std::exp(-e) / total)},
                              {epsilon, static_cast<double>(1 / total)}};
  if (values > 2)
    atoms.push_back(
        {0, static_cast<double>((static_cast<long double>(values) - 2) * std::exp(-e) / total)});
  return std::make_shared<AtomicLaw>(std::move(atoms), 0, 0, 0);
}

}  // namespace discreet
