// `discreet local simulate`: a made-up crowd reports, and the estimates are held against the truth.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/confidence.h"
#include "local/crowd.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  CollectionOptions collection;
  std::string people = "100000", skew = "1";
  bool json = false;
};

Result<int> simulate(const Options& o) {
  DISCREET_TRY(const auto spec, collection_spec(o.collection));
  if (spec.values == 0)
    return invalid_parameter("simulate counts numbered values; give --values or --labels");
  DISCREET_TRY(const auto people, parse_integer(o.people, "people"));
  DISCREET_TRY(const double skew, parse_number(o.skew, "skew"));
  if (people < 1 || people > 100'000'000)
    return invalid_parameter("people must be between 1 and 100,000,000");
  DISCREET_TRY(const auto oracle, local::Oracle::make(spec));
  SecureRandom random;
  const auto crowd = static_cast<std::uint64_t>(people);
  std::vector<std::uint64_t> truth;
  local::Tally tally;
  if (local::is_record(spec.kind)) {
    truth = local::zipf_record_counts(crowd, spec, skew);
    tally = local::collect_records_from_crowd(*oracle, truth, random);
  } else {
    truth = local::zipf_counts(crowd, spec.values, skew);
    tally = local::collect_from_crowd(*oracle, truth, random);
  }
  DISCREET_TRY(const auto estimates, oracle->estimate(tally));
  DISCREET_TRY(const double z, local::critical_value(0.95));
  double squares = 0, predicted = 0, worst = 0;
  std::uint64_t covered = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double t = static_cast<double>(truth[i]), miss = estimates[i].estimate - t;
    squares += miss * miss;
    predicted += estimates[i].standard_error * estimates[i].standard_error;
    worst = std::max(worst, std::abs(miss));
    const auto limits = local::interval(estimates[i], tally.reports, z);
    covered += limits.low <= t && t <= limits.high ? 1 : 0;
  }
  const auto d = static_cast<double>(truth.size());
  nlohmann::ordered_json out;
  out["oracle"] = local::name(spec.kind);
  out["epsilon"] = spec.epsilon;
  out["people"] = people;
  out["values"] = spec.values;
  out["rmse"] = std::sqrt(squares / d);
  out["predicted_rmse"] = std::sqrt(predicted / d);
  out["max_error"] = worst;
  out["covered_95"] = static_cast<double>(covered) / d;
  out["report_bytes"] = oracle->report_bytes();
  if (o.json) {
    std::printf("%s\n", out.dump().c_str());
    return kOk;
  }
  fmt::print("{} people, {} values, {} at epsilon {}, {} bytes a report\n", people, spec.values,
             local::name(spec.kind), spec.epsilon, oracle->report_bytes());
  fmt::print("error of a count: {:.1f} measured, {:.1f} predicted, {:.1f} at worst\n",
             std::sqrt(squares / d), std::sqrt(predicted / d), worst);
  fmt::print("95 % intervals that hold the truth: {:.1f} %\n\n",
             100 * static_cast<double>(covered) / d);
  fmt::print("{:<16}{:>12}{:>14}{:>10}\n", "value", "truth", "estimate", "stderr");
  const std::size_t shown = local::is_record(spec.kind) ? 40 : 10;
  for (std::size_t i = 0; i < std::min(shown, truth.size()); ++i)
    fmt::print("{:<16}{:>12}{:>14.0f}{:>10.0f}\n", local::value_text(spec, i), truth[i],
               estimates[i].estimate, estimates[i].standard_error);
  return kOk;
}

}  // namespace

void add_local_simulate(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "simulate", "A made-up crowd reports; estimates beside the truth",
                            "  discreet local simulate --epsilon 1 --values 100 --people 1000000");
  auto o = std::make_shared<Options>();
  add_collection_options(verb, o->collection);
  verb->add_option("--people", o->people, "How many report")->capture_default_str();
  verb->add_option("--skew", o->skew, "Exponent of the Zipf law that values follow")
      ->capture_default_str();
  verb->add_flag("--json", o->json, "One JSON object");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = simulate(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
