#include "curator/curator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>

#include <fmt/format.h>

#include "curator/asker_schema.h"
#include "curator/generations.h"
#include "curator/released_view.h"
#include "curator/twins.h"
#include "ledger/sha256.h"
#include "random/pooled_random.h"
#include "sql/explain.h"
#include "sql/planner.h"

namespace discreet {
namespace {

// A question that needs a delta and names none gets this, or a tenth of what the account was
// granted if that is less.
constexpr double kDefaultDelta = 1e-7, kDeltaShare = 0.1;

std::optional<double> median(const Answer& answer, std::size_t column) {
  std::vector<double> errors;
  for (const auto& row : answer.errors)
    if (row[column]) errors.push_back(*row[column]);
  if (errors.empty()) return std::nullopt;
  std::nth_element(errors.begin(), errors.begin() + std::ssize(errors) / 2, errors.end());
  return errors[errors.size() / 2];
}

bool asks_quantile(const sql::Release& release) {
  return std::any_of(release.aggregates.begin(), release.aggregates.end(), [](const auto& one) {
    return std::holds_alternative<sql::QuantilesRelease>(one.kind);
  });
}

// Takes the columns of errors off the rows, and puts what they hold beside the values.
void split_errors(const std::vector<sql::OutputColumn>& columns, Answer& answer) {
  for (auto& row : answer.rows) {
    auto& errors = answer.errors.emplace_back(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].error || !row[*columns[i].error] || !row[i]) continue;
      const std::string& text = *row[*columns[i].error];
      double error = 0;
      std::from_chars(text.data(), text.data() + text.size(), error);
      if (std::isfinite(error)) errors[i] = error;
    }
    row.resize(columns.size());
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    answer.columns.push_back({columns[i].name, sql::name(columns[i].type)});
    answer.noisy.push_back(!columns[i].from.empty());
    answer.error95.push_back(median(answer, i));
  }
}

// The statement's own target comes before the asker's; an epsilon and a target contradict each
// other.
Result<std::optional<TargetError>> target_of(const Question& question,
                                             const sql::Release& release) {
  const bool own = release.options && release.options->target_error;
  const bool own_epsilon = release.options && release.options->epsilon;
  if ((own && own_epsilon) || (!own && question.target_error && question.epsilon))
    return invalid_parameter("give epsilon or target_error, not both: each decides the other");
  if (own) {
    DISCREET_TRY(const auto target, TargetError::parse(*release.options->target_error));
    return std::optional(target);
  }
  return own_epsilon ? std::nullopt : question.target_error;
}

// Says what is reachable where a target costs more than is left.
Result<void> within_reach(const sql::Release& release, const TargetError& target, ApproxDp budget,
                          const ledger::Balance& balance, double share) {
  if (!balance.left.epsilon) return {};
  const Epsilon most =
      std::max(*balance.left.epsilon, balance.question_left.value_or(Epsilon::zero()));
  if (budget.epsilon <= most) return {};
  std::string reachable = "nothing is left to spend";
  if (most.value() > 0) {
    DISCREET_TRY(const Epsilon part, Epsilon::make(mul_down(most.value(), share)));
    const auto error = error_at(release, {part, budget.delta}, target.confidence);
    if (error)
      reachable = fmt::format("with the {:.4g} left, ±{:.4g} at {:.4g}% can be reached",
                              most.value(), *error, target.confidence * 100);
  }
  return Error{ErrorCode::BudgetExhausted,
               fmt::format("target_error {} would cost epsilon {:.4g}; {}.", target.to_string(),
                           budget.epsilon.value(), reachable)};
}

