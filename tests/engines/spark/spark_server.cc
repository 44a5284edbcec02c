#include "engines/spark/spark_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>

#include <fmt/format.h>

#include "engines/spark/engine.h"

namespace discreet::testing {
namespace {

// Compiling a statement takes Spark longer than a few hundred rows do.
constexpr char kInterpreted[] =
    "--conf spark.sql.codegen.wholeStage=false --conf spark.sql.codegen.factoryMode=NO_CODEGEN";

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

}  // namespace

SparkServer::SparkServer() {
  char name[] = "/tmp/discreet_spark_XXXXXX";
  folder_ = mkdtemp(name);
  // A server that is there already, for whoever runs the tests again and again.
  if (const char* running = std::getenv("DISCREET_SPARK_PORT")) {
    port_ = std::atoi(running);
    return;
  }
  port_ = free_port();
  setenv("SPARK_CONNECT_AUTHENTICATE_TOKEN", "discreet-tests", 1);
  start();
}

SparkServer::~SparkServer() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void SparkServer::start() {
  const char* home = std::getenv("DISCREET_SPARK_HOME");
  if (home == nullptr || !std::filesystem::exists(std::string(home) + "/bin/spark-class")) {
    std::cerr << "Spark is not there; run tools/setup/spark.sh, and set DISCREET_SPARK_HOME "
                 "to build/_deps/spark/home (make test-spark does both).\n";
    std::exit(1);
  }
  const char* master = std::getenv("DISCREET_SPARK_MASTER");
  const std::string folder = folder_.string();
  const std::string command = fmt::format(
      "cd {0} && export SPARK_HOME={1} SPARK_LOCAL_IP=127.0.0.1 && exec "
      "$SPARK_HOME/bin/spark-class "
      "-Xmx1g org.apache.spark.deploy.SparkSubmit --class "
      "org.apache.spark.sql.connect.service.SparkConnectServer --master '{2}' --driver-memory 1g "
      "--conf spark.driver.host=127.0.0.1 --conf spark.connect.grpc.binding.address=127.0.0.1 "
      "--conf spark.connect.grpc.binding.port={3} --conf "
      "spark.connect.authenticate.token=discreet-tests --conf spark.ui.enabled=false --conf "
      "spark.sql.warehouse.dir={0}/warehouse --conf spark.sql.shuffle.partitions=2 --conf "
      "spark.sql.adaptive.enabled=false {4} spark-internal > {0}/server.log 2>&1 < /dev/null",
      folder, home, master == nullptr ? "local-cluster[2,1,1024]" : master, port_,
      std::getenv("DISCREET_SPARK_COMPILED") == nullptr ? kInterpreted : "");
  // A test program that is killed must not leave a server behind: the guardian is its leader, and
  // ends all of its group.
  int ends[2];
  DISCREET_CHECK(pipe2(ends, O_CLOEXEC) == 0, "no pipe");
  guardian_ = fork();
  if (guardian_ == 0) {
    close(ends[1]);
    setsid();
    signal(SIGTERM, SIG_IGN);
    if (fork() == 0) {
      signal(SIGTERM, SIG_DFL);
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
      _exit(1);
    }
    char byte = 0;
    while (read(ends[0], &byte, 1) > 0) {
    }
    ::kill(0, SIGKILL);  // the group: this process, the server and its executors
    _exit(0);
  }
  close(ends[0]);
  guarded_ = ends[1];
  for (int i = 0; i < 1200; ++i) {
    SparkEngineSettings quiet;
    if (SparkEngine::open(spark::Address::parse(address()).value(), quiet)) return;
    if (i > 20) {
      std::ifstream log(folder_ / "server.log");
      const std::string words((std::istreambuf_iterator<char>(log)), {});
      if (words.find("SparkException: ") != std::string::npos && i > 600) break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
  std::cerr << "Spark Connect did not start; its log ends so:\n";
  static_cast<void>(std::system(fmt::format("tail -n 30 {}/server.log >&2", folder).c_str()));
  std::exit(1);
}

void SparkServer::kill() {
  if (guarded_ < 0) return;
  close(guarded_);
  guarded_ = -1;
  waitpid(guardian_, nullptr, 0);
  // The next one's catalog is empty, and wants its folder to be so too.
  std::error_code ignored;
  std::filesystem::remove_all(folder_ / "warehouse", ignored);
}

std::string SparkServer::address(const std::string& table, int port) const {
  return fmt::format("spark://127.0.0.1:{}/{}", port == 0 ? port_ : port, table);
}

void SparkServer::run(const std::string& sql) const {
  SparkEngineSettings settings;
  settings.operator_log = [](std::string_view words) { std::cerr << words << "\n"; };
  auto engine = SparkEngine::open(spark::Address::parse(address()).value(), settings);
  DISCREET_CHECK(engine.has_value(), "the test's Spark does not answer");
  const auto rows = (*engine)->query(sql);
  DISCREET_CHECK(rows.has_value(), sql.c_str());
}

SparkServer& spark_server() {
  static SparkServer server;
  return server;
}

}  // namespace discreet::testing
