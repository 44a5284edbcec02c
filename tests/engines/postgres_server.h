// A PostgreSQL server of the tests' own, from Debian's packages: made in a temporary folder,
// reached through a socket there, and gone at the end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>

#include "postgres/connection.h"

namespace discreet::testing {

class PostgresServer {
 public:
  /// Aborts the test program with a sentence where PostgreSQL is not installed.
  PostgresServer();
  /// A standby of this one, which reads what is written there.
  explicit PostgresServer(const PostgresServer& primary);
  ~PostgresServer();
  PostgresServer& operator=(const PostgresServer&) = delete;

  /// For the superuser `tester`, through the socket, without a password.
  std::string address(const std::string& table = "") const;
  /// Over TCP, where a password is asked.
  std::string tcp_address(const std::string& user, const std::string& table, int port) const;
  int port() const { return port_; }
  const std::filesystem::path& folder() const { return folder_; }

  void start();
  /// As a crash would: no goodbye to anybody.
  void kill();

  /// One or more statements as the superuser. Checks that they succeed.
  postgres::Rows run(const std::string& sql) const;

 private:
  void find_programs();
  void make_folder();
  /// A test program that is killed must not leave a server behind.
  void guard();

  std::filesystem::path folder_;
  std::filesystem::path programs_;
  int port_ = 0;
  bool running_ = false;
  int guarded_ = -1;  // closed by our end, however it comes; then the guardian cleans up
  pid_t guardian_ = 0;
};

/// One for the whole program: making a server takes two seconds.
PostgresServer& postgres_server();

}  // namespace discreet::testing
