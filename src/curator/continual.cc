#include "curator/continual.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "curator/asker_schema.h"
#include "ledger/sha256.h"
#include "privacy/zcdp_conversion.h"
#include "sql/planner.h"
#include "tables/prefix_stream.h"
#include "tables/release.h"

namespace discreet {
namespace {

using nlohmann::json;

Error refused(std::string message) {
  return {ErrorCode::Refused, std::move(message)};
}

std::string stream_key(const std::string& account, const std::string& name) {
  return ledger::to_hex(ledger::sha256(fmt::format("continual\n{}\n{}", account, name)));
}
std::string period_key(const std::string& account, const std::string& name, std::uint32_t period) {
  return ledger::to_hex(
      ledger::sha256(fmt::format("continual\n{}\n{}\nperiod {}", account, name, period)));
}

}  // namespace

std::string StreamTerms::to_json() const {
  return json{{"name", name},
              {"sql", sql},
              {"account", account},
              {"periods", periods},
              {"first", first},
              {"every", every},
              {"rows_per_unit", rows_per_unit},
              {"epsilon", budget.epsilon.value()},
              {"delta", budget.delta.value()}}
      .dump();
}

Result<StreamTerms> StreamTerms::parse(const std::string& text) {
  const json from = json::parse(text, nullptr, false);
  const Error damaged{ErrorCode::InvalidInput, "the stream's record in the ledger is damaged"};
  if (!from.is_object()) return damaged;
  try {
    StreamTerms terms{.name = from.at("name"),
                      .sql = from.at("sql"),
                      .account = from.at("account"),
                      .periods = from.at("periods"),
                      .first = from.at("first"),
                      .every = from.at("every"),
                      .rows_per_unit = from.at("rows_per_unit")};
    DISCREET_TRY(terms.budget.epsilon, Epsilon::make(from.at("epsilon").get<double>()));
    DISCREET_TRY(terms.budget.delta, Delta::make(from.at("delta").get<double>()));
    return terms;
  } catch (const json::exception&) {
    return damaged;
  }
}

struct Continual::Stream {
  struct Column {
    std::string text;
    std::size_t rows, feature;  ///< features: the rows that count, and what is added up
    bool is_count;
    double unit;
    tables::PrefixStream noise;
  };
  StreamTerms terms;
  sql::PlannedQuestion planned;
  std::vector<Column> columns;
  bool by_date = false;
  std::uint64_t rows_per_unit = 1;
  Rho rho = Rho::zero();

