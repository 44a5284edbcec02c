#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "ledger/store_internal.h"

namespace discreet::ledger {
namespace {

constexpr std::int64_t kApplicationId = 0x44534c47;  // "DSLG"
constexpr std::int64_t kFormatVersion = 1;

constexpr char kSchema[] = R"(
CREATE TABLE events (
  seq INTEGER PRIMARY KEY, at_us INTEGER NOT NULL, kind TEXT NOT NULL, account TEXT NOT NULL,
  body TEXT NOT NULL, previous BLOB NOT NULL, hash BLOB NOT NULL) STRICT;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE ON events
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TRIGGER events_are_never_deleted BEFORE DELETE ON events
  BEGIN SELECT RAISE(ABORT, 'the ledger is append-only'); END;
CREATE TABLE accounts (
  name TEXT PRIMARY KEY, parent TEXT NOT NULL, filter TEXT NOT NULL, epsilon REAL, delta REAL,
  windows INTEGER NOT NULL, epsilon_spent REAL NOT NULL, delta_spent REAL NOT NULL,
  rho_spent REAL NOT NULL, rho_delta_spent REAL NOT NULL, charges INTEGER NOT NULL) STRICT;
CREATE TABLE charges (
  seq INTEGER PRIMARY KEY, account TEXT NOT NULL, root TEXT NOT NULL, question TEXT NOT NULL,
  request TEXT, UNIQUE (root, question), UNIQUE (account, request)) STRICT;
CREATE TABLE answers (
  charge INTEGER PRIMARY KEY, release INTEGER NOT NULL, answer BLOB NOT NULL) STRICT;
CREATE TABLE users (
  name TEXT PRIMARY KEY, verifier TEXT, token_sha256 BLOB, parent TEXT NOT NULL, epsilon REAL,
  delta REAL, has_share INTEGER NOT NULL, created_us INTEGER NOT NULL) STRICT;
)";

// One statement string: it is one transaction.
constexpr char kPostgresSchema[] = R"(
SELECT pg_advisory_xact_lock(1146309447);
CREATE SCHEMA IF NOT EXISTS discreet_ledger;
CREATE TABLE IF NOT EXISTS events (
  seq bigint PRIMARY KEY, at_us bigint NOT NULL, kind text COLLATE "C" NOT NULL,
  account text COLLATE "C" NOT NULL, body text COLLATE "C" NOT NULL, previous bytea NOT NULL,
  hash bytea NOT NULL);
CREATE OR REPLACE FUNCTION append_only() RETURNS trigger LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'the ledger is append-only'; END $$;
DROP TRIGGER IF EXISTS events_are_never_changed ON events;
CREATE TRIGGER events_are_never_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON events
  FOR EACH STATEMENT EXECUTE FUNCTION append_only();
CREATE TABLE IF NOT EXISTS accounts (
  name text COLLATE "C" PRIMARY KEY, parent text COLLATE "C" NOT NULL, filter text NOT NULL,
  epsilon double precision, delta double precision, windows bigint NOT NULL,
  epsilon_spent double precision NOT NULL, delta_spent double precision NOT NULL,
  rho_spent double precision NOT NULL, rho_delta_spent double precision NOT NULL,
  charges bigint NOT NULL);
CREATE TABLE IF NOT EXISTS charges (
  seq bigint PRIMARY KEY, account text COLLATE "C" NOT NULL, root text COLLATE "C" NOT NULL,
  question text COLLATE "C" NOT NULL, request text COLLATE "C", UNIQUE (root, question),
  UNIQUE (account, request));
CREATE TABLE IF NOT EXISTS answers (
  charge bigint PRIMARY KEY, release bigint NOT NULL, answer bytea NOT NULL);
CREATE TABLE IF NOT EXISTS users (
  name text COLLATE "C" PRIMARY KEY, verifier text, token_sha256 bytea,
  parent text COLLATE "C" NOT NULL, epsilon double precision, delta double precision,
  has_share bigint NOT NULL, created_us bigint NOT NULL);
CREATE TABLE IF NOT EXISTS format (version bigint NOT NULL);
INSERT INTO format SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM format);
)";

Result<std::int64_t> pragma(Database& database, const char* sql) {
  DISCREET_TRY(Statement statement, database.prepare(sql));
  DISCREET_TRY(const bool row, statement.step());
  return row ? statement.integer(0) : 0;
}

/// A new file's name must survive a power cut as well as its bytes.
Result<void> sync_folder(const std::filesystem::path& file) {
  std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const bool done = descriptor >= 0 && ::fsync(descriptor) == 0;
  if (descriptor >= 0) ::close(descriptor);
  if (done) return {};
  return Error{
      ErrorCode::Unavailable,
      fmt::format("cannot make the folder {} durable; is it there and writable?", folder.string())};
}

