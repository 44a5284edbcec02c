#include "curator/curator.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "curator/released_view.h"
#include "ledger/sha256.h"
#include "sql/planner.h"

namespace discreet {
namespace {

// A question that needs a delta and names none gets this, or a tenth of what the account was
// granted if that is less.
constexpr double kDefaultDelta = 1e-7, kDeltaShare = 0.1;

bool needs_delta(const sql::Release& release) {
  return std::any_of(release.keys.begin(), release.keys.end(),
                     [](const sql::Key& key) { return !key.is_public(); });
}

std::optional<double> median(std::vector<std::optional<double>> errors) {
  std::erase_if(errors, [](const auto& error) { return !error || !std::isfinite(*error); });
  if (errors.empty()) return std::nullopt;
  std::nth_element(errors.begin(), errors.begin() + std::ssize(errors) / 2, errors.end());
  return errors[errors.size() / 2];
}

Error after_the_charge(const Error& error) {
  // What failed must not tell about rows, and the asker should know that asking again is free.
  return {ErrorCode::Unavailable,
          fmt::format(
              "The question was charged but could not be answered ({}). Ask the same question "
              "again: it is not charged twice.",
              error.code == ErrorCode::Unavailable ? error.message : "an internal limit was met")};
}

}  // namespace

struct Curator::Prepared {
  std::shared_ptr<const sql::PlannedQuestion> planned;  // jobs point into it
  std::vector<ReleaseJob> jobs;
  ApproxDp cost{Epsilon::zero(), Delta::zero()};
  std::optional<LossEvent> loss;
  std::optional<ledger::Price> price;
  std::string key;
};

struct Curator::Remembered {
  Prepared prepared;
  std::string snapshot;
  std::optional<Explanation> explanation;  // `remaining` is not kept
};

Result<Curator> Curator::open(const catalog::Policy& policy, const Clock& clock,
                              RandomSource& random, OperatorLog log) {
  DISCREET_TRY(Data data, Data::open(policy, std::move(log)));
  DISCREET_TRY(ledger::Ledger ledger, open_ledger(policy, clock));
  return Curator(policy, random, std::move(data),
                 std::make_shared<ledger::Ledger>(std::move(ledger)));
}

Result<Curator> Curator::connect(RandomSource& random) const {
  DISCREET_TRY(Data data, data_.connect());
  return Curator(policy_, random, std::move(data), ledger_);
}

Result<Curator::Prepared> Curator::prepare(const Question& question) {
  DISCREET_TRY(sql::PlannedQuestion plan,
               sql::Planner(policy_, data_).plan(question.sql, question.parameters));
  Prepared prepared;
  prepared.planned = std::make_shared<const sql::PlannedQuestion>(std::move(plan));
  const auto& planned = *prepared.planned;
  if (question.account != kOwnerAccount) {
    DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, question.account));
    if (const auto* analyst = policy_.analyst(question.account))
      for (const std::string& table : planned.tables)
        if (!analyst->may_ask(table))
          return Error{ErrorCode::PermissionDenied,
                       fmt::format("{} may not ask about table '{}'.", question.account, table)};
  }
  if (planned.is_public()) return prepared;

  DISCREET_TRY(const ledger::Balance balance, ledger_->balance(question.account));
  const double granted = balance.granted.delta ? balance.granted.delta->value() : 1;
  DISCREET_TRY(const Delta default_delta,
               Delta::make(std::min(kDefaultDelta, kDeltaShare * granted)));
  DISCREET_TRY(const Epsilon default_epsilon, Epsilon::make(kDefaultEpsilon));
  const auto releases = static_cast<std::uint64_t>(planned.releases.size());
  const auto with_delta = static_cast<double>(
      std::count_if(planned.releases.begin(), planned.releases.end(), needs_delta));
  const Epsilon share = question.epsilon.value_or(default_epsilon).share(releases);

  std::vector<LossEvent> losses;
  for (const sql::Release& release : planned.releases) {
    ApproxDp budget{share, Delta::zero()};
    if (release.options && release.options->target_error)
      return Error{
          ErrorCode::Refused,
          "target_error is not supported yet; ask EXPLAIN for the error of an epsilon and choose."};
    if (release.options && release.options->epsilon) {
      DISCREET_TRY(budget.epsilon, Epsilon::make(*release.options->epsilon));
    }
    if (needs_delta(release)) {
      DISCREET_TRY(budget.delta, Delta::make(div_down(
                                     question.delta.value_or(default_delta).value(), with_delta)));
      if (release.options && release.options->delta) {
        DISCREET_TRY(budget.delta, Delta::make(*release.options->delta));
      }
    }
    DISCREET_TRY(ReleaseJob job, ReleaseJob::make(release, budget));
    losses.push_back(job.loss());
    prepared.jobs.push_back(std::move(job));
    prepared.cost = {prepared.cost.epsilon + budget.epsilon, prepared.cost.delta + budget.delta};
  }
  prepared.loss = losses.size() == 1 ? losses.front() : LossEvent(loss::Composed{losses});
  prepared.price = ledger::Price::of(prepared.cost, *prepared.loss);
  prepared.key = ledger::to_hex(ledger::sha256(
      fmt::format("{}\n{}\n{}\n{}", planned.normalised_text, prepared.cost.epsilon.value(),
                  prepared.cost.delta.value(), data_.snapshot(planned.tables))));
  return prepared;
}

