// The PostgreSQL face: accepts connections and gives each a session.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.h"

namespace boost::asio {
class io_context;
namespace ssl {
class context;
}
}  // namespace boost::asio

namespace discreet::server {
class Service;
}

namespace discreet::server::pgwire {

/// The I/O thread only.
class Listener {
 public:
  /// Unavailable: the address cannot be listened on. `tls` may be null; `binding` is the
  /// certificate's hash for SCRAM's channel binding.
  static Result<std::unique_ptr<Listener>> open(boost::asio::io_context& io, Service& service,
                                                boost::asio::ssl::context* tls,
                                                std::string binding);
  ~Listener();

  std::uint16_t port() const;
  /// No new connections; idle sessions end now, busy ones after their statement.
  void stop();
  /// Sessions that are still open.
  std::size_t open_sessions() const;

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace discreet::server::pgwire
