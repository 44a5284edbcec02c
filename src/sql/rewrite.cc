#include "sql/rewrite.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/check.h"
#include "sql/emit.h"
#include "sql/engine_dialect.h"
#include "sql/row_places_internal.h"

namespace discreet::sql {
namespace {

constexpr int kSumBits = 62;          // of a q that is only added up
constexpr int kProductBits = 31;      // q * q then fits 62
constexpr int kWideProductBits = 45;  // q * q in 128 bits, and 2^37 of them
constexpr int kRealBits = 40;         // resolution of a bounded real: 2^-40 of its range
constexpr int kRealProductBits = 30;
constexpr int kUnboundedRealDigits = 20;
constexpr int kUnboundedProductDigits = 15;

/// q on a decimal grid as a plain decimal literal: -1234 with two digits is -12.34.
std::string decimal_text(std::int64_t q, int digits) {
  std::string text = std::to_string(q < 0 ? -q : q);
  if (digits > 0) {
    if (text.size() <= static_cast<std::size_t>(digits))
      text.insert(0, static_cast<std::size_t>(digits) + 1 - text.size(), '0');
    text.insert(text.size() - static_cast<std::size_t>(digits), ".");
  }
  return q < 0 ? "(-" + text + ")" : text;
}

std::string whole(std::int64_t q) {
  return q < 0 ? fmt::format("({})", q) : std::to_string(q);
}

/// A declared grid that is a power of ten or two, as most are.
std::optional<Grid> exact_grid(double step) {
  for (int digits = 0; digits <= 12; ++digits) {
    if (std::fabs(step * std::pow(10.0, digits) - 1) < 1e-12) return Grid{Grid::Base::Ten, digits};
    if (step * std::ldexp(1.0, digits) == 1) return Grid{Grid::Base::Two, digits};
  }
  return std::nullopt;
}

Grid real_grid(const Facts& bounds, bool bounded, bool for_products) {
  if (bounds.grid)
    if (const auto grid = exact_grid(*bounds.grid)) return *grid;
  if (!bounded)
    return {Grid::Base::Two, for_products ? kUnboundedProductDigits : kUnboundedRealDigits};
  const double reach = std::max({std::fabs(bounds.lower), std::fabs(bounds.upper), 1e-300});
  const int wanted = for_products ? kRealProductBits : kRealBits;
  return {Grid::Base::Two,
          std::clamp(wanted - static_cast<int>(std::ceil(std::log2(reach))), -200, 200)};
}

/// Floor or ceiling of bound / unit, within what the limit allows.
std::int64_t to_grid(double bound, double unit, double limit, bool up) {
  const double scaled = bound / unit;
  const double nearest = std::round(scaled);
  // A bound such as 0.1 is a whole number of hundredths, whatever its double says.
  const double whole_number = std::fabs(scaled - nearest) <= 1e-9 * std::max(1.0, std::fabs(scaled))
                                  ? nearest
                              : up ? std::ceil(scaled)
                                   : std::floor(scaled);
  return static_cast<std::int64_t>(std::clamp(whole_number, -limit, limit));
}

}  // namespace

double Grid::unit() const {
  return base == Base::Ten ? std::pow(10.0, -digits) : std::ldexp(1.0, -digits);
}

GridChoice choose_grid(Type type, const Facts& facts, const std::optional<AskedBounds>& asked,
                       bool for_products) {
  GridChoice choice;
  Value& value = choice.value;
  value.type = type;
  Facts bounds = facts;
  value.origin = facts.is_bounded() && !facts.from_type_only
                     ? (facts.declared ? BoundsOrigin::Declared : BoundsOrigin::Proved)
                     : BoundsOrigin::Technical;
  if (asked && asked->per_row) {
    const bool narrower = value.origin == BoundsOrigin::Technical || asked->lower > facts.lower ||
                          asked->upper < facts.upper;
    bounds.lower = value.origin == BoundsOrigin::Technical
                       ? asked->lower
                       : std::clamp(asked->lower, facts.lower, facts.upper);
    bounds.upper = value.origin == BoundsOrigin::Technical
                       ? asked->upper
                       : std::clamp(asked->upper, facts.lower, facts.upper);
    if (narrower) value.origin = BoundsOrigin::Asked;
  }
  const bool bounded = value.origin != BoundsOrigin::Technical;
  switch (type.kind) {
    case TypeKind::Decimal:
      value.grid = {Grid::Base::Ten, type.scale};
      break;
    case TypeKind::Double:
      value.grid = real_grid(bounds, bounded, for_products);
      break;
    default:
      value.grid = {Grid::Base::Ten, 0};
      break;
  }
  if (type.kind == TypeKind::Boolean || type.kind == TypeKind::Text) {
    value.lower = 0;
    value.upper = 1;
    value.origin = BoundsOrigin::Proved;
    return choice;
  }
  const int bits = !for_products ? kSumBits : bounded ? kProductBits : kWideProductBits;
  const double limit = std::ldexp(1.0, bits);
  const double reach = std::max(std::fabs(bounds.lower), std::fabs(bounds.upper));
  // Fewer digits where the finest grid would not fit (wide ranges under a variance).
  while (bounded && value.grid.base == Grid::Base::Ten && value.grid.digits > -18 &&
         reach / value.grid.unit() > limit)
    --value.grid.digits;
  value.lower = bounded ? to_grid(bounds.lower, value.grid.unit(), limit, false)
                        : static_cast<std::int64_t>(-limit);
  value.upper = bounded ? to_grid(bounds.upper, value.grid.unit(), limit, true)
                        : static_cast<std::int64_t>(limit);
  if (type.is_time() && !bounded) value.origin = BoundsOrigin::Technical;
  return choice;
}

std::string grid_expression(const Value& value, const std::string& v,
                            const EngineDialect* dialect) {
  if (dialect != nullptr) return dialect->grid(value, v);
  const auto clamped = [&](const std::string& number, const std::string& lower,
                           const std::string& upper) {
    // ELSE keeps NULL: neither comparison holds for it.
    return fmt::format("CASE WHEN {0} < {1} THEN {1} WHEN {0} > {2} THEN {2} ELSE {0} END", number,
                       lower, upper);
  };
  switch (value.type.kind) {
    case TypeKind::Text:
    case TypeKind::Null:
    case TypeKind::Interval:
    case TypeKind::List:
      return v;
    case TypeKind::Boolean:
      return fmt::format("CAST({} AS BIGINT)", v);
    case TypeKind::Integer:
      if (value.grid.digits == 0)
        return fmt::format("CAST({} AS BIGINT)",
                           clamped(v, whole(value.lower), whole(value.upper)));
      break;
    case TypeKind::Date:
      return fmt::format("CAST({} AS BIGINT)",
                         clamped(fmt::format("TRY(date_diff('day', DATE '1970-01-01', {}))", v),
                                 whole(value.lower), whole(value.upper)));
    case TypeKind::Timestamp:
      return fmt::format("CAST({} AS BIGINT)", clamped(fmt::format("TRY(epoch_us({}))", v),
                                                       whole(value.lower), whole(value.upper)));
    case TypeKind::Decimal:
      if (value.grid.digits == value.type.scale) {
        const auto scale = std::pow(10.0, value.type.scale);
        const double reach = std::max(std::fabs(static_cast<double>(value.lower)),
                                      std::fabs(static_cast<double>(value.upper)));
        const auto number = clamped(v, decimal_text(value.lower, value.grid.digits),
                                    decimal_text(value.upper, value.grid.digits));
        const auto power = fmt::format("{:.0f}", scale);
        if (reach * scale < 9e17) return fmt::format("CAST(({}) * {} AS BIGINT)", number, power);
        return fmt::format("TRY(CAST(CAST({} AS DECIMAL(38,{})) * {} AS BIGINT))", number,
                           value.type.scale, power);
      }
      break;
    case TypeKind::Double:
      break;
  }
  // Reals, and numbers on a coarser grid than their own. Scaling by a power of two is exact; the
  // result is between the bounds before it is rounded, and so after.
  const std::string real =
      value.type.kind == TypeKind::Double ? v : fmt::format("CAST({} AS DOUBLE)", v);
  const double unit = value.grid.unit();
  const std::string scaled =
      value.grid.base == Grid::Base::Two
          ? fmt::format("{} * CAST('{}' AS DOUBLE)", real, std::ldexp(1.0, value.grid.digits))
          : fmt::format("{} * CAST('{}' AS DOUBLE)", real, std::pow(10.0, value.grid.digits));
  return fmt::format(
      "CASE WHEN isnan({0}) THEN NULL WHEN {0} <= CAST('{1}' AS DOUBLE) THEN {2} WHEN {0} >= "
      "CAST('{3}' AS DOUBLE) THEN {4} ELSE CAST(round({5}) AS BIGINT) END",
      real, static_cast<double>(value.lower) * unit, whole(value.lower),
      static_cast<double>(value.upper) * unit, whole(value.upper), scaled);
}

/// Only its bounds are between the value and its q.
static bool is_on_its_grid(const Value& value) {
  switch (value.type.kind) {
    case TypeKind::Boolean:
      return true;
    case TypeKind::Integer:
      return value.grid.base == Grid::Base::Ten && value.grid.digits == 0;
    case TypeKind::Decimal:
      return value.grid.base == Grid::Base::Ten && value.grid.digits == value.type.scale;
    default:
      return false;
  }
}

namespace {

/// Counts and sums need no NULL of a value but to count it: DuckDB's least() and greatest(), which
/// leave NULL out, take a tenth of what CASE takes.
void absent_as_zero(const Release& release, std::vector<std::string>& columns,
                    std::vector<std::string>& features) {
  using Kind = Feature::Kind;
  for (std::size_t i = 0; i < release.values.size(); ++i) {
    const Value& value = release.values[i];
    if (value.type.kind != TypeKind::Integer || !is_on_its_grid(value) || value.lower > 0 ||
        value.upper < 0)
      continue;
    const auto uses = [&](const Feature& feature) {
      return feature.value == i || feature.second == i;
    };
    if (!std::all_of(release.features.begin(), release.features.end(), [&](const Feature& feature) {
          return !uses(feature) || feature.kind == Kind::Count || feature.kind == Kind::Sum;
        }))
      continue;
    const std::string v = fmt::format("v{}", i + 1);
    columns[release.keys.size() + i] =
        fmt::format("{0}, least(greatest({1}, {2}), {3}) AS q{4}", v,
                    value.lower == 0 ? v : fmt::format("coalesce({}, 0)", v), whole(value.lower),
                    whole(value.upper), i + 1);
    for (std::size_t f = 0; f < features.size(); ++f)
      if (release.features[f].kind == Kind::Count && uses(release.features[f]))
        features[f] = fmt::format("count({}) AS f{}", v, f + 1);
  }
}

/// A key as rows that come to the curator have it: in few bits, where its domain is known. In the
/// embedded engine a list is gone through from the first, so it has to be short.
constexpr std::size_t kListedMax = 16;
constexpr std::int64_t kAboveMax = std::int64_t{1} << 30;
std::pair<std::string, std::vector<catalog::Literal>> streamed_key(const Key& key,
                                                                   const EngineDialect* dialect,
                                                                   bool is_tables_own) {
  const std::size_t codes_max = dialect == nullptr ? kListedMax : 64;
  const std::string& k = key.column;
  if (dialect != nullptr && !dialect->narrow("0", 0, 0)) return {k, {}};
  if (const auto* range = std::get_if<RangeKey>(&key.domain)) {
    // A NULL is outside of the range like all that is above it: no row has to be told to be absent.
    if (dialect == nullptr)
      return {
          key.type.kind == TypeKind::Integer && range->upper < kAboveMax
              ? fmt::format(fmt::runtime(is_tables_own ? "CAST(least({0}, {1}) AS BIGINT) AS {0}"
                                                       : "least({0}, {1}) AS {0}"),
                            k, whole(range->upper + 1))
              : k,
          {}};
    const auto narrow = dialect->narrow(k, range->lower, range->upper);
    if (key.type.kind != TypeKind::Integer || !narrow) return {k, {}};
    return {fmt::format("CASE WHEN {0} BETWEEN {1} AND {2} THEN {3} END AS {0}", k,
                        whole(range->lower), whole(range->upper), *narrow),
            {}};
  }
  const auto* listed = std::get_if<ListedKey>(&key.domain);
  if (listed == nullptr || key.type.kind != TypeKind::Text || listed->values.size() > codes_max)
    return {k, {}};
  std::string codes, texts;
  for (std::size_t i = 0; i < listed->values.size(); ++i) {
    const auto* text = std::get_if<std::string>(&listed->values[i]);
    if (text == nullptr) return {k, {}};
    if (dialect == nullptr)
      texts += (i == 0 ? "" : ", ") + quote_text(*text);
    else
      codes += fmt::format(
          " WHEN {} THEN {}", dialect->text(*text),
          *dialect->narrow(std::to_string(i + 1), 0, static_cast<std::int64_t>(codes_max)));
  }
  // Files keep a text that repeats once: DuckDB then looks for it once.
  if (dialect == nullptr)
    return {fmt::format("CAST(least(list_position([{1}], {0}), {2}) AS BIGINT) AS {0}", k, texts,
                        listed->values.size() + 1),
            listed->values};
  return {fmt::format("CASE {0}{1} END AS {0}", k, codes), listed->values};
}

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

// Engines elsewhere add up numbers of 32 bits in 64, which is much faster than in 128; below this
// size 2^40 of them still fit.
bool sums_small(const Release& release, const Feature& feature, const EngineDialect* dialect) {
  constexpr std::int64_t kSmall = 1 << 22;
  if (dialect == nullptr || feature.kind != Feature::Kind::Sum) return false;
  const Value& value = release.values[*feature.value];
  return value.lower >= -kSmall && value.upper <= kSmall;
}

/// A release's rows in layers: expressions, then the grid. The engine runs them as one projection.
class RowLayers {
 public:
  RowLayers(const ReleaseInput& input, const Release& release, const EngineDialect* dialect)
      : input_(input),
        dialect_(dialect),
        unit_fits_(input.unit->type.kind == TypeKind::Integer ||
                   input.unit->type.kind == TypeKind::Text ||
                   input.unit->type.kind == TypeKind::Date),
        unit_text_(as_it_lies(*input.unit, nullptr)) {
    for (std::size_t i = 0; i < input.keys.size(); ++i) add_key(i, release.keys[i]);
    for (std::size_t i = 0; i < input.raw.size(); ++i) add_value(i, release);
    for (std::size_t i = 0; i < input.conditions.size(); ++i) {
      want(*input.conditions[i]);
      first_.push_back(fmt::format(
          "{} AS p{}", emit_scalar(*input.conditions[i], &input.facts, dialect), i + 1));
      second_.push_back(fmt::format("p{}", i + 1));
      streamed_.push_back(second_.back());
    }
    with_unit_ = wanted_;
    for_each_column(*input.unit, [&](ColumnId id) { with_unit_.push_back(id); });
  }

  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& columns() const { return second_; }

