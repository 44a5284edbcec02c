#include "curator/test_job.h"

#include <cmath>

#include <fmt/format.h>

#include "inference/count_tests.h"
#include "inference/regression.h"

namespace discreet {
namespace {

using Kind = sql::TestRelease::Kind;

// A JSON object of numbers, in the order they are put; what is not finite is null. Names and spaces
// are as the final statement reads them (Function::ResultPart).
class Parts {
 public:
  void put(std::string_view name, double value) {
    text_ += fmt::format("{}\"{}\": ", text_.empty() ? "" : ", ", name);
    text_ += std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
  }
  void put_text(std::string_view name, std::string_view value) {
    std::string escaped;
    for (const char c : value)
      if (c == '"' || c == '\\')
        (escaped += '\\') += c;
      else if (static_cast<unsigned char>(c) >= 0x20)
        escaped += c;
    text_ += fmt::format("{}\"{}\": \"{}\"", text_.empty() ? "" : ", ", name, escaped);
  }
  void put_raw(std::string_view name, const std::string& value) {
    text_ += fmt::format("{}\"{}\": {}", text_.empty() ? "" : ", ", name, value);
  }
  std::string done() const { return "{" + text_ + "}"; }

 private:
  std::string text_;
};

std::string outcome_text(const inference::TestOutcome& outcome, bool with_degrees) {
  Parts parts;
  parts.put("statistic", outcome.statistic);
  if (with_degrees) parts.put("df", outcome.degrees);
  parts.put("p_value", outcome.p_value);
  parts.put("estimate", outcome.estimate);
  parts.put("standard_error", outcome.standard_error);
  parts.put("low", outcome.interval.low);
  parts.put("high", outcome.interval.high);
  parts.put("rows", std::round(outcome.rows));
  return parts.done();
}

std::string effect_text(const inference::TestOutcome& outcome, const std::string& list_name,
                        const std::string& list) {
  Parts parts;
  parts.put("statistic", outcome.statistic);
  parts.put("df", outcome.degrees);
  parts.put("p_value", outcome.p_value);
  parts.put("effect", outcome.estimate);
  parts.put("rows", std::round(outcome.rows));
  if (!list.empty()) parts.put_raw(list_name, "[" + list + "]");
  return parts.done();
}

// Several estimates by name, each with both intervals.
std::string list_text(const std::vector<inference::Estimated>& all,
                      const std::vector<std::string>& names, const char* what) {
  std::string list;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Parts one;
    one.put_text("group", names[i]);
    one.put(what, all[i].value);
    one.put("error", all[i].standard_error);
    one.put("from", all[i].interval.low);
    one.put("to", all[i].interval.high);
    one.put("joint_from", all[i].simultaneous.low);
    one.put("joint_to", all[i].simultaneous.high);
    list += (list.empty() ? "" : ", ") + one.done();
  }
  return list;
}

std::string regression_text(const inference::NoisyJointSums& sums) {
  const auto fitted = inference::linear_regression(sums);
  Parts parts;
  for (std::size_t i = 0; i < fitted.coefficients.size(); ++i) {
    const auto& one = fitted.coefficients[i];
    const auto put = [&](const char* part, double value) {
      parts.put(fmt::format("b{}{}", i, part), value);
    };
    put("", fitted.identified ? one.value : NAN);
    put("_error", one.standard_error);
    put("_statistic", fitted.identified ? one.statistic : NAN);
    put("_p_value", one.p_value);
    put("_low", one.interval.low);
    put("_high", one.interval.high);
    put("_joint_low", one.simultaneous.low);
    put("_joint_high", one.simultaneous.high);
  }
  parts.put("r2", fitted.identified ? fitted.r_squared : NAN);
  parts.put("residual_sd", fitted.identified ? fitted.residual_sd : NAN);
  parts.put("rows", std::round(fitted.rows));
  if (sums.columns == 2) {
    const auto simple = inference::simple_sums(sums);
    parts.put("avg_x", simple.avg_x);
    parts.put("avg_y", simple.avg_y);
    parts.put("sxx", simple.sxx);
    parts.put("syy", simple.syy);
    parts.put("sxy", simple.sxy);
  }
  return parts.done();
}

}  // namespace

