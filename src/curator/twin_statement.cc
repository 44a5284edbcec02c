// CREATE TABLE twin AS SYNTHESIZE table: checked, charged, made, recorded; then a public table.
#include <fmt/format.h>

#include <algorithm>

#include "curator/asker_schema.h"
#include "curator/curator.h"
#include "curator/twins.h"
#include "ledger/sha256.h"
#include "synth/raw_twin.h"

namespace discreet {
namespace {

constexpr double kDefaultDelta = 1e-9;  // as `discreet synth fit`

const std::vector<AnswerColumn>& shown_columns() {
  static const std::vector<AnswerColumn> columns = {{"twin", "text"}, {"rows", "bigint"}};
  return columns;
}

Error charged_but(const Error& error) {
  return {ErrorCode::Unavailable,
          fmt::format("The twin was charged but could not be made ({}). Ask for the same again: it "
                      "is not charged twice.",
                      error.code == ErrorCode::Unavailable || error.code == ErrorCode::Refused
                          ? error.message
                          : "an internal limit was met")};
}

}  // namespace

struct Curator::PreparedTwin {
  TwinRows rows;
  synth::RawTwinRequest request;
  std::string key, snapshot;
  LossEvent loss;
  ledger::Price price;
};

std::vector<DescribedColumn> Curator::describe_twin() {
  std::vector<DescribedColumn> columns;
  for (const AnswerColumn& column : shown_columns()) columns.push_back({column, false});
  return columns;
}

Result<void> Curator::find_twins() {
  DISCREET_TRY([[maybe_unused]] const bool any,
               data_.twins().find_recorded(*ledger_, data_.local()));
  return {};
}

Result<Curator::PreparedTwin> Curator::prepare_twin(const Question& question,
                                                    const sql::SynthesizeStatement& statement) {
  if (question.target_error)
    return invalid_parameter("a twin has no target_error; give it an epsilon");
  DISCREET_TRY_VOID(check_twin_name(statement.twin));
  if (const catalog::Table* taken = policy_.table(statement.twin);
      taken != nullptr && shows(policy_, question.account, *taken))
    return invalid_parameter(
        fmt::format("the name '{}' is taken; give the twin another one.", statement.twin));
  const catalog::Table* table = policy_.table(statement.table);
  if (table == nullptr || !shows(policy_, question.account, *table))
    return Error{ErrorCode::NotFound,
                 fmt::format("There is no table '{}'; there are {}.", statement.table,
                             fmt::join(shown_names(policy_, question.account), ", "))};
  DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, question.account));
  const double epsilon_wanted = statement.epsilon.value_or(
      question.epsilon ? question.epsilon->value() : Curator::kDefaultEpsilon);
  const double delta_wanted =
      statement.delta.value_or(question.delta ? question.delta->value() : kDefaultDelta);
  DISCREET_TRY(const Epsilon epsilon, Epsilon::make(epsilon_wanted));
  DISCREET_TRY(const Delta delta, Delta::make(delta_wanted));
  DISCREET_TRY(TwinRows rows, TwinRows::plan(*table, data_));
  synth::RawTwinRequest request{.workload = statement.workload,
                                .budget = {epsilon, delta},
                                .rows = static_cast<std::size_t>(statement.rows)};
  DISCREET_TRY(request.settings.method, synth::parse_method(statement.method));
  request.settings.fast = statement.fast;
  DISCREET_TRY_VOID(request.check(rows.specs));
  DISCREET_TRY(std::string snapshot, data_.snapshot({table->name}));
  std::string key = ledger::to_hex(ledger::sha256(fmt::format(
      "{}\n{}\n{}\n{}", statement.normalised_text, epsilon.value(), delta.value(), snapshot)));
  const LossEvent loss = loss::Approximate{epsilon, delta};
  return PreparedTwin{std::move(rows),
                      std::move(request),
                      std::move(key),
                      std::move(snapshot),
                      loss,
                      ledger::Price::of({epsilon, delta}, loss)};
}