// The part of epsilon that each release of a statement gets, rounded down, so that they add up to
// no more than all of it. What others only read (an average in a WHERE) needs less than what is
// answered: a quarter, where there is any such release.
Result<std::vector<Epsilon>> parts_of(Epsilon whole, const std::vector<sql::Release>& releases) {
  constexpr double kReadShare = 0.25;
  std::vector<bool> is_read(releases.size());
  for (const sql::Release& release : releases)
    for (const std::size_t needed : release.needs) is_read[needed] = true;
  const auto read = static_cast<std::uint64_t>(std::count(is_read.begin(), is_read.end(), true));
  if (read == 0) return std::vector<Epsilon>(releases.size(), whole.share(releases.size()));
  DISCREET_TRY(const Epsilon for_read, Epsilon::make(mul_down(whole.value(), kReadShare)));
  DISCREET_TRY(const Epsilon for_rest, Epsilon::make(mul_down(whole.value(), 1 - kReadShare)));
  std::vector<Epsilon> parts;
  for (const bool one : is_read)
    parts.push_back(one ? for_read.share(read) : for_rest.share(releases.size() - read));
  return parts;
}

Error after_the_charge(const Error& error) {
  // What failed must not tell about rows, and the asker should know that asking again is free.
  return {ErrorCode::Unavailable,
          fmt::format(
              "The question was charged but could not be answered ({}). Ask the same question "
              "again: it is not charged twice.",
              error.code == ErrorCode::Unavailable ? error.message : "an internal limit was met")};
}

// By column of the answer: the mechanism of the aggregates it is computed from, and their error
// before anything is known of the data.
std::vector<ExplainedColumn> mechanisms_of(const sql::PlannedQuestion& planned,
                                           const std::vector<ReleaseJob>& jobs) {
  std::vector<ExplainedColumn> columns;
  const auto forecast = jobs.empty() ? std::vector<AggregateForecast>{} : jobs.back().forecast();
  for (const sql::OutputColumn& column : planned.columns) {
    ExplainedColumn& explained = columns.emplace_back(ExplainedColumn{column.name, "", {}, {}});
    for (std::size_t a = 0; a < forecast.size(); ++a) {
      const auto& name = planned.releases.back().aggregates[a].column;
      if (std::find(column.from.begin(), column.from.end(), name) == column.from.end()) continue;
      explained.mechanism = forecast[a].mechanism;
      if (column.is_plain) {
        explained.error95 = forecast[a].error95;
        explained.error95_per_row = forecast[a].error95_per_row;
      }
    }
  }
  return columns;
}

/// What a statement says, parameters included; two that differ have different texts.
std::string text_of(const Question& question) {
  std::string text = fmt::format("{} {}", question.sql.size(), question.sql);
  for (const sql::Parameter& given : question.parameters)
    text += fmt::format("\n{} {} {}", given.type, given.text ? given.text->size() : 0,
                        given.text ? *given.text : "null");
  return text;
}

}  // namespace

struct Curator::Prepared {
  std::shared_ptr<const sql::PlannedQuestion> planned;  // jobs point into it
  std::vector<ReleaseJob> jobs;
  ApproxDp cost{Epsilon::zero(), Delta::zero()};
  std::optional<LossEvent> loss;
  std::optional<ledger::Price> price;
  std::string key;
  std::string snapshot;

  /// Infinite: what is charged has no zCDP bound.
  double rho() const {
    if (!price) return 0;
    return price->concentrated ? price->concentrated->rho.value() : HUGE_VAL;
  }
};

struct Curator::Remembered {
  Prepared prepared;
  std::mutex mutex;                                // of what follows
  std::shared_ptr<const Explanation> explanation;  // `remaining` is not kept
  std::shared_ptr<const Answer> answer;            // on record; a charge has one answer, for good
};

struct Curator::Memory {
  std::mutex mutex;  // of both
  // The statement without its price: neither another epsilon nor other rows need another plan.
  Generations<std::shared_ptr<const sql::PlannedQuestion>> plans{256};
  Generations<std::shared_ptr<Remembered>> questions{256};
};

Result<Curator> Curator::open(const catalog::Policy& policy, const Clock& clock,
                              RandomSource& random, OperatorLog log) {
  DISCREET_TRY(Data data, Data::open(policy, std::move(log)));
  DISCREET_TRY(ledger::Ledger ledger, open_ledger(policy, clock));
  return Curator(policy, random, std::move(data),
                 std::make_shared<ledger::Ledger>(std::move(ledger)), std::make_shared<Memory>());
}

