// `discreet prio leader` and `discreet prio helper`: the two servers, until SIGTERM.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "cli/prio.h"
#include "prio/service.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct ServerArguments {
  std::string task, secrets, state, ca, certificate, key;
  std::string host = "127.0.0.1";
  int port = -1;
  std::size_t job_size = 500;
};

std::atomic<bool> stopping{false};  // set by the signal handler, which can reach nothing else

void stop_on_signals() {
  struct sigaction action{};
  action.sa_handler = [](int) { stopping = true; };
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

/// The port at the end of http://host:port.
Result<std::uint16_t> port_of(const std::string& url, int chosen) {
  if (chosen >= 0 && chosen <= 65535) return static_cast<std::uint16_t>(chosen);
  const std::size_t colon = url.rfind(':');
  int port = 0;
  if (colon == std::string::npos || std::sscanf(url.c_str() + colon + 1, "%d", &port) != 1 ||
      port < 1 || port > 65535)
    return invalid_parameter(url + " names no port; give one with --port");
  return static_cast<std::uint16_t>(port);
}

struct Setup {
  prio::Task task;
  prio::TaskSecrets secrets;
  std::unique_ptr<prio::HttpServer> server;
};

Result<Setup> set_up(const ServerArguments& arguments, prio::Role role) {
  DISCREET_TRY(const std::string task_text, prio::read_text(arguments.task));
  DISCREET_TRY(prio::Task task, prio::Task::from_json(task_text));
  DISCREET_TRY(const std::string secrets_text, prio::read_text(arguments.secrets));
  DISCREET_TRY(prio::TaskSecrets secrets, prio::TaskSecrets::from_json(secrets_text));
  std::error_code error;
  std::filesystem::create_directories(arguments.state, error);
  DISCREET_TRY(
      const std::uint16_t port,
      port_of(role == prio::Role::Leader ? task.leader_url : task.helper_url, arguments.port));
  std::optional<prio::TlsFiles> tls;
  if (!arguments.certificate.empty()) tls = prio::TlsFiles{arguments.certificate, arguments.key};
  DISCREET_TRY(auto server, prio::HttpServer::listen(arguments.host, port, tls));
  return Setup{std::move(task), std::move(secrets), std::move(server)};
}

void say_ready(const ServerArguments& arguments, const prio::HttpServer& server) {
  std::printf("ready %s=%s:%u\n", arguments.certificate.empty() ? "http" : "https",
              arguments.host.c_str(), static_cast<unsigned>(server.port()));
  std::fflush(stdout);
}

/// A broken invariant stops the server rather than one answer.
template <class Serve>
prio::HttpResponse guarded(Serve&& serve) {
  try {
    return serve();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "discreet: %s\n", error.what());
    std::_Exit(kFailed);
  }
}

int run_helper(const ServerArguments& arguments) {
  auto setup = set_up(arguments, prio::Role::Helper);
  if (!setup) return fail(setup.error());
  const SystemClock clock;
  SecureRandom random;
  auto helper = prio::Helper::open(setup->task, setup->secrets, arguments.state, clock, random);
  if (!helper) return fail(helper.error());
  std::mutex one_at_a_time;
  say_ready(arguments, *setup->server);
  setup->server->serve(
      [&](const prio::HttpRequest& request) {
        const std::lock_guard lock(one_at_a_time);
        return guarded([&] { return prio::serve_helper(**helper, request); });
      },
      stopping);
  return kOk;
}

int run_leader(const ServerArguments& arguments) {
  auto setup = set_up(arguments, prio::Role::Leader);
  if (!setup) return fail(setup.error());
  const SystemClock clock;
  SecureRandom random;
  prio::RemoteHelper remote(setup->task, setup->secrets, arguments.ca);
  auto leader =
      prio::Leader::open(setup->task, setup->secrets, arguments.state, clock, random, remote);
  if (!leader) return fail(leader.error());
  (*leader)->set_job_size(arguments.job_size);
  std::mutex one_at_a_time;
  std::thread checking([&] {
    while (!stopping) {
      bool busy = false;
      {
        const std::lock_guard lock(one_at_a_time);
        guarded([&] {
          const auto stepped = (*leader)->step();
          busy = stepped && *stepped;
          if (!stepped && stepped.error().code != ErrorCode::Unavailable)
            std::fprintf(stderr, "discreet: %s\n", stepped.error().message.c_str());
          return prio::HttpResponse{};
        });
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(busy ? 1 : 200));
    }
  });
  say_ready(arguments, *setup->server);
  setup->server->serve(
      [&](const prio::HttpRequest& request) {
        const std::lock_guard lock(one_at_a_time);
        return guarded([&] { return prio::serve_leader(**leader, request); });
      },
      stopping);
  checking.join();
  return kOk;
}

void add_server(CLI::App& prio, Action& chosen, const char* name, const char* summary,
                bool is_leader) {
  CLI::App* verb = add_verb(
      prio, name, summary,
      fmt::format("  discreet prio {0} --task survey/task.json --secrets survey/{0}.json "
                  "--state survey/{0}\n\nPrints `ready http=HOST:PORT` once it listens; SIGTERM "
                  "ends it. State survives any crash; start it again with the same folder.",
                  name));
  auto arguments = std::make_shared<ServerArguments>();
  verb->add_option("--task", arguments->task, "The task's public file")->required();
  verb->add_option("--secrets", arguments->secrets, "This server's secret file")->required();
  verb->add_option("--state", arguments->state, "Folder for its database and ledger")->required();
  verb->add_option("--host", arguments->host,
                   "Address to listen on; others than loopback need TLS");
  verb->add_option("--port", arguments->port,
                   "Default: that of the task's file; 0 picks a free one");
  verb->add_option("--certificate", arguments->certificate, "Certificate chain (PEM): serve HTTPS");
  verb->add_option("--key", arguments->key, "Its private key (PEM)");
  if (is_leader) {
    verb->add_option("--ca", arguments->ca, "Certificate (PEM) that signed the helper's");
    verb->add_option("--job-size", arguments->job_size, "Reports a request to the helper")
        ->check(CLI::PositiveNumber);
  }
  verb->callback([&chosen, arguments, is_leader] {
    chosen = [arguments, is_leader] {
      stop_on_signals();
      return is_leader ? run_leader(*arguments) : run_helper(*arguments);
    };
  });
}

}  // namespace

void add_prio_servers(CLI::App& prio, Action& chosen) {
  add_server(prio, chosen, "leader", "The server that takes reports and answers the collector",
             true);
  add_server(prio, chosen, "helper", "The other server", false);
}

}  // namespace discreet::cli
