#include "engines/postgres/engine.h"

#include <charconv>
#include <map>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "engines/postgres/decode_internal.h"
#include "engines/postgres/pages_internal.h"
#include "engines/remote_state_internal.h"
#include "postgres/connection.h"

namespace discreet {

/// How many rows were ever written to each table's file, over crashes: the server forgets its
/// statistics then and counts from zero. Shared by all connections of a process.
class PostgresEngine::Counters {
 public:
  std::uint64_t total(const std::string& file, std::uint64_t counted) {
    const std::scoped_lock lock(mutex_);
    Known& known = files_[file];
    if (counted < known.counted) known.before += known.counted;
    known.counted = counted;
    return known.before + counted;
  }

 private:
  struct Known {
    std::uint64_t counted = 0, before = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Known> files_;
};

struct PostgresEngine::State : RemoteState<postgres::Connection> {
  std::shared_ptr<Counters> counters;
  postgres::Address address;
  PostgresEngineSettings settings;
  bool has_savepoints = true;  // until the server says otherwise

  Result<std::unique_ptr<postgres::Connection>> make_connection() const {
    postgres::Settings how;
    how.connect_timeout_s = settings.connect_timeout_s;
    how.statement_timeout_s = settings.statement_timeout_s;
    how.read_only = true;
    how.log = settings.operator_log;
    DISCREET_TRY(postgres::Connection made, postgres::Connection::open(address, how));
    return std::make_unique<postgres::Connection>(std::move(made));
  }

  /// Begins a transaction, or fails.
  Result<void> begin();
  /// Shows a statement's rows; inside a question it can go on after any but a lost connection.
  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor);
  Result<VisitedRows> visit_in_some_form(const std::string& sql,
                                         const std::vector<std::string>& columns,
                                         const ChunkVisitor& visitor);
  Result<VisitedRows> visit_rows(const std::string& statement,
                                 const std::vector<PostgresDecoder>& decoders,
                                 const ChunkVisitor& visitor);

  struct Pages {
    std::string before, after;  // SQL, around the numbers of the first page and the last
    std::int64_t end = 0;       // how many there are
    std::int64_t at_once = 1;   // by one word string

    std::string words(std::int64_t first, std::int64_t last) const {
      return fmt::format("{}{}, {}{}", before, first, last, after);
    }
  };
  /// Runs a statement that a server may not take. Nothing: it does not, and the question goes on.
  Result<std::optional<postgres::Rows>> attempt(const std::string& sql);
  /// The failure itself where it is not the statement's.
  Result<void> is_statements(const Error& failure) const;
  Result<void> taken_back(const Error& failure);
  Result<std::optional<Pages>> find_pages(const PagedStatement& paged, const RowWord& word,
                                          const std::vector<std::string>& columns);
  Result<std::int64_t> visit_words(const std::string& statement, const RowWord& word,
                                   PostgresChunk& chunk, const ChunkVisitor& visitor,
                                   VisitedRows& visited);
  Result<std::optional<VisitedRows>> visit_at_once(const std::string& rows, const RowWord& word,
                                                   const std::vector<std::string>& columns,
                                                   const std::vector<PostgresDecoder>& decoders,
                                                   const ChunkVisitor& visitor);
};

namespace {

constexpr std::size_t kChunkRows = 2048;
constexpr std::int64_t kPagesAtOnce = 128;  // some 10^4 rows
constexpr VisitedRows kLeftThere{0, true};

/// The first number after `name` in the server's plan of a statement; -1: there is none.
std::int64_t planned(const postgres::Rows& plan, std::string_view name) {
  std::int64_t found = -1;
  const std::string_view line = plan.rows() > 0 ? plan.bytes(0, 0) : std::string_view();
  if (const std::size_t at = line.find(name); at != std::string_view::npos)
    std::from_chars(line.data() + at + name.size(), line.data() + line.size(), found);
  return found;
}

Result<std::vector<PostgresDecoder>> decoders_of(const postgres::Rows& described) {
  std::vector<PostgresDecoder> decoders;
  for (int i = 0; i < described.columns(); ++i) {
    const auto decoder = postgres_decoder(described.type(i));
    if (!decoder)
      return Error{ErrorCode::Refused,
                   fmt::format("column {} has a PostgreSQL type that has no exact meaning here",
                               described.name(i))};
    decoders.push_back(*decoder);
  }
  return decoders;
}

/// The rows of a binary COPY.
class CopyRows {
 public:
  explicit CopyRows(postgres::Connection& connection) : connection_(connection) {}
  /// Valid until the next call; nothing at the end.
  Result<std::optional<std::string_view>> next() {
    for (;;) {
      DISCREET_TRY(auto bytes, connection_.next_bytes());
      if (!bytes) return bytes;
      // The first row comes with the header before it.
      if (!std::exchange(begun_, true) && !skip_copy_header(*bytes))
        return Error{ErrorCode::Unavailable, kStatementFailed};
      if (!bytes->empty() && !is_copy_trailer(*bytes)) return bytes;
    }
  }

