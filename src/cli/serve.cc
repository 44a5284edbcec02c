// `discreet serve`: the curator on the network, until SIGTERM.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>

#include <cstdio>
#include <memory>

#include "cli/collections.h"
#include "cli/policy_option.h"
#include "server/http/listen.h"
#include "server/pgwire/listen.h"
#include "server/service.h"

namespace discreet::cli {
namespace {

namespace asio = boost::asio;
using server::Settings;

struct ServeArguments {
  std::string policy, console, docs, log;
  std::string certificate, key;
  Settings settings;
  int quantum_ms = 50, timeout_s = 60;
  std::string reports;
  std::vector<std::string> collections;
  bool emoji = false;
};

struct Tls {
  std::unique_ptr<asio::ssl::context> context;
  std::string binding;  // the certificate's hash, for SCRAM-SHA-256-PLUS
};

/// RFC 5929, tls-server-end-point: the hash of the certificate's own signature algorithm, SHA-256
/// in place of MD5 and SHA-1.
std::string certificate_hash(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "r"), &std::fclose);
  if (!file) return {};
  std::unique_ptr<X509, decltype(&X509_free)> certificate(
      PEM_read_X509(file.get(), nullptr, nullptr, nullptr), &X509_free);
  if (!certificate) return {};
  int digest = NID_undef;
  X509_get_signature_info(certificate.get(), &digest, nullptr, nullptr, nullptr);
  const EVP_MD* md = digest == NID_undef || digest == NID_md5 || digest == NID_sha1
                         ? EVP_sha256()
                         : EVP_get_digestbynid(digest);
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (!md || X509_digest(certificate.get(), md, bytes, &size) != 1) return {};
  return {reinterpret_cast<const char*>(bytes), size};
}

Result<Tls> make_tls(const Settings& settings) {
  Tls tls;
  if (settings.tls_certificate.empty() != settings.tls_key.empty())
    return invalid_parameter("--tls-cert and --tls-key come together");
  if (settings.tls_certificate.empty()) {
    if (settings.require_tls)
      return invalid_parameter("--require-tls needs --tls-cert and --tls-key");
    return tls;
  }
  struct stat key{};
  if (::stat(settings.tls_key.c_str(), &key) == 0 && (key.st_mode & 077) != 0)
    return invalid_parameter("others can read " + settings.tls_key.string() +
                             "; run chmod 600 on it");
  tls.context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  boost::system::error_code failed;
  tls.context->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1 |
                           asio::ssl::context::no_compression);
  tls.context->use_certificate_chain_file(settings.tls_certificate.string(), failed);
  if (!failed)
    tls.context->use_private_key_file(settings.tls_key.string(), asio::ssl::context::pem, failed);
  if (failed)
    return Error{ErrorCode::InvalidInput,
                 "the TLS certificate or key cannot be used: " + failed.message()};
  tls.binding = certificate_hash(settings.tls_certificate.string());
  return tls;
}

/// Built files of the console or the documentation: where the installed program has them, or the
/// build.
std::string built_folder(const std::string& asked, const std::string& name) {
  namespace fs = std::filesystem;
  if (!asked.empty()) return asked;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  for (const fs::path& folder : {program.parent_path() / "../share/discreet" / name,
                                 program.parent_path() / ".." / name, fs::path("build") / name})
    if (fs::is_regular_file(folder / "index.html", failed))
      return fs::weakly_canonical(folder, failed).string();
  return {};
}

/// 400 connections of each kind and their files need more than some systems give.
void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
}

