// What engines elsewhere share: a connection that is made anew where it was lost, and one stream of
// rows at a time over it.
//
// Guarantee: a statement is tried on a new connection only outside a question: inside one a new
//            connection would see another state of the data, and the curator starts over.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "engines/cancellation.h"
#include "engines/engine.h"

namespace discreet {

/// Connection: is_lost(), cancel(), and drain(), which ends what still runs on it.
template <class Connection>
struct RemoteState {
  std::function<Result<std::unique_ptr<Connection>>()> connect;
  int connect_attempts = 3;
  mutable std::mutex mutex;  // of `connection` being replaced while somebody cancels
  std::unique_ptr<Connection> connection;
  std::uint64_t stream = 0;  // a new statement ends the one before
  bool in_question = false;
  bool lost = false;
  Cancellation cancellation;  // of the question

  Result<void> open() {
    DISCREET_TRY(auto made, connect());
    const std::scoped_lock lock(mutex);
    connection = std::move(made);
    in_question = lost = false;
    return {};
  }

  /// A connection that works, if one can be had.
  Result<void> ensure() {
    if (connection && !connection->is_lost()) return {};
    Result<void> opened;
    for (int attempt = 0; attempt < connect_attempts; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(500 << attempt));
      opened = open();
      if (opened) return {};
    }
    lost = false;  // it was tried again already
    return opened;
  }

  /// Runs `work` on the connection; where that was lost before, on a new one.
  template <class Work>
  auto with_connection(const Work& work) -> decltype(work(*connection)) {
    DISCREET_TRY_VOID(ensure());
    finish_stream();
    auto done = work(*connection);
    if (!done && connection->is_lost() && !in_question) {
      DISCREET_TRY_VOID(ensure());
      done = work(*connection);
    }
    return noted(std::move(done));
  }

  /// As with_connection, but not tried again: the visitor has seen rows, and the curator starts
  /// over.
  template <class Visit>
  auto visit_once(const Visit& visit) -> decltype(visit()) {
    DISCREET_TRY_VOID(ensure());
    finish_stream();
    auto visited = noted(visit());
    finish_stream();
    return visited;
  }

  /// Remembers whether a failure was the connection's.
  template <class R>
  R noted(R result) {
    if (!result) lost = connection->is_lost();
    return result;
  }

  void finish_stream() {
    ++stream;
    if (connection) connection->drain();
  }

  /// Asked after a statement was sent: whoever cancelled just before did not reach it.
  Result<void> goes_on() {
    auto asked = cancellation.check();
    if (!asked) connection->drain();
    return asked;
  }

  void cancel() {
    cancellation.ask();
    const std::scoped_lock lock(mutex);
    if (connection) connection->cancel();
  }
};

/// The rows of one statement. Another statement on the same connection ends it.
template <class State>
class RemoteStream : public RowSource {
 public:
  explicit RemoteStream(std::shared_ptr<State> state)
      : state_(std::move(state)), number_(state_->stream) {}
  ~RemoteStream() override {
    if (!ended_ && number_ == state_->stream) state_->finish_stream();
  }
  RemoteStream(const RemoteStream&) = delete;
  RemoteStream& operator=(const RemoteStream&) = delete;

  const std::vector<EngineColumn>& columns() const override { return columns_; }

  Result<std::optional<EngineChunk>> next() override {
    failed_ = failed_ || number_ != state_->stream;
    if (failed_) return Error{ErrorCode::Unavailable, kStatementFailed};
    auto chunk = read();
    failed_ = !chunk;
    return chunk;
  }

 protected:
  /// The next chunk; nothing, and ended_, at the end.
  virtual Result<std::optional<EngineChunk>> read() = 0;

  std::shared_ptr<State> state_;
  std::vector<EngineColumn> columns_;
  bool ended_ = false;

 private:
  std::uint64_t number_;
  bool failed_ = false;
};

}  // namespace discreet
