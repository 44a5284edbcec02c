// `discreet account`: what releases cost, with a certified interval; nothing is released here.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/account_question.h"
#include "accounting/comparison.h"
#include "accounting/compose_syntax.h"
#include "accounting/pld.h"
#include "accounting/wanted_number.h"
#include "cli/profile_svg.h"
#include "cli/verb.h"

namespace discreet::cli {
namespace {

using nlohmann::json;

struct Options {
  std::string file;
  std::string compose;
  double delta = 1e-6;
  std::optional<double> epsilon;
  std::string neighbours = "add_remove";
  std::string curve;
  bool table = false;
  bool as_json = false;
};

Result<std::string> read_all(const std::string& path) {
  if (path == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::NotFound, fmt::format("cannot read {}", path)};
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// One JSON object a line: the answer, or the reason there is none. An entry that cannot be
// accounted does not stop the others; the exit code says that there was one.
int answer_file(const std::string& path) {
  auto text = read_all(path);
  if (!text) return fail(text.error());
  const json entries = json::parse(*text, nullptr, false);
  if (entries.is_discarded())
    return fail(invalid_input(fmt::format("{} is not JSON; a list of entries is expected", path)));
  if (!entries.is_array())
    return fail(invalid_input(fmt::format("{} must hold a list of entries", path)));
  bool all = true;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const json& entry = entries[i];
    nlohmann::ordered_json line;
    line["id"] = entry.is_object() && entry.contains("id") ? entry["id"] : json(i);
    const auto answer = answer_entry(entry);
    if (answer) {
      line["value"] = answer->value;
      line["lower"] = answer->bracket.lower;
      line["upper"] = answer->bracket.upper;
    } else {
      line["error"] = answer.error().message;
      all = false;
    }
    std::cout << line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n'
              << std::flush;
  }
  return all ? kOk : kFailed;
}

void print_table(const std::vector<ComparisonLine>& lines, double delta) {
  std::cout << fmt::format("{:<10}  {:>14}   {}\n", "theorem", fmt::format("eps at {:g}", delta),
                           "from");
  for (const ComparisonLine& line : lines)
    std::cout << fmt::format("{:<10}  {:>14}   {}{}\n", line.method,
                             line.epsilon ? fmt::format("{:.6f}", *line.epsilon) : "-",
                             line.theorem, line.remark.empty() ? "" : " (" + line.remark + ")");
}

json table_json(const std::vector<ComparisonLine>& lines) {
  json list = json::array();
  for (const ComparisonLine& line : lines) {
    json one{{"method", line.method}, {"theorem", line.theorem}};
    if (line.epsilon) one["epsilon"] = *line.epsilon;
    if (line.lower) one["lower"] = *line.lower;
    if (!line.remark.empty()) one["remark"] = line.remark;
    list.push_back(std::move(one));
  }
  return list;
}

Result<void> write_curve(const PrivacyLossDistribution& pld, const Options& options) {
  DISCREET_TRY(const Bracket reach, pld.epsilon(std::fmax(options.delta / 100, 1e-300)));
  const double last = std::isfinite(reach.upper) && reach.upper > 0 ? reach.upper : 1;
  constexpr int kPoints = 64;
  std::vector<double> epsilons;
  for (int i = 0; i <= kPoints; ++i) epsilons.push_back(last * i / kPoints);
  DISCREET_TRY(const auto points, pld.profile(epsilons));
  std::ofstream file(options.curve, std::ios::binary);
  file << profile_svg(points, {.title = options.compose, .marked_delta = options.delta});
  if (!file.flush())
    return Error{ErrorCode::Unavailable, fmt::format("cannot write {}", options.curve)};
  return {};
}

// With '?' in the composition: the number that meets the target.
Result<int> answer_wanted(const Options& options, Neighbours neighbours) {
  if (!options.epsilon)
    return invalid_parameter("a composition with '?' needs --epsilon, the target to meet");
  if (!options.curve.empty() || options.table)
    return invalid_parameter("--table and --curve need a composition without '?'");
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(*options.epsilon));
  DISCREET_TRY(const Delta delta, Delta::make(options.delta));
  DISCREET_TRY(const WantedNumber found,
               find_wanted_number(options.compose, {epsilon, delta}, tight_pricing(neighbours)));
  if (options.as_json) {
    std::cout << json{{"field", found.field},
                      {"value", found.value},
                      {"composition", found.composition},
                      {"epsilon", epsilon.value()},
                      {"delta", delta.value()}}
              << '\n';
  } else {
    std::cout << fmt::format("{} {:.6g}: the {} that meets epsilon {:g} at delta {:g}\n",
                             found.field, found.value, found.least ? "least" : "greatest",
                             epsilon.value(), delta.value());
  }
  return static_cast<int>(kOk);
}

Result<int> answer_composition(const Options& options) {
  if (options.neighbours != "add_remove" && options.neighbours != "replace_one")
    return invalid_parameter("--neighbours must be add_remove or replace_one");
  const Neighbours neighbours =
      options.neighbours == "add_remove" ? Neighbours::AddRemove : Neighbours::ReplaceOne;
  if (!(options.delta >= 0 && options.delta <= 1))
    return invalid_parameter(fmt::format("--delta must be between 0 and 1, not {}", options.delta));
  if (wants_number(options.compose)) return answer_wanted(options, neighbours);
  DISCREET_TRY(const LossEvent event, parse_composition(options.compose));
  DISCREET_TRY(const auto pld, PrivacyLossDistribution::make(event, neighbours));

  json out = json::object();
  if (options.epsilon) {
    DISCREET_TRY(const Bracket delta, pld.delta(*options.epsilon));
    out = {{"epsilon", *options.epsilon},
           {"delta", delta.upper},
           {"lower", delta.lower},
           {"upper", delta.upper}};
    if (!options.as_json)
      std::cout << fmt::format("delta {:.6g} at epsilon {:g} (between {:.6g} and {:.6g})\n",
                               delta.upper, *options.epsilon, delta.lower, delta.upper);
  } else {
    DISCREET_TRY(const Bracket epsilon, pld.epsilon(options.delta));
    if (!std::isfinite(epsilon.upper))
      return Error{ErrorCode::Refused,
                   fmt::format("no finite epsilon holds at delta {:g}", options.delta)};
    out = {{"delta", options.delta},
           {"epsilon", epsilon.upper},
           {"lower", epsilon.lower},
           {"upper", epsilon.upper}};
    if (!options.as_json)
      std::cout << fmt::format("epsilon {:.6f} at delta {:g} (between {:.6f} and {:.6f})\n",
                               epsilon.upper, options.delta, epsilon.lower, epsilon.upper);
  }
  if (options.table) {
    const auto lines = compare_theorems(event, options.delta, neighbours);
    if (options.as_json)
      out["theorems"] = table_json(lines);
    else
      print_table(lines, options.delta);
  }
  if (!options.curve.empty()) {
    DISCREET_TRY_VOID(write_curve(pld, options));
    std::fprintf(stderr, "discreet: the privacy profile is in %s\n", options.curve.c_str());
  }
  if (options.as_json) std::cout << out.dump() << '\n';
  return static_cast<int>(kOk);
}

int run_account(const Options& options) {
  if (options.file.empty() == options.compose.empty())
    return fail(invalid_parameter("give either a FILE of entries or --compose '...', not both"));
  if (!options.file.empty()) return answer_file(options.file);
  const auto code = answer_composition(options);
  if (code) return *code;
  // A composition that does not parse is wrong usage, like any other argument.
  fail(code.error());
  return code.error().code == ErrorCode::InvalidInput ||
                 code.error().code == ErrorCode::InvalidParameter
             ? kUsage
             : kFailed;
}

}  // namespace

