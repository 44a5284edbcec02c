#include "local/postprocess.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "base/suggest.h"

namespace discreet::local {
namespace {

struct Named {
  const char* name;
  PostProcess how;
};
constexpr std::array kNames = {
    Named{"none", PostProcess::None},        Named{"clip", PostProcess::Clip},
    Named{"base-cut", PostProcess::BaseCut}, Named{"norm", PostProcess::Norm},
    Named{"norm-mul", PostProcess::NormMul}, Named{"norm-sub", PostProcess::NormSub},
    Named{"norm-cut", PostProcess::NormCut}, Named{"simplex", PostProcess::Simplex}};

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void clip(std::vector<double>& values) {
  for (double& value : values) value = std::max(0.0, value);
}

// Each round spreads the surplus over what is still positive; values only leave, so it ends.
void norm_sub(std::vector<double>& values, double total) {
  clip(values);
  for (std::size_t round = 0; round <= values.size(); ++round) {
    const auto alive = std::count_if(values.begin(), values.end(), [](double v) { return v > 0; });
    if (alive == 0) break;
    const double surplus = (sum(values) - total) / static_cast<double>(alive);
    bool crossed = false;
    for (double& value : values) {
      if (value <= 0) continue;
      value -= surplus;
      crossed |= value < 0;
    }
    if (!crossed) return;
    clip(values);
  }
}

void norm_cut(std::vector<double>& values, double total) {
  clip(values);
  auto order = values;
  std::sort(order.begin(), order.end(), std::greater<>());
  double kept = 0, least = 0;
  for (const double value : order) {
    if (kept + value > total) break;
    kept += value;
    least = value;
  }
  for (double& value : values)
    if (value < least) value = 0;
}

// Held, Wolfe and Crowder 1974: subtract the one number that makes the positive parts sum right.
void project(std::vector<double>& values, double total) {
  auto order = values;
  std::sort(order.begin(), order.end(), std::greater<>());
  double above = 0, shift = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    above += order[i];
    const double candidate = (above - total) / static_cast<double>(i + 1);
    if (order[i] - candidate > 0) shift = candidate;
  }
  for (double& value : values) value = std::max(0.0, value - shift);
}

}  // namespace

std::vector<std::string> post_process_names() {
  std::vector<std::string> names;
  for (const auto& named : kNames) names.emplace_back(named.name);
  return names;
}

Result<PostProcess> post_process_named(std::string_view name) {
  for (const auto& named : kNames)
    if (name == named.name) return named.how;
  return invalid_parameter(fmt::format("there is no post-processing '{}'{}; there are {}", name,
                                       did_you_mean(name, post_process_names()),
                                       fmt::join(post_process_names(), ", ")));
}

std::vector<double> post_process(PostProcess how, std::span<const double> estimates, double total,
                                 double threshold) {
  std::vector<double> values(estimates.begin(), estimates.end());
  if (values.empty()) return values;
  switch (how) {
    case PostProcess::None:
      break;
    case PostProcess::Clip:
      clip(values);
      break;
    case PostProcess::BaseCut:
      for (double& value : values) value = value < threshold ? 0 : value;
      break;
    case PostProcess::Norm: {
      const double shift = (total - sum(values)) / static_cast<double>(values.size());
      for (double& value : values) value += shift;
      break;
    }
    case PostProcess::NormMul: {
      clip(values);
      const double all = sum(values);
      for (double& value : values)
        value = all > 0 ? value * total / all : total / static_cast<double>(values.size());
      break;
    }
    case PostProcess::NormSub:
      norm_sub(values, total);
      break;
    case PostProcess::NormCut:
      norm_cut(values, total);
      break;
    case PostProcess::Simplex:
      project(values, total);
      break;
  }
  return values;
}

}  // namespace discreet::local