Result<std::shared_ptr<Curator::Remembered>> Curator::recall(const Question& question) {
  // Everything prepare() depends on besides the policy and the sources of the tables: the default
  // delta comes from what the account was granted.
  constexpr std::size_t kRememberedMax = 512;
  DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, question.account));
  DISCREET_TRY(const Amount granted, ledger_->granted(question.account));
  const auto part = [](const auto& number) { return number ? number->value() : -1.0; };
  std::string key = fmt::format("{}\n{}\n{}\n{}\n{}", question.account, part(question.epsilon),
                                part(question.delta), part(granted.delta), question.sql);
  for (const sql::Parameter& given : question.parameters)
    key += fmt::format("\n{} {} {}", given.type, given.text ? given.text->size() : 0,
                       given.text ? *given.text : "null");
  const auto found = remembered_.find(key);
  if (found != remembered_.end() &&
      found->second->snapshot == data_.snapshot(found->second->prepared.planned->tables))
    return found->second;
  DISCREET_TRY(Prepared prepared, prepare(question));
  auto made = std::make_shared<Remembered>();
  made->snapshot = data_.snapshot(prepared.planned->tables);
  made->prepared = std::move(prepared);
  if (remembered_.size() >= kRememberedMax) remembered_.clear();
  remembered_[std::move(key)] = made;
  return made;
}

Result<std::vector<DescribedColumn>> Curator::describe(const Question& question) {
  DISCREET_TRY(const auto remembered, recall(question));
  std::vector<DescribedColumn> columns;
  for (const sql::OutputColumn& column : remembered->prepared.planned->columns)
    columns.push_back(
        {{column.name, sql::name(column.type)}, column.is_plain && column.from.size() == 1});
  return columns;
}

Result<Answer> Curator::run(const Prepared& prepared) {
  const auto& planned = *prepared.planned;
  Answer answer;
  std::vector<std::pair<std::string, std::optional<double>>>
      errors;  // by aggregate column of the last release
  for (std::size_t i = 0; i < prepared.jobs.size(); ++i) {
    const sql::Release& release = planned.releases[i];
    DISCREET_TRY(ReleasedTable table, prepared.jobs[i].run(data_.engine(), random_));
    make_sensible(release, table);
    DISCREET_TRY_VOID(store_released(release, table, data_.engine()));
    answer.notices.insert(answer.notices.end(), table.notices.begin(), table.notices.end());
    errors.clear();
    for (std::size_t a = 0; a < release.aggregates.size(); ++a)
      errors.emplace_back(release.aggregates[a].column, median(table.aggregates[a].error95));
  }
  DISCREET_TRY(answer.rows,
               read_as_text(planned.final_sql, planned.columns.size(), data_.engine()));
  for (const sql::OutputColumn& column : planned.columns) {
    answer.columns.push_back({column.name, sql::name(column.type)});
    auto& error = answer.error95.emplace_back();
    if (!column.is_plain || column.from.size() != 1) continue;
    for (const auto& [name, value] : errors)
      if (name == column.from.front()) error = value;
  }
  answer.notices.insert(answer.notices.end(), planned.notices.begin(), planned.notices.end());
  answer.cost = {prepared.cost.epsilon.value(), prepared.cost.delta.value(),
                 prepared.price && prepared.price->concentrated
                     ? prepared.price->concentrated->rho.value()
                     : 0};
  return answer;
}

