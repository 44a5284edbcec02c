// Numbers of rows that are public anyway (public_total, public_counts): read from public tables,
// checked against each other, and kept exactly by every grouping set. No private row is read.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "curator/tables_job.h"

namespace discreet {
namespace {

constexpr std::int64_t kCountMax = std::int64_t{1} << 40;  // sums over all cells stay in 63 bits

Error refused(std::string message) {
  return {ErrorCode::Refused, std::move(message)};
}

std::string text_of(std::span<const Cell> cells) {
  std::string text;
  for (const Cell& cell : cells) {
    text += text.empty() ? "" : ", ";
    if (const auto* whole = std::get_if<std::int64_t>(&cell))
      text += std::to_string(*whole);
    else if (const auto* words = std::get_if<std::string>(&cell))
      text += *words;
    else if (const auto* flag = std::get_if<bool>(&cell))
      text += *flag ? "true" : "false";
    else if (const auto* number = std::get_if<double>(&cell))
      text += fmt::format("{}", *number);
    else
      text += "NULL";
  }
  return "(" + text + ")";
}

// Sums of the finer one, by the counts of the coarser one.
std::vector<std::int64_t> summed(const tables::Invariant& finer, const tables::Invariant& coarser,
                                 std::span<const tables::Axis> axes) {
  const auto from = tables::parts_of(axes, finer), to = tables::parts_of(axes, coarser);
  std::vector<std::int64_t> sums(coarser.counts.size(), 0);
  std::vector<bool> taken(finer.counts.size(), false);
  for (std::size_t cell = 0; cell < from.size(); ++cell) {
    if (taken[from[cell]]) continue;
    taken[from[cell]] = true;
    sums[to[cell]] += finer.counts[from[cell]];
  }
  return sums;
}

}  // namespace

bool TablesJob::counts_rows(const Measure& measure) const {
  const sql::Feature& feature = release_->features[measure.feature];
  return measure.centre == 0 && feature.kind == sql::Feature::Kind::Rows && !feature.condition;
}

bool TablesJob::is_known(const Measure& measure, const tables::Marginal& marginal,
                         const Layout& layout) const {
  if (!layout.known || !counts_rows(measure)) return false;
  std::vector<std::uint32_t> levels;
  for (std::size_t i = 0; i < marginal.questions.size(); ++i)
    levels.push_back(marginal.questions[i] == tables::Questions::Level
                         ? marginal.levels[i]
                         : tables::Invariant::kLeaves);
  return layout.known->tells(marginal.attributes, levels);
}

// Keys of a hierarchy stand for the level of the finest of them.
Result<tables::Invariant> TablesJob::read_counts(const sql::PublicCounts& counts,
                                                 const Layout& layout, const Groups& groups,
                                                 Engine& engine) const {
  tables::Invariant made;
  for (std::uint32_t a = 0; a < factors_.size(); ++a)
    for (std::size_t i = factors_[a].size(); i-- > 0;) {
      if (!std::binary_search(counts.keys.begin(), counts.keys.end(), factors_[a][i])) continue;
      made.attributes.push_back(a);
      made.levels.push_back(i + 1 == factors_[a].size() ? tables::Invariant::kLeaves
                                                        : static_cast<std::uint32_t>(i));
      break;
    }
  std::map<std::vector<Cell>, std::pair<std::int64_t, bool>> listed;  // and whether it was used
  DISCREET_TRY(EngineRows rows, engine.query(counts.sql));
  const auto columns = rows.columns();
  DISCREET_CHECK(columns.size() == counts.keys.size() + 1, "keys and a count");
  for (;;) {
    DISCREET_TRY(const auto chunk, rows.next());
    if (!chunk) break;
    for (std::size_t row = 0; row < chunk->size(); ++row) {
      std::vector<Cell> tuple;
      for (std::size_t i = 0; i + 1 < columns.size(); ++i)
        tuple.push_back(read_cell(*chunk, columns[i].type, i, row));
      const Cell count = read_cell(*chunk, columns.back().type, columns.size() - 1, row);
      const auto* whole = std::get_if<std::int64_t>(&count);
      if (whole == nullptr || *whole < 0 || *whole > kCountMax)
        return refused(fmt::format(
            "public_counts: '{}' has no count of zero or more (and at most 2^40) for {}.",
            counts.table, text_of(tuple)));
      listed.emplace(std::move(tuple), std::pair(*whole, false));
    }
  }
  const auto part = tables::parts_of(layout.axes, made);
  made.counts.assign(std::size_t{*std::max_element(part.begin(), part.end())} + 1, -1);
  for (std::size_t cell = 0; cell < part.size(); ++cell) {
    if (made.counts[part[cell]] >= 0) continue;
    const auto keys = groups.keys(layout.group_of.empty() ? cell : layout.group_of[cell]);
    std::vector<Cell> tuple;
    for (const std::size_t key : counts.keys) tuple.push_back(keys[key]);
    const auto found = listed.find(tuple);
    if (found == listed.end())
      return refused(fmt::format(
          "public_counts: '{}' says nothing about {}; it must list every group of its keys.",
          counts.table, text_of(tuple)));
    if (std::exchange(found->second.second, true))
      return refused(fmt::format(
          "public_counts: {} of '{}' are several places of this question. Give the table the "
          "coarser keys too.",
          text_of(tuple), counts.table));
    made.counts[part[cell]] = found->second.first;
  }
  return made;
}

// One that tells all others is kept; what it implies, it keeps.
Result<std::optional<tables::Invariant>> TablesJob::find_known(const Layout& layout,
                                                               const Groups& groups,
                                                               Engine& engine) const {
  std::vector<std::pair<std::string, tables::Invariant>> all;
  if (release_->options && release_->options->public_total)
    all.emplace_back(
        "public_total",
        tables::Invariant{{}, {static_cast<std::int64_t>(*release_->options->public_total)}});
  for (const sql::PublicCounts& counts : release_->public_counts) {
    DISCREET_TRY(tables::Invariant read, read_counts(counts, layout, groups, engine));
    all.emplace_back("'" + counts.table + "'", std::move(read));
  }
  if (all.empty()) return std::optional<tables::Invariant>();
  const auto tells_all = [&](const auto& one) {
    return std::all_of(all.begin(), all.end(), [&](const auto& other) {
      return one.second.tells(other.second.attributes, other.second.levels);
    });
  };
  const auto finest = std::find_if(all.begin(), all.end(), tells_all);
  if (finest == all.end())
    return refused(
        "public_counts: one of the tables must tell the counts of all others (state and county "
        "beside state, say). Counts by sex and counts by county are not kept together: give one "
        "table of sex and county, or leave one out.");
  for (const auto& [name, other] : all)
    if (summed(finest->second, other, layout.axes) != other.counts)
      return refused(
          fmt::format("public_counts: {} and {} do not add up to the same numbers; no table could "
                      "keep both. Correct one of them, or leave it out.",
                      finest->first, name));
  return std::optional(finest->second);
}

Result<void> TablesJob::check_public_counts(Engine& engine) const {
  if (release_->public_counts.empty()) return {};
  DISCREET_TRY_VOID(engine.begin());
  const auto checked = [&]() -> Result<void> {
    DISCREET_TRY(const Groups groups, Groups::make(*release_, engine));
    std::optional<Layout> layout = layout_;
    if (!layout) {
      DISCREET_TRY(layout, layout_of(groups));
    }
    DISCREET_TRY([[maybe_unused]] const auto known, find_known(*layout, groups, engine));
    return {};
  }();
  engine.end();
  return checked;
}

}  // namespace discreet