Result<Curator> Curator::connect(RandomSource& random) const {
  DISCREET_TRY(Data data, data_.connect());
  return Curator(policy_, random, std::move(data), ledger_, memory_);
}

Result<std::shared_ptr<const sql::PlannedQuestion>> Curator::plan(const Question& question) {
  const std::string key = fmt::format("{}\n{}", question.account, text_of(question));
  {
    const std::scoped_lock lock(memory_->mutex);
    if (auto known = memory_->plans.find(key)) return *std::move(known);
  }
  const AskerSchema schema(policy_, data_, question.account);
  const sql::Planner planner(policy_, schema);
  auto planned = planner.plan(question.sql, question.parameters);
  if (!planned && planned.error().code == ErrorCode::NotFound) {
    // Perhaps a twin that was made elsewhere, or before this process began.
    DISCREET_TRY(const bool any, data_.twins().find_recorded(*ledger_, data_.local()));
    if (any) planned = planner.plan(question.sql, question.parameters);
  }
  if (!planned) return planned.error();
  const auto made = std::make_shared<const sql::PlannedQuestion>(*std::move(planned));
  const std::scoped_lock lock(memory_->mutex);
  memory_->plans.put(key, made);
  return made;
}

Result<Curator::Prepared> Curator::prepare(const Question& question) {
  Prepared prepared;
  DISCREET_TRY(prepared.planned, plan(question));
  const auto& planned = *prepared.planned;
  DISCREET_TRY(prepared.snapshot, data_.snapshot(planned.tables));
  if (question.account != kOwnerAccount) {
    DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, question.account));
    for (const std::string& name : planned.tables)
      if (const catalog::Table* table = policy_.table(name))
        DISCREET_CHECK(shows(policy_, question.account, *table),
                       "a plan reads a table that its asker may not know of");
  }
  if (planned.is_public()) return prepared;

  DISCREET_TRY(const ledger::Balance balance, ledger_->balance(question.account));
  const double granted = balance.granted.delta ? balance.granted.delta->value() : 1;
  DISCREET_TRY(const Delta default_delta,
               Delta::make(std::min(kDefaultDelta, kDeltaShare * granted)));
  DISCREET_TRY(const Epsilon default_epsilon, Epsilon::make(kDefaultEpsilon));
  // A delta is used where one is needed, and where one was offered and may help.
  const auto uses_delta = [&](const sql::Release& release) {
    const bool offered = question.delta || (release.options && release.options->delta);
    return release.grouping_sets || selects_groups(release) ||
           (offered && may_be_gaussian(release));
  };
  const auto with_delta = static_cast<double>(
      std::count_if(planned.releases.begin(), planned.releases.end(), uses_delta));
  const Epsilon whole = question.epsilon.value_or(default_epsilon);
  DISCREET_TRY(const std::vector<Epsilon> parts, parts_of(whole, planned.releases));
  bool asked_apart = false, quantiles = false;

  std::vector<LossEvent> losses;
  for (std::size_t i = 0; i < planned.releases.size(); ++i) {
    const sql::Release& release = planned.releases[i];
    ApproxDp budget{parts[i], Delta::zero()};
    if (release.options && release.options->epsilon) {
      asked_apart = true;
      DISCREET_TRY(budget.epsilon, Epsilon::make(*release.options->epsilon));
    }
    if (uses_delta(release)) {
      DISCREET_TRY(budget.delta, Delta::make(div_down(
                                     question.delta.value_or(default_delta).value(), with_delta)));
      if (release.options && release.options->delta) {
        DISCREET_TRY(budget.delta, Delta::make(*release.options->delta));
      }
    }
    DISCREET_TRY(const auto target, target_of(question, release));
    if (target) {
      asked_apart = true;
      DISCREET_TRY(budget.epsilon, epsilon_for(release, *target, budget.delta));
      DISCREET_TRY_VOID(
          within_reach(release, *target, budget, balance, parts[i].value() / whole.value()));
    }
    DISCREET_TRY(ReleaseJob job, ReleaseJob::make(release, budget, question.errors));
    DISCREET_TRY_VOID(job.check_public(data_.engine()));
    quantiles = quantiles || asks_quantile(release);
    losses.push_back(job.loss());
    prepared.jobs.push_back(std::move(job));
    prepared.cost = {prepared.cost.epsilon + budget.epsilon, prepared.cost.delta + budget.delta};
  }
  // The sum above is rounded up; the parts themselves add up to no more than was asked.
  if (!asked_apart) prepared.cost.epsilon = std::min(prepared.cost.epsilon, whole);
  prepared.loss = losses.size() == 1 ? losses.front() : LossEvent(loss::Composed{losses});
  prepared.price = ledger::Price::of(prepared.cost, *prepared.loss);
  // A quantile with its error is another release than one without.
  prepared.key = ledger::to_hex(ledger::sha256(
      fmt::format("{}\n{}\n{}\n{}{}", planned.normalised_text, prepared.cost.epsilon.value(),
                  prepared.cost.delta.value(), prepared.snapshot,
                  quantiles && question.errors ? "\nwith errors" : "")));
  return prepared;
}