Result<Answer> Curator::answer(const Question& question) {
  DISCREET_TRY(const auto remembered, recall(question));
  const Prepared& prepared = remembered->prepared;
  if (prepared.planned->is_public()) return run(prepared);

  DISCREET_TRY(const auto recorded, ledger_->find_answer(question.account, prepared.key));
  if (recorded) {
    DISCREET_TRY(Answer answer, Answer::from_bytes(recorded->answer));
    DISCREET_TRY_VOID(ledger_->record_repeat(question.account, recorded->charge));
    answer.repeated = true;
    answer.charge = recorded->charge;
    return answer;
  }
  DISCREET_TRY(ledger::Receipt receipt,
               ledger_->charge({question.account, prepared.key, question.request, question.sql,
                                *prepared.loss, *prepared.price}));
  const std::uint64_t charge = receipt.charge();
  const auto answer = run(prepared);
  if (!answer) return after_the_charge(answer.error());
  DISCREET_TRY(const std::string bytes,
               ledger_->record_release(std::move(receipt), answer->to_bytes()));
  DISCREET_TRY(Answer given, Answer::from_bytes(bytes));
  given.charge = charge;
  return given;
}

Result<Explanation> Curator::explain(const Question& question) {
  DISCREET_TRY(const auto remembered, recall(question));
  if (!remembered->explanation) {
    DISCREET_TRY(remembered->explanation, explain_anew(question, remembered->prepared));
  }
  Explanation explanation = *remembered->explanation;
  DISCREET_TRY(explanation.remaining, ledger_->balance(question.account));
  const auto fits = [](const auto& left, double cost) { return !left || cost <= left->value(); };
  explanation.affordable = fits(explanation.remaining.left.epsilon, explanation.cost.epsilon) ||
                           fits(explanation.remaining.question_left, explanation.cost.epsilon);
  return explanation;
}

Result<Explanation> Curator::explain_anew(const Question& question, const Prepared& prepared) {
  const auto& planned = *prepared.planned;
  DISCREET_TRY(ledger::Balance remaining, ledger_->balance(question.account));
  Explanation explanation{{}, {}, std::move(remaining), true, {}, planned.notices};
  explanation.cost = {prepared.cost.epsilon.value(), prepared.cost.delta.value(),
                      prepared.price && prepared.price->concentrated
                          ? prepared.price->concentrated->rho.value()
                          : 0};
  for (std::size_t i = 0; i < planned.releases.size(); ++i)
    explanation.tree += planned.releases[i].tree;
  explanation.tree += planned.tree;
  for (const sql::OutputColumn& column : planned.columns) {
    ExplainedColumn explained{column.name, "", std::nullopt};
    if (!prepared.jobs.empty()) {
      const sql::Release& last = planned.releases.back();
      const auto forecast = prepared.jobs.back().forecast();
      for (std::size_t a = 0; a < last.aggregates.size(); ++a) {
        if (std::find(column.from.begin(), column.from.end(), last.aggregates[a].column) ==
            column.from.end())
          continue;
        explained.mechanism = forecast[a].mechanism;
        if (column.is_plain) explained.error95 = forecast[a].error95;
      }
    }
    explanation.columns.push_back(std::move(explained));
  }
  return explanation;
}

}  // namespace discreet
