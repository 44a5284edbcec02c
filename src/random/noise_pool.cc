#include "random/noise_pool.h"

#include <openssl/crypto.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"
#include "random/secure_random.h"

namespace discreet {
namespace {

using Sampler = std::variant<DiscreteLaplaceSampler, DiscreteGaussianSampler>;

Result<Sampler> make_sampler(const NoiseKey& key) {
  if (key.kind == NoiseKey::Kind::DiscreteLaplace) {
    DISCREET_TRY(auto sampler, DiscreteLaplaceSampler::make(key.parameter));
    return Sampler(std::move(sampler));
  }
  DISCREET_TRY(auto sampler, DiscreteGaussianSampler::make(key.parameter));
  return Sampler(std::move(sampler));
}

// Samples of one distribution, a ring: taken from the front, filled at the back.
struct Shelf {
  explicit Shelf(Sampler s) : sampler(std::move(s)) {}
  ~Shelf() { OPENSSL_cleanse(ring.data(), ring.size() * sizeof(std::int64_t)); }
  Shelf(const Shelf&) = delete;
  Shelf& operator=(const Shelf&) = delete;

  const Sampler sampler;
  std::vector<std::int64_t> ring;
  std::size_t front = 0, ready = 0;
  std::size_t wanted = 0;   // kept ready
  std::size_t waiting = 0;  // asked for by callers now waiting
  std::uint64_t used = 0;   // when, in the order of calls
  bool evicted = false;     // no longer on the list

  std::size_t target() const { return wanted + waiting; }

  void add(std::span<const std::int64_t> batch) {
    if (ring.size() < ready + batch.size()) grow(ready + batch.size());
    for (const std::int64_t sample : batch) ring[(front + ready++) % ring.size()] = sample;
  }

  void remove(std::span<std::int64_t> out) {
    for (auto& sample : out) {
      sample = ring[front];
      OPENSSL_cleanse(&ring[front], sizeof(std::int64_t));
      front = (front + 1) % ring.size();
    }
    ready -= out.size();
    wanted = std::max(std::min(wanted, NoisePool::kBatch), wanted - std::min(wanted, out.size()));
    // What a large statement needed is not kept for the next small one.
    if (ring.size() > 4 * NoisePool::kBatch && ring.size() > 4 * std::max(ready, target()))
      move_to(2 * std::max(ready, target()));
  }

 private:
  void grow(std::size_t size) { move_to(std::max(size, 2 * ring.size())); }
  void move_to(std::size_t size) {
    std::vector<std::int64_t> other(size);
    for (std::size_t i = 0; i < ready; ++i) other[i] = ring[(front + i) % ring.size()];
    OPENSSL_cleanse(ring.data(), ring.size() * sizeof(std::int64_t));
    ring.swap(other);
    front = 0;
  }
};

}  // namespace

struct NoisePool::State {
  std::mutex mutex;
  std::condition_variable work, filled;
  std::map<NoiseKey, std::shared_ptr<Shelf>> shelves;
  std::uint64_t calls = 0, prepared = 0, taken = 0;
  bool stopping = false;
  std::exception_ptr failure;  // of the worker; every later take throws it
  pid_t owner = getpid();
  std::thread worker;

  std::shared_ptr<Shelf> neediest() const {
    std::shared_ptr<Shelf> found;
    for (const auto& [key, shelf] : shelves) {
      if (shelf->ready >= shelf->target()) continue;
      if (found == nullptr || shelf->waiting > found->waiting) found = shelf;
    }
    return found;
  }

