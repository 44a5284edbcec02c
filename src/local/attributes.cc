#include "local/attributes.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "local/choose.h"
#include "local/report_bytes_internal.h"
#include "privacy/parameters.h"
#include "random/uniform.h"

namespace discreet::local {
namespace {

Result<double> epsilon_of_one(AttributeReports::Strategy strategy, double epsilon,
                              std::size_t count) {
  if (count < 1 || count > 1000) return invalid_parameter("a person has 1 to 1,000 attributes");
  if (strategy == AttributeReports::Strategy::Sample) return epsilon;
  DISCREET_TRY(const auto whole, Epsilon::make(epsilon));
  return whole.share(count).value();
}

}  // namespace

AttributeReports::AttributeReports(Strategy strategy, std::vector<std::unique_ptr<Oracle>> oracles)
    : strategy_(strategy), oracles_(std::move(oracles)) {
  for (const auto& oracle : oracles_)
    report_bytes_ = strategy_ == Strategy::Sample
                        ? std::max(report_bytes_, 2 + oracle->report_bytes())
                        : report_bytes_ + oracle->report_bytes();
}

Result<AttributeReports> AttributeReports::make(Strategy strategy, double epsilon,
                                                std::vector<Spec> attributes) {
  DISCREET_TRY(const double each, epsilon_of_one(strategy, epsilon, attributes.size()));
  std::vector<std::unique_ptr<Oracle>> oracles;
  for (auto& spec : attributes) {
    spec.epsilon = each;
    if (is_mean(spec.kind) || spec.values == 0)
      return invalid_parameter("attributes have numbered values");
    DISCREET_TRY(auto oracle, Oracle::make(spec));
    oracles.push_back(std::move(oracle));
  }
  return AttributeReports(strategy, std::move(oracles));
}

Result<AttributeReports> AttributeReports::choose(Strategy strategy, double epsilon,
                                                  std::span<const std::uint64_t> values) {
  DISCREET_TRY(const double each, epsilon_of_one(strategy, epsilon, values.size()));
  std::vector<Spec> specs;
  for (const auto count : values) {
    DISCREET_TRY(auto spec, choose_oracle(each, count));
    specs.push_back(std::move(spec));
  }
  return make(strategy, epsilon, std::move(specs));
}

void AttributeReports::randomize(std::span<const std::uint64_t> inputs, RandomSource& random,
                                 std::span<std::uint8_t> report) const {
  DISCREET_CHECK(inputs.size() == oracles_.size(), "one input for each attribute");
  if (strategy_ == Strategy::Split) {
    for (std::size_t i = 0; i < oracles_.size(); ++i) {
      oracles_[i]->randomize(inputs[i], random, report.first(oracles_[i]->report_bytes()));
      report = report.subspan(oracles_[i]->report_bytes());
    }
    return;
  }
  std::fill(report.begin(), report.end(), std::uint8_t{0});
  const std::uint64_t drawn = uniform_below(oracles_.size(), random);
  put(report.data(), drawn, 2);
  oracles_[drawn]->randomize(inputs[drawn], random,
                             report.subspan(2, oracles_[drawn]->report_bytes()));
}

bool AttributeReports::valid(Bytes report) const {
  if (report.size() != report_bytes_) return false;
  if (strategy_ == Strategy::Split) {
    for (const auto& oracle : oracles_) {
      if (!oracle->valid(report.first(oracle->report_bytes()))) return false;
      report = report.subspan(oracle->report_bytes());
    }
    return true;
  }
  const std::uint64_t drawn = get(report.data(), 2);
  if (drawn >= oracles_.size()) return false;
  const std::size_t size = oracles_[drawn]->report_bytes();
  const auto rest = report.subspan(2 + size);
  return oracles_[drawn]->valid(report.subspan(2, size)) &&
         std::all_of(rest.begin(), rest.end(), [](auto byte) { return byte == 0; });
}

std::vector<Tally> AttributeReports::empty_tallies() const {
  std::vector<Tally> tallies;
  for (const auto& oracle : oracles_) tallies.push_back(oracle->empty_tally());
  return tallies;
}

// Reports of one attribute are brought together first: oracles add many at once much faster than
// one by one.
void AttributeReports::add(Bytes reports, std::span<Tally> tallies) const {
  std::vector<std::vector<std::uint8_t>> parts(oracles_.size());
  const auto take = [&](std::size_t attribute, Bytes part) {
    parts[attribute].insert(parts[attribute].end(), part.begin(), part.end());
  };
  for (; !reports.empty(); reports = reports.subspan(report_bytes_)) {
    Bytes report = reports.first(report_bytes_);
    if (strategy_ == Strategy::Sample) {
      const std::uint64_t drawn = get(report.data(), 2);
      take(drawn, report.subspan(2, oracles_[drawn]->report_bytes()));
      continue;
    }
    for (std::size_t i = 0; i < oracles_.size(); ++i) {
      take(i, report.first(oracles_[i]->report_bytes()));
      report = report.subspan(oracles_[i]->report_bytes());
    }
  }
  for (std::size_t i = 0; i < oracles_.size(); ++i) oracles_[i]->add(parts[i], tallies[i]);
}

// n / k people draw the attribute, and what they say is scaled up by k.
Oracle::Variance AttributeReports::variance(std::size_t attribute) const {
  Oracle::Variance law = oracles_[attribute]->variance();
  if (strategy_ == Strategy::Split) return law;
  const auto k = static_cast<double>(oracles_.size());
  law.per_report *= k;
  law.per_holder = law.per_holder * k + (k - 1);
  return law;
}

// A holder among n people draws this attribute with chance 1/k: the count among those who drew it,
// times k, has the variance k^2 Var + c (k - 1).
Result<std::vector<Estimate>> AttributeReports::estimate(std::size_t attribute,
                                                         std::span<const Tally> tallies) const {
  DISCREET_CHECK(attribute < oracles_.size() && tallies.size() == oracles_.size(),
                 "an attribute of this collection");
  DISCREET_TRY(auto estimates, oracles_[attribute]->estimate(tallies[attribute]));
  if (strategy_ == Strategy::Split) return estimates;
  const auto k = static_cast<double>(oracles_.size());
  for (auto& e : estimates) {
    const double held = std::max(0.0, e.estimate) * k;
    e.standard_error = std::sqrt(k * k * e.standard_error * e.standard_error + held * (k - 1));
    e.estimate *= k;
    e.slope = k * e.slope + k - 1;
  }
  return estimates;
}

Result<Spec> record_spec(std::string_view strategy, double epsilon,
                         std::span<const AttributeQuestion> attributes) {
  const auto of_kind = [&](OracleKind kind) -> Result<Spec> {
    Spec spec;
    spec.kind = kind;
    spec.epsilon = epsilon;
    DISCREET_TRY(const double each,
                 epsilon_of_one(kind == OracleKind::Sample ? AttributeReports::Strategy::Sample
                                                           : AttributeReports::Strategy::Split,
                                epsilon, attributes.size()));
    for (const AttributeQuestion& asked : attributes) {
      const std::uint64_t values = asked.labels.empty() ? asked.values : asked.labels.size();
      if (values < 2)
        return invalid_parameter(
            fmt::format("attribute '{}' needs at least two values", asked.name));
      DISCREET_TRY(Spec attribute, choose_oracle(each, values));
      attribute.name = asked.name;
      attribute.labels = asked.labels;
      spec.attributes.push_back(std::move(attribute));
    }
    return complete(std::move(spec));
  };
  if (strategy != "auto") {
    DISCREET_TRY(const OracleKind kind, oracle_kind(strategy));
    if (!is_record(kind))
      return invalid_parameter("several attributes are collected by sample, split or auto");
    return of_kind(kind);
  }
  DISCREET_TRY(Spec sample, of_kind(OracleKind::Sample));
  DISCREET_TRY(const auto sampling, Oracle::make(sample));
  Result<Spec> split = of_kind(OracleKind::Split);
  if (!split) return sample;  // shares too small to say anything
  DISCREET_TRY(const auto splitting, Oracle::make(*split));
  return splitting->variance().per_report < sampling->variance().per_report ? split
                                                                            : Result<Spec>(sample);
}

}  // namespace discreet::local
