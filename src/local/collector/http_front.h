// The collector over HTTP: batches in, estimates out, and the demo page.
//
//   GET  /                                    the demo page
//   GET  /v1/collections                      names, headers and numbers of reports
//   GET  /v1/collections/NAME                 the header line a client needs
//   POST /v1/collections/NAME/reports         NDJSON or a binary batch; ?batch=32 hex digits names
//   it GET  /v1/collections/NAME/estimates
//   ?top=N&confidence=C&simultaneous=1&post=HOW&candidate=TEXT
//
// Answers to a POST come after the batch is on disk. What is asked is public: reports are
// randomised before they arrive, so estimates need no ledger. Thread safety: run() is called by one
// thread, stop() by any.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace discreet::local {

class Collector;

class HttpFront {
 public:
  struct Options {
    std::string address = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0 picks one
    unsigned threads = 4;
  };
  /// The collector outlives the front. Unavailable: the address is taken.
  static Result<std::unique_ptr<HttpFront>> listen(Collector& collector, const Options& options);
  ~HttpFront();

  std::uint16_t port() const;
  /// Serves until stop() or SIGTERM or SIGINT.
  void run();
  void stop();

 private:
  struct State;
  explicit HttpFront(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace discreet::local
