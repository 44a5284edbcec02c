#include <nlohmann/json.hpp>

#include "server/http/routes.h"

namespace discreet::server::http {
namespace {

using Json = nlohmann::ordered_json;

Json ref(const char* name) {
  return {{"$ref", std::string("#/components/schemas/") + name}};
}
Json content(Json schema) {
  return {{"application/json", {{"schema", std::move(schema)}}}};
}
Json object(Json properties, std::vector<std::string> required = {}) {
  Json made{{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) made["required"] = required;
  return made;
}
Json array_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}};
}
Json text() {
  return {{"type", "string"}};
}
Json number() {
  return {{"type", "number"}};
}
Json number_or_null() {
  return {{"type", {"number", "null"}}};
}
Json text_or_null() {
  return {{"type", {"string", "null"}}};
}

Json operation(const char* summary, const char* id, Json ok, Json body = nullptr,
               bool open = false) {
  Json made{{"summary", summary}, {"operationId", id}};
  if (!body.is_null())
    made["requestBody"] = {{"required", true}, {"content", content(std::move(body))}};
  made["responses"] = {{"200", {{"description", "as asked"}, {"content", content(std::move(ok))}}},
                       {"default",
                        {{"description", "refused or failed; the body says why"},
                         {"content", content(ref("Error"))}}}};
  if (open) made["security"] = Json::array();
  return made;
}

Json schemas() {
  const Json limit{{"oneOf", {number(), {{"type", "string"}, {"enum", {"unlimited"}}}}}};
  const Json amount = object({{"granted", limit}, {"spent", number_or_null()}, {"left", limit}});
  const Json cost = object({{"epsilon", number()}, {"delta", number()}, {"rho", number_or_null()}});
  const Json left = object({{"epsilon", limit}, {"delta", limit}});
  Json all;
  all["Error"] = object({{"error", object({{"code", text()},
                                           {"message", text()},
                                           {"hint", text_or_null()},
                                           {"position", {{"type", {"integer", "null"}}}}},
                                          {"code", "message"})}},
                        {"error"});
  all["Question"] = object({{"sql", text()},
                            {"epsilon", number()},
                            {"delta", number()},
                            {"target_error", text()},
                            {"idempotency_key", text()},
                            {"format", {{"type", "string"}, {"enum", {"json", "csv", "arrow"}}}}},
                           {"sql"});
  all["Answer"] = object(
      {{"columns",
        array_of(object({{"name", text()}, {"type", text()}, {"error95", number_or_null()}}))},
       {"rows", array_of(array_of(Json::object()))},
       {"errors", {{"type", {"array", "null"}}}},
       {"cost", cost},
       {"remaining", left},
       {"repeated", {{"type", "boolean"}}},
       {"receipt", text()},
       {"notices", array_of(text())}},
      {"columns", "rows", "cost", "remaining", "repeated"});
  all["Explanation"] =
      object({{"cost", cost},
              {"columns", array_of(object({{"name", text()},
                                           {"mechanism", text_or_null()},
                                           {"error95", number_or_null()},
                                           {"error95_per_row", number_or_null()}}))},
              {"remaining", left},
              {"affordable", {{"type", "boolean"}}},
              {"notices", array_of(text())},
              {"plan", text()}},
             {"cost", "columns", "remaining"});
  all["Account"] = object({{"name", text()},
                           {"parent", text_or_null()},
                           {"epsilon", amount},
                           {"delta", amount},
                           {"charges", {{"type", "integer"}}}},
                          {"name", "epsilon", "delta"});
  all["Event"] = object({{"sequence", {{"type", "integer"}}},
                         {"time", text()},
                         {"kind", text()},
                         {"account", text()},
                         {"statement", text()},
                         {"cost", cost},
                         {"digest", text()},
                         {"hash", text()}},
                        {"sequence", "time", "kind", "account", "hash"});
  all["Table"] =
      object({{"name", text()},
              {"public", {{"type", "boolean"}}},
              {"unit", text_or_null()},
              {"link", text_or_null()},
              {"max_rows_per_unit", {{"type", {"integer", "null"}}}},
              {"synthetic", {{"type", "boolean"}}},
              {"columns", array_of(object({{"name", text()},
                                           {"type", text()},
                                           {"range", {{"type", {"array", "null"}}}},
                                           {"values", {{"type", {"array", "null"}}}}}))}},
             {"name", "public", "columns"});
  return all;
}

