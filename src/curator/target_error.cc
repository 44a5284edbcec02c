#include "curator/target_error.h"

#include <boost/math/special_functions/erf.hpp>
#include <cmath>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace discreet {
namespace {

constexpr double kEpsilonMin = 0x1p-10, kEpsilonMax = 0x1p20, kPrecision = 1.001;

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

// Half the width of the normal law's interval, in standard deviations.
double normal_width(double confidence) {
  return std::sqrt(2.0) * boost::math::erf_inv(confidence);
}

}  // namespace

Result<TargetError> TargetError::parse(const std::string& text) {
  const auto bad = [&] {
    return invalid_parameter(
        fmt::format("target_error '{}' is not of the form '±50 at 95%': half the width of the "
                    "interval, then its confidence",
                    text));
  };
  std::string rest = trimmed(text);
  for (const char* sign : {"±", "+-", "+/-"})
    if (rest.starts_with(sign)) {
      rest = trimmed(rest.substr(std::string(sign).size()));
      break;
    }
  TargetError target{0, 0.95};
  if (const auto at = rest.find(" at "); at != std::string::npos) {
    std::string confidence = trimmed(rest.substr(at + 4));
    if (!confidence.ends_with('%')) return bad();
    confidence = trimmed(confidence.substr(0, confidence.size() - 1));
    const auto value = parse_number(confidence, "confidence");
    if (!value || !(*value >= 50 && *value < 100)) return bad();
    target.confidence = *value / 100;
    rest = trimmed(rest.substr(0, at));
  }
  const auto width = parse_number(rest, "target_error");
  if (!width || !(*width > 0) || !std::isfinite(*width)) return bad();
  target.half_width = *width;
  return target;
}

std::string TargetError::to_string() const {
  return fmt::format("±{:.6g} at {:.6g}%", half_width, confidence * 100);
}

double at_confidence(double error95, double confidence) {
  const double laplace = std::log1p(-confidence) / std::log(0.05);
  const double normal = normal_width(confidence) / normal_width(0.95);
  return error95 * std::max(laplace, normal);
}

Result<double> error_at(const sql::Release& release, ApproxDp budget, double confidence) {
  DISCREET_TRY(const ReleaseJob job, ReleaseJob::make(release, budget));
  const auto forecast = job.forecast();
  double worst = 0;
  for (std::size_t i = 0; i < forecast.size(); ++i) {
    if (!forecast[i].error95 || forecast[i].depends_on_rows)
      return Error{
          ErrorCode::Refused,
          fmt::format("The error of {} depends on the data{}, so no epsilon can promise a "
                      "target_error. Ask with an epsilon; the answer says its error.",
                      release.aggregates[i].text,
                      forecast[i].error95 ? " (on how many rows a group has)"
                                          : " (on a bound that is found privately, or on how "
                                            "values lie)")};
    worst = std::max(worst, at_confidence(*forecast[i].error95, confidence));
  }
  return worst;
}

Result<Epsilon> epsilon_for(const sql::Release& release, const TargetError& target, Delta delta) {
  if (release.aggregates.empty())
    return Error{ErrorCode::Refused,
                 "A target_error is for numbers, and this question releases none."};
  const auto error = [&](double epsilon) -> Result<double> {
    DISCREET_TRY(const Epsilon asked, Epsilon::make(epsilon));
    return error_at(release, {asked, delta}, target.confidence);
  };
  // Errors fall as epsilon grows. Where so little epsilon cannot be used at all, it is too little.
  double low = kEpsilonMin, high = kEpsilonMax;
  DISCREET_TRY(const double least, error(high));
  if (least > target.half_width)
    return Error{ErrorCode::Refused, fmt::format("target_error {} is out of reach: ±{:.3g} is what "
                                                 "the largest epsilon gives.",
                                                 target.to_string(), least)};
  while (high / low > kPrecision) {
    const double middle = std::sqrt(low * high);
    const auto found = error(middle);
    if (!found && found.error().code == ErrorCode::Refused) return found.error();
    (found && *found <= target.half_width ? high : low) = middle;
  }
  return Epsilon::make(high);
}

}  // namespace discreet
