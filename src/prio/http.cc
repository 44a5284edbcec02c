#include "prio/http.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

#include <fmt/format.h>

namespace discreet::prio {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using TlsStream = asio::ssl::stream<Tcp::socket>;

constexpr std::size_t kBodyMax = std::size_t{256} << 20;
constexpr int kTimeoutSeconds = 60;
constexpr std::string_view kBearer = "Bearer ";

void set_timeouts(Tcp::socket& socket) {
  const timeval limit{kTimeoutSeconds, 0};
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(socket.native_handle(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

std::string text(boost::beast::string_view view) {
  return {view.data(), view.size()};
}

/// One request in, one answer out.
template <class Stream>
void answer(Stream& stream, const HttpServer::Handler& handler) {
  boost::beast::flat_buffer buffer;
  http::request_parser<http::string_body> parser;
  parser.body_limit(kBodyMax);
  http::read(stream, buffer, parser);
  auto& message = parser.get();
  HttpRequest request;
  request.method = text(message.method_string());
  request.target = text(message.target());
  request.content_type = text(message[http::field::content_type]);
  const std::string authorization = text(message[http::field::authorization]);
  if (authorization.starts_with(kBearer)) request.bearer = authorization.substr(kBearer.size());
  request.body = std::move(message.body());
  HttpResponse response = handler(request);
  http::response<http::string_body> out{http::int_to_status(response.status), 11};
  out.set(http::field::content_type, response.content_type);
  out.keep_alive(false);
  out.body() = std::move(response.body);
  out.prepare_payload();
  http::write(stream, out);
}

class Server final : public HttpServer {
 public:
  Server(const Tcp::endpoint& endpoint, const std::optional<TlsFiles>& tls)
      : acceptor_(context_, endpoint) {
    acceptor_.non_blocking(true);
    if (!tls) return;
    tls_.emplace(asio::ssl::context::tls_server);
    tls_->use_certificate_chain_file(tls->certificate);
    tls_->use_private_key_file(tls->key, asio::ssl::context::pem);
  }

  std::uint16_t port() const override { return acceptor_.local_endpoint().port(); }

  void serve(const Handler& handler, const std::atomic<bool>& stop) override {
    asio::thread_pool workers(8);
    while (!stop) {
      pollfd waiting{acceptor_.native_handle(), POLLIN, 0};
      if (::poll(&waiting, 1, 100) <= 0) continue;  // look at `stop` ten times a second
      boost::system::error_code error;
      Tcp::socket socket(context_);
      acceptor_.accept(socket, error);
      if (error) continue;
      auto shared = std::make_shared<Tcp::socket>(std::move(socket));
      asio::post(workers, [this, shared, &handler] { serve_one(std::move(*shared), handler); });
    }
    workers.join();
  }

 private:
  /// A connection that breaks concerns nobody else.
  void serve_one(Tcp::socket socket, const Handler& handler) {
    try {
      socket.non_blocking(false);
      set_timeouts(socket);
      boost::system::error_code ignored;
      if (tls_) {
        TlsStream stream(std::move(socket), *tls_);
        stream.handshake(asio::ssl::stream_base::server);
        answer(stream, handler);
        stream.shutdown(ignored);
      } else {
        answer(socket, handler);
        socket.shutdown(Tcp::socket::shutdown_both, ignored);
      }
    } catch (const boost::system::system_error&) {  // NOLINT: the peer went away
    }
  }

  asio::io_context context_;
  Tcp::acceptor acceptor_;
  std::optional<asio::ssl::context> tls_;
};

struct Url {
  bool tls = false;
  std::string host, port;
};

Result<Url> parse_url(const std::string& url) {
  Url out;
  const std::size_t scheme = url.find("://");
  const std::string name = url.substr(0, scheme);
  if (scheme == std::string::npos || (name != "http" && name != "https"))
    return invalid_parameter(fmt::format("{:?} is not an address like http://127.0.0.1:9001", url));
  out.tls = name == "https";
  std::string rest = url.substr(scheme + 3);
  if (!rest.empty() && rest.back() == '/') rest.pop_back();
  const std::size_t colon = rest.rfind(':');
  out.host = rest.substr(0, colon);
  out.port = colon == std::string::npos ? (out.tls ? "443" : "80") : rest.substr(colon + 1);
  if (out.host.empty() || out.host.find('/') != std::string::npos)
    return invalid_parameter(fmt::format("{:?} is not an address like http://127.0.0.1:9001", url));
  return out;
}

template <class Stream>
HttpResponse exchange(Stream& stream, const Url& url, const HttpRequest& request) {
  http::request<http::string_body> message{http::string_to_verb(request.method), request.target,
                                           11};
  message.set(http::field::host, url.host);
  if (!request.content_type.empty()) message.set(http::field::content_type, request.content_type);
  if (!request.bearer.empty())
    message.set(http::field::authorization, std::string(kBearer) + request.bearer);
  message.keep_alive(false);
  message.body() = request.body;
  message.prepare_payload();
  http::write(stream, message);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(kBodyMax);
  http::read(stream, buffer, parser);
  auto& response = parser.get();
  return {response.result_int(), text(response[http::field::content_type]),
          std::move(response.body())};
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::listen(const std::string& host, std::uint16_t port,
                                                       const std::optional<TlsFiles>& tls) {
  try {
    const asio::ip::address address = asio::ip::make_address(host);
    if (!address.is_loopback() && !tls)
      return Error{ErrorCode::PermissionDenied,
                   "an address that others can reach needs TLS: give --certificate and --key"};
    return std::unique_ptr<HttpServer>(std::make_unique<Server>(Tcp::endpoint(address, port), tls));
  } catch (const boost::system::system_error& error) {
    return Error{ErrorCode::Unavailable,
                 fmt::format("cannot listen on {}:{}: {}", host, port, error.what())};
  }
}

Result<HttpResponse> http_call(const std::string& address, const HttpRequest& request,
                               const std::string& ca_file) {
  DISCREET_TRY(const Url url, parse_url(address));
  try {
    asio::io_context context;
    Tcp::socket socket(context);
    const auto endpoints = Tcp::resolver(context).resolve(url.host, url.port);
    boost::system::error_code failed = asio::error::host_not_found;
    for (const auto& endpoint : endpoints) {
      socket.close(failed);
      socket.connect(endpoint, failed);
      if (!failed) break;
    }
    if (failed)
      return Error{ErrorCode::Unavailable,
                   fmt::format("{} does not answer: {}", address, failed.message())};
    set_timeouts(socket);
    boost::system::error_code ignored;
    if (!url.tls) return exchange(socket, url, request);
    asio::ssl::context tls(asio::ssl::context::tls_client);
    if (ca_file.empty())
      tls.set_default_verify_paths();
    else
      tls.load_verify_file(ca_file);
    TlsStream stream(std::move(socket), tls);
    stream.set_verify_mode(asio::ssl::verify_peer);
    stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
    stream.handshake(asio::ssl::stream_base::client);
    HttpResponse response = exchange(stream, url, request);
    stream.shutdown(ignored);
    return response;
  } catch (const boost::system::system_error& error) {
    return Error{ErrorCode::Unavailable,
                 fmt::format("{} does not answer: {}", address, error.what())};
  }
}

}  // namespace discreet::prio