  std::string rows() const {
    return fmt::format("SELECT {} FROM {}", joined(with({"unit"}, second_)), named(dialect_, true));
  }

  // A row that is its own unit needs no name for it; other rows without a unit belong to nobody.
  std::string rows_without_unit(const std::vector<std::string>& columns, bool unit_is_row) const {
    const auto plan =
        emit_plan(input_.plan, unit_is_row ? wanted_ : with_unit_, &input_.facts, dialect_);
    // Rows that are only counted need no names: DuckDB would put them on every row.
    if (unit_is_row && columns.empty()) return plan;
    const auto or_one = [](const std::vector<std::string>& list) {
      return list.empty() ? std::string("1 AS one") : joined(list);
    };
    return fmt::format("SELECT {} FROM (SELECT {} FROM ({}){})", or_one(columns), or_one(first_),
                       plan, unit_is_row ? "" : fmt::format(" WHERE {} IS NOT NULL", unit_text_));
  }

  StreamedRows streamed() const {
    StreamedRows made;
    made.digits = digits_;
    made.codes = codes_;
    // Whoever adds up leaves out rows without a unit by itself. Rows that come through a narrow way
    // should not come at all.
    const EngineDialect* by_pages =
        dialect_ != nullptr && is_row_by_row(input_.plan) ? dialect_->by_pages() : nullptr;
    made.sql = fmt::format(
        "SELECT {} FROM {}", joined(with({"unit"}, streamed_)),
        by_pages != nullptr ? named(by_pages, false) : named(dialect_, dialect_ != nullptr));
    if (dialect_ != nullptr) {
      made.sql = dialect_->statement(made.sql);
    } else if (input_.link && unit_fits_ && input_.link->key->type.kind == TypeKind::Integer &&
               input_.link->target->type.kind == TypeKind::Integer) {
      const auto& link = *input_.link;
      auto with_key = wanted_;
      for_each_column(*link.key, [&](ColumnId id) { with_key.push_back(id); });
      const auto key = emit_scalar(*link.key), target = emit_scalar(*link.target);
      made.linked_sql = fmt::format(
          "SELECT {} FROM (SELECT {} FROM ({}))", joined(with({"unit"}, streamed_)),
          joined(with({key + " AS unit"}, first_)), emit_plan(*link.rows, with_key, &input_.facts));
      std::vector<ColumnId> owner;
      for (const ScalarPtr& one : {link.target, input_.unit})
        for_each_column(*one, [&](ColumnId id) { owner.push_back(id); });
      made.link_sql = fmt::format("SELECT {} AS link, {} AS unit FROM ({})", target, unit_text_,
                                  emit_plan(*link.owner, owner));
      if (is_row_by_row(*link.owner) && add_places(*link.rows, *link.key, "{}", made)) {
        made.owners_by_link = true;
        made.owners_tables.push_back(scan_below(*link.owner).table);
      }
    }
    if (dialect_ == nullptr && !made.owners_by_link)
      add_places(input_.plan, *input_.unit, unit_fits_ ? "{}" : "CAST({} AS VARCHAR)", made);
    return made;
  }

