// Proof that a charge is on disk: the only key to a release.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "ledger/event.h"

namespace discreet::ledger {

/// Only the Ledger makes them; each can be used once.
class Receipt {
 public:
  Receipt(Receipt&& other) noexcept
      : charge_(std::exchange(other.charge_, 0)),
        account_(std::move(other.account_)),
        question_(std::move(other.question_)),
        price_(other.price_) {}
  Receipt& operator=(Receipt&&) = delete;

  /// The sequence number of the charge; 0 once moved from.
  std::uint64_t charge() const { return charge_; }
  const std::string& account() const { return account_; }
  const std::string& question() const { return question_; }
  const Price& price() const { return price_; }

 private:
  friend class Ledger;
  Receipt(std::uint64_t charge, std::string account, std::string question, Price price)
      : charge_(charge),
        account_(std::move(account)),
        question_(std::move(question)),
        price_(price) {}

  std::uint64_t charge_;
  std::string account_;
  std::string question_;
  Price price_;
};

}  // namespace discreet::ledger
