// The numbers of differential privacy as types: each is checked once, when made, and its arithmetic
// rounds against the user, so a computed loss never understates.
#pragma once

#include <compare>
#include <cstdint>

#include "base/result.h"
#include "base/rounding.h"

namespace discreet {

/// A bound on privacy loss: not negative, finite when made. Sums may reach infinity, which no
/// budget admits.
class Epsilon {
 public:
  static Result<Epsilon> make(double value);
  static Epsilon zero() { return Epsilon(0); }

  double value() const { return value_; }
  auto operator<=>(const Epsilon&) const = default;

  /// Sequential composition, rounded up.
  friend Epsilon operator+(Epsilon a, Epsilon b) { return Epsilon(add_up(a.value_, b.value_)); }
  /// A group of `size` units, or `size` releases in a row; rounded up.
  friend Epsilon operator*(std::uint64_t size, Epsilon e) {
    return Epsilon(size == 0 ? 0 : mul_up(count_up(size), e.value_));
  }
  /// One of `parts` equal shares, rounded down: the shares together never exceed the whole.
  Epsilon share(std::uint64_t parts) const;

 private:
  explicit constexpr Epsilon(double value) : value_(value) {}
  double value_;
};

/// A probability that the epsilon bound fails: in [0, 1]. Sums are rounded up and stop at 1.
class Delta {
 public:
  static Result<Delta> make(double value);
  static Delta zero() { return Delta(0); }

  double value() const { return value_; }
  auto operator<=>(const Delta&) const = default;

  friend Delta operator+(Delta a, Delta b) {
    const double sum = add_up(a.value_, b.value_);
    return Delta(sum < 1 ? sum : 1);
  }

 private:
  explicit constexpr Delta(double value) : value_(value) {}
  double value_;
};

/// Zero-concentrated privacy: the Renyi divergence of every order a is at most a * rho.
class Rho {
 public:
  static Result<Rho> make(double value);
  static Rho zero() { return Rho(0); }

  double value() const { return value_; }
  auto operator<=>(const Rho&) const = default;
  friend Rho operator+(Rho a, Rho b) { return Rho(add_up(a.value_, b.value_)); }
  /// `count` releases in a row; rounded up, may reach infinity, which no budget admits.
  friend Rho operator*(std::uint64_t count, Rho r) {
    return Rho(count == 0 || r.value_ == 0 ? 0 : mul_up(count_up(count), r.value_));
  }

 private:
  explicit constexpr Rho(double value) : value_(value) {}
  double value_;
};

/// An (epsilon, delta) pair: what a budget is made of.
struct ApproxDp {
  Epsilon epsilon;
  Delta delta;

  friend bool operator==(const ApproxDp&, const ApproxDp&) = default;
};

}  // namespace discreet
