#include "random/secure_random.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/check.h"

namespace discreet {
namespace {

constexpr std::size_t kBufferWords = 2048;                 // 16 KiB: the key changes this often
constexpr std::uint64_t kReseedWords = (64ULL << 20) / 8;  // fresh entropy every 64 MiB
constexpr std::size_t kKeyBytes = 32, kNonceBytes = 16, kSeedBytes = kKeyBytes + kNonceBytes;
constexpr std::size_t kSeedWords = kSeedBytes / 8;

// Counts forks this process descends from. Comparing it costs one load, where getpid() is a system
// call.
std::atomic<std::uint64_t> fork_generation{0};

void watch_forks() {
  static std::once_flag once;
  std::call_once(once, [] {
    const int failed = pthread_atfork(
        nullptr, nullptr, [] { fork_generation.fetch_add(1, std::memory_order_relaxed); });
    DISCREET_CHECK(failed == 0, "forks cannot be watched, so random streams could repeat");
  });
}

void system_entropy(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    DISCREET_CHECK(got > 0, "the operating system gives no entropy");
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

}  // namespace

struct SecureRandom::State {
  EVP_CIPHER_CTX* cipher = EVP_CIPHER_CTX_new();
  std::array<std::uint64_t, kBufferWords> buffer{};
  std::size_t next = kBufferWords;  // first unused word; all used at the start
  std::uint64_t words_until_reseed = 0;
  std::uint64_t generation = 0;
};

SecureRandom::SecureRandom() : state_(std::make_unique<State>()) {
  watch_forks();
  DISCREET_CHECK(state_->cipher != nullptr, "no memory for the cipher");
  DISCREET_CHECK(
      EVP_EncryptInit_ex(state_->cipher, EVP_aes_256_ctr(), nullptr, nullptr, nullptr) == 1,
      "AES-256-CTR is not available");
  reseed();
}

SecureRandom::~SecureRandom() {
  OPENSSL_cleanse(state_->buffer.data(), sizeof(state_->buffer));
  EVP_CIPHER_CTX_free(state_->cipher);
}

// The key is fresh entropy alone: getrandom(2) is what the whole stream rests on anyway.
void SecureRandom::reseed() {
  std::array<std::uint8_t, kSeedBytes> seed{};
  system_entropy(seed);
  state_->generation = fork_generation.load(std::memory_order_relaxed);
  DISCREET_CHECK(EVP_EncryptInit_ex(state_->cipher, nullptr, nullptr, seed.data(),
                                    seed.data() + kKeyBytes) == 1,
                 "the cipher refused its key");
  OPENSSL_cleanse(seed.data(), seed.size());
  state_->next = kBufferWords;
  state_->words_until_reseed = kReseedWords;
}

void SecureRandom::keystream(std::span<std::uint64_t> words) {
  constexpr std::size_t kChunkWords = std::size_t{1} << 24;  // EVP lengths are int
  while (!words.empty()) {
    const auto chunk = words.first(std::min(words.size(), kChunkWords));
    std::fill(chunk.begin(), chunk.end(), 0);
    auto* bytes = reinterpret_cast<unsigned char*>(chunk.data());
    int written = 0;
    const int length = static_cast<int>(chunk.size_bytes());
    DISCREET_CHECK(
        EVP_EncryptUpdate(state_->cipher, bytes, &written, bytes, length) == 1 && written == length,
        "the cipher failed");
    words = words.subspan(chunk.size());
  }
}

void SecureRandom::refill() {
  State& s = *state_;
  if (s.words_until_reseed < kBufferWords ||
      s.generation != fork_generation.load(std::memory_order_relaxed))
    reseed();
  s.words_until_reseed -= kBufferWords;
  keystream(s.buffer);
  // Fast key erasure: the first words become the next key and are never handed out.
  const auto* seed = reinterpret_cast<const unsigned char*>(s.buffer.data());
  DISCREET_CHECK(EVP_EncryptInit_ex(s.cipher, nullptr, nullptr, seed, seed + kKeyBytes) == 1,
                 "the cipher refused its key");
  std::fill_n(s.buffer.begin(), kSeedWords, 0);
  s.next = kSeedWords;
}

std::uint64_t SecureRandom::bits64() {
  State& s = *state_;
  if (s.next == kBufferWords || s.generation != fork_generation.load(std::memory_order_relaxed))
      [[unlikely]]
    refill();
  const std::uint64_t word = s.buffer[s.next];
  s.buffer[s.next++] = 0;
  return word;
}

void SecureRandom::fill(std::span<std::uint64_t> words) {
  while (!words.empty()) {
    State& s = *state_;
    if (s.next == kBufferWords || s.generation != fork_generation.load(std::memory_order_relaxed))
      refill();
    const std::size_t count = std::min(words.size(), kBufferWords - s.next);
    std::memcpy(words.data(), &s.buffer[s.next], count * sizeof(std::uint64_t));
    std::memset(&s.buffer[s.next], 0, count * sizeof(std::uint64_t));
    s.next += count;
    words = words.subspan(count);
  }
}

}  // namespace discreet
