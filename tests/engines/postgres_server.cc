#include "engines/postgres_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "base/check.h"

namespace discreet::testing {
namespace {

int free_port() {
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(where);
  DISCREET_CHECK(bind(descriptor, reinterpret_cast<sockaddr*>(&where), size) == 0 &&
                     getsockname(descriptor, reinterpret_cast<sockaddr*>(&where), &size) == 0,
                 "no free port");
  close(descriptor);
  return ntohs(where.sin_port);
}

/// PostgreSQL refuses to run as root.
std::string as_nobody(const std::string& command) {
  return geteuid() == 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups " + command
                        : command;
}

void shell(const std::string& command) {
  if (std::system(command.c_str()) != 0) {
    std::cerr << "this failed: " << command << "\n";
    std::exit(1);
  }
}

}  // namespace

void PostgresServer::find_programs() {
  std::filesystem::path newest;
  std::error_code none;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", none))
    if (std::filesystem::exists(version.path() / "bin/initdb")) newest = version.path() / "bin";
  if (newest.empty()) {
    std::cerr << "PostgreSQL's server is not installed; tools/setup lists it (postgresql).\n";
    std::exit(1);
  }
  programs_ = newest;
}

void PostgresServer::make_folder() {
  char name[] = "/tmp/discreet_pg_XXXXXX";
  folder_ = mkdtemp(name);
  std::filesystem::permissions(folder_, std::filesystem::perms(0777));
}

PostgresServer::PostgresServer() {
  find_programs();
  make_folder();
  shell(as_nobody(fmt::format(
      "{}/initdb -D {}/data -U tester --encoding=UTF8 --locale=C.UTF-8 --auth=trust --no-sync "
      ">{}/initdb.log 2>&1",
      programs_.string(), folder_.string(), folder_.string())));
  port_ = free_port();
  std::ofstream(folder_ / "data/postgresql.conf", std::ios::app)
      << "port = " << port_ << "\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '"
      << folder_.string() << "'\nmax_connections = 60\nshared_buffers = 64MB\n"
      << "log_min_messages = fatal\nautovacuum = off\n";
  std::ofstream(folder_ / "data/pg_hba.conf")
      << "local all,replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
  guard();
  start();
}

PostgresServer::PostgresServer(const PostgresServer& primary) {
  find_programs();
  make_folder();
  shell(as_nobody(fmt::format(
      "{}/pg_basebackup -h {} -p {} -U tester -D {}/data --write-recovery-conf --wal-method=stream "
      "--checkpoint=fast --no-sync >{}/backup.log 2>&1",
      programs_.string(), primary.folder_.string(), primary.port_, folder_.string(),
      folder_.string())));
  port_ = free_port();
  std::ofstream(folder_ / "data/postgresql.conf", std::ios::app)
      << "port = " << port_ << "\nunix_socket_directories = '" << folder_.string() << "'\n";
  guard();
  start();
}

void PostgresServer::guard() {
  int ends[2];
  DISCREET_CHECK(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  guardian_ = fork();
  if (guardian_ == 0) {
    close(ends[1]);
    setsid();
    char byte = 0;
    while (read(ends[0], &byte, 1) > 0) {
    }
    const std::string stop =
        as_nobody(fmt::format("{}/pg_ctl -D {}/data -m immediate -w stop >/dev/null 2>&1",
                              programs_.string(), folder_.string())) +
        "; rm -rf " + folder_.string();
    execl("/bin/sh", "sh", "-c", stop.c_str(), nullptr);
    _exit(1);
  }
  close(ends[0]);
  guarded_ = ends[1];
}

PostgresServer::~PostgresServer() {
  close(guarded_);
  waitpid(guardian_, nullptr, 0);
}

void PostgresServer::start() {
  shell(as_nobody(fmt::format("{}/pg_ctl -D {}/data -l {}/server.log -w -t 60 start >/dev/null",
                              programs_.string(), folder_.string(), folder_.string())));
  running_ = true;
}

void PostgresServer::kill() {
  if (!running_) return;
  running_ = false;
  shell(as_nobody(fmt::format("{}/pg_ctl -D {}/data -m immediate -w stop >/dev/null 2>&1",
                              programs_.string(), folder_.string())));
}

std::string PostgresServer::address(const std::string& table) const {
  return fmt::format("postgres:///postgres?host={}&port={}&user=tester{}", folder_.string(), port_,
                     table.empty() ? "" : "&table=" + table);
}

std::string PostgresServer::tcp_address(const std::string& user, const std::string& table,
                                        int port) const {
  return fmt::format("postgres://{}@127.0.0.1:{}/postgres?sslmode=disable{}", user, port,
                     table.empty() ? "" : "&table=" + table);
}

postgres::Rows PostgresServer::run(const std::string& sql) const {
  postgres::Settings settings;
  settings.log = [](std::string_view words) { std::cerr << words; };
  auto connection =
      postgres::Connection::open(postgres::Address::parse(address()).value(), settings);
  DISCREET_CHECK(connection.has_value(), "the test's server does not answer");
  auto rows = connection->execute(sql);
  DISCREET_CHECK(rows.has_value(), "a statement of the test failed");
  return *std::move(rows);
}

PostgresServer& postgres_server() {
  static PostgresServer server;
  return server;
}

}  // namespace discreet::testing