Result<std::shared_ptr<Curator::Remembered>> Curator::recall(const Question& question) {
  // Everything prepare() depends on besides the policy and the sources of the tables: the default
  // delta comes from what the account was granted.
  DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, question.account));
  DISCREET_TRY(const Amount granted, ledger_->granted(question.account));
  const auto part = [](const auto& number) { return number ? number->value() : -1.0; };
  const std::string key = fmt::format(
      "{}\n{}\n{}\n{}\n{}\n{}\n{}", question.account, question.errors, part(question.epsilon),
      part(question.delta), part(granted.delta),
      question.target_error ? question.target_error->to_string() : "", text_of(question));
  std::shared_ptr<Remembered> known;
  {
    const std::scoped_lock lock(memory_->mutex);
    known = memory_->questions.find(key).value_or(nullptr);
  }
  if (known) {
    DISCREET_TRY(const std::string snapshot, data_.snapshot(known->prepared.planned->tables));
    if (known->prepared.snapshot == snapshot) return known;
  }
  DISCREET_TRY(Prepared prepared, prepare(question));
  auto made = std::make_shared<Remembered>();
  made->prepared = std::move(prepared);
  const std::scoped_lock lock(memory_->mutex);
  memory_->questions.put(key, made);
  return made;
}

Result<std::vector<DescribedColumn>> Curator::describe(const Question& question) {
  DISCREET_TRY(const auto synthesize, sql::read_synthesize(question.sql));
  if (synthesize) return describe_twin();
  DISCREET_TRY(const auto remembered, recall(question));
  std::vector<DescribedColumn> columns;
  for (const sql::OutputColumn& column : remembered->prepared.planned->columns)
    columns.push_back(
        {{column.name, sql::name(column.type)}, !column.from.empty()});  // as Answer::noisy
  return columns;
}

Result<void> Curator::go_on() const {
  if (stop_.stop_requested())
    return Error{ErrorCode::Unavailable, "The question was cancelled. Nothing was charged."};
  return {};
}

Result<Answer> Curator::run(const Prepared& prepared, const Question& question,
                            std::uint64_t charge) {
  const std::stop_callback when_asked(stop_, [this] { data_.engine().cancel(); });
  // Until an answer is on record nothing has left, so a lost connection may start it all over, with
  // fresh noise; what the first attempt drew is forgotten.
  constexpr int kAttemptsMax = 3;
  for (int attempt = 1;; ++attempt) {
    auto answer = run_once(prepared, question, charge);
    const bool lost = !answer && data_.engine().was_lost();
    data_.carry_nothing();
    data_.engine().end();
    if (!lost || attempt == kAttemptsMax || stop_.stop_requested()) return answer;
  }
}

