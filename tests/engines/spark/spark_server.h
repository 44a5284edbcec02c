// A Spark Connect server of the tests' own, with a local cluster of two executors: made in a
// temporary folder, reached on a port of this machine, and gone at the end.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace discreet::testing {

class SparkServer {
 public:
  /// Aborts the test program with a sentence where Spark is not there (DISCREET_SPARK_HOME).
  SparkServer();
  ~SparkServer();
  SparkServer(const SparkServer&) = delete;
  SparkServer& operator=(const SparkServer&) = delete;

  void start();
  /// As a crash would: no goodbye to anybody. What was in its catalog is gone.
  void kill();

  int port() const { return port_; }
  const std::filesystem::path& folder() const { return folder_; }
  std::string address(const std::string& table = "", int port = 0) const;

  /// One statement. Checks that it succeeds.
  void run(const std::string& sql) const;

 private:
  std::filesystem::path folder_;
  int port_ = 0;
  int guarded_ = -1;  // closed by our end, however it comes; then the guardian ends the server
  pid_t guardian_ = 0;
};

/// One for the whole program: starting it takes half a minute.
SparkServer& spark_server();

}  // namespace discreet::testing
