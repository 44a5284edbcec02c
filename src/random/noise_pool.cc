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
  }

 private:
  void grow(std::size_t size) {
    std::vector<std::int64_t> larger(std::max(size, 2 * ring.size()));
    for (std::size_t i = 0; i < ready; ++i) larger[i] = ring[(front + i) % ring.size()];
    OPENSSL_cleanse(ring.data(), ring.size() * sizeof(std::int64_t));
    ring.swap(larger);
    front = 0;
  }
};

}  // namespace

struct NoisePool::State {
  std::mutex mutex;
  std::condition_variable work, filled;
  std::map<NoiseKey, Shelf> shelves;
  bool stopping = false;
  std::exception_ptr failure;  // of the worker; every later take throws it
  pid_t owner = getpid();
  std::thread worker;

  Shelf* neediest() {
    Shelf* found = nullptr;
    for (auto& [key, shelf] : shelves) {
      if (shelf.ready >= shelf.target()) continue;
      if (found == nullptr || shelf.waiting > found->waiting) found = &shelf;
    }
    return found;
  }

  // Draws outside the lock: shelves are never removed and a shelf's sampler never changes.
  void run(const SourceFactory& make_source) {
    std::unique_lock lock(mutex);
    try {
      const auto source = make_source();
      DISCREET_CHECK(source != nullptr, "the noise pool was given no random source");
      std::vector<std::int64_t> batch(kBatch);
      for (;;) {
        Shelf* shelf = nullptr;
        work.wait(lock, [&] { return stopping || (shelf = neediest()) != nullptr; });
        if (stopping) break;
        lock.unlock();
        std::visit([&](const auto& sampler) { sampler.draw_many(batch, *source); }, shelf->sampler);
        lock.lock();
        shelf->add(batch);
        OPENSSL_cleanse(batch.data(), batch.size() * sizeof(std::int64_t));
        filled.notify_all();
      }
    } catch (...) {
      if (!lock.owns_lock()) lock.lock();
      failure = std::current_exception();
      filled.notify_all();
    }
  }

  // Called with the lock held.
  Result<Shelf*> shelf_of(const NoiseKey& key) {
    if (const auto found = shelves.find(key); found != shelves.end()) return &found->second;
    if (shelves.size() >= kShelvesMax)
      return invalid_parameter("the noise pool keeps no more than 256 distributions");
    DISCREET_TRY(auto sampler, make_sampler(key));
    return &shelves.try_emplace(key, std::move(sampler)).first->second;
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
  if (count > kReadyMax)
    return invalid_parameter("the noise pool keeps no more than 2^22 samples of a distribution");
  {
    const std::lock_guard lock(state_->mutex);
    DISCREET_TRY(Shelf * shelf, state_->shelf_of(key));
    shelf->wanted = std::max(shelf->wanted, count);
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
    DISCREET_TRY(Shelf * shelf, state_->shelf_of(key));
    if (shelf->ready < part.size()) {
      shelf->waiting += part.size();
      state_->work.notify_all();
      state_->filled.wait(lock, [&] { return state_->failure || shelf->ready >= part.size(); });
      shelf->waiting -= part.size();
    }
    if (state_->failure) std::rethrow_exception(state_->failure);
    shelf->remove(part);
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
  return found == state_->shelves.end() ? 0 : found->second.ready;
}

}  // namespace discreet
