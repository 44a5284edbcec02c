// Numbers for Prometheus: how many, how long, how it ended. Nothing here depends on rows.
#pragma once

#include <cstdint>
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
  /// Of an answer that leaves: how much of its noise was drawn ahead, which its question decides.
  void noise_ahead(std::uint64_t samples);

  /// Prometheus' text format.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace discreet::server
