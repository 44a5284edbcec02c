#include "random/pooled_random.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <utility>

#include "random/discrete_gaussian_sampler.h"
#include "random/discrete_laplace_sampler.h"

namespace discreet {

using Kind = NoiseKey::Kind;

PooledRandom::~PooledRandom() {
  forget(0);
}

void PooledRandom::forget(std::size_t first) {
  for (std::size_t i = first; i < ahead_.size(); ++i)
    OPENSSL_cleanse(ahead_[i].block.data(), ahead_[i].block.size() * sizeof(std::int64_t));
  ahead_.erase(ahead_.begin() + static_cast<std::ptrdiff_t>(first), ahead_.end());
}

std::size_t PooledRandom::take(Kind kind, const Rational& parameter, std::span<std::int64_t> out) {
  const auto found = std::find_if(ahead_.begin(), ahead_.end(), [&](const Ahead& ahead) {
    return ahead.key.kind == kind && ahead.key.parameter == parameter;
  });
  if (found == ahead_.end()) return 0;
  pool_.check_owner();  // a forked process has its parent's block too
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (found->next == found->block.size()) {
      if (found->left == 0) return i;
      found->block.resize(std::min(found->left, NoisePool::kBatch));
      found->next = 0;
      found->left -= found->block.size();
      pool_.take(found->key, found->block).value();
    }
    out[i] = found->block[found->next];
    OPENSSL_cleanse(&found->block[found->next++], sizeof(std::int64_t));
    ++handed_out_;
  }
  return out.size();
}

NoiseAhead::NoiseAhead(RandomSource& random) : random_(dynamic_cast<PooledRandom*>(&random)) {
  if (random_ != nullptr) first_ = random_->ahead_.size();
}

NoiseAhead::~NoiseAhead() {
  if (random_ != nullptr) random_->forget(first_);
}

void NoiseAhead::prepare(const DiscreteLaplaceSampler& sampler, std::size_t count) {
  prepare({Kind::DiscreteLaplace, sampler.rate()}, count);
}

void NoiseAhead::prepare(const DiscreteGaussianSampler& sampler, std::size_t count) {
  prepare({Kind::DiscreteGaussian, sampler.sigma2()}, count);
}

void NoiseAhead::prepare(NoiseKey key, std::size_t count) {
  if (random_ == nullptr || count == 0) return;
  count = std::min(count, PooledRandom::kAheadMax);
  auto& ahead = random_->ahead_;
  const auto same = std::find_if(ahead.begin(), ahead.end(),
                                 [&](const PooledRandom::Ahead& have) { return have.key == key; });
  // A sampler was made of it, so the pool takes it.
  random_->pool_.prepare(key, count).value();
  if (same != ahead.end())
    same->left = std::min(same->left + count, PooledRandom::kAheadMax);
  else
    ahead.push_back({std::move(key), count, {}});
}

namespace {

std::size_t take(Kind kind, const Rational& parameter, std::span<std::int64_t> out,
                 RandomSource& random) {
  auto* pooled = dynamic_cast<PooledRandom*>(&random);
  return pooled == nullptr ? 0 : pooled->take(kind, parameter, out);
}

}  // namespace

std::int64_t draw_noise(const DiscreteLaplaceSampler& sampler, RandomSource& random) {
  std::int64_t noise = 0;
  const bool ahead = take(Kind::DiscreteLaplace, sampler.rate(), {&noise, 1}, random) == 1;
  return ahead ? noise : sampler.draw(random);
}

void draw_noise(const DiscreteLaplaceSampler& sampler, std::span<std::int64_t> out,
                RandomSource& random) {
  const std::size_t taken = take(Kind::DiscreteLaplace, sampler.rate(), out, random);
  if (taken < out.size()) sampler.draw_many(out.subspan(taken), random);
}

void draw_noise(const DiscreteGaussianSampler& sampler, std::span<std::int64_t> out,
                RandomSource& random) {
  const std::size_t taken = take(Kind::DiscreteGaussian, sampler.sigma2(), out, random);
  if (taken < out.size()) sampler.draw_many(out.subspan(taken), random);
}

std::uint64_t noise_from_pool(const RandomSource& random) {
  const auto* pooled = dynamic_cast<const PooledRandom*>(&random);
  return pooled == nullptr ? 0 : pooled->handed_out_;
}

}  // namespace discreet