 private:
  bool add_places(const Plan& plan, const Scalar& owner, const char* unit,
                  StreamedRows& made) const {
    const auto* use = std::get_if<ColumnUse>(&owner.node);
    if (use == nullptr || !is_row_by_row(plan) ||
        std::find(wanted_.begin(), wanted_.end(), use->id) != wanted_.end())
      return false;
    const auto placed = with_places(plan, use->id);
    if (!placed) return false;
    const std::string& table = scan_below(plan).table;
    auto with_place = wanted_;
    with_place.push_back(use->id);
    made.placed_sql =
        fmt::format("SELECT {} FROM (SELECT {} FROM ({}))", joined(with({"unit"}, streamed_)),
                    joined(with({column_name(use->id) + " AS unit"}, first_)),
                    emit_plan(*placed->plan, with_place, &input_.facts));
    made.owners_sql =
        fmt::format("SELECT {} AS place, {} AS unit FROM {}", quote_name(kPlaceColumn),
                    fmt::format(fmt::runtime(unit), quote_name(placed->column)),
                    quote_name(placed_table(table)));
    made.owners_tables = {table};
    return true;
  }

  void want(const Scalar& scalar) {
    for_each_column(scalar, [&](ColumnId id) { wanted_.push_back(id); });
  }

  // A column as wide as the table keeps it, where nothing is computed from it but small sums.
  std::string as_it_lies(const Scalar& one, const FactsTable* facts) const {
    const auto* use = std::get_if<ColumnUse>(&one.node);
    return use != nullptr ? column_name(use->id) : emit_scalar(one, facts, dialect_);
  }

