#include "engines/spark/engine.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "engines/spark/arrow_internal.h"
#include "engines/spark/connection_internal.h"

namespace discreet {

struct SparkEngine::State {
  spark::Address address;
  SparkEngineSettings settings;
  mutable std::mutex mutex;  // of `connection` being replaced while somebody cancels
  std::unique_ptr<spark::Connection> connection;
  std::uint64_t stream = 0;  // a new statement ends the one before
  bool in_question = false;
  bool lost = false;

  Result<void> open() {
    spark::ConnectionSettings how;
    how.statement_timeout_s = settings.statement_timeout_s;
    how.log = settings.operator_log;
    DISCREET_TRY(auto made, spark::open_connection(address, how));
    const std::scoped_lock lock(mutex);
    connection = std::move(made);
    in_question = lost = false;
    return {};
  }

  /// A connection that works, if one can be had.
  Result<void> ensure() {
    if (connection && !connection->is_lost()) return {};
    Result<void> opened;
    for (int attempt = 0; attempt < settings.connect_attempts; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500 << attempt));
      opened = open();
      if (opened) return {};
    }
    lost = false;  // it was tried again already
    return opened;
  }

  /// Runs `work` on the connection; where that was lost before, on a new one. Inside a question a
  /// new session might list other files: the curator starts over.
  template <class Work>
  auto with_connection(const Work& work) -> decltype(work(*connection)) {
    DISCREET_TRY_VOID(ensure());
    finish_stream();
    auto done = work(*connection);
    if (!done && connection->is_lost() && !in_question) {
      DISCREET_TRY_VOID(ensure());
      done = work(*connection);
    }
    if (!done) lost = connection->is_lost();
    return done;
  }

  void finish_stream() {
    ++stream;
    if (connection) connection->finish();
  }

  Result<std::optional<arrow::Batches>> next_batches() {
    auto bytes = connection->next();
    if (!bytes) {
      lost = connection->is_lost();
      return bytes.error();
    }
    if (!bytes->has_value()) return std::optional<arrow::Batches>();
    auto read = arrow::read_stream(*std::move(*bytes));
    if (!read && read.error().code == ErrorCode::InvalidInput)
      return Error{ErrorCode::Unavailable, kStatementFailed};
    if (!read) return read.error();
    return std::optional(*std::move(read));
  }
};

namespace {

class SparkStream final : public RowSource {
 public:
  explicit SparkStream(std::shared_ptr<SparkEngine::State> state)
      : state_(std::move(state)), number_(state_->stream) {}
  ~SparkStream() override {
    if (!ended_ && number_ == state_->stream) state_->finish_stream();
  }
  SparkStream(const SparkStream&) = delete;
  SparkStream& operator=(const SparkStream&) = delete;

  Result<void> start(const std::string& sql) {
    DISCREET_TRY_VOID(state_->connection->start(sql));
    DISCREET_TRY(auto first, state_->next_batches());
    // Spark sends the columns even where there is no row.
    if (!first) return Error{ErrorCode::Unavailable, kStatementFailed};
    for (const auto& field : first->fields) columns_.push_back({field.name, field.type});
    keep(*std::move(first));
    return {};
  }

  const std::vector<EngineColumn>& columns() const override { return columns_; }

  Result<std::optional<EngineChunk>> next() override {
    if (failed_ || number_ != state_->stream) {
      failed_ = true;
      return Error{ErrorCode::Unavailable, kStatementFailed};
    }
    while (ready_.empty() && !ended_) {
      auto more = state_->next_batches();
      if (!more) {
        failed_ = ended_ = true;
        return more.error();
      }
      if (!more->has_value()) {
        ended_ = true;
        break;
      }
      const auto same = [](const arrow::Field& a, const EngineColumn& b) {
        return a.type == b.type;
      };
      if (!std::ranges::equal((*more)->fields, columns_, same)) {
        failed_ = true;
        return Error{ErrorCode::Unavailable, kStatementFailed};
      }
      keep(**std::move(more));
    }
    if (ready_.empty()) return std::optional<EngineChunk>();
    std::optional<EngineChunk> chunk(std::move(ready_.front()));
    ready_.pop_front();
    return chunk;
  }

 private:
  void keep(arrow::Batches batches) {
    for (auto& chunk : batches.chunks) ready_.push_back(std::move(chunk));
  }

  std::shared_ptr<SparkEngine::State> state_;
  std::uint64_t number_;
  std::vector<EngineColumn> columns_;
  std::deque<EngineChunk> ready_;
  bool ended_ = false, failed_ = false;
};

}  // namespace

SparkEngine::SparkEngine(std::shared_ptr<State> state) : state_(std::move(state)) {}
SparkEngine::~SparkEngine() = default;

Result<std::unique_ptr<SparkEngine>> SparkEngine::open(const spark::Address& address,
                                                       SparkEngineSettings settings) {
  auto state = std::make_shared<State>();
  state->address = address;
  state->settings = std::move(settings);
  DISCREET_TRY_VOID(state->open());
  return std::unique_ptr<SparkEngine>(new SparkEngine(std::move(state)));
}

Result<std::unique_ptr<RemoteEngine>> SparkEngine::connect() const {
  DISCREET_TRY(std::unique_ptr<RemoteEngine> made, open(state_->address, state_->settings));
  return made;
}

Result<std::vector<RemoteColumn>> SparkEngine::describe(const std::string& relation) {
  return state_->with_connection(
      [&](spark::Connection& connection) -> Result<std::vector<RemoteColumn>> {
        DISCREET_TRY_VOID(connection.start("REFRESH TABLE " + relation));
        for (;;) {
          DISCREET_TRY(const auto bytes, connection.next());
          if (!bytes) break;
        }
        return connection.schema("SELECT * FROM " + relation);
      });
}

Result<std::string> SparkEngine::identity(const std::string& relation) {
  return state_->with_connection([&](spark::Connection& connection) -> Result<std::string> {
    DISCREET_TRY(auto files, connection.input_files("SELECT * FROM " + relation));
    std::sort(files.begin(), files.end());
    std::string identity;
    for (const auto& file : files) identity += file + "\n";
    return identity;
  });
}

Result<EngineRows> SparkEngine::query(const std::string& sql) {
  return state_->with_connection([&](spark::Connection&) -> Result<EngineRows> {
    auto stream = std::make_unique<SparkStream>(state_);
    DISCREET_TRY_VOID(stream->start(sql));
    return EngineRows(std::move(stream));
  });
}

Result<void> SparkEngine::check(const std::string& sql) {
  return state_->with_connection([&](spark::Connection& connection) -> Result<void> {
    const auto columns = connection.schema(sql);
    if (columns) return {};
    // A table that is gone: to whoever asks it is a changed table.
    return Error{ErrorCode::Unavailable, columns.error().message};
  });
}

Result<VisitedRows> SparkEngine::visit(const std::string&, const std::vector<std::string>&,
                                       const ChunkVisitor&) {
  return Error{ErrorCode::Unavailable, "Spark's rows are added up where they are."};
}

Result<void> SparkEngine::begin() {
  end();
  DISCREET_TRY_VOID(state_->ensure());
  state_->in_question = true;
  return {};
}

void SparkEngine::end() {
  if (!state_->in_question) return;
  state_->finish_stream();
  state_->in_question = false;
}

bool SparkEngine::was_lost() const {
  return state_->lost;
}

void SparkEngine::cancel() const {
  const std::scoped_lock lock(state_->mutex);
  if (state_->connection) state_->connection->cancel();
}

}  // namespace discreet
