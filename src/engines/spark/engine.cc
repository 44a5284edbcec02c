#include "engines/spark/engine.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "engines/remote_state_internal.h"
#include "engines/spark/arrow_internal.h"
#include "engines/spark/connection_internal.h"
#include "engines/spark/files_internal.h"
#include "engines/spark/sent_files_internal.h"
#include "engines/spark/words_internal.h"

namespace discreet {
namespace {

// Of a table whose rows come here, and of one whose files do: of those a column once.
constexpr double kGoesMax = 8, kSendsMax = 64;

}  // namespace

struct SparkEngine::State : RemoteState<spark::Connection>,
                            std::enable_shared_from_this<SparkEngine::State> {
  spark::Address address;
  SparkEngineSettings settings;
  std::map<std::string, std::vector<std::string>> files;  // by relation, as identity() saw them
  std::map<std::string, std::vector<RemoteColumn>> columns_of;  // by relation, as describe() did
  std::set<std::string> taken;  // statements that Spark takes while relations have these columns
  std::shared_ptr<spark::FileCopies> copies;  // of the server's files, for all connections to it

  Result<std::optional<arrow::Batches>> next_batches() {
    DISCREET_TRY(auto bytes, noted(connection->next()));
    if (!bytes) return std::optional<arrow::Batches>();
    auto read = arrow::read_stream(*std::move(bytes));
    if (!read && read.error().code == ErrorCode::InvalidInput)
      return Error{ErrorCode::Unavailable, kStatementFailed};
    if (!read) return read.error();
    return std::optional(*std::move(read));
  }

  spark::Sender sender() {
    return {
        *connection,
        [this] { return goes_on(); },
        {settings.file_bytes_max, static_cast<std::uint64_t>(kSendsMax * settings.bytes_at_once),
         static_cast<std::uint64_t>(settings.bytes_at_once)}};
  }
  /// After a failure: it says nothing of what was asked for.
  bool was_interrupted() const {
    return connection->is_lost() || connection->was_stopped() || !cancellation.check();
  }
  Result<PlainFiles> sent_files(PlainFiles located);

  Result<VisitedRows> visit(const std::string& sql, const std::vector<std::string>& columns,
                            const ChunkVisitor& visitor);
  Result<void> visit_words(const std::string& statement, spark::RowWord& word,
                           const ChunkVisitor& visitor, VisitedRows& visited);
};

// Rows that are not one word each are left to Spark to add up, and so are those with a unit that
// does not fit, or more of them than its memory may hold. Each of its tasks holds the rows of a
// file's part: of large tables they come in several goes, some people at a time.
Result<VisitedRows> SparkEngine::State::visit(const std::string& sql,
                                              const std::vector<std::string>& columns,
                                              const ChunkVisitor& visitor) {
  std::string names;
  for (const auto& column : columns) names += (names.empty() ? "" : ", ") + column;
  DISCREET_TRY(const auto described,
               connection->schema(fmt::format("SELECT {} FROM ({})", names, sql)));
  auto word = spark::RowWord::make(described);
  VisitedRows visited{0, !word};
  if (!word) return visited;
  DISCREET_TRY(const std::string plan, connection->plan(sql));
  const double wanted =
      std::max(1.0, std::ceil(spark::largest_size(plan) / settings.bytes_at_once));
  if (wanted > kGoesMax) return VisitedRows{0, true};
  const int goes = static_cast<int>(wanted);
  for (int go = 0; go < goes && !visited.stopped; ++go) {
    const std::string some =
        goes > 1 ? fmt::format(" WHERE pmod({}, {}) = {}", columns[0], goes, go) : "";
    DISCREET_TRY_VOID(
        visit_words(fmt::format("SELECT {} AS word FROM ({}){}", word->sql(), sql, some), *word,
                    visitor, visited));
  }
  return visited;
}

Result<void> SparkEngine::State::visit_words(const std::string& statement, spark::RowWord& word,
                                             const ChunkVisitor& visitor, VisitedRows& visited) {
  DISCREET_TRY_VOID(connection->start(statement));
  DISCREET_TRY_VOID(goes_on());
  const auto stop = [&]() -> Result<void> {
    visited.stopped = true;
    return {};
  };
  for (;;) {
    auto batches = next_batches();
    if (!batches && connection->was_too_large()) return stop();
    if (!batches) return batches.error();
    if (!*batches) return {};
    for (const EngineChunk& chunk : (*batches)->chunks) {
      if (chunk.type(0) != EngineType::Int64)
        return Error{ErrorCode::Unavailable, kStatementFailed};
      const auto words = chunk.int64s(0);
      for (std::size_t row = 0; chunk.has_nulls(0) && row < words.size(); ++row)
        if (chunk.is_null(0, row)) return stop();
      for (std::size_t at = 0; at < words.size(); at += spark::RowWord::kRowsMax) {
        const auto some = words.subspan(at, std::min(spark::RowWord::kRowsMax, words.size() - at));
        visited.rows += some.size();
        if (!visitor(word.put(some), 0)) return stop();
      }
    }
  }
}

namespace {

/// Columns of Spark's files, which it sends when they are first read.
class SentColumns final : public PartialFiles {
 public:
  using Copies = std::vector<std::shared_ptr<spark::FileCopy>>;
  SentColumns(std::shared_ptr<SparkEngine::State> state, std::vector<std::string> locations,
              Copies copies)
      : state_(std::move(state)), locations_(std::move(locations)), copies_(std::move(copies)) {}