  // Draws outside the lock: a shelf's sampler never changes.
  void run(const SourceFactory& make_source) {
    std::unique_lock lock(mutex);
    try {
      const auto source = make_source();
      DISCREET_CHECK(source != nullptr, "the noise pool was given no random source");
      std::vector<std::int64_t> batch(kBatch);
      for (;;) {
        std::shared_ptr<Shelf> shelf;
        work.wait(lock, [&] { return stopping || (shelf = neediest()) != nullptr; });
        if (stopping) break;
        lock.unlock();
        std::visit([&](const auto& sampler) { sampler.draw_many(batch, *source); }, shelf->sampler);
        lock.lock();
        if (!shelf->evicted) shelf->add(batch);
        OPENSSL_cleanse(batch.data(), batch.size() * sizeof(std::int64_t));
        filled.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure = std::current_exception();
      filled.notify_all();
    }
  }

  // Called with the lock held, which is let go while a sampler is made.
  Result<std::shared_ptr<Shelf>> shelf_of(const NoiseKey& key, std::unique_lock<std::mutex>& lock) {
    auto found = shelves.find(key);
    if (found == shelves.end()) {
      lock.unlock();
      DISCREET_TRY(auto sampler, make_sampler(key));
      lock.lock();
      found = shelves.try_emplace(key, nullptr).first;
      if (found->second == nullptr) found->second = std::make_shared<Shelf>(std::move(sampler));
    }
    found->second->used = ++calls;
    return found->second;
  }

  // Those used longest ago go, until what is kept and wanted fits. Nobody waits for them: a caller
  // that waits has just used its shelf, and keeps it on the list.
  void make_room(const Shelf& for_this) {
    const auto size = [](const Shelf& shelf) {
      return std::max(shelf.ready, shelf.target()) + kBatch;
    };
    std::size_t total = 0;
    for (const auto& [key, shelf] : shelves) total += size(*shelf);
    while (shelves.size() > kShelvesMax || total > kReadyMax) {
      auto oldest = shelves.end();
      for (auto at = shelves.begin(); at != shelves.end(); ++at)
        if (at->second.get() != &for_this && at->second->waiting == 0 &&
            (oldest == shelves.end() || at->second->used < oldest->second->used))
          oldest = at;
      if (oldest == shelves.end()) return;
      total -= size(*oldest->second);
      oldest->second->evicted = true;
      shelves.erase(oldest);
    }
  }
};

NoisePool::NoisePool() : NoisePool([] { return std::make_unique<SecureRandom>(); }) {}

NoisePool::NoisePool(SourceFactory make_source) : state_(std::make_unique<State>()) {
  state_->worker =
      std::thread([state = state_.get(), make = std::move(make_source)] { state->run(make); });
}

NoisePool::~NoisePool() {
  if (state_->owner != getpid()) {  // the worker lives in the parent only
    state_->worker.detach();
    (void)state_.release();
    return;
  }
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work.notify_all();
  state_->worker.join();
}

void NoisePool::check_owner() const {
  DISCREET_CHECK(state_->owner == getpid(), "a forked process cannot use its parent's noise pool");
}

Result<void> NoisePool::prepare(const NoiseKey& key, std::size_t count) {
  check_owner();
  if (count > kReadyMax) return invalid_parameter("the noise pool keeps no more than 2^22 samples");
  {
    std::unique_lock lock(state_->mutex);
    DISCREET_TRY(const auto shelf, state_->shelf_of(key, lock));
    shelf->wanted = std::max(shelf->wanted, count);
    state_->prepared += count;
    state_->make_room(*shelf);
  }
  state_->work.notify_all();
  return {};
}

Result<std::int64_t> NoisePool::take(const NoiseKey& key) {
  std::int64_t sample = 0;
  DISCREET_TRY_VOID(take(key, {&sample, 1}));
  return sample;
}

Result<void> NoisePool::take(const NoiseKey& key, std::span<std::int64_t> out) {
  check_owner();
  while (!out.empty()) {
    const auto part = out.first(std::min(out.size(), kReadyMax));
    std::unique_lock lock(state_->mutex);
    DISCREET_TRY(const auto shelf, state_->shelf_of(key, lock));
    if (shelf->ready < part.size()) {
      shelf->waiting += part.size();
      state_->make_room(*shelf);
      state_->work.notify_all();
      state_->filled.wait(lock, [&] { return state_->failure || shelf->ready >= part.size(); });
      shelf->waiting -= part.size();
    }
    if (state_->failure) std::rethrow_exception(state_->failure);
    shelf->remove(part);
    state_->taken += part.size();
    lock.unlock();
    state_->work.notify_all();
    out = out.subspan(part.size());
  }
  return {};
}

std::size_t NoisePool::ready(const NoiseKey& key) const {
  check_owner();
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->shelves.find(key);
  return found == state_->shelves.end() ? 0 : found->second->ready;
}

NoisePool::Counts NoisePool::counts() const {
  check_owner();
  const std::lock_guard lock(state_->mutex);
  Counts counts{state_->prepared, state_->taken, state_->shelves.size(), 0};
  for (const auto& [key, shelf] : state_->shelves) counts.held += shelf->ring.size();
  return counts;
}

}  // namespace discreet
