#include "postgres/connection.h"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <mutex>

#include <fmt/format.h>

namespace discreet::postgres {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kGraceSeconds = 30;

}  // namespace

Rows::Rows(pg_result* result) : result_(result) {}
void Rows::Clear::operator()(pg_result* result) const {
  PQclear(result);
}
int Rows::rows() const {
  return PQntuples(result_.get());
}
int Rows::columns() const {
  return PQnfields(result_.get());
}
std::string Rows::name(int column) const {
  return PQfname(result_.get(), column);
}
std::uint32_t Rows::type(int column) const {
  return PQftype(result_.get(), column);
}
bool Rows::is_null(int row, int column) const {
  return PQgetisnull(result_.get(), row, column) == 1;
}
std::string_view Rows::bytes(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}
std::string Rows::command() const {
  return PQcmdStatus(result_.get());
}

struct Connection::Impl {
  Impl(Address where, Settings how) : address(std::move(where)), settings(std::move(how)) {}
  ~Impl() {
    PQfreemem(piece);
    PQfreeCancel(cancelling);
    PQfinish(handle);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void say(std::string_view words) const {
    if (settings.log && !words.empty()) settings.log(words);
  }

  Error lost_connection(const char* words) {
    say(words);
    lost = true;
    state.clear();
    return Error{ErrorCode::Unavailable,
                 fmt::format("The connection to PostgreSQL ({}) was lost; the operator's log has "
                             "the reason.",
                             address.shown)};
  }

  Error failure(const PGresult* result) {
    const char* code = result == nullptr ? nullptr : PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (PQstatus(handle) == CONNECTION_BAD || code == nullptr)
      return lost_connection(PQerrorMessage(handle));
    state = code;
    say(PQresultErrorMessage(result));
    // 57P0x: the server is being shut down, or an administrator ended us.
    if (state.starts_with("57P")) return lost_connection("");
    const char* sentence =
        "PostgreSQL could not run the statement; the operator's log has the reason.";
    if (state == "57014")
      sentence = "PostgreSQL stopped the statement: it took longer than allowed, or was cancelled.";
    else if (state.starts_with("42P") || state.starts_with("427") || state == "42804" ||
             state == "42883")
      sentence =
          "PostgreSQL does not take the statement: its tables have changed since they were opened, "
          "or this question needs what it cannot do. The operator's log has the reason.";
    else if (state == "42501")
      sentence = "PostgreSQL does not let this user read the table; grant SELECT on it.";
    else if (state.starts_with("40"))
      sentence = "PostgreSQL gave way to another transaction; try again.";
    return Error{ErrorCode::Unavailable, sentence};
  }

  std::chrono::seconds patience() const {
    return std::chrono::seconds(settings.statement_timeout_s + kGraceSeconds);
  }

  /// Until there is an answer to read, but not for ever.
  Result<void> wait() {
    if (PQisBusy(handle) == 0) return {};
    const auto deadline = Clock::now() + patience();
    while (PQisBusy(handle) == 1) DISCREET_TRY_VOID(wait_for_bytes(deadline));
    return {};
  }

  Result<void> wait_for_bytes(Clock::time_point deadline) {
    pollfd socket{PQsocket(handle), POLLIN, 0};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return lost_connection("the server was silent for too long");
    const int ready = poll(&socket, 1, static_cast<int>(std::min<long long>(left, 60'000)));
    if (ready < 0 && errno != EINTR) return lost_connection("poll failed");
    if (ready > 0 && PQconsumeInput(handle) == 0) return lost_connection(PQerrorMessage(handle));
    return {};
  }

  /// The next answer; nothing after the last.
  Result<std::optional<Rows>> answer() {
    DISCREET_TRY_VOID(wait());
    PGresult* result = PQgetResult(handle);
    if (result == nullptr) return std::optional<Rows>();
    Rows rows(result);
    switch (PQresultStatus(result)) {
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
      case PGRES_SINGLE_TUPLE:
      case PGRES_EMPTY_QUERY:
      case PGRES_COPY_IN:
      case PGRES_COPY_OUT:
        return std::optional(std::move(rows));
      default:
        return failure(result);
    }
  }

  void skip_answers() {
    while (!lost) {
      if (!wait()) return;
      PGresult* result = PQgetResult(handle);
      if (result == nullptr) return;
      const bool copying = PQresultStatus(result) == PGRES_COPY_OUT;
      PQclear(result);
      // Until its bytes are read, the server says so again and again.
      while (copying) {
        char* unread = nullptr;
        if (PQgetCopyData(handle, &unread, 0) < 0) break;
        PQfreemem(unread);
      }
    }
  }

  Result<Rows> last_answer() {
    std::optional<Rows> last;
    while (true) {
      auto next = answer();
      if (!next) {
        skip_answers();
        return next.error();
      }
      if (!*next) break;
      last = *std::move(next);
    }
    if (!last) return lost_connection("no answer");
    return *std::move(last);
  }

  const Address address;
  const Settings settings;
  PGconn* handle = nullptr;
  PGcancel* cancelling = nullptr;
  char* piece = nullptr;  // of a COPY
  std::string state;
  bool lost = false;
};

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

Result<Connection> Connection::open(const Address& address, const Settings& settings) {
  auto impl = std::make_unique<Impl>(address, settings);
  const std::string timeout = std::to_string(settings.connect_timeout_s);
  // dbname last: what the address says counts more than what we would like.
  const char* keys[] = {
      "application_name",    "client_encoding",  "connect_timeout", "keepalives_idle",
      "keepalives_interval", "tcp_user_timeout", "dbname",          nullptr};
  const char* values[] = {"discreet", "UTF8",   timeout.c_str(),        "30",
                          "10",       "120000", address.server.c_str(), nullptr};
  impl->handle = PQconnectdbParams(keys, values, 1);
  const auto refused = [&](const char* advice) {
    return Error{ErrorCode::Unavailable, fmt::format("PostgreSQL ({}) {}", address.shown, advice)};
  };
  if (impl->handle == nullptr || PQstatus(impl->handle) != CONNECTION_OK) {
    impl->say(PQerrorMessage(impl->handle));
    return PQconnectionNeedsPassword(impl->handle) == 1 ||
                   PQconnectionUsedPassword(impl->handle) == 1
               ? refused(
                     "did not accept the user or the password; put it into PGPASSFILE or "
                     "~/.pgpass")
               : refused(
                     "could not be reached or did not let us in; the operator's log has the "
                     "reason.");
  }
  // Notices may quote values too.
  PQsetNoticeProcessor(impl->handle, [](void*, const char*) {}, nullptr);
  impl->cancelling = PQgetCancel(impl->handle);
  Connection connection(std::move(impl));
  if (const auto encoding = connection.parameter("server_encoding");
      !encoding.empty() && encoding != "UTF8")
    return refused("keeps text in an encoding other than UTF8, which cannot be read exactly.");
  DISCREET_TRY(const Rows set,
               connection.execute(fmt::format(
                   "SET standard_conforming_strings = on; SET TimeZone = 'UTC'; SET DateStyle = "
                   "'ISO'; SET extra_float_digits = 1; SET statement_timeout = '{}s'{}",
                   settings.statement_timeout_s,
                   settings.read_only ? "; SET default_transaction_read_only = on" : "")));
  // Compiling the long expressions of a statement takes longer than running them. Whoever only
  // speaks PostgreSQL's protocol may not know the setting.
  static_cast<void>(connection.execute("SET jit = off"));
  connection.impl_->state.clear();
  return connection;
}

Result<Rows> Connection::execute(const std::string& sql) {
  if (PQsendQuery(impl_->handle, sql.c_str()) == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  return impl_->last_answer();
}

Result<Rows> Connection::execute(const std::string& sql, const std::vector<Parameter>& parameters) {
  std::vector<const char*> values;
  std::vector<int> lengths, formats;
  for (const Parameter& parameter : parameters) {
    values.push_back(parameter.value ? parameter.value->c_str() : nullptr);
    lengths.push_back(parameter.value ? static_cast<int>(parameter.value->size()) : 0);
    formats.push_back(parameter.is_bytes ? 1 : 0);
  }
  if (PQsendQueryParams(impl_->handle, sql.c_str(), static_cast<int>(parameters.size()), nullptr,
                        values.data(), lengths.data(), formats.data(), 0) == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  return impl_->last_answer();
}

Result<void> Connection::send(const std::string& sql) {
  if (PQsendQueryParams(impl_->handle, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 1) == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  if (PQsetSingleRowMode(impl_->handle) == 0)
    return impl_->lost_connection("single-row mode was refused");
  return {};
}

Result<std::optional<Rows>> Connection::next_row() {
  auto row = impl_->answer();
  if (!row) impl_->skip_answers();
  return row;
}

Result<Rows> Connection::describe(const std::string& sql) {
  if (PQsendPrepare(impl_->handle, "", sql.c_str(), 0, nullptr) == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  DISCREET_TRY(const Rows prepared, impl_->last_answer());
  if (PQsendDescribePrepared(impl_->handle, "") == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  return impl_->last_answer();
}

Result<void> Connection::send_copy(const std::string& sql) {
  if (PQsendQuery(impl_->handle, sql.c_str()) == 0)
    return impl_->lost_connection(PQerrorMessage(impl_->handle));
  DISCREET_TRY(const auto begun, next_row());
  if (!begun) return impl_->lost_connection("COPY gave no answer");
  return {};
}

Result<std::optional<std::string_view>> Connection::next_bytes() {
  PQfreemem(std::exchange(impl_->piece, nullptr));
  std::optional<Clock::time_point> deadline;  // most pieces are here already
  for (;;) {
    const int size = PQgetCopyData(impl_->handle, &impl_->piece, 1);
    if (size > 0)
      return std::optional(std::string_view(impl_->piece, static_cast<std::size_t>(size)));
    if (size == -2) return impl_->lost_connection(PQerrorMessage(impl_->handle));
    if (size == -1) break;
    if (!deadline) deadline = Clock::now() + impl_->patience();
    DISCREET_TRY_VOID(impl_->wait_for_bytes(*deadline));
  }
  // All bytes came; whether all rows did, the server says now.
  for (;;) {
    DISCREET_TRY(const auto ended, next_row());
    if (!ended) return std::optional<std::string_view>();
  }
}

void Connection::drain() {
  if (impl_ == nullptr || impl_->lost) return;
  if (PQtransactionStatus(impl_->handle) == PQTRANS_ACTIVE) cancel();
  impl_->skip_answers();
}

int Connection::server_version() const {
  return PQserverVersion(impl_->handle);
}

bool Connection::is_lost() const {
  return impl_->lost || PQstatus(impl_->handle) != CONNECTION_OK;
}
const std::string& Connection::state() const {
  return impl_->state;
}
std::string Connection::parameter(const char* name) const {
  const char* value = PQparameterStatus(impl_->handle, name);
  return value == nullptr ? std::string() : std::string(value);
}

void Connection::cancel() const {
  char words[256];
  if (impl_->cancelling != nullptr && PQcancel(impl_->cancelling, words, sizeof(words)) == 0)
    impl_->say(words);
}

}  // namespace discreet::postgres