Json document() {
  Json paths;
  paths["/v1/login"]["post"] = operation(
      "A token for a name and a password", "login",
      object({{"token", text()}, {"name", text()}, {"role", text()}, {"expires", number()}}),
      object({{"name", text()}, {"password", text()}}, {"name", "password"}), true);
  paths["/v1/logout"]["post"] = operation("Ends the token", "logout", Json{{"type", "object"}});
  paths["/v1/me"]["get"] =
      operation("Who the token belongs to", "me",
                object({{"name", text()}, {"role", text()}, {"account", text()}}));
  paths["/v1/tables"]["get"] =
      operation("What may be asked about", "tables", object({{"tables", array_of(ref("Table"))}}));
  paths["/v1/explain"]["post"] = operation("Price and error of a question; spends nothing",
                                           "explain", ref("Explanation"), ref("Question"));
  Json query = operation("Asks, charges and answers", "query", ref("Answer"), ref("Question"));
  query["responses"]["200"]["content"]["text/csv"] = {{"schema", text()}};
  query["responses"]["200"]["content"]["application/vnd.apache.arrow.stream"] = {
      {"schema", {{"type", "string"}, {"format", "binary"}}}};
  paths["/v1/query"]["post"] = std::move(query);
  paths["/v1/budget"]["get"] =
      operation("What is left", "budget", object({{"accounts", array_of(ref("Account"))}}));
  Json ledger = operation(
      "What happened, newest first", "ledger",
      object({{"events", array_of(ref("Event"))}, {"next", {{"type", {"integer", "null"}}}}}));
  const Json whole{{"type", "integer"}};
  ledger["parameters"] = Json::array({{{"name", "limit"}, {"in", "query"}, {"schema", whole}},
                                      {{"name", "before"}, {"in", "query"}, {"schema", whole}}});
  paths["/v1/ledger"]["get"] = std::move(ledger);
  paths["/v1/owner/analysts"]["get"] = operation("Everybody who may ask (owner)", "analysts",
                                                 object({{"analysts", array_of(ref("Account"))}}));
  paths["/v1/owner/analysts"]["post"] =
      operation("Adds an analyst (owner)", "add_analyst", ref("Account"),
                object({{"name", text()},
                        {"password", text()},
                        {"epsilon", number()},
                        {"delta", number()},
                        {"of", text()}},
                       {"name", "password"}));
  paths["/v1/owner/grants"]["post"] = operation(
      "Lets an analyst spend more (owner)", "grant", ref("Account"),
      object({{"account", text()}, {"epsilon", number()}, {"delta", number()}, {"note", text()}},
             {"account"}));
  const auto plain = [](const char* summary, const char* id) {
    Json made{{"summary", summary}, {"operationId", id}};
    made["responses"]["200"] = {{"description", "as asked"},
                                {"content", {{"text/plain", {{"schema", text()}}}}}};
    made["security"] = Json::array();
    return made;
  };
  paths["/healthz"]["get"] = plain("\"ok\" while the server answers", "health");
  paths["/metrics"]["get"] = plain("Prometheus' text format", "metrics");
  Json made;
  made["openapi"] = "3.1.0";
  made["info"] = {{"title", "Discreet"},
                  {"version", DISCREET_VERSION},
                  {"description", "Questions about people, answered without giving anybody away."}};
  made["paths"] = std::move(paths);
  made["components"]["schemas"] = schemas();
  made["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
  made["security"] = Json::array({{{"token", Json::array()}}});
  return made;
}

}  // namespace

const std::string& openapi_document() {
  static const std::string text = document().dump(2);
  return text;
}

}  // namespace discreet::server::http
