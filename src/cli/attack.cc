// `discreet attack`: what old-fashioned releases give away, and what private ones do not.
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "attack/census.h"
#include "attack/linkage.h"
#include "attack/reconstruction.h"
#include "attack/shadow.h"
#include "attack/single_bit.h"
#include "attack/tracing.h"
#include "base/suggest.h"
#include "cli/verb.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct AttackArguments {
  std::string name;
  bool json = false, list = false;
  double epsilon = 1;
  std::size_t people = 0, queries = 0, attempts = 0, k = 5, attributes = 2000, shadows = 100;
  bool only_ours = false;
  std::uint64_t seed = 1;
  std::string decoder = "least-squares", picture, curve, model = "logistic";
};

using Run = std::function<Result<attack::Report>(const AttackArguments&, RandomSource&)>;

template <class T>
T or_else(T given, T otherwise) {
  return given == 0 ? otherwise : given;
}

Result<attack::Report> reconstruct(const AttackArguments& arguments, RandomSource& random) {
  attack::ReconstructionOptions options;
  options.epsilon = arguments.epsilon;
  if (arguments.decoder == "exhaustive") {
    options.decoder = attack::Decoder::Exhaustive;
    options.people = or_else<std::size_t>(arguments.people, 14);
    options.queries = or_else<std::size_t>(arguments.queries, 200);
  } else if (arguments.decoder == "lp") {
    options.decoder = attack::Decoder::LinearProgram;
    options.people = or_else<std::size_t>(arguments.people, 100);
    options.queries = or_else<std::size_t>(arguments.queries, 4 * options.people);
  } else {
    options.people = or_else<std::size_t>(arguments.people, 500);
    options.queries = or_else<std::size_t>(arguments.queries, 4 * options.people);
  }
  return attack::reconstruction(options, random);
}

attack::SingleOptions single(const AttackArguments& arguments) {
  return {or_else<std::uint64_t>(arguments.attempts, 2000), arguments.epsilon, arguments.seed};
}

attack::LinkageOptions linked(const AttackArguments& arguments) {
  return {or_else<std::size_t>(arguments.people, 20'000), arguments.seed, arguments.k,
          arguments.epsilon};
}

struct Entry {
  std::string about;
  Run run;
};

const std::map<std::string, Entry>& attacks() {
  static const std::map<std::string, Entry> all = {
      {"reconstruct", {"secret bits from subset counts (Dinur and Nissim)", reconstruct}},
      {"linkage",
       {"discharges joined with the voter list (Sweeney)",
        [](const AttackArguments& arguments, RandomSource& random) -> Result<attack::Report> {
          auto found = attack::linkage(linked(arguments), random);
          if (!found) return found.error();
          fmt::print(stderr,
                     "{:.1f} % of the patients on the list are alone in zip, birth date and sex: "
                     "that much theory predicts for the release without names.\n",
                     100 * found->predicted);
          return found->report;
        }}},
      {"intersection",
       {"two k-anonymous tables of the same people (Ganta et al.)",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::intersection(linked(arguments), random);
        }}},
      {"differencing",
       {"two sums, with and without one person",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::differencing(single(arguments), random);
        }}},
      {"day-by-day",
       {"yesterday's count and today's, one person having come",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::day_by_day(single(arguments), random);
        }}},
      {"averaging",
       {"the same question again and again",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::averaging(single(arguments), random);
        }}},
      {"floating-point",
       {"the last bits of noise drawn in doubles (Mironov)",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::floating_point(single(arguments), random);
        }}},
      {"timing",
       {"how long the noise took",
        [](const AttackArguments& arguments, RandomSource& random) {
          return attack::timing(single(arguments), random);
        }}},
      {"membership",
       {"who was in the study, from averages (Homer; Dwork et al.)",
        [](const AttackArguments& arguments, RandomSource& random) {
          attack::TracingOptions options;
          options.people = or_else<std::size_t>(arguments.people, 50);
          options.attributes = arguments.attributes;
          options.attempts = or_else<std::size_t>(arguments.attempts, 400);
          options.epsilon = arguments.epsilon;
          return attack::tracing(options, random);
        }}},
      {"shadow",
       {"who was among a model's training rows (Shokri; Carlini et al.)",
        [](const AttackArguments& arguments, RandomSource& random) {
          attack::ShadowOptions options;
          options.model = arguments.model;
          options.people = or_else<std::size_t>(arguments.people, 400);
          options.attempts = or_else<std::size_t>(arguments.attempts, 400);
          options.shadows = arguments.shadows;
          options.epsilon = arguments.epsilon;
          options.seed = arguments.seed;
          options.only_ours = arguments.only_ours;
          return attack::shadow_models(options, random);
        }}},
      {"census",
       {"a block's people from its published statistics",
        [](const AttackArguments& arguments, RandomSource& random) {
          attack::CensusOptions options;
          options.people = or_else<std::size_t>(arguments.people, 7);
          options.epsilon = arguments.epsilon;
          options.seed = arguments.seed;
          return attack::census(options, random);
        }}},
  };
  return all;
}

