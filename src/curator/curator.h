// One question from text to release. The only place where a receipt is turned into an answer.
//
// plan -> price -> seen before? -> charge (durable) -> run -> noise -> post-process -> record ->
// answer. Whatever fails after the charge loses the answer, never the charge; the same question
// asked again is then answered for the price already paid. Guarantee: an answer that leaves
// answer() was charged in full on the asker's account and every account above it before any
//            private row was read. Errors depend on the question, the schema and the budget, not on
//            rows.
// Proof:     docs/proofs/release_job.md; docs/formats/ledger.md (durability)
#pragma once

#include <memory>
#include <stop_token>
#include <utility>

#include "base/clock.h"
#include "catalog/policy.h"
#include "curator/accounts.h"
#include "curator/answer.h"
#include "curator/certificate.h"
#include "curator/data.h"
#include "curator/release_job.h"
#include "curator/target_error.h"
#include "sql/parse.h"
#include "sql/synthesize.h"

namespace discreet {

struct Question {
  std::string sql;
  std::string account = kOwnerAccount;
  std::optional<Epsilon>
      epsilon;  ///< of the whole statement; absent: kDefaultEpsilon, or what the statement says
  std::optional<Delta> delta;  ///< used only where a release needs one
  /// Instead of an epsilon: the least one is found at which every number is within it.
  std::optional<TargetError> target_error;
  std::string request;  ///< idempotency key
  bool errors = false;  ///< hand the answer out with error columns (Answer::with_error_columns)
  std::vector<sql::Parameter> parameters = {};  ///< $1, $2, ... of `sql`
};

struct ExplainedColumn {
  std::string name;
  std::string mechanism;  ///< empty for keys and public columns
  std::optional<double>
      error95;  ///< before anything is known of the data; nothing where a bound is yet to be found
  /// There: the error for every row that the bound will let a unit add.
  std::optional<double> error95_per_row = {};
};

struct DescribedColumn {
  AnswerColumn column;
  bool has_error = false;  ///< it is an aggregate, and its answer comes with an error
};

struct Explanation {
  AnswerCost cost;
  std::vector<ExplainedColumn> columns;
  ledger::Balance remaining;
  bool affordable = true;
  std::string tree;     ///< plans of releases and final statement, children indented
  std::string drawing;  ///< the whole question as a tree drawn with lines
  std::string json;     ///< the same as a JSON object (sql::explain_json)
  std::vector<std::string> notices;
};

/// One thread at a time; connect() makes one for another thread, on the same ledger and data.
class Curator {
 public:
  static constexpr double kDefaultEpsilon = 0.5;

  /// The policy, clock and random source must outlive the curator. `log` gets the engine's own
  /// words.
  static Result<Curator> open(const catalog::Policy& policy, const Clock& clock,
                              RandomSource& random, OperatorLog log);

  /// A curator for another thread. `random` must outlive it.
  Result<Curator> connect(RandomSource& random) const;

  Result<Answer> answer(const Question& question);
  /// The answer if it is on record, else nothing. Charges nothing and reads no private row.
  Result<std::optional<Answer>> repeat(const Question& question);
  /// The columns an answer would have. Spends nothing and reads no private row.
  Result<std::vector<DescribedColumn>> describe(const Question& question);
  /// Spends nothing and reads no private row.
  Result<Explanation> explain(const Question& question);

  /// The answer's certificate, complete (certificate.h). NotFound: it is not of this ledger.
  Result<std::string> certificate(const Answer& answer) {
    return complete_certificate(answer.certificate, *ledger_);
  }

  /// From now on questions end where this asks for it, from any thread: before the charge nothing
  /// is charged; after it the engine's statement is stopped, and the question is paid and
  /// unanswered. Nobody asked for it in the next one, so whoever gave this takes it back.
  void stop_with(std::stop_token stop) { stop_ = std::move(stop); }

  /// Looks for twins that the ledger has recorded: made before this process began, or elsewhere.
  Result<void> find_twins();

  Result<ledger::Balance> balance(const std::string& account) { return ledger_->balance(account); }
  ledger::Ledger& ledger() { return *ledger_; }
  const Data& data() const { return data_; }

 private:
  struct Prepared;
  struct PreparedTwin;
  struct Remembered;
  struct Memory;
  Curator(const catalog::Policy& policy, RandomSource& random, Data data,
          std::shared_ptr<ledger::Ledger> ledger, std::shared_ptr<Memory> memory)
      : policy_(policy),
        random_(random),
        data_(std::move(data)),
        ledger_(std::move(ledger)),
        memory_(std::move(memory)) {}
  /// Unavailable: somebody asked to stop, and nothing is charged yet.
  Result<void> go_on() const;
  Result<Answer> answer_plainly(const Question& question);
  Result<std::optional<Answer>> recorded(Remembered& remembered, const Question& question);
  Result<Prepared> prepare(const Question& question);
  /// The same, from memory while the sources of its tables are unchanged. All connected curators
  /// share the memory: what it holds is not changed once it is there.
  Result<std::shared_ptr<Remembered>> recall(const Question& question);
  Result<Explanation> explain_anew(const Question& question, const Prepared& prepared);
  Result<Answer> run(const Prepared& prepared, const Question& question, std::uint64_t charge);
  Result<Answer> run_once(const Prepared& prepared, const Question& question, std::uint64_t charge);
  Result<std::shared_ptr<const sql::PlannedQuestion>> plan(const Question& question);
  // SYNTHESIZE (twin_statement.cc).
  Result<PreparedTwin> prepare_twin(const Question& question,
                                    const sql::SynthesizeStatement& statement);
  Result<Answer> make_twin(const Question& question, const sql::SynthesizeStatement& statement);
  Result<Explanation> explain_twin(const Question& question,
                                   const sql::SynthesizeStatement& statement);
  static std::vector<DescribedColumn> describe_twin();

  const catalog::Policy& policy_;
  RandomSource& random_;
  Data data_;
  std::shared_ptr<ledger::Ledger> ledger_;
  std::shared_ptr<Memory> memory_;
  std::stop_token stop_;
};

}  // namespace discreet
