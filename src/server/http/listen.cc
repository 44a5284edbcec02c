#include "server/http/listen.h"

#include "server/http/connection_internal.h"

namespace discreet::server::http {

struct Listener::State {
  explicit State(asio::io_context& io) : acceptor(io) {}
  Tcp::acceptor acceptor;
  std::shared_ptr<Shared> shared;
};

namespace {

awaitable<void> accept_all(Tcp::acceptor& acceptor, std::shared_ptr<Shared> shared) {
  const auto executor = co_await asio::this_coro::executor;
  while (acceptor.is_open()) {
    auto [failed, socket] = co_await acceptor.async_accept(kTuple);
    if (failed) {
      if (!acceptor.is_open() || shared->stopping) co_return;
      co_await sleep_until(Steady::now() + std::chrono::milliseconds(50));
      continue;
    }
    // A browser opens several connections at once; beyond the limit they are closed unheard.
    if (shared->connections.size() >= shared->service.settings().connections_max) continue;
    auto connection = std::make_shared<Connection>(std::move(socket), shared);
    asio::co_spawn(
        executor, [connection]() -> awaitable<void> { co_await connection->run(); },
        [connection](const std::exception_ptr& bug) {
          if (bug) connection->shut_down();
        });
  }
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(asio::io_context& io, Service& service,
                                                 asio::ssl::context* tls) {
  auto state = std::make_shared<State>(io);
  const Settings& settings = service.settings();
  boost::system::error_code failed;
  const auto address = asio::ip::make_address(settings.host, failed);
  if (failed) return invalid_parameter("--host must be an IP address, for example 127.0.0.1");
  const Tcp::endpoint endpoint(address, settings.http_port);
  state->acceptor.open(endpoint.protocol(), failed);
  if (!failed) state->acceptor.set_option(Tcp::acceptor::reuse_address(true), failed);
  if (!failed) state->acceptor.bind(endpoint, failed);
  if (!failed) state->acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    return Error{ErrorCode::Unavailable, "cannot listen on " + settings.host + ":" +
                                             std::to_string(settings.http_port) + " (" +
                                             failed.message() + "); choose another --http-port"};
  state->shared = std::make_shared<Shared>(Shared{service, tls, false, {}});
  asio::co_spawn(
      io, [state]() -> awaitable<void> { co_await accept_all(state->acceptor, state->shared); },
      asio::detached);
  return std::unique_ptr<Listener>(new Listener(std::move(state)));
}

Listener::~Listener() = default;

std::uint16_t Listener::port() const {
  boost::system::error_code ignored;
  return state_->acceptor.local_endpoint(ignored).port();
}

void Listener::stop() {
  state_->shared->stopping = true;
  boost::system::error_code ignored;
  state_->acceptor.close(ignored);
  auto connections = state_->shared->connections;
  for (Connection* connection : connections) connection->shut_down();
}

std::size_t Listener::open_connections() const {
  return state_->shared->connections.size();
}

}  // namespace discreet::server::http