 private:
  postgres::Connection& connection_;
  bool begun_ = false;
};

class PostgresStream final : public RemoteStream<PostgresEngine::State> {
 public:
  using RemoteStream::RemoteStream;

  Result<void> start(const std::string& sql) {
    DISCREET_TRY_VOID(state_->noted(state_->connection->send(sql)));
    DISCREET_TRY_VOID(state_->goes_on());
    DISCREET_TRY(first_, next_row());
    if (!first_) return Error{ErrorCode::Unavailable, kStatementFailed};
    DISCREET_TRY(decoders_, decoders_of(*first_));
    for (std::size_t i = 0; i < decoders_.size(); ++i)
      columns_.push_back({first_->name(static_cast<int>(i)), decoders_[i].type});
    return {};
  }

 private:
  Result<std::optional<EngineChunk>> read() override {
    PostgresChunk chunk(decoders_, kChunkRows);
    while (!ended_ && chunk.size() < kChunkRows) {
      std::optional<postgres::Rows> row = std::exchange(first_, std::nullopt);
      if (!row) {
        DISCREET_TRY(row, next_row());
      }
      ended_ = !row;
      if (ended_) break;
      for (int i = 0; i < row->rows(); ++i)
        if (!chunk.add(*row, i)) return Error{ErrorCode::Unavailable, kStatementFailed};
    }
    if (chunk.size() == 0) return std::optional<EngineChunk>();
    return std::optional(chunk.finish());
  }

  Result<std::optional<postgres::Rows>> next_row() {
    return state_->noted(state_->connection->next_row());
  }

