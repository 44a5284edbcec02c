// The HTTP face: JSON for programs, the console for people.
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

namespace discreet::server::http {

/// The I/O thread only.
class Listener {
 public:
  /// Unavailable: the address cannot be listened on. `tls` may be null.
  static Result<std::unique_ptr<Listener>> open(boost::asio::io_context& io, Service& service,
                                                boost::asio::ssl::context* tls);
  ~Listener();

  std::uint16_t port() const;
  /// No new connections; idle ones end now, busy ones after their request.
  void stop();
  std::size_t open_connections() const;

 private:
  struct State;
  explicit Listener(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace discreet::server::http
