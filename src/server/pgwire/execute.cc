// What a statement does: settings at once, questions through the curator, names from the catalog.
#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "base/suggest.h"
#include "server/catalog_database.h"
#include "server/pgwire/session_internal.h"
#include "server/render.h"

namespace discreet::server::pgwire {
namespace {

// Names are few: a catalog query that takes longer is not looking for names.
constexpr std::chrono::milliseconds kCatalogTimeout{10'000};

struct Known {
  const char* name;
  const char* initial;
};
// Ours first. The rest is what clients ask about; other names are kept as they are given.
constexpr Known kSettings[] = {
    {"discreet.epsilon", ""},
    {"discreet.delta", ""},
    {"discreet.target_error", ""},
    {"discreet.errors", "off"},
    {"discreet.idempotency_key", ""},
    {"application_name", ""},
    {"bytea_output", "hex"},
    {"client_encoding", "UTF8"},
    {"client_min_messages", "notice"},
    {"datestyle", "ISO, MDY"},
    {"default_transaction_isolation", "read committed"},
    {"default_transaction_read_only", "off"},
    {"extra_float_digits", "1"},
    {"integer_datetimes", "on"},
    {"intervalstyle", "postgres"},
    {"is_superuser", "off"},
    {"lc_collate", "C"},
    {"lc_ctype", "C"},
    {"max_identifier_length", "63"},
    {"max_index_keys", "32"},
    {"search_path", "\"$user\", public"},
    {"server_encoding", "UTF8"},
    {"server_version", "15.0"},
    {"server_version_num", "150000"},
    {"standard_conforming_strings", "on"},
    {"statement_timeout", "0"},
    {"timezone", "UTC"},
    {"transaction_isolation", "read committed"},
    {"transaction_read_only", "off"},
};

const Known* known(const std::string& name) {
  for (const Known& one : kSettings)
    if (name == one.name) return &one;
  return nullptr;
}

/// Names whose change a client must be told (ParameterStatus), as PostgreSQL spells them.
constexpr std::pair<const char*, const char*> kReported[] = {
    {"application_name", "application_name"},
    {"client_encoding", "client_encoding"},
    {"datestyle", "DateStyle"},
    {"intervalstyle", "IntervalStyle"},
    {"timezone", "TimeZone"},
    {"standard_conforming_strings", "standard_conforming_strings"}};

Answer one_column(std::string name, std::string type, std::vector<std::string> values) {
  Answer answer;
  answer.columns.push_back({std::move(name), std::move(type)});
  answer.error95.emplace_back();
  for (std::string& value : values) answer.rows.push_back({std::move(value)});
  return answer;
}

bool is_on(const std::string& text) {
  return text == "on" || text == "true" || text == "1" || text == "yes";
}

std::string rows_tag(const char* verb, const Answer& answer) {
  return fmt::format("{} {}", verb, answer.rows.size());
}

Result<Reply> answered(Curator& curator, const Question& asked, Answer answer) {
  DISCREET_TRY(const ledger::Balance left, spendable(curator, asked.account));
  Reply reply;
  reply.charged = !answer.repeated && answer.cost.epsilon > 0;
  reply.notices = answer.notices;
  reply.notices.push_back(cost_sentence(answer, left));
  reply.tag = rows_tag("SELECT", answer);
  reply.rows = std::move(answer);
  return reply;
}

}  // namespace

std::string Session::setting(const std::string& name) const {
  if (const auto own = settings_.find(name); own != settings_.end()) return own->second;
  const Known* found = known(name);
  return found ? found->initial : "";
}

Result<Question> Session::question(const std::string& sql,
                                   const std::vector<sql::Parameter>& parameters) const {
  Question made;
  made.sql = sql;
  made.account = identity_.name;
  made.parameters = parameters;
  made.request = setting("discreet.idempotency_key");
  if (const std::string epsilon = setting("discreet.epsilon"); !epsilon.empty()) {
    DISCREET_TRY(const double value, parse_number(epsilon, "discreet.epsilon"));
    DISCREET_TRY(made.epsilon, Epsilon::make(value));
  }
  if (const std::string delta = setting("discreet.delta"); !delta.empty()) {
    DISCREET_TRY(const double value, parse_number(delta, "discreet.delta"));
    DISCREET_TRY(made.delta, Delta::make(value));
  }
  if (const std::string target = setting("discreet.target_error"); !target.empty()) {
    DISCREET_TRY(made.target_error, TargetError::parse(target));
  }
  made.errors = is_on(setting("discreet.errors"));
  return made;
}

Result<Reply> Session::set(const ClientStatement& statement) {
  Reply reply{std::nullopt, statement.tag};
  const std::string& name = statement.setting;
  if (name == "all") {
    settings_.clear();
    return reply;
  }
  if (name.starts_with("discreet.") && !known(name)) {
    std::vector<std::string> names;
    for (const Known& one : kSettings)
      if (std::string_view(one.name).starts_with("discreet.")) names.emplace_back(one.name);
    return Error{ErrorCode::InvalidParameter,
                 fmt::format("unrecognized configuration parameter \"{}\"{}", name,
                             did_you_mean(name, names))};
  }
  if (!statement.has_value) {
    settings_.erase(name);
  } else {
    // A wrong number is refused now, not with the next question.
    if (name == "discreet.epsilon") {
      DISCREET_TRY(const double value, parse_number(statement.value, name));
      DISCREET_TRY(const Epsilon checked, Epsilon::make(value));
      if (checked.value() == 0) return invalid_parameter("discreet.epsilon must be above zero");
    }
    if (name == "discreet.delta") {
      DISCREET_TRY(const double value, parse_number(statement.value, name));
      DISCREET_TRY([[maybe_unused]] const Delta checked, Delta::make(value));
    }
    if (name == "client_encoding") {
      std::string encoding = statement.value;
      std::erase_if(encoding, [](char c) { return c == '-' || c == '_'; });
      std::transform(encoding.begin(), encoding.end(), encoding.begin(),
                     [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
      if (encoding != "utf8" && encoding != "unicode" && encoding != "sqlascii")
        return Error{ErrorCode::Refused, "this server speaks UTF8 only"};
    }
    if (statement.value.size() > 1024 || (settings_.size() > 200 && !settings_.contains(name)))
      return invalid_parameter("too many or too long settings");
    settings_[name] = statement.value;
  }
  for (const auto& [lower, reported] : kReported)
    if (name == lower) append_parameter_status(out_, reported, setting(name));
  return reply;
}

Result<Reply> Session::show(const std::string& name) const {
  if (name == "all") {
    Answer all;
    all.columns = {{"name", "text"}, {"setting", "text"}, {"description", "text"}};
    all.error95.resize(3);
    for (const Known& one : kSettings) all.rows.push_back({one.name, setting(one.name), ""});
    return Reply{std::move(all), "SHOW"};
  }
  if (!known(name) && !settings_.contains(name))
    return Error{ErrorCode::InvalidParameter,
                 fmt::format("unrecognized configuration parameter \"{}\"", name)};
  std::string value = setting(name);
  if (name == "discreet.epsilon" && value.empty())
    value = fmt::format("{}", Curator::kDefaultEpsilon);
  return Reply{one_column(name, "text", {value}), "SHOW"};
}

awaitable<Result<std::vector<AnswerColumn>>> Session::describe(
    const ClientStatement& statement, const std::vector<sql::Parameter>& parameters) {
  std::vector<AnswerColumn> columns;
  switch (statement.kind) {
    case StatementKind::Explain:
      columns.push_back({"QUERY PLAN", statement.explain_json ? "json" : "text"});
      co_return columns;
    case StatementKind::Show: {
      const auto shown = show(statement.setting);
      if (!shown) co_return shown.error();
      co_return shown->rows->columns;
    }
    case StatementKind::Catalog: {
      auto reply = co_await ask(statement, parameters, StatementKind::Catalog);
      if (!reply) co_return reply.error();
      co_return reply->rows->columns;
    }
    case StatementKind::Question: {
      const auto asked = question(statement.sql, parameters);
      if (!asked) co_return asked.error();
      std::function<Result<std::vector<DescribedColumn>>(Curator&)> work =
          [asked = *asked](Curator& curator) { return curator.describe(asked); };
      auto described = co_await on_worker<std::vector<DescribedColumn>>(
          service_, Service::Line::Quick, waiting_, service_.settings().statement_timeout,
          std::move(work));
      if (!described) co_return described.error();
      if (is_on(setting("discreet.errors"))) described = with_error_columns(*described);
      for (const DescribedColumn& one : *described) columns.push_back(one.column);
      co_return columns;
    }
    default:
      co_return columns;
  }
}

awaitable<Result<Reply>> Session::ask(const ClientStatement& statement,
                                      const std::vector<sql::Parameter>& parameters,
                                      StatementKind kind) {
  const auto timeout = service_.settings().statement_timeout;
  std::function<Result<Reply>(Curator&)> work;
  if (kind == StatementKind::Catalog) {
    work = [&service = service_, sql = statement.sql, parameters,
            identity = identity_](Curator& curator) -> Result<Reply> {
      DISCREET_TRY(const auto catalog, service.catalog_of(curator, identity.name));
      DISCREET_TRY(Answer answer, catalog->query(sql, parameters, curator.ledger(), identity));
      std::string tag = rows_tag("SELECT", answer);
      return Reply{std::move(answer), std::move(tag)};
    };
    auto reply = co_await on_worker<Reply>(service_, Service::Line::Charged, waiting_,
                                           std::min(timeout, kCatalogTimeout), std::move(work));
    if (!reply && reply.error().code == ErrorCode::Unavailable)
      service_.interrupt_catalog(identity_.name);
    co_return reply;
  }
  const auto asked = question(statement.sql, parameters);
  if (!asked) co_return asked.error();
  if (kind == StatementKind::Explain) {
    work = [asked = *asked, json = statement.explain_json](Curator& curator) -> Result<Reply> {
      DISCREET_TRY(Explanation explanation, curator.explain(asked));
      DISCREET_TRY(const ledger::Balance left, spendable(curator, asked.account));
      explanation.remaining.left = left.left;
      return Reply{
          json ? one_column("QUERY PLAN", "json",
                            {nlohmann::ordered_json::array({explain_object(explanation)}).dump(2)})
               : one_column("QUERY PLAN", "text", explain_lines(explanation)),
          "EXPLAIN"};
    };
    co_return co_await on_worker<Reply>(service_, Service::Line::Quick, waiting_, timeout,
                                        std::move(work));
  }
  // What is on record is public to the asker already: it need not stand in line with charges.
  using Repeat = std::optional<Reply>;
  std::function<Result<Repeat>(Curator&)> look = [asked =
                                                      *asked](Curator& curator) -> Result<Repeat> {
    DISCREET_TRY(auto answer, curator.repeat(asked));
    if (!answer) return Repeat();
    DISCREET_TRY(Reply reply, answered(curator, asked, *std::move(answer)));
    return Repeat(std::move(reply));
  };
  auto repeat = co_await on_worker<Repeat>(service_, Service::Line::Quick, waiting_, timeout,
                                           std::move(look));
  if (!repeat) co_return repeat.error();
  if (*repeat) co_return **std::move(repeat);
  if (waiting_->given_up()) co_return canceled_error(true);
  work = [asked = *asked](Curator& curator) -> Result<Reply> {
    DISCREET_TRY(Answer answer, curator.answer(asked));
    return answered(curator, asked, std::move(answer));
  };
  co_return co_await on_worker<Reply>(service_, Service::Line::Charged, waiting_, timeout,
                                      std::move(work));
}

awaitable<Result<Reply>> Session::execute(const ClientStatement& statement,
                                          const std::vector<sql::Parameter>& parameters) {
  const auto started = Steady::now();
  const auto delay = service_.rates().take(identity_.name, started);
  if (delay > Steady::duration{}) co_await sleep_until(started + delay);
  const StatementKind kind = statement.kind;
  if (transaction_ == 'E' && kind != StatementKind::Rollback && kind != StatementKind::Commit &&
      !(kind == StatementKind::Accepted && statement.tag == "ROLLBACK"))
    co_return Error{ErrorCode::Refused,
                    "current transaction is aborted, commands ignored until end of transaction "
                    "block"};
  switch (kind) {
    case StatementKind::Empty:
      co_return Reply{};
    case StatementKind::Set:
      co_return set(statement);
    case StatementKind::Show:
      co_return show(statement.setting);
    case StatementKind::Begin:
      transaction_ = 'T';
      co_return Reply{std::nullopt, statement.tag};
    case StatementKind::Commit:
    case StatementKind::Rollback: {
      // Nothing can be undone: a charge stays. A failed block ends as PostgreSQL's does.
      const bool failed = transaction_ == 'E';
      transaction_ = 'I';
      co_return Reply{std::nullopt, failed ? "ROLLBACK" : statement.tag};
    }
    case StatementKind::Accepted:
      if (transaction_ == 'E' && statement.tag == "ROLLBACK") transaction_ = 'T';
      co_return Reply{std::nullopt, statement.tag};
    default:
      break;
  }
  const bool copies = kind == StatementKind::Copy;
  const StatementKind asked = copies ? statement.inner : kind;
  auto reply = co_await ask(statement, parameters, asked);
  // What was charged leaves on schedule, and so does a failure after the charge.
  const bool on_schedule =
      reply ? reply->charged
            : asked == StatementKind::Question && reply.error().code == ErrorCode::Unavailable;
  const auto finished = Steady::now();
  const auto leaves =
      on_schedule ? next_slot(started, finished, service_.settings().quantum) : finished;
  if (on_schedule) co_await sleep_until(leaves);
  if (reply && copies) reply->tag = rows_tag("COPY", *reply->rows);

  const double seconds = std::chrono::duration<double>(finished - started).count();
  const RequestKind counted = asked == StatementKind::Explain   ? RequestKind::Explain
                              : asked == StatementKind::Catalog ? RequestKind::Catalog
                              : reply && !reply->charged        ? RequestKind::Repeat
                                                                : RequestKind::Question;
  const std::string outcome = reply ? "ok" : sqlstate(reply.error().code);
  // Anybody may read the metrics: they get the slot's time, the operator's log the statement's own.
  service_.metrics().request(counted, outcome,
                             std::chrono::duration<double>(leaves - started).count());
  if (reply && reply->rows) service_.metrics().noise_ahead(reply->rows->noise_ahead);
  if (counted == RequestKind::Question)
    service_.log().info("question", {{"user", identity_.name},
                                     {"session", std::int64_t{process_}},
                                     {"outcome", outcome},
                                     {"seconds", seconds}});
  co_return reply;
}

}  // namespace discreet::server::pgwire
