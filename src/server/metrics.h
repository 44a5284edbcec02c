// Numbers for Prometheus: how many, how long, how it ended. Nothing here depends on rows.
#pragma once

#include <memory>
#include <string>

namespace discreet::server {

enum class Protocol { Postgres, Http };
enum class RequestKind { Question, Repeat, Explain, Catalog, Login, Reports, Other };

/// Thread-safe.
class Metrics {
 public:
  Metrics();
  ~Metrics();

  void opened(Protocol protocol);
  void closed(Protocol protocol);
  /// `outcome` is "ok" or a SQLSTATE.
  void request(RequestKind kind, const std::string& outcome, double seconds);
  void waiting(std::size_t count);

  /// Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace discreet::server
