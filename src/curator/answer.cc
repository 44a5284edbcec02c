#include "curator/answer.h"

#include <nlohmann/json.hpp>

namespace discreet {

using Json = nlohmann::ordered_json;

namespace {

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

}  // namespace

std::string Answer::to_bytes() const {
  Json json;
  json["version"] = 1;
  json["columns"] = Json::array();
  for (const auto& column : columns)
    json["columns"].push_back({{"name", column.name}, {"type", column.type}});
  json["rows"] = Json::array();
  for (const auto& row : rows) {
    Json cells = Json::array();
    for (const auto& cell : row) cells.push_back(optional_json(cell));
    json["rows"].push_back(std::move(cells));
  }
  json["error95"] = Json::array();
  for (const auto& error : error95) json["error95"].push_back(optional_json(error));
  json["notices"] = notices;
  json["cost"] = {{"epsilon", cost.epsilon}, {"delta", cost.delta}, {"rho", cost.rho}};
  // Text from the data may hold bytes that are not UTF-8: they are replaced, never a reason to
  // fail.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
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
  answer.notices = json["notices"].get<std::vector<std::string>>();
  answer.cost = {json["cost"]["epsilon"], json["cost"]["delta"], json["cost"]["rho"]};
  return answer;
}

}  // namespace discreet
