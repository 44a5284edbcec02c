// `discreet holdout`: ask one holdout again and again without overfitting it.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/synth_io.h"
#include "cli/verb.h"
#include "learn/forking_paths.h"
#include "learn/holdout_question.h"
#include "learn/thresholdout.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

using nlohmann::ordered_json;

struct AskArguments {
  std::string training, holdout, domain, epsilon = "1";
  double threshold = 0.04;
  std::uint64_t answers = 10, questions = 1000;
  bool json = false;
};

// One question a line from stdin; one answer a line to stdout.
Result<void> answer_questions(const AskArguments& arguments) {
  DISCREET_TRY(const double value, parse_number(arguments.epsilon, "--epsilon"));
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(value));
  DISCREET_TRY(const std::string domain, read_text_file(arguments.domain));
  DISCREET_TRY(const auto specs, synth::parse_specs(domain));
  DISCREET_TRY(const auto training, read_raw_table(arguments.training));
  DISCREET_TRY(const auto holdout, read_raw_table(arguments.holdout));
  SecureRandom random;
  DISCREET_TRY(auto guard, learn::Thresholdout::make({.epsilon = epsilon,
                                                      .answers_max = arguments.answers,
                                                      .threshold = arguments.threshold,
                                                      .holdout_rows = holdout.rows()},
                                                     random));
  const double bound = guard.error_bound(0.95, arguments.questions);
  fmt::print(stderr,
             "the holdout of {} rows is spent at epsilon {:g} for {} disagreements; with 95 % "
             "confidence {} answers are all within {:.3f} of the population{}\n",
             holdout.rows(), value, arguments.answers, arguments.questions, std::min(1.0, bound),
             bound >= 1 ? " (says nothing: use more rows or a smaller epsilon)" : "");
  std::string line;
  while (std::getline(std::cin, line)) {
    if (line.empty()) continue;
    DISCREET_TRY(const auto question,
                 learn::HoldoutQuestion::parse(
                     line, specs, [](const std::string& path) { return read_text_file(path); }));
    DISCREET_TRY(const auto on_training, question.answers(training));
    DISCREET_TRY(const auto on_holdout, question.answers(holdout));
    DISCREET_TRY(const auto answer, guard.ask(on_training, on_holdout, random));
    if (arguments.json)
      fmt::print("{}\n", ordered_json{{"question", line},
                                      {"mean", answer.mean},
                                      {"from_holdout", answer.from_holdout},
                                      {"left", guard.answers_left()}}
                             .dump());
    else
      fmt::print("{:.4f}  {}  {} left  {}\n", answer.mean,
                 answer.from_holdout ? "holdout disagrees" : "training agrees  ",
                 guard.answers_left(), line);
    std::fflush(stdout);
  }
  return {};
}

struct DemoArguments {
  std::string svg;
  std::size_t rows = 10'000, attributes = 2000;
  bool json = false;
};

Result<void> run_demo(const DemoArguments& arguments) {
  SecureRandom random;
  learn::ForkingPathsOptions options;
  options.rows = arguments.rows;
  options.attributes = arguments.attributes;
  DISCREET_TRY(const auto paths, learn::walk_forking_paths(options, random));
  ordered_json steps = ordered_json::array();
  for (std::size_t i = 0; i < paths.plain.size(); ++i)
    steps.push_back({{"picked", paths.plain[i].picked},
                     {"plain_holdout", paths.plain[i].holdout},
                     {"plain_fresh", paths.plain[i].fresh},
                     {"reusable_training", paths.reusable[i].training},
                     {"reusable_holdout", paths.reusable[i].holdout},
                     {"reusable_fresh", paths.reusable[i].fresh}});
  if (!arguments.svg.empty())
    DISCREET_TRY_VOID(write_text_file(arguments.svg, learn::forking_paths_svg(paths)));
  if (arguments.json) {
    fmt::print("{}\n", ordered_json{{"steps", steps}, {"disagreements", paths.paid}}.dump());
    return {};
  }
  fmt::print("labels are coin tosses: nothing can be right more often than half the time\n");
  fmt::print("attributes   plain holdout says   fresh rows say   reusable holdout says   fresh\n");
  for (std::size_t i = 0; i < paths.plain.size(); ++i)
    fmt::print("{:>10}   {:>18.3f}   {:>14.3f}   {:>21.3f}   {:>5.3f}\n", paths.plain[i].picked,
               paths.plain[i].holdout, paths.plain[i].fresh, paths.reusable[i].holdout,
               paths.reusable[i].fresh);
  return {};
}

}  // namespace

void add_holdout(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "holdout", "Ask one holdout again and again without overfitting it",
               "  discreet holdout demo\n"
               "  echo 'model m.json' | discreet holdout ask train.csv hold.csv "
               "--domain d.json --epsilon 1");
  verb->require_subcommand(1);
  CLI::App* ask =
      add_verb(*verb, "ask", "Questions from stdin, one a line",
               "  printf 'model m.json\\nmean age\\nshare sex=1 income=1\\n' | discreet "
               "holdout ask train.csv hold.csv --domain d.json");
  auto a = std::make_shared<AskArguments>();
  ask->add_option("training", a->training, "Rows the analyst may see")->required();
  ask->add_option("holdout", a->holdout, "Rows only this program sees")->required();
  ask->add_option("--domain", a->domain, "What the columns may hold, as JSON")->required();
  ask->add_option("--epsilon", a->epsilon, "For the holdout's rows, all answers together")
      ->capture_default_str();
  ask->add_option("--threshold", a->threshold, "How much disagreement is shown")
      ->capture_default_str();
  ask->add_option("--answers", a->answers, "How many disagreements can be shown")
      ->capture_default_str();
  ask->add_option("--questions", a->questions, "For the bound that is printed")
      ->capture_default_str();
  ask->add_flag("--json", a->json, "One JSON object a line");
  ask->callback([&chosen, a] {
    chosen = [a] {
      const auto answered = answer_questions(*a);
      return answered ? kOk : fail(answered.error());
    };
  });
  CLI::App* demo = add_verb(*verb, "demo", "A garden of forking paths, with and without",
                            "  discreet holdout demo --svg forking.svg");
  auto d = std::make_shared<DemoArguments>();
  demo->add_option("--svg", d->svg, "A picture")->type_name("FILE");
  demo->add_option("--rows", d->rows, "Of each part")->capture_default_str();
  demo->add_option("--attributes", d->attributes, "Coin tosses to choose from")
      ->capture_default_str();
  demo->add_flag("--json", d->json, "One JSON object");
  demo->callback([&chosen, d] {
    chosen = [d] {
      const auto shown = run_demo(*d);
      return shown ? kOk : fail(shown.error());
    };
  });
}

}  // namespace discreet::cli
