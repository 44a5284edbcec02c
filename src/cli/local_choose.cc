// `discreet local choose`: which oracle and how much epsilon, before anyone reports.
#include <cmath>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/shuffle.h"
#include "base/parse_number.h"
#include "cli/local_options.h"
#include "local/choose.h"
#include "local/confidence.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string oracle, epsilon, values, people = "1000000", error, confidence = "0.95",
                                       delta = "1e-6";
  bool json = false, simultaneous = false;
};

Result<int> choose(const Options& o) {
  DISCREET_TRY(const auto values, parse_integer(o.values, "values"));
  DISCREET_TRY(const auto people, parse_integer(o.people, "people"));
  DISCREET_TRY(const double confidence, parse_number(o.confidence, "confidence"));
  DISCREET_TRY(const double delta, parse_number(o.delta, "delta"));
  if (values < 2 || people < 1)
    return invalid_parameter("give at least two --values and one of --people");
  const auto d = static_cast<std::uint64_t>(values), n = static_cast<std::uint64_t>(people);
  DISCREET_TRY(const double z, local::critical_value(confidence, o.simultaneous ? d : 1));
  double epsilon = 0;
  if (!o.error.empty()) {
    local::Spec spec;
    spec.values = d;
    spec.kind = local::OracleKind::OptimizedHash;
    if (!o.oracle.empty()) {
      DISCREET_TRY(spec.kind, local::oracle_kind(o.oracle));
    }
    DISCREET_TRY(const double error, parse_number(o.error, "error"));
    DISCREET_TRY(epsilon, local::epsilon_for_error(spec, {.error = error,
                                                          .reports = n,
                                                          .confidence = confidence,
                                                          .simultaneous = o.simultaneous}));
  } else if (!o.epsilon.empty()) {
    DISCREET_TRY(epsilon, parse_number(o.epsilon, "epsilon"));
  } else {
    return invalid_parameter("give --epsilon, or --error (of a count, that you can live with)");
  }
  DISCREET_TRY(const auto choices, local::compare_oracles(epsilon, d));
  DISCREET_TRY(const auto best, local::choose_oracle(epsilon, d));
  const auto central = shuffle_clones_epsilon(n, epsilon, delta);
  const auto closed = shuffle_closed_form_epsilon(n, epsilon, delta);
  if (!o.json)
    fmt::print("epsilon {:.6g}, {} people, {} values\n{:<8}{:>16}{:>14}  \n", epsilon, n, d,
               "oracle", fmt::format("error at {:g} %", 100 * confidence), "bytes");
  for (const auto& choice : choices) {
    const double error = z * std::sqrt(choice.variance * static_cast<double>(n));
    const bool chosen = choice.spec.kind == best.kind;
    if (o.json) {
      nlohmann::ordered_json out;
      out["oracle"] = local::name(choice.spec.kind);
      out["epsilon"] = epsilon;
      out["error"] = error;
      out["stderr"] = std::sqrt(choice.variance * static_cast<double>(n));
      out["report_bytes"] = choice.report_bytes;
      out["chosen"] = chosen;
      if (central) out["shuffled_epsilon"] = *central;
      if (closed) out["shuffled_epsilon_closed_form"] = *closed;
      std::printf("%s\n", out.dump().c_str());
    } else {
      fmt::print("{:<8}{:>16.1f}{:>14}  {}\n", local::name(choice.spec.kind), error,
                 choice.report_bytes, chosen ? "<- auto" : "");
    }
  }
  if (central)
    fmt::print(
        stderr,
        "shuffled, {} reports of epsilon {:.4g} are central epsilon {:.4g} at delta {} (closed "
        "form {})\n",
        n, epsilon, *central, delta, closed ? fmt::format("{:.4g}", *closed) : "does not apply");
  return kOk;
}

}  // namespace

void add_local_choose(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(app, "choose", "Compare oracles before anyone reports",
                            "  discreet local choose --epsilon 1 --values 1024 --people 1000000\n"
                            "  discreet local choose --error 5000 --values 1024 --people 1000000");
  auto o = std::make_shared<Options>();
  verb->add_option("--values", o->values, "How many values there are")->required();
  verb->add_option("--people", o->people, "How many people will report")->capture_default_str();
  verb->add_option("--epsilon", o->epsilon, "Privacy loss of one report");
  verb->add_option("--error", o->error, "Instead of --epsilon: the error of a count wanted");
  verb->add_option("--oracle", o->oracle, "With --error: for this oracle (olh when not given)");
  verb->add_option("--confidence", o->confidence, "Of the errors")->capture_default_str();
  verb->add_option("--delta", o->delta, "Of the shuffled guarantee")->capture_default_str();
  verb->add_flag("--simultaneous", o->simultaneous, "Errors that hold for all values together");
  verb->add_flag("--json", o->json, "One JSON object an oracle");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = choose(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
