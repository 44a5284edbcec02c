// The option public_counts: which keys a public table gives counts for, and the statement that
// reads them. Nothing private is read; whether the counts are right is the asker's word.
#include <algorithm>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/engine_dialect.h"

namespace discreet::sql {

Result<PublicCounts> Binder::bind_public_counts(const std::string& name, const Relation& input,
                                                const Aggregation& aggregation) {
  const int position = aggregation.keys.empty() ? 0 : aggregation.keys.front().position;
  const std::size_t dot = name.find('.');
  const std::string table_name = name.substr(0, dot);
  const catalog::Table* table = policy_.table(table_name);
  if (table != nullptr && !schema_.columns(table->name)) table = nullptr;
  if (table == nullptr || !table->is_public())
    return source_.refuse(position,
                          fmt::format("public_counts: there is no public table '{}'", table_name),
                          "Name a table that the policy declares public = true");
  DISCREET_TRY(const Relation known, scan(*table, table->name, position));
  const auto named = [](const Relation& relation, std::string_view column) -> const Field* {
    const auto found =
        std::find_if(relation.fields.begin(), relation.fields.end(),
                     [&](const Field& field) { return !column.empty() && field.name == column; });
    return found == relation.fields.end() || found->unusable ? nullptr : &*found;
  };
  PublicCounts made{table->name, {}, {}};
  std::vector<ColumnId> wanted;
  std::string columns, group;
  for (std::size_t key = 0; key < aggregation.keys.size(); ++key) {
    const ColumnId* id = as_column(*aggregation.keys[key].scalar);
    if (id == nullptr) continue;
    const auto source = std::find_if(input.fields.begin(), input.fields.end(),
                                     [&](const Field& field) { return field.id == *id; });
    const Field* field = source == input.fields.end() ? nullptr : named(known, source->name);
    if (field == nullptr || (dot != std::string::npos && field->name == name.substr(dot + 1)))
      continue;
    made.keys.push_back(key);
    wanted.push_back(field->id);
    const auto text = emit_scalar(*use_column(field->id, field->type), nullptr, schema_.dialect());
    columns += fmt::format("{} AS k{}, ", text, key + 1);
    group += fmt::format("{}{}", group.empty() ? " GROUP BY " : ", ", text);
  }
  // The counts: the column that is named, or the only one that is no key.
  const Field* count = nullptr;
  std::size_t others = 0;
  for (const Field& field : known.fields)
    if (!field.name.empty() && std::find(wanted.begin(), wanted.end(), field.id) == wanted.end()) {
      ++others;
      count = &field;
    }
  if (dot != std::string::npos)
    count = named(known, name.substr(dot + 1));
  else if (others != 1)
    count = nullptr;
  if (count == nullptr || count->unusable || count->type.kind != TypeKind::Integer)
    return source_.refuse(
        position,
        fmt::format("public_counts: it is not clear which column of '{}' holds the counts",
                    table_name),
        fmt::format("Write '{}.column', a column of whole numbers; columns named like keys of "
                    "GROUP BY are keys",
                    table_name));
  wanted.push_back(count->id);
  made.sql =
      fmt::format("SELECT {}CAST(SUM({}) AS BIGINT) AS n FROM ({}){}", columns,
                  emit_scalar(*use_column(count->id, count->type), nullptr, schema_.dialect()),
                  emit_plan(*known.plan, wanted, nullptr, schema_.dialect()), group);
  if (schema_.dialect() != nullptr) made.sql = schema_.dialect()->statement(made.sql);
  return made;
}

}  // namespace discreet::sql