  std::optional<postgres::Rows> first_;
  std::vector<PostgresDecoder> decoders_;
};

}  // namespace

Result<VisitedRows> PostgresEngine::State::visit_rows(const std::string& statement,
                                                      const std::vector<PostgresDecoder>& decoders,
                                                      const ChunkVisitor& visitor) {
  DISCREET_TRY_VOID(
      connection->send_copy(fmt::format("COPY ({}) TO STDOUT (FORMAT binary)", statement)));
  DISCREET_TRY_VOID(goes_on());
  VisitedRows visited{0, false};
  PostgresChunk chunk(decoders, kChunkRows);
  const auto show = [&] {
    visited.rows += chunk.size();
    visited.stopped = chunk.size() > 0 && !visitor(chunk.finish(), 0);
    chunk.clear();
  };
  CopyRows rows(*connection);
  while (!visited.stopped) {
    DISCREET_TRY(const auto row, rows.next());
    if (!row) break;
    if (!chunk.add(*row)) return Error{ErrorCode::Unavailable, kStatementFailed};
    if (chunk.size() == kChunkRows) show();
  }
  if (!visited.stopped) show();
  return visited;
}

Result<std::optional<postgres::Rows>> PostgresEngine::State::attempt(const std::string& sql) {
  DISCREET_TRY_VOID(cancellation.check());
  DISCREET_TRY_VOID(connection->execute("SAVEPOINT discreet_attempt"));
  auto rows = connection->execute(sql, {});
  if (rows) return std::optional(*std::move(rows));
  DISCREET_TRY_VOID(taken_back(rows.error()));
  return std::optional<postgres::Rows>();
}

Result<void> PostgresEngine::State::is_statements(const Error& failure) const {
  constexpr std::string_view kCancelled = "57014";
  const std::string& why = connection->state();
  if (connection->is_lost() || why.empty() || why == kCancelled || !cancellation.check())
    return failure;
  return {};
}

/// After a failure in an attempt: as if it had not been made.
Result<void> PostgresEngine::State::taken_back(const Error& failure) {
  DISCREET_TRY_VOID(is_statements(failure));
  DISCREET_TRY_VOID(connection->execute("ROLLBACK TO SAVEPOINT discreet_attempt"));
  return {};
}

// Nothing: this is no table whose pages the server can find by number. Asked of servers alone that
// can (14 and later), so that the question itself cannot fail elsewhere; a table that Citus has
// spread over others, or that another access method keeps, has no pages here that hold its rows.
// Of a table with partitions a range of pages is that range of every one; where one has most of the
// rows, the others would be visited in vain.
Result<std::optional<PostgresEngine::State::Pages>> PostgresEngine::State::find_pages(
    const PagedStatement& paged, const RowWord& word, const std::vector<std::string>& columns) {
  constexpr int kTidRanges = 140000;
  if (connection->server_version() < kTidRanges) return std::optional<Pages>();
  DISCREET_TRY(
      const postgres::Rows counted,
      connection->execute(
          "WITH RECURSIVE part(id) AS (SELECT CAST(to_regclass($1) AS oid) UNION SELECT inhrelid "
          "FROM pg_inherits, part WHERE inhparent = id), leaf AS (SELECT relkind IN ('r', 'm') AND "
          "relam = (SELECT oid FROM pg_am WHERE amname = 'heap') AS is_heap, pg_relation_size(oid) "
          "/ CAST(current_setting('block_size') AS bigint) AS pages FROM pg_class WHERE oid IN "
          "(SELECT id FROM part) AND relkind <> 'p') SELECT count(*), max(pages), count(*) FILTER "
          "(WHERE pages < 8) FROM leaf HAVING bool_and(is_heap) AND max(pages) * count(*) <= "
          "greatest(4 * sum(pages), 1000) AND NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname "
          "= 'citus')",
          {{paged.relation()}}));
  if (counted.rows() != 1) return std::optional<Pages>();
  const auto number = [&](int column) {
    std::int64_t found = 0;
    const std::string_view digits = counted.bytes(0, column);
    std::from_chars(digits.data(), digits.data() + digits.size(), found);
    return found;
  };
  const std::int64_t leaves = number(0), small_leaves = number(2);
  Pages pages;
  pages.end = number(1);
  pages.at_once = std::max<std::int64_t>(1, kPagesAtOnce / leaves);
  pages.before = "SELECT page, units, words FROM generate_series(CAST(0 AS bigint) + ";
  pages.after = fmt::format(
      ", {0}) AS discreet_pages(page), LATERAL (SELECT string_agg(int8send({1}), CAST('' AS "
      "bytea)) AS words, bit_or(CAST({2} AS bigint)) AS units FROM ({3}) AS visited) AS read WHERE "
      "words IS NOT NULL",
      pages.at_once, word.sql(columns), columns.at(0),
      paged.over("discreet_pages.page", fmt::format("discreet_pages.page + {}", pages.at_once)));
  // Tables of an extension may look like others and still have no place of their rows.
  DISCREET_TRY(const auto plan, attempt("EXPLAIN " + pages.words(0, 0)));
  if (!plan) return std::optional<Pages>();
  std::int64_t by_ranges = 0, in_full = 0;
  for (int row = 0; row < plan->rows(); ++row) {
    const std::string_view line = plan->bytes(row, 0);
    by_ranges += line.find("Tid Range Scan") != std::string_view::npos ? 1 : 0;
    in_full += line.find("Seq Scan") != std::string_view::npos ? 1 : 0;
  }
  // What is read in full is read for every range.
  if (by_ranges == 0 || in_full > small_leaves || 8 * in_full > by_ranges * pages.at_once)
    return std::optional<Pages>();
  return std::optional(std::move(pages));
}

// The page to go on from, row by row: where the first words are that are not all rows. -1: none.
Result<std::int64_t> PostgresEngine::State::visit_words(const std::string& statement,
                                                        const RowWord& word, PostgresChunk& chunk,
                                                        const ChunkVisitor& visitor,
                                                        VisitedRows& visited) {
  DISCREET_TRY_VOID(
      connection->send_copy(fmt::format("COPY ({}) TO STDOUT (FORMAT binary)", statement)));
  DISCREET_TRY_VOID(goes_on());
  CopyRows rows(*connection);
  std::int64_t unfit = -1;
  while (!visited.stopped) {
    DISCREET_TRY(const auto row, rows.next());
    if (!row) break;
    const auto pages = read_page_words(*row);
    if (!pages) return Error{ErrorCode::Unavailable, kStatementFailed};
    // What comes after is read to its end: a statement that is stopped ends the snapshot too.
    if (unfit < 0 && !word.fits(pages->units)) unfit = pages->page;
    if (unfit >= 0) continue;
    for (std::size_t at = 0; at < pages->words.size() && !visited.stopped; at += 8 * kChunkRows) {
      chunk.clear();
      word.put(pages->words.substr(at, 8 * kChunkRows), chunk);
      visited.rows += chunk.size();
      visited.stopped = !visitor(chunk.finish(), 0);
    }
  }
  return unfit;
}

// All words as one byte string: of a view, of partitions of very different sizes, of an older
// server's table. Nothing: they are too many, or the server makes no such string of them; none was
// shown then, and the snapshot is the same.
Result<std::optional<VisitedRows>> PostgresEngine::State::visit_at_once(
    const std::string& rows, const RowWord& word, const std::vector<std::string>& columns,
    const std::vector<PostgresDecoder>& decoders, const ChunkVisitor& visitor) {
  DISCREET_TRY(const auto plan, attempt("EXPLAIN " + rows));
  const std::int64_t expected = plan ? planned(*plan, " rows=") : -1;
  if (expected < 0 || expected > settings.rows_at_once) return std::optional<VisitedRows>();
  DISCREET_TRY_VOID(cancellation.check());
  DISCREET_TRY_VOID(connection->execute("SAVEPOINT discreet_attempt"));
  VisitedRows visited{0, false};
  PostgresChunk chunk(decoders, kChunkRows);
  const auto unfit = visit_words(
      fmt::format("SELECT CAST(0 AS bigint) AS page, bit_or(CAST({0} AS bigint)) AS units, "
                  "string_agg(int8send({1}), CAST('' AS bytea)) AS words FROM ({2}) AS visited "
                  "HAVING bit_or(CAST({0} AS bigint)) IS NOT NULL",
                  columns.at(0), word.sql(columns), rows),
      word, chunk, visitor, visited);
  if (visited.stopped) return std::optional(visited);
  if (!unfit) {
    if (visited.rows > 0) return unfit.error();
    DISCREET_TRY_VOID(taken_back(unfit.error()));
    return std::optional<VisitedRows>();
  }
  return *unfit < 0 ? std::optional(visited) : std::nullopt;
}

// A statement that is stopped, or that the server does not take, ends the transaction, and with it
// the snapshot of the question: so there is a savepoint before it.
Result<VisitedRows> PostgresEngine::State::visit(const std::string& sql,
                                                 const std::vector<std::string>& columns,
                                                 const ChunkVisitor& visitor) {
  if (!in_question) return visit_in_some_form(sql, columns, visitor);
  if (!has_savepoints) return kLeftThere;
  DISCREET_TRY_VOID(connection->execute("SAVEPOINT discreet_visit"));
  auto visited = visit_in_some_form(sql, columns, visitor);
  if (visited && !visited->stopped) return visited;
  if (!visited) {
    DISCREET_TRY_VOID(is_statements(visited.error()));
  }
  connection->drain();
  DISCREET_TRY_VOID(connection->execute("ROLLBACK TO SAVEPOINT discreet_visit"));
  return kLeftThere;
}

Result<VisitedRows> PostgresEngine::State::visit_in_some_form(
    const std::string& sql, const std::vector<std::string>& columns, const ChunkVisitor& visitor) {
  std::string names;
  for (const auto& column : columns) names += (names.empty() ? "" : ", ") + column;
  const auto with_names = [&](const std::string& rows) {
    return fmt::format("SELECT {} FROM ({}) AS visited", names, rows);
  };
  DISCREET_TRY(const postgres::Rows described, connection->describe(with_names(sql)));
  DISCREET_TRY(const auto decoders, decoders_of(described));
  const auto paged = in_question ? PagedStatement::find(sql) : std::nullopt;
  const auto word = paged ? RowWord::make(decoders) : std::nullopt;
  if (!word) return visit_rows(with_names(sql), decoders, visitor);
  DISCREET_TRY(const auto pages, find_pages(*paged, *word, columns));
  if (!pages) {
    DISCREET_TRY(const auto visited,
                 visit_at_once(with_names(sql), *word, columns, decoders, visitor));
    return visited ? *visited : visit_rows(with_names(sql), decoders, visitor);
  }
  VisitedRows visited{0, false};
  PostgresChunk chunk(decoders, kChunkRows);
  // Little at first: where rows do not fit words, the first ones show it.
  std::int64_t some = pages->at_once;
  for (std::int64_t page = 0; page < pages->end && !visited.stopped; page += some) {
    if (page > 0) some = pages->at_once * 64;
    DISCREET_TRY(const std::int64_t unfit,
                 visit_words(pages->words(page, std::min(page + some, pages->end) - 1), *word,
                             chunk, visitor, visited));
    if (unfit < 0) continue;
    DISCREET_TRY(const VisitedRows rest,
                 visit_rows(with_names(paged->from(unfit)), decoders, visitor));
    return VisitedRows{visited.rows + rest.rows, rest.stopped};
  }
  return visited;
}

Result<void> PostgresEngine::State::begin() {
  const std::string begins = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
  DISCREET_TRY_VOID(connection->execute(begins));
  if (!has_savepoints) return {};
  // Not every server that speaks the protocol has them.
  const auto saved = connection->execute("SAVEPOINT discreet_visit");
  if (saved) return {};
  if (connection->is_lost()) return saved.error();
  has_savepoints = false;
  DISCREET_TRY_VOID(connection->execute("ROLLBACK"));
  DISCREET_TRY_VOID(connection->execute(begins));
  return {};
}

PostgresEngine::PostgresEngine(std::shared_ptr<State> state) : state_(std::move(state)) {}
PostgresEngine::~PostgresEngine() = default;

Result<std::unique_ptr<PostgresEngine>> PostgresEngine::open(const postgres::Address& address,
                                                             PostgresEngineSettings settings) {
  return open(address, std::move(settings), std::make_shared<Counters>());
}

Result<std::unique_ptr<PostgresEngine>> PostgresEngine::open(const postgres::Address& address,
                                                             PostgresEngineSettings settings,
                                                             std::shared_ptr<Counters> counters) {
  auto state = std::make_shared<State>();
  state->counters = std::move(counters);
  state->address = address;
  state->settings = std::move(settings);
  state->connect_attempts = state->settings.connect_attempts;
  state->connect = [from = state.get()] { return from->make_connection(); };
  DISCREET_TRY_VOID(state->open());
  return std::unique_ptr<PostgresEngine>(new PostgresEngine(std::move(state)));
}

Result<std::unique_ptr<RemoteEngine>> PostgresEngine::connect() const {
  DISCREET_TRY(std::unique_ptr<RemoteEngine> made,
               open(state_->address, state_->settings, state_->counters));
  return made;
}

Result<std::vector<RemoteColumn>> PostgresEngine::describe(const std::string& relation) {
  return state_->with_connection([&](postgres::Connection& connection)
                                     -> Result<std::vector<RemoteColumn>> {
    const auto rows = connection.execute(
        "SELECT a.attname, format_type(a.atttypid, a.atttypmod), t.typtype FROM pg_attribute a "
        "JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = to_regclass($1) AND a.attnum > "
        "0 AND NOT a.attisdropped ORDER BY a.attnum",
        {{relation}});
    if (!rows) return rows.error();
    if (rows->rows() == 0)
      return Error{ErrorCode::NotFound,
                   fmt::format("There is no table {} in {}, or this user may not see it.", relation,
                               state_->address.shown)};
    std::vector<RemoteColumn> columns;
    for (int row = 0; row < rows->rows(); ++row)
      columns.push_back({std::string(rows->bytes(row, 0)), std::string(rows->bytes(row, 1)),
                         rows->bytes(row, 2) == "e"});
    return columns;
  });
}

Result<std::string> PostgresEngine::identity(const std::string& relation) {
  return state_->with_connection([&](postgres::Connection& connection) -> Result<std::string> {
    // A table, its partitions, or the tables below a view.
    const auto rows = connection.execute(
        "WITH RECURSIVE r(oid) AS (SELECT to_regclass($1)::oid UNION SELECT x.oid FROM r, LATERAL "
        "(SELECT d.refobjid AS oid FROM pg_rewrite w JOIN pg_depend d ON d.objid = w.oid AND "
        "d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass WHERE "
        "w.ev_class = r.oid UNION ALL SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = "
        "r.oid) x) SELECT format('%s:%s', r.oid, pg_relation_filenode(r.oid)), "
        "pg_stat_get_tuples_inserted(r.oid) + pg_stat_get_tuples_updated(r.oid) + "
        "pg_stat_get_tuples_deleted(r.oid), (SELECT md5(string_agg(format('%s %s %s', a.attnum, "
        "a.attname, format_type(a.atttypid, a.atttypmod)), ',' ORDER BY a.attnum)) FROM "
        "pg_attribute a WHERE a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped), CASE "
        "WHEN pg_is_in_recovery() THEN CAST(pg_last_wal_replay_lsn() AS text) WHEN NOT "
        "CAST(current_setting('track_counts') AS boolean) THEN CAST(pg_current_wal_lsn() AS text) "
        "ELSE '' END FROM r ORDER BY r.oid",
        {{relation}});
    if (!rows) {
      // Something that only speaks PostgreSQL's protocol: its answers stay until asked otherwise.
      if (!connection.state().empty()) return std::string();
      return rows.error();
    }
    std::string identity;
    for (int row = 0; row < rows->rows(); ++row) {
      const std::string file(rows->bytes(row, 0));
      const std::string_view digits = rows->bytes(row, 1);
      std::uint64_t counted = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), counted);
      // Who does not count changes still knows whether there was any, to whatever table.
      const std::string_view log = rows->bytes(row, 3);
      identity += fmt::format("{}:{}:{}{}{},", file, state_->counters->total(file, counted),
                              rows->bytes(row, 2), log.empty() ? "" : ":", log);
    }
    return identity;
  });
}

