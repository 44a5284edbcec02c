// The only file that knows Beast.
#include "local/collector/http_front.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "local/collector/collector.h"
#include "local/collector/collector_routes.h"

namespace discreet::local {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using Json = nlohmann::ordered_json;
using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr std::size_t kBodyMax = std::size_t{64} << 20;
constexpr auto kPatience = std::chrono::seconds(60);

Response answer(http::status status, std::string_view type, std::string body) {
  Response response{status, 11};
  response.set(http::field::content_type, std::string(type));
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.body() = std::move(body);
  return response;
}

Response answer(const Error& error) {
  return answer(static_cast<http::status>(http_status(error.code)), "application/json",
                Json{{"error", error.message}}.dump() + "\n");
}

/// The target's path and its parameters, percent-decoded.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;
};

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    if (text[i] == '%' && i + 2 < text.size() + 0 &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr ==
            text.data() + i + 3) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

Target parse_target(std::string_view text) {
  Target target;
  const auto mark = std::min(text.find('?'), text.size());
  target.path = decoded(text.substr(0, mark));
  text.remove_prefix(std::min(mark + 1, text.size()));
  while (!text.empty()) {
    const auto end = std::min(text.find('&'), text.size());
    const auto part = text.substr(0, end);
    const auto equals = std::min(part.find('='), part.size());
    target.parameters.emplace_back(decoded(part.substr(0, equals)),
                                   decoded(part.substr(std::min(equals + 1, part.size()))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return target;
}

Response answer_request(Collector& collector, const Request& request) {
  const Target target = parse_target({request.target().data(), request.target().size()});
  const auto method = request.method_string();
  const HttpAnswer made = answer_collector(
      collector, {{method.data(), method.size()}, target.path, target.parameters, request.body()});
  return answer(static_cast<http::status>(made.status), made.type, made.body);
}

asio::awaitable<void> session(tcp::socket socket, Collector& collector) {
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer;
  try {
    for (;;) {
      stream.expires_after(kPatience);
      http::request_parser<http::string_body> parser;
      parser.body_limit(kBodyMax);
      co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
      const Request request = parser.release();
      Response response;
      try {
        response = answer_request(collector, request);
      } catch (const std::exception&) {
        response = answer(Error{ErrorCode::Unavailable, "the collector could not answer"});
      }
      response.version(request.version());
      response.keep_alive(request.keep_alive());
      if (request.method() == http::verb::head) {
        response.content_length(response.body().size());
        response.body().clear();
      } else {
        response.prepare_payload();
      }
      co_await http::async_write(stream, response, asio::use_awaitable);
      if (!response.keep_alive()) break;
    }
  } catch (const boost::system::system_error&) {
    // The peer went away or sent no HTTP; nothing was promised to it.
  }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor, Collector& collector) {
  for (;;) {
    boost::system::error_code error;
    auto socket = co_await acceptor.async_accept(asio::redirect_error(asio::use_awaitable, error));
    if (!acceptor.is_open()) co_return;
    if (error) continue;
    socket.set_option(tcp::no_delay(true), error);
    asio::co_spawn(acceptor.get_executor(), session(std::move(socket), collector), asio::detached);
  }
}

}  // namespace

struct HttpFront::State {
  Collector& collector;
  Options options;
  asio::io_context context;
  tcp::acceptor acceptor{context};
  asio::signal_set signals{context, SIGTERM, SIGINT};

  State(Collector& c, const Options& o) : collector(c), options(o) {}
};

HttpFront::HttpFront(std::unique_ptr<State> state) : state_(std::move(state)) {}
HttpFront::~HttpFront() = default;

Result<std::unique_ptr<HttpFront>> HttpFront::listen(Collector& collector, const Options& options) {
  auto state = std::make_unique<State>(collector, options);
  boost::system::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) return invalid_parameter(fmt::format("'{}' is not an address", options.address));
  const tcp::endpoint endpoint(address, options.port);
  state->acceptor.open(endpoint.protocol(), error);
  if (!error) state->acceptor.set_option(asio::socket_base::reuse_address(true), error);
  if (!error) state->acceptor.bind(endpoint, error);
  if (!error) state->acceptor.listen(asio::socket_base::max_listen_connections, error);
  if (error)
    return Error{ErrorCode::Unavailable, fmt::format("cannot listen on {}:{}: {}", options.address,
                                                     options.port, error.message())};
  return std::unique_ptr<HttpFront>(new HttpFront(std::move(state)));
}

std::uint16_t HttpFront::port() const {
  return state_->acceptor.local_endpoint().port();
}

void HttpFront::run() {
  state_->signals.async_wait([this](const boost::system::error_code& error, int) {
    if (!error) stop();
  });
  asio::co_spawn(state_->context, accept(state_->acceptor, state_->collector), asio::detached);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < state_->options.threads; ++i)
    threads.emplace_back([this] { state_->context.run(); });
  state_->context.run();
  for (auto& thread : threads) thread.join();
}

void HttpFront::stop() {
  state_->context.stop();
}

}  // namespace discreet::local
