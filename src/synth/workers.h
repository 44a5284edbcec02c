// Threads that share a list of tasks. Which thread takes which task varies; results must not depend
// on it, so a task writes only to its own place and sums are formed afterwards in a fixed order.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace discreet::synth {

/// One caller at a time.
class Workers {
 public:
  /// 0 means as many as the machine has cores, at most 16.
  explicit Workers(std::size_t threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Calls task(0) ... task(count - 1), each once, and waits for all. Tasks must not throw.
  void run(std::size_t count, const std::function<void(std::size_t)>& task);
  std::size_t threads() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace discreet::synth
