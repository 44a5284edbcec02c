// What a client's reports may cost their person, kept on the client.
//
// Guarantee: spend() returns success only when the sum of all spends, rounded up, is within the
//            total, and (with a file) only after the spend is on disk: a crash can lose a report,
//            never a charge. Values that were paid for once, for good, are remembered by an
//            opaque tag.
// Thread safety: one thread. One process per file: open() takes a lock.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "privacy/parameters.h"

namespace discreet::local {

class ReportBudget {
 public:
  /// Kept in memory: for tests, and for clients that store it themselves.
  explicit ReportBudget(Epsilon total) : total_(total), spent_(Epsilon::zero()) {}
  /// Kept in an append-only file, made when it is not there.
  /// Refused: the file is for another total, is not a budget, or another process holds it.
  static Result<ReportBudget> open(const std::string& path, Epsilon total);
  ReportBudget(ReportBudget&& other) noexcept;
  ReportBudget& operator=(ReportBudget&&) = delete;
  ~ReportBudget();

  /// BudgetExhausted: the person has given as much as was agreed.
  Result<void> spend(Epsilon epsilon);
  /// Pays once per tag: later calls with the same tag are free.
  Result<void> spend_once(const std::string& tag, Epsilon epsilon);

  Epsilon total() const { return total_; }
  Epsilon spent() const { return spent_; }

 private:
  Result<void> record(const std::string& tag, Epsilon epsilon);

  Epsilon total_, spent_;
  std::set<std::string> paid_;
  int file_ = -1;
};

}  // namespace discreet::local
