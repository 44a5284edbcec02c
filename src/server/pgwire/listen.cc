#include "server/pgwire/listen.h"

#include "server/pgwire/session_internal.h"

namespace discreet::server::pgwire {

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
      // Out of file descriptors, most likely: let some close.
      co_await sleep_until(Steady::now() + std::chrono::milliseconds(50));
      continue;
    }
    // Beyond this nobody is even told why: telling costs memory as well.
    if (shared->sessions.size() > shared->service.settings().connections_max * 2) continue;
    auto session = std::make_shared<Session>(std::move(socket), shared);
    asio::co_spawn(
        executor, [session]() -> awaitable<void> { co_await session->run(); },
        [session](const std::exception_ptr& bug) {
          if (bug) session->shut_down();
        });
  }
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(asio::io_context& io, Service& service,
                                                 asio::ssl::context* tls, std::string binding) {
  auto state = std::make_shared<State>(io);
  const Settings& settings = service.settings();
  boost::system::error_code failed;
  const auto address = asio::ip::make_address(settings.host, failed);
  if (failed) return invalid_parameter("--host must be an IP address, for example 127.0.0.1");
  const Tcp::endpoint endpoint(address, settings.pg_port);
  state->acceptor.open(endpoint.protocol(), failed);
  if (!failed) state->acceptor.set_option(Tcp::acceptor::reuse_address(true), failed);
  if (!failed) state->acceptor.bind(endpoint, failed);
  if (!failed) state->acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (failed)
    return Error{ErrorCode::Unavailable, "cannot listen on " + settings.host + ":" +
                                             std::to_string(settings.pg_port) + " (" +
                                             failed.message() + "); choose another --pg-port"};
  state->shared =
      std::make_shared<Shared>(Shared{service, tls, std::move(binding), false, {}, {}, 1});
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
  auto sessions = state_->shared->sessions;
  for (const auto& [process, session] : sessions) session->shut_down();
}

std::size_t Listener::open_sessions() const {
  return state_->shared->sessions.size();
}

}  // namespace discreet::server::pgwire
