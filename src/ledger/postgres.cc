// The ledger's database on PostgreSQL. Writers take the lock on `events` before they look at
// anything, so their transactions run one after another, and each is SERIALIZABLE besides.
#include <charconv>
#include <cstdlib>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "ledger/sqlite_internal.h"
#include "postgres/connection.h"

namespace discreet::ledger {
namespace {

constexpr std::uint32_t kByteaType = 17;
constexpr int kPageRows = 1000;

int nibble(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

/// The connection, and what its failures are called.
class Session {
 public:
  Session(postgres::Address address, Database::Options options)
      : address_(std::move(address)), options_(options) {}

  Result<void> open() {
    postgres::Settings settings;
    settings.statement_timeout_s = 120;
    settings.read_only = options_.read_only;
    DISCREET_TRY(postgres::Connection made, postgres::Connection::open(address_, settings));
    connection_.emplace(std::move(made));
    in_transaction_ = false;
    // A commit returns after the server's log is on disk, whatever its default is.
    DISCREET_TRY(const auto set,
                 run(fmt::format("SET synchronous_commit = on; SET lock_timeout = '{}ms'; SET "
                                 "search_path = discreet_ledger",
                                 options_.busy_timeout_ms)));
    DISCREET_TRY(const auto durable, run("SHOW fsync"));
    if (!options_.read_only && durable.bytes(0, 0) != "on")
      return Error{
          ErrorCode::Refused,
          "the ledger's PostgreSQL runs with fsync = off: a power cut could forget charges "
          "whose answers have left. Switch it on."};
    return {};
  }

  Result<void> ensure() {
    if (in_transaction_ || (connection_ && !connection_->is_lost())) return {};
    return open();
  }

  Result<postgres::Rows> run(const std::string& sql) { return named(connection_->execute(sql)); }
  Result<postgres::Rows> run(const std::string& sql,
                             const std::vector<postgres::Parameter>& parameters) {
    return named(connection_->execute(sql, parameters));
  }

  void in_transaction(bool is) { in_transaction_ = is; }
  int next_number() { return ++number_; }
  bool is_lost() const { return connection_->is_lost(); }

 private:
  Result<postgres::Rows> named(Result<postgres::Rows> rows) const {
    if (rows) return rows;
    if (connection_->state() == "55P03")
      return Error{ErrorCode::Unavailable,
                   "the ledger could not be written: another curator holds it; try again"};
    return Error{ErrorCode::Unavailable,
                 fmt::format("the ledger could not be read or written: {}", rows.error().message)};
  }

  postgres::Address address_;
  Database::Options options_;
  std::optional<postgres::Connection> connection_;
  bool in_transaction_ = false;
  int number_ = 0;
};

class PostgresStatement final : public Statement::Backend {
 public:
  PostgresStatement(std::shared_ptr<Session> session, std::string sql)
      : session_(std::move(session)), sql_(std::move(sql)) {
    // All of a long table is read page by page.
    if (sql_.ends_with("ORDER BY seq")) cursor_ = fmt::format("events_{}", session_->next_number());
  }
  ~PostgresStatement() override {
    if (rows_ && !cursor_.empty() && !session_->is_lost())
      static_cast<void>(session_->run("CLOSE " + cursor_));
  }
  PostgresStatement(const PostgresStatement&) = delete;
  PostgresStatement& operator=(const PostgresStatement&) = delete;

  void bind(std::int64_t value) override { parameters_.push_back({std::to_string(value)}); }
  void bind(double value) override { parameters_.push_back({fmt::format("{}", value)}); }
  void bind(std::string_view text) override { parameters_.push_back({std::string(text)}); }
  void bind_blob(std::span<const std::uint8_t> bytes) override {
    parameters_.push_back({std::string(bytes.begin(), bytes.end()), true});
  }
  void bind_null() override { parameters_.push_back({std::nullopt}); }

  Result<bool> step() override {
    if (!rows_) {
      if (!cursor_.empty()) {
        DISCREET_TRY(const auto opened,
                     session_->run(fmt::format("DECLARE {} NO SCROLL CURSOR WITH HOLD FOR {}",
                                               cursor_, sql_)));
        DISCREET_TRY_VOID(fetch());
      } else {
        DISCREET_TRY(auto rows, session_->run(sql_, parameters_));
        rows_.emplace(std::move(rows));
      }
      at_ = 0;
      return at_ < rows_->rows();
    }
    ++at_;
    if (at_ >= rows_->rows() && !cursor_.empty() && rows_->rows() == kPageRows) {
      DISCREET_TRY_VOID(fetch());
      at_ = 0;
    }
    return at_ < rows_->rows();
  }

  std::int64_t integer(int column) const override {
    const std::string_view bytes = rows_->bytes(at_, column);
    if (bytes == "t") return 1;
    std::int64_t value = 0;
    std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
    return value;
  }
  double real(int column) const override {
    // The shortest text that reads back as the same number.
    return std::strtod(std::string(rows_->bytes(at_, column)).c_str(), nullptr);
  }
  std::string text(int column) const override {
    const std::string_view bytes = rows_->bytes(at_, column);
    if (rows_->type(column) != kByteaType) return std::string(bytes);
    std::string decoded;  // \x0123...
    for (std::size_t i = 2; i + 1 < bytes.size(); i += 2)
      decoded += static_cast<char>(nibble(bytes[i]) * 16 + nibble(bytes[i + 1]));
    return decoded;
  }
  bool is_null(int column) const override { return rows_->is_null(at_, column); }

 private:
  Result<void> fetch() {
    DISCREET_TRY(auto rows, session_->run(fmt::format("FETCH {} FROM {}", kPageRows, cursor_)));
    rows_.emplace(std::move(rows));
    return {};
  }

  std::shared_ptr<Session> session_;
  std::string sql_, cursor_;
  std::vector<postgres::Parameter> parameters_;
  std::optional<postgres::Rows> rows_;
  int at_ = 0;
};

class PostgresDatabase final : public Database::Backend {
 public:
  explicit PostgresDatabase(std::shared_ptr<Session> session) : session_(std::move(session)) {}

  Result<Statement> prepare(std::string_view sql) override {
    DISCREET_TRY_VOID(session_->ensure());
    std::string numbered;
    int next = 1;
    for (const char c : sql) {
      if (c == '?')
        numbered += "$" + std::to_string(next++);
      else
        numbered += c;
    }
    return Statement(std::make_unique<PostgresStatement>(session_, std::move(numbered)));
  }

  Result<void> execute(const char* sql) override {
    const bool ends = std::string_view(sql) == "ROLLBACK";
    if (ends) session_->in_transaction(false);
    if (ends && session_->is_lost()) return {};  // the server has rolled back
    DISCREET_TRY_VOID(session_->ensure());
    DISCREET_TRY(const auto done, session_->run(sql));
    return {};
  }

  Result<void> begin_reading() override {
    return begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }
  Result<void> begin_writing() override {
    // LOCK takes no snapshot: what is read afterwards is what the writer before us left.
    return begin("BEGIN ISOLATION LEVEL SERIALIZABLE; LOCK TABLE events IN EXCLUSIVE MODE");
  }

  Result<void> commit() override {
    const auto done = session_->run("COMMIT");
    session_->in_transaction(false);
    if (!done) return done.error();
    // The server answers ROLLBACK where a statement inside had failed.
    if (done->command() != "COMMIT")
      return Error{ErrorCode::Unavailable, "the ledger did not take the change; try again"};
    return {};
  }

 private:
  Result<void> begin(const char* sql) {
    DISCREET_TRY_VOID(session_->ensure());
    const auto begun = session_->run(sql);
    if (!begun) {
      if (!session_->is_lost()) static_cast<void>(session_->run("ROLLBACK"));
      return begun.error();
    }
    session_->in_transaction(true);
    return {};
  }

  std::shared_ptr<Session> session_;
};

}  // namespace

Result<Database> Database::open_postgres(const std::string& text, Options options) {
  DISCREET_TRY(postgres::Address address, postgres::Address::parse(text));
  auto session = std::make_shared<Session>(std::move(address), options);
  DISCREET_TRY_VOID(session->open());
  return Database(std::make_unique<PostgresDatabase>(std::move(session)));
}

}  // namespace discreet::ledger
