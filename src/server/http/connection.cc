#include "server/http/connection_internal.h"

#include "server/http/routes.h"

namespace discreet::server::http {
namespace {

constexpr std::size_t kReadSize = 16 * 1024, kHeaderMax = 16 * 1024;
constexpr std::chrono::milliseconds kIdle{75'000};

}  // namespace

Connection::Connection(Tcp::socket socket, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      service_(shared_->service),
      stream_(std::move(socket), shared_->tls),
      reader_(kHeaderMax, service_.settings().message_bytes_max) {
  shared_->connections.insert(this);
  service_.metrics().opened(Protocol::Http);
}

Connection::~Connection() {
  shared_->connections.erase(this);
  service_.metrics().closed(Protocol::Http);
}

void Connection::shut_down() {
  if (!busy_) stream_.close();
}

/// A TLS handshake starts with byte 22; HTTP never does. One port serves both where both are
/// allowed.
awaitable<bool> Connection::choose_tls(std::string& pending) {
  if (!stream_.can_secure()) co_return true;
  stream_.set_deadline(service_.settings().login_timeout);
  pending.resize(kReadSize);
  pending.resize(co_await stream_.read_some(pending.data(), kReadSize));
  if (pending.empty()) co_return false;
  if (pending[0] != 22) co_return true;
  const std::string handshake = std::exchange(pending, {});
  co_return co_await stream_.start_tls(handshake);
}

awaitable<std::optional<Request>> Connection::next_request(std::string& pending) {
  bool continued = false;
  stream_.set_deadline(kIdle);
  for (bool in_the_middle = false;;) {
    if (!pending.empty()) {
      const std::size_t used = reader_.feed(pending);
      pending.erase(0, used);
      if (reader_.failure()) co_return std::nullopt;
      if (auto request = reader_.take()) co_return request;
      if (reader_.failure()) co_return std::nullopt;
      if (reader_.has_started() && !in_the_middle) {
        in_the_middle = true;
        stream_.set_deadline(service_.settings().message_timeout);
      }
    }
    if (!continued && reader_.wants_continue()) {
      continued = true;
      if (!co_await stream_.write("HTTP/1.1 100 Continue\r\n\r\n")) co_return std::nullopt;
    }
    const std::size_t before = pending.size();
    pending.resize(before + kReadSize);
    const std::size_t read = co_await stream_.read_some(pending.data() + before, kReadSize);
    pending.resize(before + read);
    if (read == 0) co_return std::nullopt;
  }
}

awaitable<void> Connection::run() {
  const auto self = shared_from_this();
  waiting_ = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  std::string pending;
  if (!co_await choose_tls(pending)) {
    stream_.close();
    co_return;
  }
  while (!shared_->stopping) {
    busy_ = false;
    const auto request = co_await next_request(pending);
    busy_ = true;
    if (!request) {
      if (const auto& failure = reader_.failure()) {
        stream_.set_deadline(service_.settings().message_timeout);
        const Response refused = error_response(failure->status, "08P01", failure->message);
        const std::string bytes = to_bytes(refused, false, false);
        co_await stream_.write(bytes);
      }
      break;
    }
    stream_.clear_deadline();
    const Response response = co_await respond(*request);
    const bool keep = request->keep_alive && !shared_->stopping;
    stream_.set_deadline(service_.settings().message_timeout);
    const std::string bytes = to_bytes(response, keep, request->method == "HEAD");
    if (!co_await stream_.write(bytes) || !keep) break;
  }
  stream_.finish_writing();
  stream_.close();
}

awaitable<Response> Connection::respond(const Request& request) {
  const bool open = request.path == "/healthz";
  if (service_.settings().require_tls && !stream_.is_secure() && !open)
    co_return error_response(403, "28000", "this server accepts HTTPS only");
  const auto started = Steady::now();
  if (!request.token.empty()) {
    const auto delay =
        service_.rates().take(ledger::to_hex(ledger::sha256(request.token)), started);
    if (delay > std::chrono::seconds(1)) {
      Response refused = error_response(429, "53400", "too many requests; slow down");
      refused.retry_after_s = std::chrono::duration<double>(delay).count();
      co_return refused;
    }
    if (delay > Steady::duration{}) co_await sleep_until(started + delay);
  }
  if (auto at_once = answer_at_once(service_, request)) co_return *std::move(at_once);

  std::string login_name;
  if (request.method == "POST" && request.path == "/v1/login") {
    login_name = name_in_login(request);
    const auto wait = service_.logins().admit(login_name, stream_.address(), started);
    if (!wait || *wait > service_.settings().login_timeout) {
      Response refused =
          error_response(429, "53300", "too many failed attempts to log in; try again later");
      refused.retry_after_s = wait ? std::chrono::duration<double>(*wait).count() : 60;
      co_return refused;
    }
    if (*wait > Steady::duration{}) co_await sleep_until(started + *wait);
  }
  using Maybe = std::optional<Routed>;
  Result<Maybe> outcome = Maybe();
  for (const bool quickly : {true, false}) {
    if (quickly && !may_be_quick(request)) continue;
    std::function<Result<Maybe>(Curator&)> work = [&service = service_, request,
                                                   quickly](Curator& curator) -> Result<Maybe> {
      return route(service, curator, request, quickly);
    };
    outcome =
        co_await on_worker<Maybe>(service_, quickly ? Service::Line::Quick : Service::Line::Charged,
                                  waiting_, service_.settings().statement_timeout, std::move(work));
    if (!outcome || *outcome) break;
  }
  const auto finished = Steady::now();
  Routed routed;
  if (outcome && *outcome)
    routed = **std::move(outcome);
  else
    routed.response = error_response(outcome.error().message.starts_with("canceling") ? 408 : 503,
                                     sqlstate(outcome.error().code), outcome.error().message);
  if (!login_name.empty()) {
    if (routed.response.status == 401) {
      service_.logins().failed(login_name, stream_.address(), finished);
      service_.log().warn("login_failed", {{"user", login_name}, {"address", stream_.address()}});
    } else if (routed.response.status == 200) {
      service_.logins().succeeded(login_name, stream_.address());
    }
  }
  const auto leaves =
      routed.charged ? next_slot(started, finished, service_.settings().quantum) : finished;
  if (routed.charged) co_await sleep_until(leaves);
  const double seconds = std::chrono::duration<double>(finished - started).count();
  // Anybody may read the metrics: they get the slot's time, the operator's log the request's own.
  service_.metrics().request(
      routed.kind, routed.response.status < 300 ? "ok" : std::to_string(routed.response.status),
      std::chrono::duration<double>(leaves - started).count());
  service_.metrics().noise_ahead(routed.noise_ahead);
  if (routed.kind == RequestKind::Question)
    service_.log().info("question", {{"user", routed.user},
                                     {"status", std::int64_t{routed.response.status}},
                                     {"seconds", seconds}});
  co_return routed.response;
}

}  // namespace discreet::server::http