Result<Answer> Curator::make_twin(const Question& question,
                                  const sql::SynthesizeStatement& statement) {
  if (statement.explain)
    return Error{ErrorCode::Refused,
                 "EXPLAIN is not answered but explained: `discreet explain`, or EXPLAIN on the "
                 "server. Nothing was charged."};
  DISCREET_TRY(const PreparedTwin prepared, prepare_twin(question, statement));
  const auto answer_of = [&](const RecordedTwins& twins, std::uint64_t charge) {
    Answer answer;
    answer.columns = shown_columns();
    answer.rows = {{statement.twin, std::to_string(twins.tables.front().rows())}};
    answer.errors = {{std::nullopt, std::nullopt}};
    answer.error95 = {std::nullopt, std::nullopt};
    answer.noisy = {false, false};
    answer.notices = twins.notes;
    answer.notices.push_back(
        fmt::format("'{}' is public: questions about it cost nothing.", statement.twin));
    const ApproxDp budget = prepared.request.budget;
    answer.cost = {budget.epsilon.value(), budget.delta.value(), 0};
    answer.charge = charge;
    CertificateCore core{question.sql, prepared.key,      question.account,
                         "a twin",     prepared.snapshot, {},
                         charge,       prepared.loss,     prepared.price};
    for (const AnswerColumn& column : answer.columns)
      core.columns.push_back({column.name, column.type, "", {}});
    answer.certificate = core.to_json();
    return answer;
  };
  DISCREET_TRY(const auto recorded, ledger_->find_answer(question.account, prepared.key));
  if (recorded) {
    DISCREET_TRY(const RecordedTwins twins, RecordedTwins::from_bytes(recorded->answer));
    DISCREET_TRY_VOID(data_.twins().add(statement.twin, recorded->charge, twins, data_.local()));
    DISCREET_TRY_VOID(ledger_->record_repeat(question.account, recorded->charge));
    Answer answer = answer_of(twins, recorded->charge);
    answer.repeated = true;
    return answer;
  }
  DISCREET_TRY_VOID(data_.twins().find_recorded(*ledger_, data_.local()));
  if (data_.twin(statement.twin) != nullptr)
    return Error{ErrorCode::Refused,
                 fmt::format("there is a twin called '{}' already, made by another statement or "
                             "from other rows; a twin stays as it is, so take another name.",
                             statement.twin)};
  DISCREET_TRY_VOID(data_.engine().check(prepared.rows.sql));
  DISCREET_TRY_VOID(go_on());
  DISCREET_TRY(ledger::Receipt receipt,
               ledger_->charge({question.account, prepared.key, question.request, question.sql,
                                prepared.loss, prepared.price}));
  const std::uint64_t charge = receipt.charge();
  const auto made = [&]() -> Result<RecordedTwins> {
    const std::stop_callback when_asked(stop_, [this] { data_.engine().cancel(); });
    DISCREET_TRY(const auto raw, prepared.rows.read(data_));
    synth::RawTwinRequest request = prepared.request;
    request.progress = [stop = stop_](std::string_view, double) { return !stop.stop_requested(); };
    DISCREET_TRY(auto fitted, synth::fit_raw(raw, prepared.rows.specs, request, random_));
    RecordedTwins twins{std::move(fitted.twin.notes), std::move(fitted.tables),
                        prepared.rows.types};
    twins.notes.insert(twins.notes.end(), prepared.rows.notes.begin(), prepared.rows.notes.end());
    return twins;
  }();
  if (!made) return charged_but(made.error());
  DISCREET_TRY(const std::string bytes,
               ledger_->record_release(std::move(receipt), made->to_bytes()));
  DISCREET_TRY(const RecordedTwins twins, RecordedTwins::from_bytes(bytes));
  DISCREET_TRY_VOID(data_.twins().add(statement.twin, charge, twins, data_.local()));
  return answer_of(twins, charge);
}

Result<Explanation> Curator::explain_twin(const Question& question,
                                          const sql::SynthesizeStatement& statement) {
  DISCREET_TRY(const PreparedTwin prepared, prepare_twin(question, statement));
  DISCREET_TRY(ledger::Balance remaining, ledger_->balance(question.account));
  Explanation explanation{{}, {}, std::move(remaining), true, {}, {}, {}, prepared.rows.notes};
  const ApproxDp budget = prepared.request.budget;
  explanation.cost = {budget.epsilon.value(), budget.delta.value(), 0};
  for (const AnswerColumn& column : shown_columns())
    explanation.columns.push_back({column.name, "", {}});
  explanation.tree =
      fmt::format("Synthesize {}: {} columns\n", statement.table, prepared.rows.specs.size());
  explanation.drawing = explanation.tree;
  explanation.json = fmt::format("{{\"synthesize\": \"{}\", \"columns\": {}}}", statement.table,
                                 prepared.rows.specs.size());
  const auto& left = explanation.remaining.left.epsilon;
  const auto& one = explanation.remaining.question_left;
  explanation.affordable = !left || budget.epsilon <= *left || !one || budget.epsilon <= *one;
  return explanation;
}

}  // namespace discreet