Result<Answer> Curator::run_once(const Prepared& prepared, const Question& question,
                                 std::uint64_t charge) {
  const auto& planned = *prepared.planned;
  Answer answer;
  std::optional<Texts> rows;
  const std::uint64_t ahead_before = noise_from_pool(random_);
  DISCREET_TRY_VOID(data_.engine().begin());
  // Asked for before there was anything to stop.
  if (stop_.stop_requested())
    return Error{ErrorCode::Unavailable, "it was cancelled before its first statement"};
  DISCREET_TRY_VOID(data_.bring(planned));
  for (std::size_t i = 0; i < prepared.jobs.size(); ++i) {
    const sql::Release& release = planned.releases[i];
    DISCREET_TRY(ReleasedTable table, prepared.jobs[i].run(data_.engine(), random_));
    make_sensible(release, table);
    const bool is_last = i + 1 == prepared.jobs.size();
    if (is_last && planned.picked) rows = picked_texts(release, table, *planned.picked);
    if (!rows) DISCREET_TRY_VOID(store_released(release, table, data_.local()));
    if (!is_last) data_.carry(release, table);
    answer.notices.insert(answer.notices.end(), table.notices.begin(), table.notices.end());
  }
  std::size_t width = planned.columns.size();
  for (const sql::OutputColumn& column : planned.columns) width += column.error ? 1 : 0;
  if (!rows) {
    DISCREET_TRY(rows, read_texts(planned.final_text_sql, width, data_.local()));
  }
  answer.rows = *std::move(rows);
  split_errors(planned.columns, answer);
  answer.notices.insert(answer.notices.end(), planned.notices.begin(), planned.notices.end());
  answer.cost = {prepared.cost.epsilon.value(), prepared.cost.delta.value(), prepared.rho()};
  CertificateCore core{question.sql,
                       prepared.key,
                       question.account,
                       sql::explain_text(planned),
                       prepared.snapshot,
                       {},
                       charge,
                       prepared.loss.value_or(LossEvent(loss::Pure{Epsilon::zero()})),
                       prepared.price.value_or(ledger::Price{Epsilon::zero(), Delta::zero(), {}})};
  const auto mechanisms = mechanisms_of(planned, prepared.jobs);
  for (std::size_t i = 0; i < answer.columns.size(); ++i)
    core.columns.push_back({answer.columns[i].name, answer.columns[i].type, mechanisms[i].mechanism,
                            answer.error95[i]});
  answer.certificate = core.to_json();
  answer.noise_ahead = noise_from_pool(random_) - ahead_before;
  return answer;
}

Result<Answer> Curator::answer(const Question& question) {
  DISCREET_TRY(const auto synthesize, sql::read_synthesize(question.sql));
  if (synthesize) return make_twin(question, *synthesize);
  DISCREET_TRY(Answer answer, answer_plainly(question));
  return question.errors ? answer.with_error_columns() : std::move(answer);
}

Result<std::optional<Answer>> Curator::repeat(const Question& question) {
  DISCREET_TRY(const auto synthesize, sql::read_synthesize(question.sql));
  if (synthesize) return std::optional<Answer>();  // make_twin looks for what is on record
  DISCREET_TRY(const auto remembered, recall(question));
  if (remembered->prepared.planned->is_public()) return std::optional<Answer>();
  DISCREET_TRY(auto answer, recorded(*remembered, question));
  if (answer && question.errors) answer = answer->with_error_columns();
  return answer;
}

Result<std::optional<Answer>> Curator::recorded(Remembered& remembered, const Question& question) {
  constexpr std::size_t kKeptBytesMax = 32 * 1024;
  std::shared_ptr<const Answer> kept;
  {
    const std::scoped_lock lock(remembered.mutex);
    kept = remembered.answer;
  }
  if (!kept) {
    DISCREET_TRY(const auto found, ledger_->find_answer(question.account, remembered.prepared.key));
    if (!found) return std::optional<Answer>();
    DISCREET_TRY(Answer answer, Answer::from_bytes(found->answer));
    answer.repeated = true;
    answer.charge = found->charge;
    kept = std::make_shared<const Answer>(std::move(answer));
    if (found->answer.size() <= kKeptBytesMax) {
      const std::scoped_lock lock(remembered.mutex);
      remembered.answer = kept;
    }
  }
  DISCREET_TRY_VOID(ledger_->record_repeat(question.account, kept->charge));
  return std::optional<Answer>(*kept);
}