Result<void> make_schema(Database& database) {
  DISCREET_TRY(Transaction transaction, Transaction::begin(database));
  DISCREET_TRY(const std::int64_t version, pragma(database, "PRAGMA user_version"));
  if (version != 0) return {};  // another process was faster
  DISCREET_TRY_VOID(database.execute(kSchema));
  DISCREET_TRY_VOID(
      database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str()));
  DISCREET_TRY_VOID(
      database.execute(fmt::format("PRAGMA user_version = {}", kFormatVersion).c_str()));
  return transaction.commit();
}

Digest digest_of(const std::string& bytes) {
  Digest digest{};
  if (bytes.size() == digest.size()) std::copy(bytes.begin(), bytes.end(), digest.begin());
  return digest;
}

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

template <class Number>
void bind_limit(Statement& statement, const std::optional<Number>& limit) {
  if (limit)
    statement.bind(limit->value());
  else
    statement.bind_null();
}

/// Sums may have reached infinity, which make() refuses.
template <class Number>
Result<Number> sum_of(double value) {
  if (value == std::numeric_limits<double>::infinity()) {
    const Number huge = Number::make(std::numeric_limits<double>::max()).value();
    return huge + huge;
  }
  return Number::make(value);
}

constexpr char kAccountColumns[] =
    "name, parent, filter, epsilon, delta, windows, epsilon_spent, delta_spent, rho_spent, "
    "rho_delta_spent, charges";

Result<Account> read_account(const Statement& row) {
  GrantEvent grant;
  grant.parent = row.text(1);
  grant.filter = row.text(2) == name(FilterKind::Best) ? FilterKind::Best : FilterKind::Basic;
  if (!row.is_null(3)) {
    DISCREET_TRY(grant.total.epsilon, Epsilon::make(row.real(3)));
  }
  if (!row.is_null(4)) {
    DISCREET_TRY(grant.total.delta, Delta::make(row.real(4)));
  }
  grant.windows = static_cast<std::uint64_t>(row.integer(5));
  Spent spent;
  DISCREET_TRY(spent.epsilon, sum_of<Epsilon>(row.real(6)));
  DISCREET_TRY(spent.delta, Delta::make(row.real(7)));
  DISCREET_TRY(spent.rho, sum_of<Rho>(row.real(8)));
  DISCREET_TRY(spent.rho_delta, Delta::make(row.real(9)));
  spent.charges = static_cast<std::uint64_t>(row.integer(10));
  return Account(row.text(0), std::move(grant), spent);
}

Store::ChargeRow read_charge(const Statement& row) {
  return {static_cast<std::uint64_t>(row.integer(0)), row.text(1), row.text(2), row.text(3)};
}

}  // namespace

Result<Store> Store::open_postgres(const std::string& address, Options options) {
  DISCREET_TRY(Database database,
               Database::open_postgres(address, {.create = !options.read_only,
                                                 .read_only = options.read_only,
                                                 .vfs = nullptr,
                                                 .busy_timeout_ms = options.busy_timeout_ms}));
  const auto version = [&]() -> Result<std::int64_t> {
    DISCREET_TRY(const std::int64_t there,
                 pragma(database, "SELECT to_regclass('discreet_ledger.format') IS NOT NULL"));
    return there == 0 ? std::int64_t{0} : pragma(database, "SELECT version FROM format");
  };
  DISCREET_TRY(std::int64_t found, version());
  if (found == 0 && options.read_only)
    return Error{ErrorCode::NotFound,
                 "there is no ledger in this PostgreSQL database; nothing was asked yet"};
  if (found == 0) {
    // Of several curators that start at once, one makes the tables.
    DISCREET_TRY_VOID(database.execute(kPostgresSchema));
    DISCREET_TRY(found, version());
  }
  if (found != kFormatVersion)
    return invalid_input(
        fmt::format("the ledger in this PostgreSQL database is not of format {}", kFormatVersion));
  return Store(std::move(database));
}