  // Whole numbers of a table's own column fit 64 bits. DuckDB widens them on the way from a file's
  // dictionary, for less than writing them out narrow, nulls apart, to be widened here.
  bool is_tables_own(const Scalar& one) const {
    const auto* use = std::get_if<ColumnUse>(&one.node);
    if (use == nullptr) return false;
    const Plan& plan = input_.link ? *input_.link->rows : input_.plan;
    return is_row_by_row(plan) && sql::is_tables_own(plan, use->id);
  }

  void add_key(std::size_t i, const Key& key) {
    const ScalarPtr& scalar = input_.keys[i].second;
    want(*scalar);
    auto text = as_it_lies(*scalar, &input_.facts);
    if (scalar->type.kind == TypeKind::Decimal) text = fmt::format("CAST({} AS DOUBLE)", text);
    first_.push_back(fmt::format("{} AS k{}", text, i + 1));
    keys_.push_back(fmt::format("k{}", i + 1));
    second_.push_back(keys_.back());
    auto [short_key, codes] = streamed_key(key, dialect_, is_tables_own(*scalar));
    streamed_.push_back(std::move(short_key));
    codes_.push_back(std::move(codes));
  }

  void add_value(std::size_t i, const Release& release) {
    const Value& value = release.values[i];
    const bool may_be_narrow =
        std::none_of(release.features.begin(), release.features.end(), [&](const Feature& feature) {
          return (feature.value == i || feature.second == i) &&
                 !sums_small(release, feature, dialect_) && feature.kind != Feature::Kind::Count &&
                 feature.kind != Feature::Kind::Distinct;
        });
    want(*input_.raw[i]);
    first_.push_back(fmt::format("{} AS v{}",
                                 may_be_narrow
                                     ? as_it_lies(*input_.raw[i], &input_.facts)
                                     : emit_scalar(*input_.raw[i], &input_.facts, dialect_),
                                 i + 1));
    const auto grid = grid_expression(value, fmt::format("v{}", i + 1), dialect_);
    second_.push_back(fmt::format("{} AS q{}", grid, i + 1));
    // Decimals of other engines come as whole numbers only.
    const auto narrow = dialect_ == nullptr || value.type.kind == TypeKind::Text
                            ? std::nullopt
                            : dialect_->narrow(grid, value.lower, value.upper);
    const bool as_it_is = !narrow && is_on_its_grid(value) &&
                          (dialect_ == nullptr || value.type.kind != TypeKind::Decimal);
    const bool widened = dialect_ == nullptr && value.type.kind == TypeKind::Integer &&
                         is_tables_own(*input_.raw[i]);
    streamed_.push_back(narrow                ? fmt::format("{} AS q{}", *narrow, i + 1)
                        : as_it_is && widened ? fmt::format("CAST(v{0} AS BIGINT) AS q{0}", i + 1)
                        : as_it_is            ? fmt::format("v{0} AS q{0}", i + 1)
                                              : second_.back());
    digits_.push_back(as_it_is && value.type.kind == TypeKind::Decimal ? value.type.scale : 0);
  }

