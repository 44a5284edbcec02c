#include "server/render.h"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet::server {
namespace {

template <class Number>
std::string shown(const std::optional<Number>& value) {
  return value ? fmt::format("{:.4g}", value->value()) : "unlimited";
}

template <class Number>
nlohmann::ordered_json limit(const std::optional<Number>& value) {
  return value ? nlohmann::ordered_json(value->value()) : nlohmann::ordered_json("unlimited");
}

std::string expected_error(const ExplainedColumn& column) {
  if (column.error95) return fmt::format("+-{:.3g}", *column.error95);
  if (column.mechanism.empty()) return "";
  return column.error95_per_row ? fmt::format("+-{:.3g} per row a unit may add (found privately)",
                                              *column.error95_per_row)
                                : "depends on a bound found privately";
}

nlohmann::ordered_json number_or_null(const std::optional<double>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

}  // namespace

std::vector<std::string> explain_lines(const Explanation& e) {
  std::vector<std::string> lines;
  std::size_t name_width = 6, mechanism_width = 9;
  for (const auto& column : e.columns) {
    name_width = std::max(name_width, column.name.size());
    mechanism_width = std::max(mechanism_width, column.mechanism.size());
  }
  lines.push_back(fmt::format("{:<{}}  {:<{}}  error at 95 %", "column", name_width, "mechanism",
                              mechanism_width));
  for (const auto& column : e.columns)
    lines.push_back(fmt::format("{:<{}}  {:<{}}  {}", column.name, name_width,
                                column.mechanism.empty() ? "as it is" : column.mechanism,
                                mechanism_width, expected_error(column)));
  lines.push_back(fmt::format("cost: epsilon {:g}, delta {:g}, {}", e.cost.epsilon, e.cost.delta,
                              e.cost.rho_text()));
  lines.push_back(fmt::format("left to {}: epsilon {}, delta {}{}", e.remaining.account,
                              shown(e.remaining.left.epsilon), shown(e.remaining.left.delta),
                              e.affordable ? "" : " (cannot pay)"));
  std::istringstream tree(e.tree);
  for (std::string line; std::getline(tree, line);) lines.push_back(line);
  for (const auto& notice : e.notices) lines.push_back("note: " + notice);
  return lines;
}

nlohmann::ordered_json explain_object(const Explanation& e) {
  nlohmann::ordered_json out;
  out["cost"] = {{"epsilon", e.cost.epsilon}, {"delta", e.cost.delta}, {"rho", e.cost.rho}};
  out["columns"] = nlohmann::ordered_json::array();
  for (const auto& column : e.columns)
    out["columns"].push_back(
        {{"name", column.name},
         {"mechanism", column.mechanism.empty() ? nlohmann::ordered_json(nullptr)
                                                : nlohmann::ordered_json(column.mechanism)},
         {"error95", number_or_null(column.error95)},
         {"error95_per_row", number_or_null(column.error95_per_row)}});
  out["remaining"] = {{"epsilon", limit(e.remaining.left.epsilon)},
                      {"delta", limit(e.remaining.left.delta)}};
  out["affordable"] = e.affordable;
  out["notices"] = e.notices;
  out["plan"] = e.tree;
  return out;
}

Result<ledger::Balance> spendable(Curator& curator, const std::string& account) {
  DISCREET_TRY(ledger::Balance least, curator.balance(account));
  const auto take_less = [](auto& mine, const auto& theirs) {
    if (theirs && (!mine || *theirs < *mine)) mine = theirs;
  };
  std::string above = least.parent;
  for (int depth = 0; !above.empty() && depth < 16; ++depth) {
    DISCREET_TRY(const ledger::Balance next, curator.balance(above));
    take_less(least.left.epsilon, next.left.epsilon);
    take_less(least.left.delta, next.left.delta);
    above = next.parent;
  }
  return least;
}

std::string cost_sentence(const Answer& answer, const ledger::Balance& left) {
  std::string cost = "nothing, the same answer as before";
  if (!answer.repeated)
    cost = answer.cost.epsilon == 0
               ? "nothing, the question is about public data"
               : fmt::format(
                     "epsilon {:g}{}", answer.cost.epsilon,
                     answer.cost.delta > 0 ? fmt::format(", delta {:g}", answer.cost.delta) : "");
  return fmt::format("cost: {}; left to {}: epsilon {}, delta {}", cost, left.account,
                     shown(left.left.epsilon), shown(left.left.delta));
}

std::vector<DescribedColumn> with_error_columns(const std::vector<DescribedColumn>& described) {
  std::vector<DescribedColumn> wide;
  for (const DescribedColumn& column : described) {
    wide.push_back(column);
    if (column.has_error)
      wide.push_back({{column.column.name + "_error95", "double precision"}, false});
  }
  return wide;
}

}  // namespace discreet::server