Result<Store> Store::open(const std::filesystem::path& path, Options options) {
  if (path.string().starts_with("postgres://") || path.string().starts_with("postgresql://"))
    return open_postgres(path.string(), options);
  if (path.string().find("://") != std::string::npos)
    return Error{ErrorCode::InvalidInput,
                 fmt::format("{} is of a kind that ledgers are not kept in; use a file, or "
                             "postgres://user@host/database",
                             path.string())};
  const bool fresh = !std::filesystem::exists(path);
  if (fresh && options.read_only)
    return Error{ErrorCode::NotFound,
                 fmt::format("there is no ledger at {}; nothing was asked yet", path.string())};
  DISCREET_TRY(Database database,
               Database::open(path.string(), {.create = !options.read_only,
                                              .read_only = options.read_only,
                                              .vfs = options.vfs,
                                              .busy_timeout_ms = options.busy_timeout_ms}));
  // FULL: a commit returns after the WAL is synced. Without it a power cut could forget a charge
  // whose answer has left.
  if (!options.read_only) {
    DISCREET_TRY_VOID(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"));
  }
  DISCREET_TRY_VOID(database.execute("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;"));
  DISCREET_TRY(std::int64_t version, pragma(database, "PRAGMA user_version"));
  DISCREET_TRY(std::int64_t application, pragma(database, "PRAGMA application_id"));
  if (version == 0 && application == 0 && !options.read_only) {
    DISCREET_TRY(const std::int64_t tables, pragma(database, "SELECT count(*) FROM sqlite_schema"));
    if (tables > 0)
      return invalid_input(fmt::format(
          "{} is an SQLite file of another program; choose another [ledger] store", path.string()));
    DISCREET_TRY_VOID(make_schema(database));
    DISCREET_TRY_VOID(sync_folder(path));
    version = kFormatVersion;
    application = kApplicationId;
  }
  if (application != kApplicationId || version != kFormatVersion)
    return invalid_input(
        fmt::format("{} is not a ledger of format {}", path.string(), kFormatVersion));
  return Store(std::move(database));
}

StoredEvent Store::read_event(const Statement& row) {
  return {static_cast<std::uint64_t>(row.integer(0)),
          Instant(std::chrono::microseconds(row.integer(1))),
          row.text(2),
          row.text(3),
          row.text(4),
          digest_of(row.text(5)),
          digest_of(row.text(6))};
}

Result<StoredEvent> Store::append(Instant at, const std::string& account, const EventBody& body) {
  DISCREET_TRY(const auto last, last_event());
  // A chain that does not hold is not continued: the break would be sealed in as if it were good.
  if (last && seal(*last) != last->hash)
    return invalid_input(fmt::format(
        "event {} of the ledger is broken; run `discreet ledger verify`", last->sequence));
  return append_after(last, at, account, body);
}

Result<void> Store::append_repeats(const std::vector<RepeatNote>& notes) {
  std::optional<StoredEvent> last;
  for (const RepeatNote& note : notes) {
    const RepeatEvent body{note.charge};
    auto appended = last ? append_after(last, note.at, note.account, body)
                         : append(note.at, note.account, body);
    DISCREET_TRY(last, std::move(appended));
  }
  return {};
}

Result<StoredEvent> Store::append_after(const std::optional<StoredEvent>& last, Instant at,
                                        const std::string& account, const EventBody& body) {
  StoredEvent event{last ? last->sequence + 1 : 1, at, kind_name(body), account, encode_body(body),
                    last ? last->hash : genesis(), {}};
  event.hash = seal(event);
  DISCREET_TRY(Statement insert,
               database_.prepare("INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?)"));
  insert.bind(static_cast<std::int64_t>(event.sequence))
      .bind(static_cast<std::int64_t>(event.at.time_since_epoch().count()))
      .bind(event.kind)
      .bind(event.account)
      .bind(event.body)
      .bind_blob(event.previous)
      .bind_blob(event.hash);
  DISCREET_TRY_VOID(insert.run());
  return event;
}

Result<std::optional<StoredEvent>> Store::event(std::uint64_t sequence) {
  DISCREET_TRY(Statement select, database_.prepare(fmt::format(
                                     "SELECT {} FROM events WHERE seq = ?", kEventColumns)));
  select.bind(static_cast<std::int64_t>(sequence));
  DISCREET_TRY(const bool found, select.step());
  return found ? std::optional(read_event(select)) : std::nullopt;
}

Result<std::optional<StoredEvent>> Store::last_event() {
  DISCREET_TRY(Statement select,
               database_.prepare(
                   fmt::format("SELECT {} FROM events ORDER BY seq DESC LIMIT 1", kEventColumns)));
  DISCREET_TRY(const bool found, select.step());
  return found ? std::optional(read_event(select)) : std::nullopt;
}

Result<std::optional<Account>> Store::account(const std::string& name) {
  DISCREET_TRY(Statement select, database_.prepare(fmt::format(
                                     "SELECT {} FROM accounts WHERE name = ?", kAccountColumns)));
  select.bind(name);
  DISCREET_TRY(const bool found, select.step());
  if (!found) return std::optional<Account>();
  DISCREET_TRY(Account account, read_account(select));
  return std::optional(std::move(account));
}

Result<std::vector<Account>> Store::accounts() {
  DISCREET_TRY(Statement select,
               database_.prepare(fmt::format("SELECT {} FROM accounts ORDER BY parent <> '', name",
                                             kAccountColumns)));
  std::vector<Account> all;
  while (true) {
    DISCREET_TRY(const bool row, select.step());
    if (!row) return all;
    DISCREET_TRY(Account account, read_account(select));
    all.push_back(std::move(account));
  }
}

Result<void> Store::put_account(const Account& account) {
  DISCREET_TRY(
      Statement put,
      database_.prepare(
          "INSERT INTO accounts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) "
          "DO UPDATE SET parent = excluded.parent, filter = excluded.filter, epsilon = "
          "excluded.epsilon, delta = excluded.delta, windows = excluded.windows, "
          "epsilon_spent = excluded.epsilon_spent, delta_spent = excluded.delta_spent, "
          "rho_spent = excluded.rho_spent, rho_delta_spent = excluded.rho_delta_spent, "
          "charges = excluded.charges"));
  const GrantEvent& grant = account.grant();
  const Spent& spent = account.spent();
  put.bind(account.name()).bind(grant.parent).bind(std::string_view(name(grant.filter)));
  bind_limit(put, grant.total.epsilon);
  bind_limit(put, grant.total.delta);
  put.bind(static_cast<std::int64_t>(grant.windows))
      .bind(spent.epsilon.value())
      .bind(spent.delta.value())
      .bind(spent.rho.value())
      .bind(spent.rho_delta.value())
      .bind(static_cast<std::int64_t>(spent.charges));
  return put.run();
}

Result<void> Store::put_charge(const ChargeRow& row, const std::string& request) {
  DISCREET_TRY(Statement put, database_.prepare("INSERT INTO charges VALUES (?, ?, ?, ?, ?)"));
  put.bind(static_cast<std::int64_t>(row.sequence))
      .bind(row.account)
      .bind(row.root)
      .bind(row.question);
  if (request.empty())
    put.bind_null();
  else
    put.bind(request);
  return put.run();
}

Result<std::optional<Store::ChargeRow>> Store::charge_of_question(const std::string& root,
                                                                  const std::string& question) {
  DISCREET_TRY(
      Statement select,
      database_.prepare(
          "SELECT seq, account, root, question FROM charges WHERE root = ? AND question = ?"));
  select.bind(root).bind(question);
  DISCREET_TRY(const bool found, select.step());
  return found ? std::optional(read_charge(select)) : std::nullopt;
}

Result<std::optional<Store::ChargeRow>> Store::charge_of_request(const std::string& account,
                                                                 const std::string& request) {
  DISCREET_TRY(
      Statement select,
      database_.prepare(
          "SELECT seq, account, root, question FROM charges WHERE account = ? AND request = ?"));
  select.bind(account).bind(request);
  DISCREET_TRY(const bool found, select.step());
  return found ? std::optional(read_charge(select)) : std::nullopt;
}

Result<std::vector<Store::ChargeRow>> Store::charges() {
  DISCREET_TRY(Statement select,
               database_.prepare("SELECT seq, account, root, question FROM charges ORDER BY seq"));
  std::vector<ChargeRow> all;
  while (true) {
    DISCREET_TRY(const bool row, select.step());
    if (!row) return all;
    all.push_back(read_charge(select));
  }
}

Result<void> Store::put_answer(std::uint64_t charge, std::uint64_t release,
                               std::string_view answer) {
  DISCREET_TRY(Statement put, database_.prepare("INSERT INTO answers VALUES (?, ?, ?)"));
  put.bind(static_cast<std::int64_t>(charge))
      .bind(static_cast<std::int64_t>(release))
      .bind_blob(bytes_of(answer));
  return put.run();
}

Result<std::optional<Store::AnswerRow>> Store::answer(std::uint64_t charge) {
  DISCREET_TRY(Statement select,
               database_.prepare("SELECT release, answer FROM answers WHERE charge = ?"));
  select.bind(static_cast<std::int64_t>(charge));
  DISCREET_TRY(const bool found, select.step());
  if (!found) return std::optional<AnswerRow>();
  return std::optional(AnswerRow{static_cast<std::uint64_t>(select.integer(0)), select.text(1)});
}

Result<bool> Store::has_answer(std::uint64_t charge) {
  DISCREET_TRY(Statement select, database_.prepare("SELECT 1 FROM answers WHERE charge = ?"));
  select.bind(static_cast<std::int64_t>(charge));
  return select.step();
}

}  // namespace discreet::ledger