  std::string named(const EngineDialect* dialect, bool somebodys) const {
    return fmt::format(
        "(SELECT {} FROM ({}){})",
        joined(with({unit_fits_ ? unit_text_ + " AS unit"
                                : fmt::format("CAST({} AS VARCHAR) AS unit", unit_text_)},
                    first_)),
        emit_plan(input_.plan, with_unit_, &input_.facts, dialect),
        somebodys ? fmt::format(" WHERE {} IS NOT NULL", unit_text_) : "");
  }

  const ReleaseInput& input_;
  const EngineDialect* dialect_;
  const bool unit_fits_;
  const std::string unit_text_;
  std::vector<std::string> first_, second_, streamed_, keys_;
  std::vector<int> digits_;
  std::vector<std::vector<catalog::Literal>> codes_;
  std::vector<ColumnId> wanted_, with_unit_;
};

/// What the features are sums of q1, ... and p1, ... of, in an engine's SQL.
std::vector<std::string> feature_columns(const ReleaseInput& input, const Release& release,
                                         const EngineDialect* dialect) {
  const auto widened = [&](const std::string& sql) {
    constexpr std::string_view kBegin = "coalesce(sum(", kEnd = "), 0)";
    if (dialect == nullptr || dialect->sums_are_wide() || !sql.starts_with(kBegin) ||
        !sql.ends_with(kEnd))
      return sql;
    return fmt::format("coalesce(sum(CAST({} AS HUGEINT)), 0)",
                       sql.substr(kBegin.size(), sql.size() - kBegin.size() - kEnd.size()));
  };
  std::vector<std::string> features;
  for (std::size_t i = 0; i < input.feature_sql.size(); ++i) {
    const Feature& feature = release.features[i];
    features.push_back(
        fmt::format("{} AS f{}",
                    sums_small(release, feature, dialect)
                        ? fmt::format("coalesce(sum(CAST(q{} AS INTEGER)), 0)", *feature.value + 1)
                        : widened(input.feature_sql[i]),
                    i + 1));
  }
  return features;
}

/// Totals of rows each of which is all of its unit's.
std::string totals_sql(const ReleaseInput& input, const Release& release, const RowLayers& layers,
                       const EngineDialect* dialect) {
  auto columns = layers.columns(), sums = feature_columns(input, release, dialect);
  if (dialect == nullptr) absent_as_zero(release, columns, sums);
  // Nothing to add up within a unit, but a row is still what the curator expects.
  std::string sql = fmt::format("SELECT {} FROM ({})",
                                joined(with(with(layers.keys(), sums), {"count(*) AS units"})),
                                layers.rows_without_unit(columns, release.unit_is_row));
  if (!layers.keys().empty()) sql += " GROUP BY " + joined(layers.keys());
  return sql;
}

}  // namespace

void write_release_sql(const ReleaseInput& input, Release& release) {
  const RowLayers layers(input, release, input.dialect);
  const auto& keys = layers.keys();
  const auto features = feature_columns(input, release, input.dialect);
  const std::string rows = layers.rows();
  const auto unit_and_keys = with({"unit"}, keys);
  if (release.bounds.one_row_per_unit) {
    release.totals_sql = totals_sql(input, release, layers, input.dialect);
    if (release.unit_is_row && keys.empty() && is_whole_table(input.plan) &&
        std::all_of(release.features.begin(), release.features.end(), [](const Feature& feature) {
          return feature.kind == Feature::Kind::Rows && !feature.condition;
        }))
      release.counted_table = scan_below(input.plan).table;
  }
  release.rows_sql = rows;
  release.partials_sql =
      fmt::format("SELECT {} FROM ({}) GROUP BY {}", joined(with(unit_and_keys, features)), rows,
                  joined(unit_and_keys));
  for (ValueStream& stream : release.streams) {
    const auto q = fmt::format("q{}", stream.value + 1);
    stream.sql = fmt::format(
        "SELECT {}, {} AS value, count(*) AS multiplicity FROM ({}) WHERE {} IS NOT NULL GROUP BY "
        "{}, {}",
        joined(unit_and_keys), q, rows, q, joined(unit_and_keys), q);
  }
  // Else rows stay where they are, and only sums travel.
  if (input.dialect == nullptr || input.dialect->streams_rows())
    release.streamed = layers.streamed();
  if (input.dialect == nullptr) return;
  if (input.dialect->files() != TableFiles::Nowhere) {
    const RowLayers embedded(input, release, nullptr);
    if (!release.unit_is_row) release.over_files.rows = embedded.streamed();
    // Groups that nobody knows beforehand may be more than the embedded engine has room for.
    if (release.totals_sql && input.dialect->files() != TableFiles::WithinReach &&
        std::ranges::all_of(release.keys, &Key::is_public)) {
      release.over_files.totals_sql = totals_sql(input, release, embedded, nullptr);
      release.over_files.totals_only_again = input.dialect->files() == TableFiles::Sent;
    }
  }
  release.rows_sql = input.dialect->statement(release.rows_sql);
  release.partials_sql = input.dialect->statement(release.partials_sql);
  if (release.totals_sql) release.totals_sql = input.dialect->statement(*release.totals_sql);
  for (ValueStream& stream : release.streams) stream.sql = input.dialect->statement(stream.sql);
}

}  // namespace discreet::sql
