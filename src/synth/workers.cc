#include "synth/workers.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace discreet::synth {

struct Workers::State {
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(std::size_t)>* task = nullptr;
  std::size_t count = 0;
  std::atomic<std::size_t> next = 0;
  std::size_t busy = 0;
  std::size_t round = 0;
  bool stop = false;
  std::vector<std::thread> threads;

  void work() {
    for (std::size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) (*task)(i);
  }

  void loop() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    while (true) {
      wake.wait(lock, [&] { return stop || round != seen; });
      if (stop) return;
      seen = round;
      lock.unlock();
      work();
      lock.lock();
      if (--busy == 0) done.notify_one();
    }
  }
};

Workers::Workers(std::size_t threads) : state_(std::make_unique<State>()) {
  if (threads == 0) threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  for (std::size_t i = 1; i < threads; ++i)
    state_->threads.emplace_back([state = state_.get()] { state->loop(); });
}

Workers::~Workers() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (state_->threads.empty() || count < 2) {
    for (std::size_t i = 0; i < count; ++i) task(i);
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->task = &task;
    state_->count = count;
    state_->next = 0;
    state_->busy = state_->threads.size();
    ++state_->round;
  }
  state_->wake.notify_all();
  state_->work();
  std::unique_lock lock(state_->mutex);
  state_->done.wait(lock, [&] { return state_->busy == 0; });
}

std::size_t Workers::threads() const {
  return state_->threads.size() + 1;
}

}  // namespace discreet::synth
