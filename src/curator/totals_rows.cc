#include "curator/totals_rows.h"

#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace discreet {
namespace {

/// Rows whose first chunk has been read: totals are added up by then.
class Begun final : public RowSource {
 public:
  static Result<EngineRows> make(Result<EngineRows> rows) {
    if (!rows) return rows.error();
    DISCREET_TRY(auto first, rows->next());
    return EngineRows(std::unique_ptr<RowSource>(new Begun(*std::move(rows), std::move(first))));
  }
  const std::vector<EngineColumn>& columns() const override { return rows_.columns(); }
  Result<std::optional<EngineChunk>> next() override {
    if (!std::exchange(is_new_, false)) return rows_.next();
    return std::exchange(first_, std::nullopt);
  }

 private:
  Begun(EngineRows rows, std::optional<EngineChunk> first)
      : rows_(std::move(rows)), first_(std::move(first)) {}

  EngineRows rows_;
  std::optional<EngineChunk> first_;
  bool is_new_ = true;
};

}  // namespace

Result<EngineRows> totals_rows(const sql::Release& release, const std::vector<std::string>& columns,
                               Engine& engine) {
  const auto some = [&](const std::string& totals) {
    return fmt::format("SELECT {} FROM ({}) AS t", fmt::join(columns, ", "), totals);
  };
  if (const auto& [rows_sql, totals, only_again, tables] = release.over_files; !totals.empty()) {
    DISCREET_TRY(Engine * files, engine.over_files({tables, {totals}, only_again}));
    if (files != nullptr) {
      auto rows = Begun::make(files->query(some(totals)));
      if (rows) return rows;
    }
  }
  return engine.query(some(*release.totals_sql));
}

}  // namespace discreet
