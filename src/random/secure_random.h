// Cryptographic random bits: AES-256 in counter mode, keyed by the operating system.
//
// - The key is replaced by the cipher's own output at every refill and fresh entropy is mixed in
// every
//   64 MiB, so a memory image taken later does not reveal noise drawn earlier.
// - After a fork the child reseeds before it draws: two processes never share a stream.
// - When the system gives no entropy, or the cipher fails, every draw throws InvariantViolation.
// Assumes: AES-256 is a pseudo-random permutation; getrandom(2) is unpredictable.
#pragma once

#include <memory>

#include "random/random_source.h"

namespace discreet {

class SecureRandom final : public RandomSource {
 public:
  SecureRandom();
  ~SecureRandom() override;

  std::uint64_t bits64() override;
  void fill(std::span<std::uint64_t> words) override;

 private:
  struct State;
  void refill();
  void keystream(std::span<std::uint64_t> words);
  void reseed();

  std::unique_ptr<State> state_;
};

}  // namespace discreet
