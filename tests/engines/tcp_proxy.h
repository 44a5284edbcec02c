// A network in between: passes bytes on, slowly or not at all, and can be cut.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace discreet::testing {

class TcpProxy {
 public:
  /// Listens on a port of its own and forwards to `port` on this machine.
  explicit TcpProxy(int port);
  ~TcpProxy();
  TcpProxy(const TcpProxy&) = delete;
  TcpProxy& operator=(const TcpProxy&) = delete;

  int port() const { return port_; }
  /// Milliseconds before every piece of at most 1,400 bytes is passed on.
  void slow_down(int milliseconds) { delay_ms_ = milliseconds; }
  /// After this many more bytes from the server, everything is cut. Negative: never.
  void cut_after(long bytes) { bytes_left_ = bytes; }
  /// Connections made so far.
  int connections() const { return connections_; }

 private:
  void serve(int client);
  void pass(int from, int to, bool from_server);

  int target_, port_ = 0, listener_ = -1;
  std::atomic<int> delay_ms_ = 0, connections_ = 0;
  std::atomic<long> bytes_left_ = -1;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::vector<std::thread> threads_;
  std::vector<int> sockets_;
};

}  // namespace discreet::testing
