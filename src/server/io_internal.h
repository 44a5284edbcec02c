// What sessions of both protocols share: a stream that may become TLS, work on a worker that can be
// given up, waiting. Heavy: only the sessions' own .cc files include it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include "server/service.h"

namespace discreet::server {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;
using Tcp = asio::ip::tcp;

/// Completes with a value or an error code, never an exception.
inline constexpr auto kTuple = asio::as_tuple(use_awaitable);

/// One connection. A deadline that passes closes it, whatever it is doing. The I/O thread only.
class Stream {
 public:
  Stream(Tcp::socket socket, asio::ssl::context* tls)
      : socket_(std::move(socket)), watch_(socket_.get_executor()), tls_(tls) {
    boost::system::error_code ignored;
    socket_.set_option(Tcp::no_delay(true), ignored);
    const auto peer = socket_.remote_endpoint(ignored);
    if (!ignored) address_ = peer.address().to_string();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Zero at the end of the connection or after a failure.
  awaitable<std::size_t> read_some(char* data, std::size_t size) {
    const auto buffer = asio::buffer(data, size);
    if (secure_) {
      const auto [failed, read] = co_await secure_->async_read_some(buffer, kTuple);
      co_return failed ? 0 : read;
    }
    const auto [failed, read] = co_await socket_.async_read_some(buffer, kTuple);
    co_return failed ? 0 : read;
  }
  awaitable<bool> write(std::string_view bytes) {
    const auto buffer = asio::buffer(bytes.data(), bytes.size());
    if (secure_) {
      const auto [failed, wrote] = co_await asio::async_write(*secure_, buffer, kTuple);
      co_return !failed && wrote == bytes.size();
    }
    const auto [failed, wrote] = co_await asio::async_write(socket_, buffer, kTuple);
    co_return !failed && wrote == bytes.size();
  }
  bool can_secure() const { return tls_ != nullptr; }
  bool is_secure() const { return secure_ != nullptr; }
  /// `already` are bytes of the handshake that were read before.
  awaitable<bool> start_tls(std::string_view already = {}) {
    secure_ = std::make_unique<asio::ssl::stream<Tcp::socket&>>(socket_, *tls_);
    const auto [failed, used] = co_await secure_->async_handshake(
        asio::ssl::stream_base::server, asio::buffer(already.data(), already.size()), kTuple);
    static_cast<void>(used);
    co_return !failed;
  }

  void set_deadline(std::chrono::milliseconds after) {
    watch_.expires_after(after);
    // The wait may already be over, and its handler in line, when the deadline is moved or this
    // object goes.
    watch_.async_wait([this, alive = std::weak_ptr(life_)](boost::system::error_code stopped) {
      if (!stopped && alive.lock() && watch_.expiry() <= Steady::now()) close();
    });
  }
  void clear_deadline() { watch_.expires_at(Steady::time_point::max()); }
  void close() {
    boost::system::error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_both, ignored);
    socket_.close(ignored);
  }
  /// What was written arrives before the connection ends.
  void finish_writing() {
    boost::system::error_code ignored;
    socket_.shutdown(Tcp::socket::shutdown_send, ignored);
  }
  const std::string& address() const { return address_; }

 private:
  Tcp::socket socket_;
  asio::steady_timer watch_;
  asio::ssl::context* tls_;
  std::unique_ptr<asio::ssl::stream<Tcp::socket&>> secure_;
  std::string address_;
  std::shared_ptr<int> life_ = std::make_shared<int>(0);
};

inline awaitable<void> sleep_until(Steady::time_point at) {
  asio::steady_timer timer(co_await asio::this_coro::executor, at);
  co_await timer.async_wait(kTuple);
}

/// Work that a session waits for, and may stop waiting for. The I/O thread only.
class Waiting {
 public:
  explicit Waiting(const asio::any_io_executor& executor) : timer_(executor) {}
  void give_up() {
    given_up_ = true;
    timer_.cancel();
  }
  bool given_up() const { return given_up_; }

 private:
  template <class T>
  friend awaitable<Result<T>> on_worker(Service& service, Service::Line line,
                                        std::shared_ptr<Waiting> waiting,
                                        std::chrono::milliseconds timeout,
                                        std::function<Result<T>(Curator&)> work);
  asio::steady_timer timer_;
  bool given_up_ = false;
};

inline Error canceled_error(bool by_user) {
  return {ErrorCode::Unavailable, by_user ? "canceling statement due to user request"
                                          : "canceling statement due to statement timeout"};
}

/// Runs `work` on a worker. Unavailable: too many wait, it took too long, or it was given up; it is
/// then stopped, and what was charged stays charged. It is stopped when an answer might have left:
/// whether it was done by then is seen in the ledger, and must tell no more than the answer's time
/// would have (time_slots.h). `work` must own what it
/// uses except the service, and never the session: a worker that drops the last reference would end
/// a session outside of the I/O thread. It must be a named variable of the caller: g++ 12 destroys
/// a lambda that is written inside a co_await expression twice.
template <class T>
awaitable<Result<T>> on_worker(Service& service, Service::Line line,
                               std::shared_ptr<Waiting> waiting, std::chrono::milliseconds timeout,
                               std::function<Result<T>(Curator&)> work) {
  const auto executor = co_await asio::this_coro::executor;
  const auto started = Steady::now();
  std::stop_source stop;
  auto outcome = std::make_shared<std::optional<Result<T>>>();
  waiting->given_up_ = false;
  waiting->timer_.expires_after(timeout);
  const bool posted = service.post(line, [=, work = std::move(work)](Curator& curator) {
    Result<T> made = [&]() -> Result<T> {
      try {
        if (stop.stop_requested()) return canceled_error(true);  // nobody waits for it any more
        curator.stop_with(stop.get_token());
        auto done = work(curator);
        curator.stop_with({});
        return done;
      } catch (const std::exception&) {
        // A broken invariant: no answer, and nothing of what was being done is said.
        return Error{ErrorCode::Unavailable,
                     "The server met an internal error and gave no answer."};
      }
    }();
    asio::post(executor, [outcome, waiting, made = std::move(made)]() mutable {
      outcome->emplace(std::move(made));
      waiting->timer_.cancel();
    });
  });
  if (!posted)
    co_return Error{ErrorCode::Unavailable, "The server is busy or stopping; try again later."};
  while (!*outcome) {
    const auto [stopped] = co_await waiting->timer_.async_wait(kTuple);
    if (*outcome) break;
    if (!waiting->given_up_ && stopped) continue;
    service.stop_at(next_slot(started, Steady::now(), service.settings().quantum), stop);
    co_return canceled_error(waiting->given_up_);
  }
  co_return std::move(**outcome);
}

}  // namespace discreet::server
