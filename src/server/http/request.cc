#include "server/http/request.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <fmt/format.h>

namespace discreet::server::http {
namespace {

namespace beast = boost::beast;

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (out.find('\0') != std::string::npos) return std::nullopt;
  return out;
}

const char* reason(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    default:
      return status >= 500 ? "Service Unavailable" : "Error";
  }
}

}  // namespace

struct RequestReader::State {
  beast::http::request_parser<beast::http::string_body> parser;
};

RequestReader::RequestReader(std::size_t header_bytes_max, std::size_t body_bytes_max)
    : header_max_(header_bytes_max), body_max_(body_bytes_max) {
  start();
}
RequestReader::~RequestReader() = default;

void RequestReader::start() {
  state_ = std::make_unique<State>();
  state_->parser.header_limit(static_cast<std::uint32_t>(header_max_));
  state_->parser.body_limit(body_max_);
  state_->parser.eager(true);
}

bool RequestReader::has_started() const {
  return state_->parser.got_some();
}
bool RequestReader::wants_continue() const {
  if (!state_->parser.is_header_done() || state_->parser.is_done()) return false;
  return beast::iequals(state_->parser.get()[beast::http::field::expect], "100-continue");
}

std::size_t RequestReader::feed(std::string_view bytes) {
  if (failure_ || state_->parser.is_done()) return 0;
  boost::system::error_code failed;
  const std::size_t used =
      state_->parser.put(boost::asio::buffer(bytes.data(), bytes.size()), failed);
  if (!failed || failed == beast::http::error::need_more) return used;
  if (failed == beast::http::error::body_limit)
    failure_ = ReadFailure{413, fmt::format("a request may have {} bytes", body_max_)};
  else if (failed == beast::http::error::header_limit)
    failure_ = ReadFailure{431, fmt::format("the header may have {} bytes", header_max_)};
  else
    failure_ = ReadFailure{400, "this is not HTTP/1.1"};
  return used;
}

std::optional<Request> RequestReader::take() {
  if (failure_ || !state_->parser.is_done()) return std::nullopt;
  auto message = state_->parser.release();
  start();
  Request request;
  const auto text = [](beast::string_view view) { return std::string(view.data(), view.size()); };
  request.method = text(message.method_string());
  const std::string target = text(message.target());
  if (!split_target(target, request.path, request.query)) {
    failure_ = ReadFailure{400, "the target is not a path"};
    return std::nullopt;
  }
  const std::string authorization = text(message[beast::http::field::authorization]);
  if (authorization.size() > 7 && beast::iequals(authorization.substr(0, 7), "Bearer "))
    request.token = authorization.substr(7);
  request.accept = text(message[beast::http::field::accept]);
  request.keep_alive = message.keep_alive();
  request.body = std::move(message.body());
  return request;
}

bool split_target(std::string_view target, std::string& path,
                  std::map<std::string, std::string>& query) {
  const auto mark = target.find('?');
  const auto whole = decoded(target.substr(0, mark), false);
  if (!whole || whole->empty() || whole->front() != '/') return false;
  path = *whole;
  if (mark == std::string_view::npos) return true;
  std::string_view rest = target.substr(mark + 1);
  while (!rest.empty()) {
    const auto end = std::min(rest.find('&'), rest.size());
    const auto pair = rest.substr(0, end);
    const auto equals = std::min(pair.find('='), pair.size());
    const auto name = decoded(pair.substr(0, equals), true);
    const auto value =
        decoded(equals < pair.size() ? pair.substr(equals + 1) : std::string_view(), true);
    if (!name || !value) return false;
    query[*name] = *value;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

std::string to_bytes(const Response& response, bool keep_alive, bool head_only) {
  std::string head = fmt::format(
      "HTTP/1.1 {} {}\r\nServer: discreet\r\nContent-Type: {}\r\nContent-Length: {}\r\n"
      "Connection: {}\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n"
      "Content-Security-Policy: default-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
      "'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'\r\n"
      "Cache-Control: {}\r\n",
      response.status, reason(response.status), response.type, response.body.size(),
      keep_alive ? "keep-alive" : "close",
      response.may_cache ? "public, max-age=31536000, immutable" : "no-store");
  if (response.status == 401) head += "WWW-Authenticate: Bearer\r\n";
  if (response.retry_after_s > 0)
    head += fmt::format("Retry-After: {:.0f}\r\n", response.retry_after_s + 1);
  head += "\r\n";
  if (!head_only) head += response.body;
  return head;
}

}  // namespace discreet::server::http
