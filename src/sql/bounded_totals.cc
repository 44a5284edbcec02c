#include "sql/bounded_totals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "sql/emit.h"

namespace discreet::sql {
namespace {

std::string whole(std::int64_t q) {
  return q < 0 ? fmt::format("({})", q) : std::to_string(q);
}

}  // namespace

std::string bounded_totals_sql(const Release& release, const SqlBounding& bounding,
                               const EngineDialect* dialect) {
  DISCREET_CHECK(bounding.clip.size() == release.features.size(),
                 "one pair of clipping bounds per feature");
  std::vector<std::string> keys,
      hashed{dialect == nullptr ? quote_text(bounding.key) : dialect->text(bounding.key),
             "CAST(unit AS VARCHAR)"},
      sums;
  for (const Key& key : release.keys) {
    keys.push_back(key.column);
    // Lengths keep ('ab', 'c') and ('a', 'bc') apart.
    hashed.push_back(
        fmt::format("coalesce(CAST(length(CAST({0} AS VARCHAR)) AS VARCHAR) || ':' || CAST({0} AS "
                    "VARCHAR), '-')",
                    key.column));
  }
  for (std::size_t i = 0; i < release.features.size(); ++i)
    sums.push_back(fmt::format("sum(least(greatest({0}, {1}), {2})) AS {0}",
                               release.features[i].column, whole(bounding.clip[i].first),
                               whole(bounding.clip[i].second)));
  sums.push_back("count(*) AS units");
  std::string order;
  for (const auto& part : hashed) order += (order.empty() ? "" : " || '/' || ") + part;
  auto outputs = keys;
  outputs.insert(outputs.end(), sums.begin(), sums.end());
  std::string sql = fmt::format(
      "SELECT {} FROM (SELECT *, row_number() OVER (PARTITION BY unit ORDER BY {}) AS "
      "place FROM ({})) WHERE place <= {}",
      fmt::join(outputs, ", "),
      dialect == nullptr ? "sha256(" + order + ")" : dialect->sha256_hex(order),
      release.partials_sql, bounding.groups_max);
  if (!keys.empty()) sql += fmt::format(" GROUP BY {}", fmt::join(keys, ", "));
  return dialect == nullptr ? sql : dialect->statement(sql);
}

}  // namespace discreet::sql
