#include "synth/synthesize.h"

#include <fmt/format.h>

#include <algorithm>

#include "synth/independent.h"
#include "synth/mst.h"

namespace discreet::synth {
namespace {

constexpr std::pair<const char*, Method> kMethods[] = {
    {"auto", Method::Auto}, {"latent", Method::Latent}, {"aim", Method::Aim},
    {"mst", Method::Mst},   {"rap", Method::Rap},       {"independent", Method::Independent}};

}  // namespace

Result<Method> parse_method(const std::string& text) {
  for (const auto& [known, method] : kMethods)
    if (text == known) return method;
  return invalid_parameter(fmt::format(
      "there is no method \"{}\"; there are auto, latent, aim, mst, rap and independent", text));
}

const char* name(Method method) {
  for (const auto& [known, value] : kMethods)
    if (value == method) return known;
  return "auto";
}

Method choose_method(const Domain& domain, const Workload& workload, ApproxDp target) {
  static_cast<void>(domain);
  static_cast<void>(target);
  const bool wider = std::any_of(workload.marginals.begin(), workload.marginals.end(),
                                 [](const auto& m) { return m.attributes.size() > 1; });
  return wider ? Method::Latent : Method::Independent;
}

namespace {

Result<Twin> fit(const CodedTable& table, const Workload& workload, ApproxDp target,
                 const SynthesisSettings& settings, const FitContext& context) {
  const Method method = settings.method == Method::Auto
                            ? choose_method(table.domain, workload, target)
                            : settings.method;
  if (context.refit && method != Method::Latent)
    return invalid_parameter(
        "only the method latent fits every twin anew; the others make all twins from one model");
  switch (method) {
    case Method::Independent:
      return fit_independent(table, target, context);
    case Method::Aim:
      return fit_aim(table, workload, target, settings.aim, context);
    case Method::Mst:
      return fit_mst(table, workload, target, context);
    case Method::Rap:
      return fit_rap(table, workload, target, settings.rap, context);
    case Method::Auto:
    case Method::Latent:
      break;
  }
  return fit_latent(table, workload, target,
                    settings.fast ? LatentSettings::fast() : settings.latent, context);
}

// Methods make records part by part; nobody should mistake their order for something.
void shuffle_rows(CodedTable& table, Dice& dice) {
  for (std::size_t i = table.rows(); i > 1; --i) {
    const std::size_t j = dice.below(i);
    for (auto& column : table.columns) std::swap(column[i - 1], column[j]);
  }
}

}  // namespace

Result<Twin> synthesize(const CodedTable& table, const Workload& workload, ApproxDp target,
                        const SynthesisSettings& settings, const FitContext& context) {
  DISCREET_TRY(Twin twin, fit(table, workload, target, settings, context));
  Dice dice(context.random);
  for (CodedTable& records : twin.tables) shuffle_rows(records, dice);
  return twin;
}

}  // namespace discreet::synth