void add_account(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "account", "What releases cost together, as a certified interval",
      "  discreet account --compose '1000 x gaussian(sigma=20) + 10 x laplace(scale=2)' "
      "--delta 1e-6 --table\n"
      "  discreet account --compose '10000 x sampled(q=0.01, gaussian(sigma=1))' --curve p.svg\n"
      "  discreet account --compose '1000 x gaussian(sigma=?)' --epsilon 1 --delta 1e-6      (the "
      "least "
      "sigma; '? x ...' the largest count)\n"
      "  discreet account entries.json      (one JSON object a line: id, value, lower, upper)");
  auto options = std::make_shared<Options>();
  verb->add_option("file", options->file, "Entries as JSON; - reads standard input");
  verb->add_option("--compose", options->compose,
                   "What was released: 'COUNT x NAME(FIELD=VALUE, ...) + ...'; terms also inside "
                   "sampled(q=, ), sampled_without_replacement(sample=, population=, ), "
                   "group(size=, ), parallel( , ) and parentheses");
  verb->add_option("--delta", options->delta, "Ask for epsilon at this delta")
      ->capture_default_str();
  verb->add_option(
      "--epsilon", options->epsilon,
      "Ask for delta at this epsilon instead; the target where the composition has a '?'");
  verb->add_option("--neighbours", options->neighbours, "add_remove or replace_one")
      ->capture_default_str();
  verb->add_option("--curve", options->curve, "Draw the privacy profile into this SVG file");
  verb->add_flag("--table", options->table,
                 "Also what basic, advanced and optimal composition, zCDP and RDP would say");
  verb->add_flag("--json", options->as_json, "Answer as one JSON object");
  verb->callback([options, &chosen] { chosen = [options] { return run_account(*options); }; });
}

}  // namespace discreet::cli