int run_serve(ServeArguments arguments) {
  ::umask(077);  // what the server writes is the owner's alone
  raise_file_limit();
  Settings& settings = arguments.settings;
  settings.quantum = std::chrono::milliseconds(arguments.quantum_ms);
  settings.statement_timeout = std::chrono::seconds(arguments.timeout_s);
  settings.tls_certificate = arguments.certificate;
  settings.tls_key = arguments.key;
  settings.console = built_folder(arguments.console, "console");
  settings.docs = built_folder(arguments.docs, "docs");
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  if (arguments.reports.empty() && (arguments.emoji || !arguments.collections.empty()))
    return fail(invalid_parameter(
        "--collection and --emoji need --reports, the folder to keep reports in"));
  settings.reports = arguments.reports;
  const auto tls = make_tls(settings);
  if (!tls) return fail(tls.error());
  const SystemClock clock;
  server::Log log(arguments.log);
  auto service = server::Service::open(*policy, clock, settings, log);
  if (!service) return fail(service.error());
  if (local::Collector* collector = (*service)->collector())
    if (const auto begun = begin_collections(*collector, arguments.collections, arguments.emoji);
        !begun)
      return fail(begun.error());

  asio::io_context io(1);
  auto pg = server::pgwire::Listener::open(io, **service, tls->context.get(), tls->binding);
  if (!pg) return fail(pg.error());
  auto http = server::http::Listener::open(io, **service, tls->context.get());
  if (!http) return fail(http.error());

  asio::signal_set signals(io, SIGINT, SIGTERM);
  asio::steady_timer grace(io);
  const auto until = std::make_shared<std::chrono::steady_clock::time_point>();
  std::function<void(boost::system::error_code)> wait_for_sessions =
      [&](boost::system::error_code) {
        const bool idle = (*pg)->open_sessions() == 0 && (*http)->open_connections() == 0;
        if (idle || std::chrono::steady_clock::now() > *until) {
          io.stop();
          return;
        }
        grace.expires_after(std::chrono::milliseconds(20));
        grace.async_wait(wait_for_sessions);
      };
  signals.async_wait([&](boost::system::error_code, int) {
    log.info("stopping");
    (*pg)->stop();
    (*http)->stop();
    *until = std::chrono::steady_clock::now() + settings.shutdown_grace;
    wait_for_sessions({});
  });
  std::printf("ready pg=%s:%u http=%s:%u\n", settings.host.c_str(), unsigned{(*pg)->port()},
              settings.host.c_str(), unsigned{(*http)->port()});
  std::fflush(stdout);
  log.info("ready", {{"tables", std::int64_t(policy->tables().size())},
                     {"tls", tls->context != nullptr},
                     {"console", !settings.console.empty()}});
  io.run();
  (*service)->stop();
  log.info("stopped");
  return kOk;
}

}  // namespace

void add_serve(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "serve", "Serve PostgreSQL clients, programs (HTTP/JSON) and the web console",
      "  discreet serve --policy town/discreet.toml --pg-port 5433 --http-port 8433\n"
      "  psql -h 127.0.0.1 -p 5433 -U alice -d discreet\n"
      "  discreet serve --policy town/discreet.toml --reports reports --emoji      (then: select * "
      "from local.emoji_top)");
  auto arguments = std::make_shared<ServeArguments>();
  Settings& settings = arguments->settings;
  add_policy_option(verb, arguments->policy);
  verb->add_option("--host", settings.host, "The address to listen on")->capture_default_str();
  verb->add_option("--pg-port", settings.pg_port, "For PostgreSQL clients; 0 picks one")
      ->capture_default_str();
  verb->add_option("--http-port", settings.http_port, "For HTTP; 0 picks one")
      ->capture_default_str();
  verb->add_option("--tls-cert", arguments->certificate, "A certificate chain (PEM)");
  verb->add_option("--tls-key", arguments->key, "Its key (PEM), readable by you alone");
  verb->add_flag("--require-tls", settings.require_tls, "Refuse connections without TLS");
  verb->add_option("--docs", arguments->docs, "The documentation's built files, for /docs")
      ->type_name("FOLDER");
  verb->add_option("--console", arguments->console, "The console's built files")
      ->type_name("FOLDER");
  verb->add_option("--owner", settings.owners, "Users with the owner's role (default: owner)");
  verb->add_option("--quantum", arguments->quantum_ms,
                   "Charged answers leave after 1, 2, 4, ... times this many milliseconds")
      ->capture_default_str()
      ->check(CLI::Range(0, 600'000));
  verb->add_option("--timeout", arguments->timeout_s, "Seconds a statement may take")
      ->capture_default_str()
      ->check(CLI::Range(1, 86'400));
  verb->add_option("--connections", settings.connections_max, "The most of each protocol")
      ->capture_default_str();
  verb->add_option("--user-connections", settings.connections_per_user_max, "The most of one user")
      ->capture_default_str();
  verb->add_option("--rate", settings.requests_per_second, "Requests a second of one user")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  verb->add_option("--max-message", settings.message_bytes_max, "Bytes a message may have")
      ->capture_default_str();
  verb->add_option(
          "--message-timeout",
          [&settings](const CLI::results_t& given) {
            settings.message_timeout = std::chrono::milliseconds(std::stol(given[0]));
            return true;
          },
          "Milliseconds from a message's first byte to its last")
      ->type_name("MS");
  verb->add_option("--reports", arguments->reports,
                   "Collect randomised reports (local privacy) into this folder")
      ->type_name("FOLDER");
  verb->add_option("--collection", arguments->collections,
                   "File of header lines of collections to begin; may be repeated");
  verb->add_flag("--emoji", arguments->emoji, "Begin the emoji collections; their page is /emoji/");
  verb->add_option("--workers", settings.workers, "Questions at once")->capture_default_str();
  verb->add_option("--log", arguments->log, "A file for the log (JSON lines); stderr otherwise")
      ->type_name("FILE");
  verb->callback([&chosen, arguments] { chosen = [arguments] { return run_serve(*arguments); }; });
}

}  // namespace discreet::cli
