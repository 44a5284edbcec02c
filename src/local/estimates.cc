#include "local/estimates.h"

#include <algorithm>

#include "local/confidence.h"
#include "local/postprocess.h"

namespace discreet::local {
namespace {

/// How many rows each group has whose counts add up to the reports.
std::vector<std::size_t> groups_of(const Spec& spec, std::size_t rows, bool all) {
  if (!is_record(spec.kind)) return {rows};
  std::vector<std::size_t> groups;
  if (all)
    for (const Spec& attribute : spec.attributes) groups.push_back(attribute.values);
  else
    groups.assign(rows, 1);  // single rows of different attributes
  return groups;
}

}  // namespace

Result<std::vector<EstimateRow>> estimate_rows(const Oracle& oracle, const Tally& tally,
                                               const EstimateQuestion& question) {
  const Spec& spec = oracle.spec();
  const bool mean = is_mean(spec.kind), all = question.candidates.empty();
  std::vector<std::uint64_t> inputs;
  for (const auto& candidate : question.candidates) {
    DISCREET_TRY(const auto row, row_of(spec, candidate));
    inputs.push_back(row);
  }
  DISCREET_TRY(const auto estimates, oracle.estimate(tally, inputs));
  DISCREET_TRY(const double z,
               critical_value(question.confidence, question.simultaneous ? estimates.size() : 1));
  DISCREET_TRY(const auto how, post_process_named(question.post));
  if (is_record(spec.kind) && !all && how != PostProcess::None && how != PostProcess::Clip)
    return invalid_parameter(
        "counts of single rows of a record do not add up to the reports; ask for all rows, or "
        "--post clip");
  std::vector<double> shown;
  for (const auto& e : estimates) shown.push_back(e.estimate);
  if (!mean) {
    std::size_t first = 0;
    for (const std::size_t size : groups_of(spec, shown.size(), all)) {
      if (size == 0) continue;
      const auto made =
          post_process(how, std::span(shown).subspan(first, size),
                       static_cast<double>(tally.reports), z * estimates[first].standard_error);
      std::copy(made.begin(), made.end(), shown.begin() + static_cast<std::ptrdiff_t>(first));
      first += size;
    }
  }
  std::vector<EstimateRow> rows;
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const auto limits = interval(estimates[i], mean ? 0 : tally.reports, z);
    rows.push_back({mean  ? "mean"
                    : all ? value_text(spec, i)
                          : question.candidates[i],
                    shown[i], estimates[i].standard_error, limits.low, limits.high});
  }
  if (question.top > 0 && question.top < rows.size()) {
    std::stable_sort(rows.begin(), rows.end(), [](const EstimateRow& a, const EstimateRow& b) {
      return a.estimate > b.estimate;
    });
    rows.resize(question.top);
  }
  return rows;
}

}  // namespace discreet::local