void print_json(const std::string& name, const attack::Report& report) {
  for (const attack::Outcome& found : report.outcomes)
    std::puts(nlohmann::ordered_json({{"attack", name},
                                      {"target", found.target},
                                      {"success", found.success},
                                      {"baseline", found.baseline},
                                      {"low", found.low},
                                      {"high", found.high},
                                      {"bound", found.bound},
                                      {"attempts", found.attempts},
                                      {"seconds", found.seconds}})
                  .dump()
                  .c_str());
}

void print_table(const attack::Report& report) {
  fmt::print("{}: {}\n", report.name, report.what);
  for (const attack::Outcome& found : report.outcomes)
    fmt::print(
        "  {:<40} {:>6.1f} %   ({:.1f} to {:.1f})   a guess: {:.1f} %{}   {:.2f} s\n", found.target,
        100 * found.success, 100 * found.low, 100 * found.high, 100 * found.baseline,
        found.bound < 1 ? fmt::format("   bound: {:.1f} %", 100 * found.bound) : "", found.seconds);
}

Result<void> write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::Unavailable, fmt::format("'{}' could not be written.", path)};
  return {};
}

int run(const AttackArguments& arguments) {
  if (arguments.list) {
    for (const auto& [name, entry] : attacks()) fmt::print("{:<16} {}\n", name, entry.about);
    return kOk;
  }
  const auto found = attacks().find(arguments.name);
  if (found == attacks().end()) {
    std::vector<std::string> known;
    for (const auto& [name, entry] : attacks()) known.push_back(name);
    return fail(invalid_parameter(
        fmt::format("there is no attack called '{}'{}. `discreet attack --list` names all.",
                    arguments.name, did_you_mean(arguments.name, known))));
  }
  SecureRandom random;
  const auto report = found->second.run(arguments, random);
  if (!report) return fail(report.error());
  if (arguments.json)
    print_json(found->first, *report);
  else
    print_table(*report);
  if (!arguments.picture.empty())
    if (const auto done = write(arguments.picture, attack::picture(*report)); !done)
      return fail(done.error());
  if (!arguments.curve.empty()) {
    const std::size_t multiples[] = {2, 4, 10};
    const double noise[] = {0.05, 0.1, 0.25, 0.5, 1, 2, 4};
    const auto series =
        attack::phase_change(or_else<std::size_t>(arguments.people, 300), multiples, noise, random);
    if (!series) return fail(series.error());
    const auto done =
        write(arguments.curve, attack::curves("Noise around sqrt(n) decides", "noise / sqrt(n)",
                                              "share of secret bits recovered", *series));
    if (!done) return fail(done.error());
  }
  return kOk;
}

}  // namespace

void add_attack(CLI::App& app, Action& chosen) {
  auto arguments = std::make_shared<AttackArguments>();
  CLI::App* verb =
      add_verb(app, "attack", "Attack exact, too accurate and private releases of fictional data",
               "  discreet attack reconstruct --curve phase.svg\n"
               "  discreet attack linkage --k 10 --picture linkage.svg");
  verb->add_option("name", arguments->name, "which attack; --list names them");
  verb->add_flag("--list", arguments->list, "the attacks there are");
  verb->add_flag("--json", arguments->json, "one object a target");
  verb->add_option("--epsilon", arguments->epsilon, "the private release's budget")
      ->capture_default_str();
  verb->add_option("--people", arguments->people, "how many people (each attack has its default)");
  verb->add_option("--queries", arguments->queries, "reconstruct: how many counts");
  verb->add_option("--attributes", arguments->attributes, "membership: how many averages")
      ->capture_default_str();
  verb->add_option("--model", arguments->model, "shadow: as in `discreet learn fit`")
      ->capture_default_str();
  verb->add_option("--shadows", arguments->shadows, "shadow: models trained to learn from")
      ->capture_default_str();
  verb->add_flag("--only-ours", arguments->only_ours, "shadow: attack the private model only");
  verb->add_option("--attempts", arguments->attempts, "how often to try");
  verb->add_option("--k", arguments->k, "linkage, intersection: of the k-anonymous table")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}))
      ->capture_default_str();
  verb->add_option("--decoder", arguments->decoder, "reconstruct: how to solve for the bits")
      ->check(CLI::IsMember({"least-squares", "lp", "exhaustive"}))
      ->capture_default_str();
  verb->add_option("--seed", arguments->seed, "of the fictional people")->capture_default_str();
  verb->add_option("--picture", arguments->picture, "an SVG of the outcome");
  verb->add_option("--curve", arguments->curve, "reconstruct: an SVG of recovery against noise");
  verb->callback([arguments, &chosen] { chosen = [arguments] { return run(*arguments); }; });
}

}  // namespace discreet::cli
