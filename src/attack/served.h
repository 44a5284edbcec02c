// A real curator over fictional rows, for attacks that go through its front door: SQL text, a
// policy, a ledger that charges, records and refuses.
//
// Everything lives in a folder of its own under the system's temporary folder and goes away with
// it.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attack/report.h"
#include "base/result.h"
#include "random/random_source.h"

namespace discreet::attack {

class Served {
 public:
  struct Table {
    std::string name;
    std::string csv;     ///< header and rows
    std::string policy;  ///< the lines below [tables.NAME] but for the source
  };
  struct Analysts {
    std::size_t count = 1;  ///< called a0, a1, ...
    double epsilon = 1;     ///< what each may spend
  };

  /// `random` must outlive it.
  static Result<std::unique_ptr<Served>> open(const std::vector<Table>& tables,
                                              const Analysts& analysts, RandomSource& random);
  ~Served();
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  /// The numbers of the answer's column, in the answer's order; what is missing is zero.
  /// BudgetExhausted: the analyst has spent everything.
  Result<std::vector<double>> ask(const std::string& sql, std::size_t analyst, double epsilon,
                                  std::size_t column = 0);
  /// Puts other rows in place of a table's.
  Result<void> replace(const std::string& table, const std::string& csv);

  /// Answers that came out of the record, for nothing.
  std::uint64_t repeated() const { return repeated_; }

 private:
  struct State;
  explicit Served(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
  std::uint64_t repeated_ = 0;
};

struct ServedOptions {
  std::uint64_t attempts = 100;
  double epsilon = 1;
  std::uint64_t seed = 1;
};

/// The same count a thousand times: the answer repeats, so that the mean is one answer. Then the
/// same count in twenty wordings that mean the same, for which the budget must be shared out.
Result<std::vector<Outcome>> served_averaging(const ServedOptions& options, double baseline,
                                              RandomSource& random);

/// Two sums of incomes, with and without one person who is named by zip, birth date and sex. A
/// success is a guess within five per cent. Every attempt is another analyst's.
Result<Outcome> served_differencing(const ServedOptions& options, double baseline,
                                    RandomSource& random);

/// Yesterday's count and today's, one person having arrived in between; a success is that person's
/// bit. The second day is a changed table, so the second answer is fresh and charged.
Result<Outcome> served_days(const ServedOptions& options, RandomSource& random);

/// Subset counts by seat numbers, then least squares. `generous`: twenty a question instead of one
/// epsilon for all of them, which is what the budget is there to prevent.
struct ServedReconstruction {
  std::size_t people = 48, queries = 192;
  double epsilon = 1;
  bool generous = false;
};
Result<Outcome> served_reconstruction(const ServedReconstruction& options, RandomSource& random);

/// Tracing from one statement that counts every attribute of a study.
struct ServedTracing {
  std::size_t people = 10, attributes = 100, attempts = 60;
  double epsilon = 1;
};
Result<Outcome> served_tracing(const ServedTracing& options, RandomSource& random);

}  // namespace discreet::attack
