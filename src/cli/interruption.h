// Ctrl-C while a question is answered: the engine is asked to stop, wherever it is, and the verb
// ends with a sentence. A second one ends the program at once.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace discreet::cli {

/// Made before any thread that should leave the signal to this one.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void watch();

  std::stop_source stop_;
  sigset_t watched_{}, before_{};
  std::thread watcher_;
};

}  // namespace discreet::cli
