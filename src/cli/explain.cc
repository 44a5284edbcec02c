// `discreet explain`: what a question would cost and how good its answer would be. Spends nothing,
// reads no private row.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/question_options.h"
#include "cli/text_table.h"

namespace discreet::cli {
namespace {

struct ExplainArguments : QuestionArguments {
  std::string format = "all";
  bool json = false;
};

template <class Number>
nlohmann::ordered_json limit(const std::optional<Number>& value) {
  return value ? nlohmann::ordered_json(value->value()) : nlohmann::ordered_json("unlimited");
}

void print_json(const Explanation& e) {
  nlohmann::ordered_json out;
  out["cost"] = {{"epsilon", e.cost.epsilon}, {"delta", e.cost.delta}, {"rho", e.cost.rho}};
  out["columns"] = nlohmann::ordered_json::array();
  for (const auto& column : e.columns)
    out["columns"].push_back(
        {{"name", column.name},
         {"mechanism", column.mechanism.empty() ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(column.mechanism)},
         {"error95", column.error95 ? nlohmann::ordered_json(*column.error95)
                                    : nlohmann::ordered_json(nullptr)}});
  out["remaining"] = {{"epsilon", limit(e.remaining.left.epsilon)},
                      {"delta", limit(e.remaining.left.delta)}};
  out["affordable"] = e.affordable;
  out["notices"] = e.notices;
  out["plan"] = e.tree;
  out["question"] = nlohmann::ordered_json::parse(e.json);
  std::printf("%s\n", out.dump(2).c_str());
}

void print_table(const Explanation& e) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& column : e.columns)
    rows.push_back({column.name, column.mechanism.empty() ? "as it is" : column.mechanism,
                    column.error95             ? fmt::format("+-{:.3g}", *column.error95)
                    : column.mechanism.empty() ? ""
                                               : "depends on a bound found privately"});
  std::fputs(text_table({{"column"}, {"mechanism"}, {"error at 95 %"}}, rows).c_str(), stdout);
  std::printf("\ncost: epsilon %g, delta %g, %s; left to %s: epsilon %s%s\n", e.cost.epsilon,
              e.cost.delta, e.cost.rho_text().c_str(), e.remaining.account.c_str(),
              shown(e.remaining.left.epsilon).c_str(), e.affordable ? "" : " (cannot pay)");
}

void print_notes(const Explanation& e) {
  for (const std::string& notice : e.notices)
    if (notice.starts_with("grouping set (")) std::printf("%s\n", notice.c_str());
  for (const auto& column : e.columns)
    if (column.mechanism == "K-norm" || column.mechanism == "cells, discrete Laplace") {
      std::printf(
          "note: the error of an average or a variance is for a group of 1,000; it falls with the "
          "group's size\n");
      break;
    }
}

int run_explain(const ExplainArguments& arguments) {
  return with_question(arguments, [&](Curator& curator, const Question& question) {
    const auto explanation = curator.explain(question);
    if (!explanation) return fail(explanation.error());
    const std::string format = arguments.json ? "json" : arguments.format;
    if (format == "json") print_json(*explanation);
    if (format == "table" || format == "all") print_table(*explanation);
    if (format == "all") std::printf("\n");
    if (format == "tree" || format == "all") std::fputs(explanation->drawing.c_str(), stdout);
    if (format == "all") print_notes(*explanation);
    return static_cast<int>(kOk);
  });
}

}  // namespace

void add_explain(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "explain",
               "What a question would cost, by which mechanism, with which error; spends nothing",
               "  discreet explain --policy town/discreet.toml --epsilon 1 \"select avg(income) "
               "from people\"");
  auto arguments = std::make_shared<ExplainArguments>();
  add_question_options(verb, *arguments);
  verb->add_option("--format", arguments->format, "all, table, tree or json")
      ->check(CLI::IsMember({"all", "table", "tree", "json"}))
      ->capture_default_str();
  verb->add_flag("--json", arguments->json, "One JSON object: cost, columns, remaining");
  verb->callback(
      [&chosen, arguments] { chosen = [arguments] { return run_explain(*arguments); }; });
}

}  // namespace discreet::cli