Result<TestJob> TestJob::make(const sql::Release& release, std::size_t aggregate, Epsilon epsilon) {
  const auto& test = std::get<sql::TestRelease>(release.aggregates[aggregate].kind);
  const auto column = [&](std::size_t sum) {
    const sql::Value& value = release.values[*release.features[sum].value];
    return inference::RegressionColumn{{value.lower, value.upper}, value.grid.unit()};
  };
  if (!test.groups.empty()) {
    const auto of = column(test.groups.front().sum);
    DISCREET_TRY(auto made, inference::MomentsMechanism::make(epsilon, of.range, of.unit));
    return TestJob(test, aggregate, epsilon, std::move(made));
  }
  if (!test.sums.empty()) {
    std::vector<inference::RegressionColumn> columns;
    for (const std::size_t sum : test.sums) columns.push_back(column(sum));
    DISCREET_TRY(auto made, inference::JointSumsMechanism::make(epsilon, std::move(columns)));
    return TestJob(test, aggregate, epsilon, std::move(made));
  }
  DISCREET_TRY(auto made, DiscreteLaplace::make(epsilon, L1Sensitivity{1}));
  return TestJob(test, aggregate, epsilon, std::move(made));
}

std::string TestJob::release(const GroupTotals& totals, RandomSource& random) const {
  if (const auto* joint = std::get_if<inference::JointSumsMechanism>(&mechanism_)) {
    std::vector<Int128> sums, products;
    for (const std::size_t sum : test_->sums) sums.push_back(totals.features[sum]);
    for (const std::size_t product : test_->products) products.push_back(totals.features[product]);
    const auto noisy = joint->release(totals.features[test_->count], sums, products, random);
    return test_->kind == Kind::Correlation ? outcome_text(inference::correlation_test(noisy), true)
                                            : regression_text(noisy);
  }
  if (const auto* moments = std::get_if<inference::MomentsMechanism>(&mechanism_)) {
    std::vector<inference::NoisyMoments> groups;
    for (const auto& group : test_->groups)
      groups.push_back(moments->release(totals.features[group.count], totals.features[group.sum],
                                        totals.features[group.squares], random));
    if (test_->kind == Kind::OneSample)
      return outcome_text(inference::t_test(groups[0], test_->null), true);
    if (test_->kind == Kind::TwoSample)
      return outcome_text(inference::t_test(groups[0], groups[1]), true);
    const auto outcome = inference::anova(groups);
    return effect_text(outcome.test, "means", list_text(outcome.means, test_->names, "mean"));
  }
  const auto& laplace = std::get<DiscreteLaplace>(mechanism_);
  inference::NoisyCounts counts{
      {}, epsilon_.value(), static_cast<double>(random.bits64() >> 11) * 0x1p-53};
  for (const std::size_t cell : test_->cells)
    counts.cells.push_back(
        static_cast<double>(laplace.release(saturate(totals.features[cell]), random)));
  switch (test_->kind) {
    case Kind::Proportion:
      return outcome_text(inference::proportion_test(counts, test_->null), false);
    case Kind::TwoProportions:
      return outcome_text(inference::two_proportion_test(counts), false);
    case Kind::Fit:
      return effect_text(inference::goodness_of_fit(counts, test_->chances), "shares",
                         list_text(inference::shares(counts), test_->names, "share"));
    default:
      return effect_text(inference::independence_test(counts, test_->columns), "", "");
  }
}

const char* TestJob::mechanism() const {
  return std::holds_alternative<DiscreteLaplace>(mechanism_) ? "cells, discrete Laplace" : "K-norm";
}

std::optional<double> TestJob::error95_before() const {
  constexpr double kRows = 1000, kNormal = 1.959963984540054;
  if (const auto* moments = std::get_if<inference::MomentsMechanism>(&mechanism_)) {
    const double one = moments->error95_before(kRows, moments->half() / 3);
    if (test_->kind == Kind::OneSample) return one;
    if (test_->kind == Kind::TwoSample) return std::sqrt(2.0) * one;
  }
  if (const auto* laplace = std::get_if<DiscreteLaplace>(&mechanism_)) {
    const double one = kNormal * std::sqrt(kRows / 4 + laplace->variance() / 2) / kRows;
    if (test_->kind == Kind::Proportion) return one;
    if (test_->kind == Kind::TwoProportions) return std::sqrt(2.0) * one;
  }
  return std::nullopt;
}

bool TestJob::from_one_row(const sql::TestRelease& test, const WholesView& features) {
  Int128 cells = 0, samples = 0;
  for (const std::size_t cell : test.cells) cells += features[cell];
  for (const auto& group : test.groups) samples += features[group.count];
  return cells <= 1 && samples <= 1;
}

std::string quantile_text(double estimate, double low, double high, double rows) {
  Parts parts;
  parts.put("estimate", estimate);
  parts.put("low", low);
  parts.put("high", high);
  parts.put("rows", std::round(rows));
  return parts.done();
}

}  // namespace discreet