  const sql::Release& release() const { return planned.releases.front(); }
};

Result<Continual> Continual::open(const catalog::Policy& policy, const Clock& clock,
                                  RandomSource& random, OperatorLog log) {
  DISCREET_TRY(Data data, Data::open(policy, std::move(log)));
  DISCREET_TRY(ledger::Ledger ledger, open_ledger(policy, clock));
  return Continual(policy, random, std::move(data),
                   std::make_unique<ledger::Ledger>(std::move(ledger)));
}

Result<Continual::Stream> Continual::plan(const StreamTerms& terms) {
  if (terms.every == 0) return invalid_parameter("a period has at least one day or number");
  const AskerSchema schema(policy_, data_, terms.account);
  DISCREET_TRY(sql::PlannedQuestion planned, sql::Planner(policy_, schema).plan(terms.sql));
  if (planned.releases.size() != 1 || planned.releases.front().keys.size() != 1 ||
      planned.releases.front().grouping_sets || !planned.releases.front().needs.empty())
    return refused(
        "A stream is one statement with one key: SELECT day, count(*) FROM ... GROUP BY day.");
  const sql::Release& release = planned.releases.front();
  Stream stream{terms, {}, {}, false, 1, Rho::zero()};
  const sql::Key& key = release.keys.front();
  stream.by_date = key.type.kind == sql::TypeKind::Date;
  if (!stream.by_date && key.type.kind != sql::TypeKind::Integer)
    return refused(fmt::format(
        "The key of a stream is a date or a whole number, and {} is neither.", key.text));

  std::optional<std::uint64_t> rows = release.bounds.rows_max;
  if (release.bounds.one_row_per_unit || release.unit_is_row) rows = 1;
  if (terms.rows_per_unit > 0) rows = std::min(rows.value_or(UINT64_MAX), terms.rows_per_unit);
  if (!rows)
    return refused(fmt::format(
        "One of {} may add any number of rows to the stream. Say how many count over all periods: "
        "--rows-per-unit 20, or max_rows_per_unit in the policy.",
        release.people));
  stream.rows_per_unit = *rows;
  DISCREET_TRY(const Rho whole, zcdp_meeting(terms.budget));
  DISCREET_TRY(const Rho each,
               Rho::make(div_down(whole.value(),
                                  count_up(std::max<std::size_t>(1, release.aggregates.size())))));
  for (const sql::AggregateRelease& aggregate : release.aggregates) {
    double limit = 1, unit = 1;
    std::size_t counted = 0, feature = 0;
    bool is_count = false;
    if (const auto* count = std::get_if<sql::CountRelease>(&aggregate.kind);
        count != nullptr && release.features[count->rows].kind != sql::Feature::Kind::Distinct) {
      counted = feature = count->rows;
      is_count = true;
    } else if (const auto* sum = std::get_if<sql::SumRelease>(&aggregate.kind)) {
      const sql::Value& value = release.values[*release.features[sum->sum].value];
      if (value.origin == sql::BoundsOrigin::Technical ||
          (aggregate.asked && !aggregate.asked->per_row))
        return refused(fmt::format(
            "{}: in a stream the value of a row needs bounds. Ask the data owner for `range = "
            "[low, "
            "high]` on the column, or write contribution_bounds_per_row => (low, high).",
            aggregate.text));
      counted = sum->count;
      feature = sum->sum;
      limit = static_cast<double>(std::max<std::int64_t>({1, -value.lower, value.upper}));
      unit = value.grid.unit();
    } else {
      return refused(fmt::format("{} cannot be a stream: only count(*), count(x) and sum(x) can.",
                                 aggregate.text));
    }
    DISCREET_TRY(auto noise,
                 tables::PrefixStream::make(terms.periods, each, mul_up(limit, count_up(*rows))));
    stream.rho = stream.rho + noise.rho();
    stream.columns.push_back({aggregate.text, counted, feature, is_count, unit, std::move(noise)});
  }
  if (stream.columns.empty()) return refused("A stream needs an aggregate: add count(*).");
  DISCREET_CHECK(stream.rho <= whole, "the columns cost no more than the budget");
  stream.planned = std::move(planned);
  return stream;
}

Result<std::vector<StreamColumn>> Continual::start(const StreamTerms& terms) {
  if (terms.name.empty()) return invalid_parameter("a stream needs a name");
  DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, terms.account));
  DISCREET_TRY(const Stream stream, plan(terms));
  const std::string key = stream_key(terms.account, terms.name), text = terms.to_json();
  DISCREET_TRY(const auto known, ledger_->find_answer(terms.account, key));
  if (known && known->answer != text)
    return refused(fmt::format(
        "There is a stream named '{}' with other terms. Give this one another name.", terms.name));
  if (!known) {
    const LossEvent loss = loss::Zcdp{stream.rho};
    DISCREET_TRY(ledger::Receipt receipt,
                 ledger_->charge({terms.account, key, "",
                                  fmt::format("stream {}: {}", terms.name, terms.sql), loss,
                                  ledger::Price::of(terms.budget, loss)}));
    DISCREET_TRY(const std::string kept, ledger_->record_release(std::move(receipt), text));
    if (kept != text)
      return refused(fmt::format("A stream named '{}' was started at the same time.", terms.name));
  }
  std::vector<StreamColumn> columns;
  for (const Stream::Column& column : stream.columns)
    columns.push_back({column.text, 0,
                       tables::interval_half_width(column.noise.variance(terms.periods - 1), 0.95) *
                           column.unit});
  return columns;
}

Result<StreamTerms> Continual::terms(const std::string& account, const std::string& name) {
  DISCREET_TRY_VOID(ensure_account(*ledger_, policy_, account));
  DISCREET_TRY(const auto known, ledger_->find_answer(account, stream_key(account, name)));
  if (!known)
    return Error{ErrorCode::NotFound,
                 fmt::format("{} has no stream named '{}'; `discreet continual start` makes one",
                             account, name)};
  return StreamTerms::parse(known->answer);
}

// Column by column, what each period added: exact, bounded, private.
Result<std::vector<std::vector<std::int64_t>>> Continual::increments(const Stream& stream,
                                                                     std::uint32_t periods) {
  const sql::Release& release = stream.release();
  const std::int64_t first = stream.terms.first, every = stream.terms.every;
  const std::string key =
      stream.by_date ? "date_diff('day', DATE '1970-01-01', k1)" : "CAST(k1 AS BIGINT)";
  std::string sums;
  for (const Stream::Column& column : stream.columns) {
    // Rows of the unit up to and including this key, earliest first.
    const std::string rows = release.features[column.rows].column,
                      value = release.features[column.feature].column;
    const std::string before = fmt::format("(seen_{0} - {0})", rows);
    sums += column.is_count ? fmt::format(", sum(greatest(0, least({}, {} - {})))", rows,
                                          stream.rows_per_unit, before)
                            : fmt::format(", sum(CASE WHEN seen_{} <= {} THEN {} ELSE 0 END)", rows,
                                          stream.rows_per_unit, value);
  }
  std::string seen;
  for (std::size_t f = 0; f < release.features.size(); ++f)
    seen += fmt::format(", sum({0}) OVER (PARTITION BY unit ORDER BY k) AS seen_{0}",
                        release.features[f].column);
  const std::string sql = fmt::format(
      "WITH kept AS (SELECT *, {0} AS k FROM ({1}) WHERE k1 IS NOT NULL AND {0} >= {2} AND {0} < "
      "{3}), bounded AS (SELECT *{4} FROM kept) "
      "SELECT CAST((k - {2}) // {5} AS BIGINT) AS p{6} FROM bounded GROUP BY p",
      key, release.partials_sql, first, first + every * std::int64_t{periods}, seen, every, sums);
  DISCREET_TRY(DuckDbRows rows, data_.engine().query(sql));
  std::vector<std::vector<std::int64_t>> added(stream.columns.size(),
                                               std::vector<std::int64_t>(periods, 0));
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) return added;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      const std::int64_t period = chunk->int64s(0)[row];
      if (period < 0 || period >= periods) continue;
      for (std::size_t i = 0; i < added.size(); ++i)
        if (!chunk->is_null(i + 1, row))
          added[i][static_cast<std::size_t>(period)] =
              static_cast<std::int64_t>(static_cast<std::uint64_t>(chunk->int128(i + 1, row)));
    }
  }
}

