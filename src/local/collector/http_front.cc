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

#include "base/parse_number.h"
#include "local/collector/assets_internal.h"
#include "local/collector/collector.h"

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

Response answer(const Json& json) {
  return answer(http::status::ok, "application/json", json.dump() + "\n");
}

Response answer(const Error& error) {
  return answer(static_cast<http::status>(http_status(error.code)), "application/json",
                Json{{"error", error.message}}.dump() + "\n");
}

/// The target's path and its parameters, percent-decoded.
struct Target {
  std::string path;
  std::vector<std::pair<std::string, std::string>> parameters;

  std::string get(std::string_view name, std::string otherwise = {}) const {
    for (const auto& [key, value] : parameters)
      if (key == name) return value;
    return otherwise;
  }
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

Result<BatchId> parse_batch_id(const std::string& text) {
  BatchId id{};
  if (text.empty()) return id;
  bool good = text.size() == 2 * id.size();
  for (std::size_t i = 0; good && i < id.size(); ++i) {
    const char* at = text.data() + 2 * i;
    good = std::from_chars(at, at + 2, id[i], 16).ptr == at + 2;
  }
  if (!good) return invalid_input("a batch is named by 32 hexadecimal digits");
  return id;
}

Response add_reports(Collector& collector, const std::string& name, const Target& target,
                     const Request& request) {
  const auto id = parse_batch_id(target.get("batch"));
  if (!id) return answer(id.error());
  const std::string& body = request.body();
  const Bytes bytes(reinterpret_cast<const std::uint8_t*>(body.data()), body.size());
  const auto done = is_binary_batch(bytes) ? collector.add_binary(name, bytes, *id)
                                           : collector.add_lines(name, body, *id);
  if (!done) return answer(done.error());
  Json json = {{"accepted", done->accepted}, {"refused", done->refused}};
  if (done->repeated) json["repeated"] = true;
  for (const auto& refusal : done->refusals)
    json["refusals"].push_back({{"report", refusal.place}, {"why", refusal.why}});
  return answer(json);
}

Response estimates(Collector& collector, const std::string& name, const Target& target) {
  Collector::Question question;
  const auto confidence = parse_number(target.get("confidence", "0.95"), "confidence");
  if (!confidence) return answer(confidence.error());
  const auto top = parse_integer(target.get("top", "0"), "top");
  if (!top || *top < 0) return answer(invalid_input("top is a whole number, not negative"));
  question.confidence = *confidence;
  question.top = static_cast<std::size_t>(*top);
  question.simultaneous = target.get("simultaneous") == "1";
  question.post = target.get("post", "none");
  for (const auto& [key, value] : target.parameters)
    if (key == "candidate") question.candidates.push_back(value);
  const auto table = collector.estimates(name, question);
  if (!table) return answer(table.error());
  Json json = {{"reports", table->reports}, {"rows", Json::array()}};
  for (const auto& row : table->rows)
    json["rows"].push_back({{"value", row.value},
                            {"estimate", row.estimate},
                            {"stderr", row.standard_error},
                            {"low", row.low},
                            {"high", row.high}});
  return answer(json);
}

Response collections(Collector& collector) {
  Json json = Json::array();
  for (const auto& name : collector.names()) {
    const auto header = collector.header(name);
    const auto reports = collector.reports(name);
    if (header && reports)
      json.push_back({{"name", name}, {"reports", *reports}, {"header", Json::parse(*header)}});
  }
  return answer(json);
}

Response route(Collector& collector, const Request& request) {
  const Target target = parse_target({request.target().data(), request.target().size()});
  const bool reads = request.method() == http::verb::get || request.method() == http::verb::head;
  const bool posts = request.method() == http::verb::post;
  constexpr std::string_view kRoot = "/v1/collections";
  if (target.path == kRoot && reads) return collections(collector);
  if (target.path.starts_with(std::string(kRoot) + "/")) {
    const std::string rest = target.path.substr(kRoot.size() + 1);
    const auto slash = std::min(rest.find('/'), rest.size());
    const std::string name = rest.substr(0, slash);
    const std::string what = slash < rest.size() ? rest.substr(slash + 1) : "";
    if (what == "reports" && posts) return add_reports(collector, name, target, request);
    if (what == "estimates" && reads) return estimates(collector, name, target);
    if (what.empty() && reads) {
      const auto header = collector.header(name);
      return header ? answer(http::status::ok, "application/json", *header + "\n")
                    : answer(header.error());
    }
  }
  if (reads)
    for (const auto& asset : assets())
      if (asset.path == target.path)
        return answer(http::status::ok, asset.type, std::string(asset.content));
  return answer(Error{ErrorCode::NotFound, "there is nothing at this address"});
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
        response = route(collector, request);
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
