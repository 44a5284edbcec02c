// `discreet local compare`: local, shuffled, two servers, central: the same question, the same
// privacy, measured errors.
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/crowd.h"
#include "local/trust_models.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string epsilon = "1", delta = "1e-6", values = "20", people = "100000", skew = "1",
              repetitions = "5";
  bool json = false;
};

Result<int> compare(const Options& o) {
  local::TrustQuestion question;
  DISCREET_TRY(question.epsilon, parse_number(o.epsilon, "epsilon"));
  DISCREET_TRY(question.delta, parse_number(o.delta, "delta"));
  DISCREET_TRY(const auto values, parse_integer(o.values, "values"));
  DISCREET_TRY(const auto people, parse_integer(o.people, "people"));
  DISCREET_TRY(const double skew, parse_number(o.skew, "skew"));
  DISCREET_TRY(const auto repetitions, parse_integer(o.repetitions, "repetitions"));
  if (values < 2 || values > 4096 || people < 1 || people > 10'000'000)
    return invalid_parameter("values must be 2 to 4,096 and people 1 to 10,000,000");
  if (repetitions < 1 || repetitions > 1000)
    return invalid_parameter("repetitions must be 1 to 1,000");
  question.repetitions = static_cast<std::uint32_t>(repetitions);
  const auto truth = local::zipf_counts(static_cast<std::uint64_t>(people),
                                        static_cast<std::uint64_t>(values), skew);
  SecureRandom random;
  DISCREET_TRY(const auto rows, local::compare_trust_models(truth, question, random));
  const double central = rows.back().measured;
  if (!o.json) {
    fmt::print("How many of {} people hold each of {} values, at epsilon {}{}\n\n", people, values,
               question.epsilon, fmt::format(" (shuffled: delta {})", question.delta));
    fmt::print("{:<13}{:<38}{:<32}{:>10}{:>12}{:>12}{:>10}\n", "model", "you trust", "by",
               "a report", "predicted", "measured", "x central");
  }
  for (const auto& row : rows) {
    if (o.json) {
      nlohmann::ordered_json out;
      out["model"] = row.model;
      out["trusted"] = row.trusted;
      out["mechanism"] = row.mechanism;
      out["report_epsilon"] = std::isfinite(row.local_epsilon)
                                  ? nlohmann::ordered_json(row.local_epsilon)
                                  : nlohmann::ordered_json(nullptr);
      out["predicted_rmse"] = row.predicted;
      out["measured_rmse"] = row.measured;
      out["times_central"] = row.measured / central;
      std::printf("%s\n", out.dump().c_str());
    } else {
      fmt::print("{:<13}{:<38}{:<32}{:>10}{:>12.2f}{:>12.2f}{:>10.1f}\n", row.model, row.trusted,
                 row.mechanism,
                 std::isfinite(row.local_epsilon) ? fmt::format("eps {:.3g}", row.local_epsilon)
                                                  : std::string("hidden"),
                 row.predicted, row.measured, row.measured / central);
    }
  }
  return kOk;
}

}  // namespace

void add_local_compare(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "compare", "Local, shuffled, two servers, central: errors at the same privacy",
               "  discreet local compare --epsilon 1 --values 20 --people 100000");
  auto o = std::make_shared<Options>();
  verb->add_option("--epsilon", o->epsilon, "What the published counts may reveal")
      ->capture_default_str();
  verb->add_option("--delta", o->delta, "Of the shuffled model")->capture_default_str();
  verb->add_option("--values", o->values, "How many values there are")->capture_default_str();
  verb->add_option("--people", o->people, "How many people there are")->capture_default_str();
  verb->add_option("--skew", o->skew, "Exponent of the Zipf law that values follow")
      ->capture_default_str();
  verb->add_option("--repetitions", o->repetitions, "Runs that errors are measured over")
      ->capture_default_str();
  verb->add_flag("--json", o->json, "One JSON object a model");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = compare(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
