// From the first byte to "ready": TLS, who it is, proof of the password.
#include <openssl/rand.h>

#include <algorithm>

#include "server/pgwire/session_internal.h"
#include "server/scram_exchange.h"

namespace discreet::server::pgwire {
namespace {

std::int32_t random_number() {
  std::int32_t value = 0;
  DISCREET_CHECK(RAND_bytes(reinterpret_cast<unsigned char*>(&value), sizeof value) == 1,
                 "no randomness for a cancel key");
  return value;
}

/// What clients ask of a server before they trust it with anything.
constexpr std::pair<const char*, const char*> kStatus[] = {
    {"server_version", "15.0 (Discreet " DISCREET_VERSION ")"},
    {"server_encoding", "UTF8"},
    {"client_encoding", "UTF8"},
    {"DateStyle", "ISO, MDY"},
    {"IntervalStyle", "postgres"},
    {"TimeZone", "UTC"},
    {"integer_datetimes", "on"},
    {"standard_conforming_strings", "on"},
    {"is_superuser", "off"},
    {"in_hot_standby", "off"},
    {"default_transaction_read_only", "off"},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// "-c name=value" and "--name=value" of the startup parameter `options`; a backslash keeps a
/// space.
std::vector<std::pair<std::string, std::string>> options_of(const std::string& text) {
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      words.back() += text[++i];
    else if (text[i] != ' ')
      words.back() += text[i];
    else if (!words.back().empty())
      words.emplace_back();
  }
  std::vector<std::pair<std::string, std::string>> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    if (word == "-c" && i + 1 < words.size())
      word = words[++i];
    else if (word.starts_with("-c") || word.starts_with("--"))
      word = word.substr(2);
    else
      continue;
    const auto equals = word.find('=');
    if (equals != std::string::npos)
      options.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  return options;
}

void note_failure(Service& service, const std::string& name, const std::string& address) {
  service.logins().failed(name, address, Steady::now());
  service.log().warn("login_failed", {{"user", name}, {"address", address}});
  service.metrics().request(RequestKind::Login, "28P01", 0);
}

}  // namespace

awaitable<bool> Session::open() {
  for (int requests = 0; requests < 4;) {
    const auto taken = take_opening(std::string_view(in_).substr(used_));
    if (!taken) co_return co_await fatal("08P01", taken.error().message);
    if (!*taken) {
      if (!co_await fill()) co_return false;
      continue;
    }
    ++requests;
    used_ += (*taken)->bytes;
    const Opening& opening = (*taken)->message;
    if (const auto* cancel_request = std::get_if<CancelRequest>(&opening)) {
      const auto found = shared_->sessions.find(cancel_request->process);
      if (found != shared_->sessions.end()) found->second->cancel(cancel_request->secret);
      co_return false;
    }
    if (const auto* startup = std::get_if<Startup>(&opening)) co_return co_await log_in(*startup);
    const bool secure =
        std::holds_alternative<SslRequest>(opening) && stream_.can_secure() && !stream_.is_secure();
    // Bytes that came with the request in the clear must not be taken for part of the TLS session.
    if (used_ < in_.size()) co_return false;
    if (!co_await stream_.write(secure ? "S" : "N")) co_return false;
    if (secure && !co_await stream_.start_tls()) co_return false;
  }
  co_return false;
}

awaitable<std::optional<std::string>> Session::authentication_data() {
  auto message = co_await next_message();
  if (!message || !std::holds_alternative<AuthenticationData>(*message)) co_return std::nullopt;
  co_return std::move(std::get<AuthenticationData>(*message).bytes);
}

awaitable<bool> Session::log_in(const Startup& startup) {
  const auto started = Steady::now();
  const auto given = startup.parameters.find("user");
  if (given == startup.parameters.end() || given->second.empty())
    co_return co_await fatal("28000", "no user name was given");
  if (service_.settings().require_tls && !stream_.is_secure())
    co_return co_await fatal("28000",
                             "this server accepts encrypted connections only; use sslmode=require");
  if (shared_->sessions.size() > service_.settings().connections_max)
    co_return co_await fatal("53300", "too many connections");
  if (startup.parameters.contains("replication"))
    co_return co_await fatal("0A000", "there is nothing to replicate");
  const std::string name = given->second;

  const auto wait = service_.logins().admit(name, stream_.address(), started);
  if (!wait)
    co_return co_await fatal("53300", "too many failed attempts to log in; try again later");
  if (*wait > Steady::duration{}) {
    stream_.set_deadline(std::chrono::duration_cast<std::chrono::milliseconds>(*wait) +
                         service_.settings().login_timeout);
    co_await sleep_until(started + *wait);
  }
  std::function<Result<Service::Credential>(Curator&)> look_up =
      [&service = service_, name](Curator& curator) { return service.credential(curator, name); };
  auto credential = co_await on_worker<Service::Credential>(
      service_, Service::Line::Quick, waiting_, service_.settings().login_timeout,
      std::move(look_up));
  if (!credential) co_return co_await fatal("58000", "the server cannot check passwords now");

  const std::string binding = stream_.is_secure() ? shared_->binding : std::string();
  std::vector<std::string> mechanisms;
  if (!binding.empty()) mechanisms.emplace_back("SCRAM-SHA-256-PLUS");
  mechanisms.emplace_back("SCRAM-SHA-256");
  append_sasl_mechanisms(out_, mechanisms);
  if (!co_await flush()) co_return false;

  ScramExchange exchange(credential->verifier, credential->real, binding, make_nonce());
  const auto initial_bytes = co_await authentication_data();
  if (!initial_bytes) co_return false;
  const auto initial = decode_sasl_initial(*initial_bytes);
  if (!initial) co_return co_await fatal("08P01", initial.error().message);
  const auto server_first = exchange.first(initial->mechanism, initial->response);
  if (!server_first) {
    note_failure(service_, name, stream_.address());
    co_return co_await fatal("28P01", server_first.error().message);
  }
  append_sasl_continue(out_, *server_first);
  if (!co_await flush()) co_return false;
  const auto client_final = co_await authentication_data();
  if (!client_final) co_return false;
  const auto server_last = exchange.last(*client_final);
  if (!server_last) {
    note_failure(service_, name, stream_.address());
    co_return co_await fatal("28P01", "password authentication failed for user \"" + name + "\"");
  }
  service_.logins().succeeded(name, stream_.address());

  if (++shared_->by_user[name] > service_.settings().connections_per_user_max) {
    identity_.name = name;
    co_return co_await fatal("53300", "too many connections of this user");
  }
  identity_ = {name, service_.is_owner(name)};
  append_sasl_final(out_, *server_last);
  append_authentication_ok(out_);
  for (const auto& [key, value] : startup.parameters)
    if (key != "user" && key != "database" && key != "options") settings_[lower(key)] = value;
  if (const auto options = startup.parameters.find("options"); options != startup.parameters.end())
    for (const auto& [key, value] : options_of(options->second)) {
      ClientStatement statement;
      statement.setting = lower(key);
      statement.value = value;
      statement.has_value = true;
      if (const auto done = set(statement); !done)
        co_return co_await fatal("22023", done.error().message);
    }
  for (const auto& [key, value] : kStatus) append_parameter_status(out_, key, value);
  append_parameter_status(out_, "session_authorization", name);
  append_parameter_status(out_, "application_name", setting("application_name"));
  secret_ = random_number();
  append_backend_key(out_, process_, secret_);
  append_ready(out_, transaction_);
  service_.log().info("login", {{"user", name},
                                {"address", stream_.address()},
                                {"tls", stream_.is_secure()},
                                {"session", std::int64_t{process_}}});
  service_.metrics().request(RequestKind::Login, "ok",
                             std::chrono::duration<double>(Steady::now() - started).count());
  co_return co_await flush();
}

}  // namespace discreet::server::pgwire
