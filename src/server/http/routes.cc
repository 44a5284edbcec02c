#include "server/http/routes.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "curator/curator.h"
#include "ledger/report.h"
#include "ledger/scram.h"
#include "local/collector/collector_routes.h"
#include "server/http/arrow.h"
#include "server/render.h"
#include "server/service.h"
#include "server/statement.h"

namespace discreet::server::http {
namespace {

using Json = nlohmann::ordered_json;

Response json_response(const Json& body, int status = 200) {
  return {status, "application/json", body.dump(-1, ' ', false, Json::error_handler_t::replace),
          false, 0};
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
template <class Number>
Json limit(const std::optional<Number>& value) {
  return value ? Json(value->value()) : Json("unlimited");
}
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json literal(const catalog::Literal& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return catalog::to_string(value);
}

/// A body that is one JSON object, with the fields asked for.
class Body {
 public:
  static Result<Body> read(const Request& request) {
    Json json = Json::parse(request.body, nullptr, false);
    if (json.is_discarded() || !json.is_object())
      return invalid_input("the body must be one JSON object");
    return Body(std::move(json));
  }
  Result<std::string> text(const char* name) const {
    if (!json_.contains(name) || !json_[name].is_string())
      return invalid_input(fmt::format("\"{}\" must be a text", name));
    return json_[name].get<std::string>();
  }
  Result<std::string> text_or(const char* name, const char* otherwise) const {
    if (!json_.contains(name) || json_[name].is_null()) return std::string(otherwise);
    return text(name);
  }
  Result<std::optional<double>> number(const char* name) const {
    if (!json_.contains(name) || json_[name].is_null()) return std::optional<double>();
    if (!json_[name].is_number())
      return invalid_input(fmt::format("\"{}\" must be a number", name));
    return std::optional(json_[name].get<double>());
  }

 private:
  explicit Body(Json json) : json_(std::move(json)) {}
  Json json_;
};

Result<Question> question_of(const Body& body, const Identity& identity) {
  Question question;
  DISCREET_TRY(question.sql, body.text("sql"));
  question.account = identity.name;
  DISCREET_TRY(const auto epsilon, body.number("epsilon"));
  if (epsilon) {
    DISCREET_TRY(question.epsilon, Epsilon::make(*epsilon));
  }
  DISCREET_TRY(const auto delta, body.number("delta"));
  if (delta) {
    DISCREET_TRY(question.delta, Delta::make(*delta));
  }
  DISCREET_TRY(const std::string target, body.text_or("target_error", ""));
  if (!target.empty()) {
    DISCREET_TRY(question.target_error, TargetError::parse(target));
  }
  DISCREET_TRY(question.request, body.text_or("idempotency_key", ""));
  return question;
}

Json cell_json(const std::optional<std::string>& cell, const std::string& type) {
  if (!cell) return nullptr;
  if (type == "boolean") return *cell == "true";
  if (type == "bigint" || type == "numeric" || type == "double precision" ||
      type == "double precision[]") {
    Json parsed = Json::parse(*cell, nullptr, false);
    if (!parsed.is_discarded()) return parsed;
  }
  return *cell;
}

std::string csv_field(const std::string& text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_of(const Answer& answer) {
  std::string out;
  for (std::size_t i = 0; i < answer.columns.size(); ++i)
    out += (i == 0 ? "" : ",") + csv_field(answer.columns[i].name);
  out += "\r\n";
  for (const auto& row : answer.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += (i == 0 ? "" : ",") + (row[i] ? csv_field(*row[i]) : std::string());
    out += "\r\n";
  }
  return out;
}

std::string receipt_of(Curator& curator, std::uint64_t charge) {
  if (charge == 0) return "";
  ledger::EventPage page;
  page.before = charge + 1;
  page.limit = 1;
  const auto events = curator.ledger().recent_events(page);
  if (!events || events->empty()) return "";
  return fmt::format("{}:{}", charge, ledger::to_hex(events->front().hash));
}

Result<Json> answer_json(Curator& curator, const Answer& answer, const std::string& account) {
  DISCREET_TRY(const ledger::Balance left, spendable(curator, account));
  Json out;
  out["columns"] = Json::array();
  for (std::size_t i = 0; i < answer.columns.size(); ++i)
    out["columns"].push_back({{"name", answer.columns[i].name},
                              {"type", answer.columns[i].type},
                              {"error95", or_null(answer.error95[i])}});
  out["rows"] = Json::array();
  for (const auto& row : answer.rows) {
    Json cells = Json::array();
    for (std::size_t i = 0; i < row.size(); ++i)
      cells.push_back(cell_json(row[i], answer.columns[i].type));
    out["rows"].push_back(std::move(cells));
  }
  out["errors"] = Json::array();
  for (const auto& row : answer.errors) {
    Json cells = Json::array();
    for (const auto& error : row) cells.push_back(or_null(error));
    out["errors"].push_back(std::move(cells));
  }
  out["cost"] = {{"epsilon", answer.cost.epsilon},
                 {"delta", answer.cost.delta},
                 {"rho", number(answer.cost.rho)}};
  out["remaining"] = {{"epsilon", limit(left.left.epsilon)}, {"delta", limit(left.left.delta)}};
  out["repeated"] = answer.repeated;
  out["receipt"] = receipt_of(curator, answer.charge);
  out["notices"] = answer.notices;
  return out;
}

// -- one function a route

/// `ask` is Curator::answer, or Curator::repeat, which may have nothing to say.
template <class Ask>
std::optional<Routed> query(Curator& curator, const Identity& identity, const Request& request,
                            const Ask& ask) {
  Routed routed{{}, RequestKind::Question, identity.name};
  bool known = true;
  const auto work = [&]() -> Result<Response> {
    DISCREET_TRY(const Body body, Body::read(request));
    DISCREET_TRY(const Question question, question_of(body, identity));
    const bool wants_csv = request.accept.starts_with("text/csv");
    DISCREET_TRY(const std::string format, body.text_or("format", wants_csv ? "csv" : "json"));
    if (format != "json" && format != "csv" && format != "arrow")
      return invalid_input("\"format\" is json, csv or arrow");
    DISCREET_TRY(const ClientStatement statement, classify(question.sql));
    if (statement.kind != StatementKind::Question)
      return Error{ErrorCode::Refused,
                   "this is not a question about a table; write SELECT ... FROM"};
    DISCREET_TRY(const std::optional<Answer> found, ask(question));
    known = found.has_value();
    if (!known) return Response{};
    const Answer& answer = *found;
    routed.charged = !answer.repeated && answer.cost.epsilon > 0;
    routed.noise_ahead = answer.noise_ahead;
    if (!routed.charged) routed.kind = RequestKind::Repeat;
    if (format == "csv") return Response{200, "text/csv; charset=utf-8", csv_of(answer), false, 0};
    if (format == "arrow")
      return Response{200, "application/vnd.apache.arrow.stream", arrow_stream(answer), false, 0};
    DISCREET_TRY(const Json json, answer_json(curator, answer, identity.name));
    return json_response(json);
  };
  auto response = work();
  if (!known) return std::nullopt;
  if (!response && response.error().code == ErrorCode::Unavailable) routed.charged = true;
  routed.response = response ? *std::move(response) : error_response(response.error());
  return routed;
}

Result<Response> explain(Curator& curator, const Identity& identity, const Request& request) {
  DISCREET_TRY(const Body body, Body::read(request));
  DISCREET_TRY(const Question question, question_of(body, identity));
  DISCREET_TRY(Explanation explanation, curator.explain(question));
  DISCREET_TRY(const ledger::Balance left, spendable(curator, question.account));
  explanation.remaining.left = left.left;
  return json_response(explain_object(explanation));
}

Result<Response> tables(Service& service, Curator& curator, const Identity& identity) {
  Json all = Json::array();
  auto shown = service.visible_tables(identity.name);
  DISCREET_TRY(const auto twins, service.twins(curator, identity.name));
  shown.insert(shown.end(), twins.begin(), twins.end());
  for (const VisibleTable& visible : shown) {
    const catalog::Table& table = *visible.table;
    Json columns = Json::array();
    for (const VisibleColumn& column : visible.columns) {
      Json range = nullptr, values = nullptr;
      if (column.listed && column.listed->range)
        range = Json::array(
            {literal(column.listed->range->lower), literal(column.listed->range->upper)});
      if (column.listed && column.listed->has_public_keys()) {
        values = Json::array();
        for (const auto& value : column.listed->values) values.push_back(literal(value));
      }
      columns.push_back({{"name", column.name},
                         {"type", column.type},
                         {"range", std::move(range)},
                         {"values", std::move(values)}});
    }
    const catalog::Unit& unit = table.unit;
    Json unit_name = nullptr, link = nullptr;
    if (unit.kind == catalog::Unit::Kind::Row) unit_name = "row";
    if (unit.kind == catalog::Unit::Kind::Column) unit_name = unit.column;
    if (unit.kind == catalog::Unit::Kind::Linked) {
      unit_name = unit.links.empty() ? unit.owner_column : unit.links.front().column;
      link = unit.links.empty() ? unit.owner_table + "." + unit.owner_column
                                : unit.links.front().table + "." + unit.links.front().target_column;
    }
    all.push_back({{"name", table.name},
                   {"public", table.is_public()},
                   {"unit", std::move(unit_name)},
                   {"link", std::move(link)},
                   {"max_rows_per_unit", or_null(table.max_rows_per_unit)},
                   {"synthetic", visible.synthetic},
                   {"columns", std::move(columns)}});
  }
  return json_response({{"tables", std::move(all)}});
}

Json account_json(const ledger::Balance& balance) {
  return {{"name", balance.account},
          {"parent", balance.parent.empty() ? Json(nullptr) : Json(balance.parent)},
          {"epsilon",
           {{"granted", limit(balance.granted.epsilon)},
            {"spent", number(balance.spent.epsilon.value())},
            {"left", limit(balance.left.epsilon)}}},
          {"delta",
           {{"granted", limit(balance.granted.delta)},
            {"spent", number(balance.spent.delta.value())},
            {"left", limit(balance.left.delta)}}},
          {"charges", balance.spent.charges}};
}

Result<Response> budget(Service& service, Curator& curator, const Identity& identity) {
  DISCREET_TRY_VOID(ensure_account(curator.ledger(), service.policy(), identity.name));
  DISCREET_TRY(const auto balances, curator.ledger().balances());
  Json accounts = Json::array();
  std::string wanted = identity.name;
  if (identity.is_owner) {
    for (const auto& balance : balances) accounts.push_back(account_json(balance));
  } else {
    // Own account, then each account above it.
    for (int depth = 0; !wanted.empty() && depth < 16; ++depth) {
      std::string parent;
      for (const auto& balance : balances)
        if (balance.account == wanted) {
          accounts.push_back(account_json(balance));
          parent = balance.parent;
        }
      wanted = parent;
    }
  }
  return json_response({{"accounts", std::move(accounts)}});
}

Result<std::uint64_t> whole(const Request& request, const char* name, std::uint64_t otherwise) {
  const auto found = request.query.find(name);
  if (found == request.query.end() || found->second.empty()) return otherwise;
  DISCREET_TRY(const double value, parse_number(found->second, name));
  if (value < 0 || value != std::floor(value) || value > 9e15)
    return invalid_parameter(fmt::format("{} must be a whole number", name));
  return static_cast<std::uint64_t>(value);
}

Result<Response> events(Curator& curator, const Identity& identity, const Request& request) {
  ledger::EventPage page;
  DISCREET_TRY(const std::uint64_t most, whole(request, "limit", 100));
  DISCREET_TRY(page.before, whole(request, "before", INT64_MAX));
  page.limit = std::min<std::uint64_t>(std::max<std::uint64_t>(most, 1), 1000);
  if (!identity.is_owner) page.account = identity.name;
  DISCREET_TRY(const auto found, curator.ledger().recent_events(page));
  Json all = Json::array();
  for (const ledger::StoredEvent& event : found) {
    Json one{{"sequence", event.sequence},
             {"time", ledger::to_iso(event.at)},
             {"kind", event.kind},
             {"account", event.account}};
    if (const auto body = ledger::decode_body(event.kind, event.body); body) {
      if (const auto* charge = std::get_if<ledger::ChargeEvent>(&*body)) {
        one["statement"] = charge->purpose;
        one["cost"] = {{"epsilon", charge->price.epsilon.value()},
                       {"delta", charge->price.delta.value()}};
        if (charge->price.concentrated)
          one["cost"]["rho"] = number(charge->price.concentrated->rho.value());
      } else if (const auto* release = std::get_if<ledger::ReleaseEvent>(&*body)) {
        one["charge"] = release->charge;
        one["digest"] = ledger::to_hex(release->answer);
      } else if (const auto* repeat = std::get_if<ledger::RepeatEvent>(&*body)) {
        one["charge"] = repeat->charge;
      } else if (const auto* grant = std::get_if<ledger::GrantEvent>(&*body)) {
        one["granted"] = {{"epsilon", limit(grant->total.epsilon)},
                          {"delta", limit(grant->total.delta)}};
      }
    }
    one["hash"] = ledger::to_hex(event.hash);
    all.push_back(std::move(one));
  }
  const bool more = found.size() == page.limit && found.back().sequence > 1;
  return json_response(
      {{"events", std::move(all)}, {"next", more ? Json(found.back().sequence) : Json(nullptr)}});
}

// -- the owner's

Result<Amount> amount_of(const Body& body) {
  Amount amount;
  DISCREET_TRY(const auto epsilon, body.number("epsilon"));
  DISCREET_TRY(const auto delta, body.number("delta"));
  DISCREET_TRY(amount.epsilon, Epsilon::make(epsilon.value_or(0)));
  DISCREET_TRY(amount.delta, Delta::make(delta.value_or(0)));
  return amount;
}

Result<Response> analysts(Service& service, Curator& curator) {
  DISCREET_TRY(const auto users, ledger::UserStore(curator.ledger()).all());
  for (const auto& user : users)
    if (service.policy().budget(user.parent))
      DISCREET_TRY_VOID(ensure_account(curator.ledger(), service.policy(), user.name));
  DISCREET_TRY(const auto balances, curator.ledger().balances());
  Json all = Json::array();
  for (const auto& balance : balances) {
    if (service.policy().budget(balance.account)) continue;
    Json one = account_json(balance);
    one["of"] = balance.parent;
    one["role"] = service.is_owner(balance.account) ? "owner" : "analyst";
    one["in_policy"] = service.policy().analyst(balance.account) != nullptr;
    one["token"] = false;
    for (const auto& user : users)
      if (user.name == balance.account) {
        one["token"] = user.has_token;
        one["since"] = ledger::to_iso(user.created);
      }
    all.push_back(std::move(one));
  }
  return json_response({{"analysts", std::move(all)}});
}

Result<Response> add_analyst(Service& service, Curator& curator, const Request& request) {
  DISCREET_TRY(const Body body, Body::read(request));
  ledger::User user;
  DISCREET_TRY(user.name, body.text("name"));
  DISCREET_TRY(const std::string password, body.text("password"));
  DISCREET_TRY(user.parent, body.text_or("of", kOwnerAccount));
  if (service.policy().budget(user.name) || service.policy().analyst(user.name))
    return invalid_parameter("the policy has this name already; choose another");
  if (!service.policy().budget(user.parent))
    return invalid_parameter(fmt::format("the policy has no budget '{}'", user.parent));
  DISCREET_TRY(user.share, amount_of(body));
  DISCREET_TRY(user.verifier, ledger::make_scram_verifier(password));
  DISCREET_TRY_VOID(ledger::UserStore(curator.ledger()).add(user));
  DISCREET_TRY_VOID(ensure_account(curator.ledger(), service.policy(), user.name));
  DISCREET_TRY(const auto balance, curator.balance(user.name));
  service.log().info("analyst_added", {{"user", user.name}, {"of", user.parent}});
  return json_response(account_json(balance), 201);
}

Result<Response> grant(Service& service, Curator& curator, const Request& request) {
  DISCREET_TRY(const Body body, Body::read(request));
  DISCREET_TRY(const std::string account, body.text("account"));
  DISCREET_TRY(const Amount more, amount_of(body));
  if (service.policy().budget(account) || service.policy().analyst(account))
    return Error{ErrorCode::Refused,
                 fmt::format("the policy file sets what '{}' may spend; change it there and start "
                             "the server again",
                             account)};
  DISCREET_TRY_VOID(ensure_account(curator.ledger(), service.policy(), account));
  DISCREET_TRY(Amount total, curator.ledger().granted(account));
  if (total.epsilon)
    total.epsilon = Epsilon::make(total.epsilon->value() + more.epsilon->value()).value();
  if (total.delta)
    total.delta = Delta::make(std::min(1.0, total.delta->value() + more.delta->value())).value();
  DISCREET_TRY_VOID(ledger::UserStore(curator.ledger()).set_share(account, total));
  DISCREET_TRY_VOID(curator.ledger().set_amount(account, total));
  DISCREET_TRY(const auto balance, curator.balance(account));
  service.log().info(
      "granted",
      {{"account", account}, {"epsilon", more.epsilon->value()}, {"delta", more.delta->value()}});
  return json_response(account_json(balance));
}

// -- logging in

Result<Response> login(Service& service, Curator& curator, const Request& request) {
  DISCREET_TRY(const Body body, Body::read(request));
  DISCREET_TRY(const std::string name, body.text("name"));
  DISCREET_TRY(const std::string password, body.text("password"));
  DISCREET_TRY(const auto credential, service.credential(curator, name));
  // Both are looked at in any case: the same work for a name that does not exist.
  const bool fits = ledger::password_matches(password, credential.verifier);
  if (!fits || !credential.real)
    return error_response(401, "28P01", "the name or the password is wrong");
  const Identity identity{name, service.is_owner(name)};
  const Instant expires = service.clock().now() + service.settings().token_lifetime;
  const std::string token = service.open_session(identity, expires);
  service.log().info("login", {{"user", name}, {"protocol", std::string("http")}});
  return json_response(
      {{"token", token},
       {"name", name},
       {"role", identity.is_owner ? "owner" : "analyst"},
       {"expires",
        std::chrono::duration_cast<std::chrono::seconds>(expires.time_since_epoch()).count()}});
}

/// The demo page lives under /emoji/ and asks for everything beside itself.
std::string collector_path(const std::string& path) {
  constexpr std::string_view kDemo = "/emoji";
  return path.starts_with("/emoji/") ? path.substr(kDemo.size()) : path;
}

Result<Response> dispatch(Service& service, Curator& curator, const Request& request,
                          const Identity& identity) {
  const auto is = [&](const char* method, const char* path) {
    return request.path == path &&
           (request.method == method || (request.method == "HEAD" && std::string(method) == "GET"));
  };
  if (is("POST", "/v1/explain")) return explain(curator, identity, request);
  if (is("GET", "/v1/tables")) return tables(service, curator, identity);
  if (is("GET", "/v1/budget")) return budget(service, curator, identity);
  if (is("GET", "/v1/ledger")) return events(curator, identity, request);
  if (is("GET", "/v1/collections")) return json_response(Json::array());  // no collector here
  if (is("GET", "/v1/me"))
    return json_response({{"name", identity.name},
                          {"role", identity.is_owner ? "owner" : "analyst"},
                          {"account", identity.name}});
  if (is("POST", "/v1/logout")) {
    service.close_session(request.token);
    return json_response(Json::object());
  }
  if (request.path.starts_with("/v1/owner/")) {
    if (!identity.is_owner)
      return Error{ErrorCode::PermissionDenied, "only the data's owner may do this"};
    if (is("GET", "/v1/owner/analysts")) return analysts(service, curator);
    if (is("POST", "/v1/owner/analysts")) return add_analyst(service, curator, request);
    if (is("POST", "/v1/owner/grants")) return grant(service, curator, request);
  }
  return error_response(404, "42704", "there is nothing at " + request.path);
}

}  // namespace

Response error_response(int status, const std::string& code, const std::string& message) {
  return json_response(
      {{"error", {{"code", code}, {"message", message}, {"hint", nullptr}, {"position", nullptr}}}},
      status);
}

Response error_response(const Error& error) {
  const ErrorParts parts = parts_of(error);
  const bool refused = error.code == ErrorCode::Refused || error.code == ErrorCode::NotFound;
  return json_response(
      {{"error",
        {{"code", sqlstate(error.code)},
         {"message", parts.message},
         {"hint", parts.hint.empty() ? Json(nullptr) : Json(parts.hint)},
         {"position", parts.position > 0 ? Json(parts.position) : Json(nullptr)}}}},
      refused ? 400 : http_status(error.code));
}

std::string name_in_login(const Request& request) {
  const auto body = Body::read(request);
  if (!body) return {};
  return body->text("name").value_or(std::string());
}

std::optional<Response> answer_at_once(Service& service, const Request& request) {
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (request.path.starts_with("/v1/") || request.path.starts_with("/emoji/v1/")) {
    if (get || request.method == "POST") return std::nullopt;
    return error_response(405, "42601", "use GET or POST");
  }
  if (!get) return error_response(405, "42601", "use GET");
  if (request.path.starts_with("/emoji/") && service.collector()) {
    const local::HttpAnswer file = local::answer_collector(
        *service.collector(), {request.method, collector_path(request.path), {}, {}});
    return Response{file.status, file.type, file.body, false, 0};
  }
  if (request.path == "/healthz") return Response{200, "text/plain", "ok", false, 0};
  if (request.path == "/metrics")
    return Response{200, "text/plain; version=0.0.4", service.metrics().text(), false, 0};
  if (request.path == "/openapi.json")
    return Response{200, "application/json", openapi_document(), false, 0};
  if (request.path == "/docs" || request.path.starts_with("/docs/"))
    if (auto file = documentation_file(service.settings().docs.string(), request.path.substr(5)))
      return file;
  if (auto file = static_file(service.settings().console.string(), request.path)) return file;
  return error_response(404, "42704", "there is nothing at " + request.path);
}

bool may_be_quick(const Request& request) {
  return request.path == "/v1/query" || request.path == "/v1/explain" ||
         request.path == "/v1/tables" || request.path == "/v1/me";
}

std::optional<Routed> route(Service& service, Curator& curator, const Request& request,
                            bool quickly) {
  Routed routed;
  const auto finish = [&](Result<Response> response) {
    routed.response = response ? *std::move(response) : error_response(response.error());
    return routed;
  };
  if (request.method == "POST" && request.path == "/v1/login") {
    routed.kind = RequestKind::Login;
    return finish(login(service, curator, request));
  }
  // Reports come from people's devices, and were randomised there: neither sending nor reading the
  // estimates needs a name.
  if (local::Collector* collector = service.collector(); collector) {
    const std::string path = collector_path(request.path);
    if (local::is_collector_path(path) && path != "/") {
      routed.kind = RequestKind::Reports;
      const local::HttpAnswer made = local::answer_collector(
          *collector,
          {request.method, path, {request.query.begin(), request.query.end()}, request.body});
      routed.response = {made.status, made.type, made.body, false, 0};
      return routed;
    }
  }
  const auto identity = request.token.empty()
                            ? Result<std::optional<Identity>>(std::optional<Identity>())
                            : service.identity_of_token(curator, request.token);
  if (!identity) return finish(identity.error());
  if (!*identity) {
    routed.response = error_response(
        401, "28000", "send \"Authorization: Bearer TOKEN\"; `discreet user token` makes one");
    return routed;
  }
  routed.user = (*identity)->name;
  if (request.method == "POST" && request.path == "/v1/query") {
    return query(curator, **identity, request,
                 [&](const Question& asked) -> Result<std::optional<Answer>> {
                   if (quickly) return curator.repeat(asked);
                   DISCREET_TRY(Answer answer, curator.answer(asked));
                   return std::optional(std::move(answer));
                 });
  }
  if (request.path == "/v1/explain") routed.kind = RequestKind::Explain;
  return finish(dispatch(service, curator, request, **identity));
}

}  // namespace discreet::server::http