Result<EngineRows> PostgresEngine::query(const std::string& sql) {
  return state_->with_connection([&](postgres::Connection&) -> Result<EngineRows> {
    auto stream = std::make_unique<PostgresStream>(state_);
    DISCREET_TRY_VOID(stream->start(sql));
    return EngineRows(std::move(stream));
  });
}

Result<void> PostgresEngine::check(const std::string& sql) {
  return state_->with_connection([&](postgres::Connection& connection) -> Result<void> {
    const auto planned = connection.execute("EXPLAIN " + sql, {});
    if (!planned) return planned.error();
    return {};
  });
}

Result<VisitedRows> PostgresEngine::visit(const std::string& sql,
                                          const std::vector<std::string>& columns,
                                          const ChunkVisitor& visitor) {
  return state_->visit_once([&] { return state_->visit(sql, columns, visitor); });
}

Result<void> PostgresEngine::begin() {
  end();
  return state_->with_connection([&](postgres::Connection&) -> Result<void> {
    DISCREET_TRY_VOID(state_->begin());
    state_->in_question = true;
    state_->cancellation.begin();
    return {};
  });
}

void PostgresEngine::end() {
  if (!state_->in_question) return;
  state_->finish_stream();
  if (!state_->connection->is_lost()) static_cast<void>(state_->connection->execute("ROLLBACK"));
  state_->in_question = false;
  state_->cancellation.end();
}

bool PostgresEngine::was_lost() const {
  return state_->lost;
}

void PostgresEngine::cancel() const {
  state_->cancel();
}

}  // namespace discreet
