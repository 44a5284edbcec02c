#include "curator/answer.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace discreet {

using Json = nlohmann::ordered_json;

std::string AnswerCost::rho_text() const {
  return std::isfinite(rho) ? fmt::format("rho {:.4g}", rho) : "no zCDP bound";
}

namespace {

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Errors by column: null, one number where all rows have the same, or a number or null per row.
Json errors_of_column(const Answer& answer, std::size_t column) {
  Json all = Json::array();
  bool any = false, same = true;
  for (const auto& row : answer.errors) {
    all.push_back(optional_json(row[column]));
    any = any || row[column];
    same = same && row[column] == answer.errors.front()[column];
  }
  if (!any) return nullptr;
  return same ? all.front() : all;
}

// Text from the data may hold bytes that are not UTF-8: they are replaced, never a reason to fail.
std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void append_cell(const std::optional<std::string>& cell, std::string& bytes) {
  const auto stands_for_itself = [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  };
  if (!cell) {
    bytes += "null";
  } else if (std::all_of(cell->begin(), cell->end(), stands_for_itself)) {
    bytes += '"';
    bytes += *cell;
    bytes += '"';
  } else {
    bytes += dump(*cell);
  }
}

void read_errors_of_column(const Json& json, Answer& answer, std::size_t column) {
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    const Json& error = json.is_array() ? json.at(row) : json;
    if (!error.is_null()) answer.errors[row][column] = error.get<double>();
  }
}

}  // namespace

Answer Answer::with_error_columns() const {
  Answer wide = *this;
  wide.columns.clear();
  wide.error95.clear();
  wide.noisy.clear();
  for (auto& row : wide.rows) row.clear();
  for (auto& row : wide.errors) row.clear();
  for (std::size_t column = 0; column < columns.size(); ++column) {
    wide.columns.push_back(columns[column]);
    wide.error95.push_back(error95[column]);
    wide.noisy.push_back(noisy[column]);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      wide.rows[row].push_back(rows[row][column]);
      wide.errors[row].push_back(errors[row][column]);
    }
    if (!noisy[column]) continue;
    wide.columns.push_back({columns[column].name + "_error95", "double precision"});
    wide.error95.emplace_back();
    wide.noisy.push_back(false);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const auto& error = errors[row][column];
      wide.rows[row].push_back(error ? std::optional(fmt::format("{:.4g}", *error)) : std::nullopt);
      wide.errors[row].emplace_back();
    }
  }
  return wide;
}

// Rows are written as text at once: thousands of cells as JSON values would take longer than the
// noise in them.
std::string Answer::to_bytes() const {
  Json head, tail;
  head["version"] = 1;
  head["columns"] = Json::array();
  for (const auto& column : columns)
    head["columns"].push_back({{"name", column.name}, {"type", column.type}});
  tail["error95"] = Json::array();
  for (const auto& error : error95) tail["error95"].push_back(optional_json(error));
  tail["errors"] = Json::array();
  for (std::size_t column = 0; column < columns.size(); ++column)
    tail["errors"].push_back(errors_of_column(*this, column));
  tail["noisy"] = noisy;
  tail["notices"] = notices;
  tail["cost"] = {{"epsilon", cost.epsilon}, {"delta", cost.delta}, {"rho", cost.rho}};
  tail["certificate"] = certificate;

  std::string bytes = dump(head);
  bytes.back() = ',';  // for the brace that would end it
  bytes += "\"rows\":[";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    bytes += row == 0 ? "[" : ",[";
    for (std::size_t column = 0; column < rows[row].size(); ++column) {
      if (column > 0) bytes += ',';
      append_cell(rows[row][column], bytes);
    }
    bytes += ']';
  }
  bytes += "],";
  return bytes += std::string_view(dump(tail)).substr(1);
}

Result<Answer> Answer::from_bytes(const std::string& bytes) {
  const Json json = Json::parse(bytes, nullptr, false);
  if (json.is_discarded() || !json.is_object() || json.value("version", 0) != 1)
    return invalid_input("the recorded answer cannot be read");
  Answer answer;
  for (const auto& column : json["columns"])
    answer.columns.push_back({column["name"], column["type"]});
  for (const auto& row : json["rows"]) {
    auto& cells = answer.rows.emplace_back();
    for (const auto& cell : row)
      cells.push_back(cell.is_null() ? std::nullopt : std::optional(cell.get<std::string>()));
  }
  for (const auto& error : json["error95"])
    answer.error95.push_back(error.is_null() ? std::nullopt : std::optional(error.get<double>()));
  answer.errors.assign(answer.rows.size(),
                       std::vector<std::optional<double>>(answer.columns.size()));
  answer.noisy.assign(answer.columns.size(), false);
  // Answers recorded before errors were kept per cell have the column's median only.
  const bool per_cell = json.contains("errors");
  for (std::size_t column = 0; column < answer.columns.size(); ++column) {
    read_errors_of_column(json[per_cell ? "errors" : "error95"].at(column), answer, column);
    answer.noisy[column] =
        per_cell ? json["noisy"].at(column).get<bool>() : answer.error95[column].has_value();
  }
  answer.notices = json["notices"].get<std::vector<std::string>>();
  answer.certificate = json.value("certificate", "");
  const auto& cost = json["cost"];
  answer.cost = {cost["epsilon"], cost["delta"],
                 cost["rho"].is_null() ? HUGE_VAL : cost["rho"].get<double>()};
  return answer;
}

}  // namespace discreet