  std::string state() const override {
    std::string state = "copies";
    for (const auto& copy : copies_) state += fmt::format(" {}", copy->number());
    return state;
  }

  bool has(const std::string& column) const override {
    return std::ranges::all_of(copies_, [&](const auto& copy) { return copy->has(column); });
  }

  Result<bool> bring(const std::vector<std::string>& columns,
                     const std::vector<Part>& parts) override {
    std::uint64_t bytes = 0;
    std::vector<bool> has_all;
    for (const auto& copy : copies_) {
      bytes += copy->bytes_written();
      has_all.push_back(
          std::ranges::all_of(columns, [&](const auto& column) { return copy->has(column); }));
    }
    std::vector<Part> missing;
    for (const Part& part : parts) {
      if (has_all[part.file]) continue;
      missing.push_back(part);
      bytes += part.size;
    }
    if (bytes > state_->copies->bytes_max()) return false;
    const auto came = state_->with_connection([&](spark::Connection&) {
      return spark::send_parts(state_->sender(), locations_, missing, copies_);
    });
    if (!came && state_->was_interrupted()) return came.error();
    if (!came || !*came) {
      state_->copies->refuse(locations_);
      return false;
    }
    for (std::size_t file = 0; file < copies_.size(); ++file) {
      copies_[file]->add(columns);
      state_->copies->keep(locations_[file], copies_[file]);
    }
    return true;
  }

 private:
  std::shared_ptr<SparkEngine::State> state_;
  std::vector<std::string> locations_;
  Copies copies_;
};

}  // namespace

// What Spark will not send is asked for once: its rows come as words then, or their sums.
Result<PlainFiles> SparkEngine::State::sent_files(PlainFiles located) {
  if (located.files.empty() || copies->is_refused(located.files)) return PlainFiles();
  const auto sent = spark::send_ends(sender(), located.files, *copies);
  if (!sent && was_interrupted()) return sent.error();
  if (!sent || sent->empty()) {
    copies->refuse(located.files);
    return PlainFiles();
  }
  std::vector<std::string> locations = std::exchange(located.files, {});
  for (const auto& copy : *sent) located.files.push_back(copy->path());
  located.partial = std::make_shared<SentColumns>(shared_from_this(), std::move(locations), *sent);
  return located;
}

namespace {

class SparkStream final : public RemoteStream<SparkEngine::State> {
 public:
  using RemoteStream::RemoteStream;

  Result<void> start(const std::string& sql) {
    DISCREET_TRY_VOID(state_->connection->start(sql));
    DISCREET_TRY_VOID(state_->goes_on());
    DISCREET_TRY(auto first, state_->next_batches());
    // Spark sends the columns even where there is no row.
    if (!first) return Error{ErrorCode::Unavailable, kStatementFailed};
    for (const auto& field : first->fields) columns_.push_back({field.name, field.type});
    keep(*std::move(first));
    return {};
  }

 private:
  Result<std::optional<EngineChunk>> read() override {
    while (ready_.empty() && !ended_) {
      DISCREET_TRY(auto more, state_->next_batches());
      if (!more) {
        ended_ = true;
        break;
      }
      const auto same = [](const arrow::Field& a, const EngineColumn& b) {
        return a.type == b.type;
      };
      if (!std::ranges::equal(more->fields, columns_, same))
        return Error{ErrorCode::Unavailable, kStatementFailed};
      keep(*std::move(more));
    }
    if (ready_.empty()) return std::optional<EngineChunk>();
    std::optional<EngineChunk> chunk(std::move(ready_.front()));
    ready_.pop_front();
    return chunk;
  }
  void keep(arrow::Batches batches) {
    for (auto& chunk : batches.chunks) ready_.push_back(std::move(chunk));
  }

