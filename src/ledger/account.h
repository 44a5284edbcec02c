// One account: what it was granted, what it has spent, and whether a charge still fits.
//
// Guarantee: the releases paid from an account are together (epsilon, delta)-DP for its total, up
//            to kSlack, however questions, prices and stopping were chosen on the fly, and whatever
//            other accounts do.
// Assumes:   the price of every charge is a true bound for its release given the past.
// Proof:     docs/proofs/ledger_filter.md
//
// Pure arithmetic without a clock or a disk: the ledger runs it before it writes, `verify` once
// more afterwards over the whole history.
#pragma once

#include <string>

#include "ledger/event.h"

namespace discreet::ledger {

/// A sum may exceed its limit by this part of it, so that ten times 0.1 fits 1.0 although each
/// rounding is upwards. The guarantee is for the limit times (1 + kSlack).
inline constexpr double kSlack = 0x1p-40;

/// Where the delta of a Best account goes: to sums of the questions' deltas, to the deltas of
/// zCDP prices, and to turning zCDP into (epsilon, delta). Parts of 8.
inline constexpr int kBasicEighths = 6, kConcentratedEighths = 1, kConversionEighths = 1;

struct Spent {
  Epsilon epsilon = Epsilon::zero();
  Delta delta = Delta::zero();
  Rho rho = Rho::zero();  ///< infinite once a charge without a zCDP bound was paid
  Delta rho_delta = Delta::zero();
  std::uint64_t charges = 0;

  friend bool operator==(const Spent&, const Spent&) = default;
};

class Account {
 public:
  Account(std::string name, GrantEvent grant) : name_(std::move(name)), grant_(std::move(grant)) {}
  Account(std::string name, GrantEvent grant, Spent spent)
      : name_(std::move(name)), grant_(std::move(grant)), spent_(spent) {}

  const std::string& name() const { return name_; }
  const GrantEvent& grant() const { return grant_; }
  const Spent& spent() const { return spent_; }

  /// The filter that will hold if this is the account's first charge, or holds already. A first
  /// question whose delta only sums can carry makes a Best account Basic: nothing was released yet,
  /// so the choice depends on no data.
  FilterKind filter_for(const Price& price) const;

  /// A new total. InvalidParameter: another filter after the first charge.
  Result<void> regrant(const GrantEvent& grant);

  /// BudgetExhausted: the charge does not fit; the message says what is left.
  Result<void> admit(const Price& price) const;
  /// Adds the charge, which must have been admitted.
  void spend(const Price& price);

  /// What sums leave; absent parts have no limit.
  Amount left() const;
  /// zCDP left, or zero where zCDP does not run.
  Rho rho_left() const;
  /// The largest epsilon of one pure question that would still be admitted; absent: any.
  std::optional<Epsilon> question_left() const;

 private:
  bool fits_basic(const Spent& after) const;
  bool fits_concentrated(const Spent& after) const;
  Spent after(const Price& price) const;

  std::string name_;
  GrantEvent grant_;
  Spent spent_;
};

/// zCDP that a Best account of this total may spend; zero where zCDP cannot run.
Rho concentrated_limit(const Amount& total);

}  // namespace discreet::ledger