Result<Answer> Curator::answer_plainly(const Question& question) {
  DISCREET_TRY(const auto remembered, recall(question));
  const Prepared& prepared = remembered->prepared;
  if (prepared.planned->is_public()) return run(prepared, question, 0);

  DISCREET_TRY(auto known, recorded(*remembered, question));
  if (known) return *std::move(known);
  DISCREET_TRY_VOID(go_on());
  // Before anything is paid: is the engine there, and will it take the statements?
  DISCREET_TRY_VOID(data_.check(*prepared.planned));
  DISCREET_TRY_VOID(data_.engine().begin());
  auto charged = ledger_->charge({question.account, prepared.key, question.request, question.sql,
                                  *prepared.loss, *prepared.price});
  if (!charged) {
    data_.engine().end();
    return charged.error();
  }
  ledger::Receipt receipt = *std::move(charged);
  const std::uint64_t charge = receipt.charge();
  auto answer = run(prepared, question, charge);
  if (!answer) return after_the_charge(answer.error());
  const std::uint64_t noise_ahead = answer->noise_ahead;
  const std::string made = answer->to_bytes();
  DISCREET_TRY(const std::string bytes, ledger_->record_release(std::move(receipt), made));
  // What is on record leaves: another's answer to the same charge, or text that was replaced since
  // it was not UTF-8. Otherwise it is what was made, and need not be read back.
  const bool as_made = bytes == made && bytes.find("\xEF\xBF\xBD") == std::string::npos;
  DISCREET_TRY(Answer given,
               as_made ? Result<Answer>(*std::move(answer)) : Answer::from_bytes(bytes));
  given.charge = charge;
  given.noise_ahead = noise_ahead;
  return given;
}

Result<Explanation> Curator::explain(const Question& question) {
  DISCREET_TRY(const auto synthesize, sql::read_synthesize(question.sql));
  if (synthesize) return explain_twin(question, *synthesize);
  DISCREET_TRY(const auto remembered, recall(question));
  std::shared_ptr<const Explanation> known;
  {
    const std::scoped_lock lock(remembered->mutex);
    known = remembered->explanation;
  }
  if (!known) {
    DISCREET_TRY(Explanation made, explain_anew(question, remembered->prepared));
    known = std::make_shared<const Explanation>(std::move(made));
    const std::scoped_lock lock(remembered->mutex);
    remembered->explanation = known;
  }
  Explanation explanation = *known;
  DISCREET_TRY(explanation.remaining, ledger_->balance(question.account));
  const auto fits = [](const auto& left, double cost) { return !left || cost <= left->value(); };
  explanation.affordable = fits(explanation.remaining.left.epsilon, explanation.cost.epsilon) ||
                           fits(explanation.remaining.question_left, explanation.cost.epsilon);
  return explanation;
}

Result<Explanation> Curator::explain_anew(const Question& question, const Prepared& prepared) {
  const auto& planned = *prepared.planned;
  if (!planned.is_public()) DISCREET_TRY_VOID(data_.check(planned));
  DISCREET_TRY(ledger::Balance remaining, ledger_->balance(question.account));
  Explanation explanation{{}, {}, std::move(remaining), true, {}, {}, {}, planned.notices};
  explanation.cost = {prepared.cost.epsilon.value(), prepared.cost.delta.value(), prepared.rho()};
  for (std::size_t i = 0; i < planned.releases.size(); ++i)
    explanation.tree += planned.releases[i].tree;
  explanation.tree += planned.tree;
  explanation.drawing = sql::explain_text(planned);
  explanation.json = sql::explain_json(planned);
  explanation.columns = mechanisms_of(planned, prepared.jobs);
  for (const ReleaseJob& job : prepared.jobs)
    for (const auto notes = job.notes(data_.engine()); const std::string& note : notes)
      explanation.notices.push_back(note);
  return explanation;
}

}  // namespace discreet