  std::deque<EngineChunk> ready_;
};

}  // namespace

SparkEngine::SparkEngine(std::shared_ptr<State> state) : state_(std::move(state)) {}
SparkEngine::~SparkEngine() = default;

Result<std::unique_ptr<SparkEngine>> SparkEngine::open(const spark::Address& address,
                                                       SparkEngineSettings settings) {
  auto state = std::make_shared<State>();
  state->address = address;
  state->settings = std::move(settings);
  state->copies = std::make_shared<spark::FileCopies>();
  state->connect_attempts = state->settings.connect_attempts;
  state->connect = [from = state.get()] {
    spark::ConnectionSettings how;
    how.statement_timeout_s = from->settings.statement_timeout_s;
    how.log = from->settings.operator_log;
    return spark::open_connection(from->address, how);
  };
  DISCREET_TRY_VOID(state->open());
  return std::unique_ptr<SparkEngine>(new SparkEngine(std::move(state)));
}

Result<std::unique_ptr<RemoteEngine>> SparkEngine::connect() const {
  DISCREET_TRY(auto made, open(state_->address, state_->settings));
  made->state_->copies = state_->copies;
  return std::unique_ptr<RemoteEngine>(std::move(made));
}

Result<std::vector<RemoteColumn>> SparkEngine::describe(const std::string& relation) {
  auto columns = state_->with_connection(
      [&](spark::Connection& connection) { return connection.fresh_columns(relation); });
  auto& known = state_->columns_of[relation];
  if (!columns || *columns != known) state_->taken.clear();
  known = columns ? *columns : std::vector<RemoteColumn>();
  return columns;
}

Result<std::string> SparkEngine::identity(const std::string& relation) {
  return state_->with_connection([&](spark::Connection& connection) -> Result<std::string> {
    DISCREET_TRY(auto files, connection.input_files("SELECT * FROM " + relation));
    std::sort(files.begin(), files.end());
    std::string identity;
    for (const auto& file : files) identity += file + "\n";
    state_->files[relation] = std::move(files);
    return identity;
  });
}

Result<PlainFiles> SparkEngine::plain_files(const std::string& relation, bool only_again) {
  using Files = spark::Address::Files;
  const Files where = state_->address.files();
  const auto& files = state_->files[relation];
  if (where == Files::There || files.empty()) return PlainFiles();
  if (where == Files::Sent && !state_->copies->asked_again(files) && only_again)
    return PlainFiles();
  const auto first = spark::own_file(files.front());
  if (!first || (where == Files::Here && !first->is_local)) return PlainFiles();
  return state_->with_connection([&](spark::Connection& connection) -> Result<PlainFiles> {
    DISCREET_TRY(const std::string plan, connection.plan("SELECT * FROM " + relation));
    const spark::Layout layout = spark::layout_of(plan);
    if (layout == spark::Layout::Other) return PlainFiles();
    if (where == Files::Here) return spark::local_files(files, layout);
    return state_->sent_files(spark::located_files(files, layout));
  });
}

Result<EngineRows> SparkEngine::query(const std::string& sql) {
  return state_->with_connection([&](spark::Connection&) -> Result<EngineRows> {
    auto stream = std::make_unique<SparkStream>(state_);
    DISCREET_TRY_VOID(stream->start(sql));
    return EngineRows(std::move(stream));
  });
}

// Whether Spark takes a statement is a matter of columns, and of who may read them: both are asked
// for by describe(), anew for every question.
Result<void> SparkEngine::check(const std::string& sql) {
  constexpr std::size_t kTakenMax = 1000;
  if (state_->taken.contains(sql)) return {};
  return state_->with_connection([&](spark::Connection& connection) -> Result<void> {
    const auto columns = connection.schema(sql);
    if (columns) {
      if (state_->taken.size() >= kTakenMax) state_->taken.clear();
      state_->taken.insert(sql);
      return {};
    }
    // A table that is gone: to whoever asks it is a changed table.
    return Error{ErrorCode::Unavailable, columns.error().message};
  });
}

Result<VisitedRows> SparkEngine::visit(const std::string& sql,
                                       const std::vector<std::string>& columns,
                                       const ChunkVisitor& visitor) {
  return state_->visit_once([&] { return state_->visit(sql, columns, visitor); });
}

Result<void> SparkEngine::begin() {
  end();
  DISCREET_TRY_VOID(state_->ensure());
  state_->in_question = true;
  state_->cancellation.begin();
  return {};
}

void SparkEngine::end() {
  if (!state_->in_question) return;
  state_->finish_stream();
  state_->in_question = false;
  state_->cancellation.end();
}

bool SparkEngine::was_lost() const {
  return state_->lost;
}

void SparkEngine::cancel() const {
  state_->cancel();
}

}  // namespace discreet
