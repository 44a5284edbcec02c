// What the dialects of other engines share: the frame of a statement, and the phrases that are the
// same in every SQL. A dialect adds its words and what differs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sql/engine_dialect.h"

namespace discreet::sql {

struct StatementStyle {
  bool name_derived_tables = false;          ///< every subquery in FROM gets a name
  std::map<std::string, std::string> words;  ///< DuckDB's word for a type, and the engine's
};

std::string finish_statement(const std::string& sql, const StatementStyle& style);

/// An engine's own words.
struct EngineWords {
  StatementStyle style;
  std::string row_number;  ///< numbers the rows of a table
  std::string values;      ///< before the rows of a table that travels in the statement
  std::string (*type_name)(Type type);
  std::string (*literal)(const ConstantValue& value, Type type);
  std::string (*quote_name)(const std::string& name);
  std::string (*quote_text)(const std::string& text);
};

class RemoteDialect : public EngineDialect {
 public:
  std::optional<std::string> scalar(const Scalar& one, const ScalarWriter& w) const override;
  std::string scan(const Scan& scan, const std::function<bool(ColumnId)>& wanted) const final;
  std::string text(const std::string& text) const final { return words_.quote_text(text); }
  std::string statement(const std::string& sql) const final {
    return finish_statement(sql, words_.style);
  }
  std::string with_tables(const std::string& sql,
                          const std::vector<InlineTable>& tables) const final;

 protected:
  /// `relations`: what stands for each table of the policy.
  RemoteDialect(EngineWords words, std::map<std::string, std::string> relations)
      : words_(std::move(words)), relations_(std::move(relations)) {}

  /// What stands behind a table in FROM.
  virtual std::string after_relation(const std::string&) const { return ""; }
  /// A column of a table, as plans know its values.
  virtual std::string read_column(const std::string& table, const std::string& column) const = 0;
  virtual std::string cast(const Scalar& arg, Type to, const ScalarWriter& w) const = 0;
  /// A function that is not written alike everywhere. Nothing: of released values, which never
  /// travel in this form.
  virtual std::optional<std::string> own_apply(const Scalar& one, const Apply& applied,
                                               const ScalarWriter& w) const = 0;

  std::string as_type(const Scalar& one, Type type, const ScalarWriter& w) const;
  /// The arguments one after another; `typed`: each as the result's type.
  std::string list(const Apply& applied, std::string_view with, const ScalarWriter& w) const;
  std::string typed_list(const Scalar& one, const Apply& applied, const ScalarWriter& w) const;

 private:
  std::optional<std::string> shared_apply(const Scalar& one, const Apply& applied,
                                          const ScalarWriter& w) const;

  EngineWords words_;
  std::map<std::string, std::string> relations_;
};

/// What stands for each table, by the policy's names.
template <class Table>
std::map<std::string, std::string> relations_of(const std::map<std::string, Table>& tables) {
  std::map<std::string, std::string> relations;
  for (const auto& [name, table] : tables) relations[name] = table.relation;
  return relations;
}

/// What variances and covariances are called everywhere. Null: not one of them.
const char* moment_name(ExactFunction function);

}  // namespace discreet::sql
