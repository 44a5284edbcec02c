// A growing table released period by period: totals so far, at one price for the whole stream.
//
// start() pays for all periods. release() of period t gives out what it has not given out yet, in
// order, and is free; the same period asked again is the same answer. All state is in the ledger:
// the stream's charge with its terms, and one record for each period. Whatever process asks next,
// after whatever crash, goes on from there.
//
// Guarantee: all periods of a stream together are (epsilon, delta)-DP for one privacy unit, of
//            whose rows the earliest `rows_per_unit` count. Every period's noise leaves at most
//            once: it is handed out only after it is on record, and a period on record is never
//            drawn again.
// Assumes:   rows of a period that was released do not change (the source is append-only).
// Proof:     docs/proofs/prefix_stream.md; docs/formats/ledger.md (durability)
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "curator/accounts.h"
#include "curator/data.h"
#include "random/random_source.h"
#include "sql/question.h"

namespace discreet {

/// What a stream is, fixed at its start.
struct StreamTerms {
  std::string name;
  /// SELECT day, count(*), sum(x) FROM ... GROUP BY day: one key, a date or a whole number.
  std::string sql;
  std::string account = kOwnerAccount;
  std::uint32_t periods = 0;
  std::int64_t first = 0;           ///< of the key: a day since 1970-01-01, or a whole number
  std::uint32_t every = 1;          ///< days or numbers in a period
  std::uint64_t rows_per_unit = 0;  ///< 0: what the policy says
  ApproxDp budget{Epsilon::zero(), Delta::zero()};

  std::string to_json() const;
  static Result<StreamTerms> parse(const std::string& json);
};

struct StreamColumn {
  std::string text;  ///< "count(*)"
  double total, error95;
};

struct PeriodTotals {
  std::uint32_t period;
  std::int64_t last;  ///< the period's last key
  std::vector<StreamColumn> columns;
};

class Continual {
 public:
  /// Policy, clock and random source must outlive it.
  static Result<Continual> open(const catalog::Policy& policy, const Clock& clock,
                                RandomSource& random, OperatorLog log);

  /// Pays. The same terms again: nothing is paid. Refused: another stream has this name, or the
  /// statement cannot be a stream. Returns the 95 % errors of the last period's totals, by column.
  Result<std::vector<StreamColumn>> start(const StreamTerms& terms);
  /// The totals up to this period. NotFound: no such stream. InvalidParameter: past its end.
  Result<PeriodTotals> release(const std::string& account, const std::string& name,
                               std::uint32_t period);
  /// What has been released so far.
  Result<std::vector<PeriodTotals>> show(const std::string& account, const std::string& name);
  Result<StreamTerms> terms(const std::string& account, const std::string& name);

  ledger::Ledger& ledger() { return *ledger_; }
  const Data& data() const { return data_; }

 private:
  struct Stream;
  Continual(const catalog::Policy& policy, RandomSource& random, Data data,
            std::unique_ptr<ledger::Ledger> ledger)
      : policy_(policy), random_(random), data_(std::move(data)), ledger_(std::move(ledger)) {}
  Result<Stream> plan(const StreamTerms& terms);
  Result<std::vector<std::vector<std::int64_t>>> increments(const Stream& stream,
                                                            std::uint32_t periods);
  Result<std::vector<std::vector<std::int64_t>>> recorded(const Stream& stream);
  static PeriodTotals totals(const Stream& stream, std::uint32_t period,
                             const std::vector<std::vector<std::int64_t>>& released);

  const catalog::Policy& policy_;
  RandomSource& random_;
  Data data_;
  std::unique_ptr<ledger::Ledger> ledger_;
};

}  // namespace discreet
