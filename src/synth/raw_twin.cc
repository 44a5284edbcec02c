#include "synth/raw_twin.h"

#include "base/rounding.h"

namespace discreet::synth {
namespace {

constexpr std::uint64_t kNamedCellsMax = 50'000;  // of a marginal in "3way"
constexpr double kFindingShare = 0.1;             // of the budget, where bins or keys are unknown

struct Split {
  ApproxDp finding{Epsilon::zero(), Delta::zero()}, fitting;
};

Result<Split> split_budget(ApproxDp whole, std::size_t to_find) {
  if (to_find == 0) return Split{{Epsilon::zero(), Delta::zero()}, whole};
  DISCREET_TRY(const Epsilon e, Epsilon::make(mul_down(kFindingShare, whole.epsilon.value())));
  DISCREET_TRY(const Delta d, Delta::make(mul_down(kFindingShare, whole.delta.value())));
  DISCREET_TRY(const Epsilon rest, Epsilon::make(sub_down(whole.epsilon.value(), e.value())));
  DISCREET_TRY(const Delta rest_delta, Delta::make(sub_down(whole.delta.value(), d.value())));
  return Split{{e, d}, {rest, rest_delta}};
}

}  // namespace

Result<Workload> workload_of(const std::string& text, const Domain& domain) {
  if (text.size() == 4 && text.ends_with("way") && text[0] >= '1' && text[0] <= '9')
    return Workload::all(domain, static_cast<std::uint32_t>(text[0] - '0'), kNamedCellsMax);
  return Workload::parse(text, domain);
}

Result<void> RawTwinRequest::check(const std::vector<ColumnSpec>& specs) const {
  if (!(budget.epsilon.value() > 0)) return invalid_parameter("epsilon must be positive");
  if (!(budget.delta.value() > 0))
    return invalid_parameter("delta must be positive: the noise of a twin is Gaussian");
  std::vector<Attribute> attributes;
  for (const auto& spec : specs) attributes.push_back({spec.name, 2});
  DISCREET_TRY(const Domain domain, Domain::make(std::move(attributes)));
  DISCREET_TRY_VOID(workload_of(workload, domain));
  return {};
}

Result<RawTwin> fit_raw(const RawTable& raw, const std::vector<ColumnSpec>& specs,
                        const RawTwinRequest& request, RandomSource& random) {
  DISCREET_TRY(const Split split, split_budget(request.budget, columns_to_find(specs)));
  DISCREET_TRY(auto real, encode(raw, specs, split.finding, random));
  DISCREET_TRY(auto workload, workload_of(request.workload, real.table.domain));
  Workers workers(request.threads);
  const FitContext context{.workers = workers,
                           .random = random,
                           .progress = request.progress,
                           .rows_out = request.rows,
                           .twins = request.twins,
                           .refit = request.refit};
  DISCREET_TRY(auto twin,
               synthesize(real.table, workload, split.fitting, request.settings, context));
  Dice dice(random);
  std::vector<RawTable> tables;
  for (const auto& table : twin.tables) tables.push_back(decode(table, real.codecs, dice));
  return RawTwin{std::move(real), std::move(workload), std::move(twin), std::move(tables)};
}

}  // namespace discreet::synth