// By column, what the ledger holds of periods 0, 1, ...
Result<std::vector<std::vector<std::int64_t>>> Continual::recorded(const Stream& stream) {
  std::vector<std::vector<std::int64_t>> released(stream.columns.size());
  for (std::uint32_t period = 0; period < stream.terms.periods; ++period) {
    DISCREET_TRY(const auto known,
                 ledger_->find_answer(stream.terms.account,
                                      period_key(stream.terms.account, stream.terms.name, period)));
    if (!known) break;
    const json values = json::parse(known->answer, nullptr, false);
    if (!values.is_array() || values.size() != released.size())
      return Error{ErrorCode::InvalidInput, "the stream's record in the ledger is damaged"};
    for (std::size_t i = 0; i < released.size(); ++i)
      released[i].push_back(values[i].get<std::int64_t>());
  }
  return released;
}

PeriodTotals Continual::totals(const Stream& stream, std::uint32_t period,
                               const std::vector<std::vector<std::int64_t>>& released) {
  PeriodTotals made{
      period, stream.terms.first + std::int64_t{stream.terms.every} * (period + 1) - 1, {}};
  for (std::size_t i = 0; i < stream.columns.size(); ++i) {
    const Stream::Column& column = stream.columns[i];
    double total = column.noise.total(std::span(released[i]).first(period + std::size_t{1}));
    if (column.is_count) total = std::fmax(0, std::round(total));
    made.columns.push_back(
        {column.text, total * column.unit,
         tables::interval_half_width(column.noise.variance(period), 0.95) * column.unit});
  }
  return made;
}

Result<PeriodTotals> Continual::release(const std::string& account, const std::string& name,
                                        std::uint32_t period) {
  DISCREET_TRY(const StreamTerms known, terms(account, name));
  if (period >= known.periods)
    return invalid_parameter(fmt::format("stream '{}' has periods 0 to {}; {} is past its end",
                                         name, known.periods - 1, period));
  DISCREET_TRY(const Stream stream, plan(known));
  DISCREET_TRY(auto released, recorded(stream));
  const auto done = static_cast<std::uint32_t>(released.front().size());
  if (done <= period) {
    DISCREET_TRY(const auto added, increments(stream, period + 1));
    for (std::uint32_t t = done; t <= period; ++t) {
      json drawn = json::array();
      for (std::size_t i = 0; i < stream.columns.size(); ++i)
        drawn.push_back(stream.columns[i].noise.release(
            std::span(added[i]).first(t + std::size_t{1}), random_));
      // Paid for at the start; the receipt makes its record unique.
      const LossEvent nothing = loss::Pure{Epsilon::zero()};
      DISCREET_TRY(
          ledger::Receipt receipt,
          ledger_->charge({account, period_key(account, name, t), "",
                           fmt::format("stream {}, period {}: paid at its start", name, t), nothing,
                           ledger::Price::of({Epsilon::zero(), Delta::zero()}, nothing)}));
      DISCREET_TRY(const std::string kept,
                   ledger_->record_release(std::move(receipt), drawn.dump()));
      const json values = json::parse(kept, nullptr, false);
      for (std::size_t i = 0; i < released.size(); ++i)
        released[i].push_back(values.at(i).get<std::int64_t>());
    }
  }
  return totals(stream, period, released);
}

Result<std::vector<PeriodTotals>> Continual::show(const std::string& account,
                                                  const std::string& name) {
  DISCREET_TRY(const StreamTerms known, terms(account, name));
  DISCREET_TRY(const Stream stream, plan(known));
  DISCREET_TRY(const auto released, recorded(stream));
  std::vector<PeriodTotals> all;
  for (std::uint32_t t = 0; t < released.front().size(); ++t)
    all.push_back(totals(stream, t, released));
  return all;
}

}  // namespace discreet
