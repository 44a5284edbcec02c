// From tree to plan: names, types, functions and privacy properties. One class, one file per part
// of the language: bind_query.cc, bind_from.cc, bind_expression.cc, bind_aggregate.cc,
// bind_release.cc, finish_release.cc.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "catalog/policy.h"
#include "sql/ast.h"
#include "sql/bounds.h"
#include "sql/plan.h"
#include "sql/question.h"
#include "sql/refusal.h"
#include "sql/relation.h"
#include "sql/schema.h"

namespace discreet::sql {

class Binder {
 public:
  Binder(const Source& source, const catalog::Policy& policy, const SchemaProvider& schema,
         const std::vector<PrivacyClause>& clauses)
      : source_(source), policy_(policy), schema_(schema), clauses_(clauses) {}

  /// The whole statement: fills in releases, final statement, columns and notices.
  Result<PlannedQuestion> bind(const Query& query);

 private:
  struct Aggregation;

  /// Where names are looked up: the fields of one SELECT, then those of the query around it.
  struct Scope {
    std::vector<Field> fields;
    Scope* outer = nullptr;
    bool is_private = false;
    std::set<ColumnId> outer_uses;  // columns of outer scopes used in here
    bool uses_released = false;     // a subquery that reads released values
    Aggregation* aggregation =
        nullptr;  // set while SELECT, HAVING and ORDER BY of an aggregate are bound
  };

  /// GROUP BY keys and the aggregates met so far in one SELECT.
  struct Aggregation {
    struct Key {
      ScalarPtr scalar;
      std::string text;  // its identity
      ColumnId id;
      int position;
    };
    Scope* below = nullptr;
    std::vector<Key> keys;
    std::optional<std::vector<std::vector<std::size_t>>> grouping_sets;  // of keys
    std::vector<ColumnId> rolled_up;  // per key, with grouping sets: 1 where it is rolled up
    bool exact = true;                // false: this is a release
    std::vector<std::pair<ColumnId, ExactAggregate>> exact_aggregates;
    std::vector<std::string> exact_texts;
    std::optional<Release> release;
    std::vector<ColumnId> release_ids;
    std::vector<std::string> release_texts;
    std::vector<ScalarPtr> raw;           // per Release::values: the expression before clamping
    std::vector<std::string> value_keys;  // per Release::values: its identity
    std::vector<bool>
        bound_is_sought;  // per Release::values: nobody gave a bound, per row or group
    std::vector<ScalarPtr> conditions;     // p1, p2, ...: row conditions of counts
    std::vector<std::string> feature_sql;  // per feature: the aggregate over q and p
    Relation input;                        // what is aggregated
  };

  /// Inner-joined parts that conditions have not tied together yet.
  struct FromParts {
    std::vector<Relation> parts;
    std::vector<ScalarPtr> conjuncts;
  };

  // bind_query.cc
  Result<Relation> bind_query(const Query& query, Scope* outer);
  Result<Relation> bind_select(const Query& query, Scope* outer);
  Result<Relation> bind_set_operation(const Query& query, Scope* outer);
  Result<Relation> finish_select(const Query& query, const std::vector<Target>& targets,
                                 Relation input, Scope& scope);
  Result<Relation> limit(const Query& query, Relation relation, std::vector<SortKey> keys);
  Result<std::optional<std::uint64_t>> bind_count(const ExprPtr& expr, const char* what);
  Result<std::vector<Target>> expand_stars(const Query& query, const Scope& scope);
  static std::string output_name(const Target& target);

  // bind_from.cc
  Result<FromParts> bind_from(const FromItem& item, Scope* outer);
  Result<Relation> bind_table(const FromItem& item, const TableRef& table, Scope* outer);
  Result<Relation> scan(const catalog::Table& table, const std::string& alias, int position);
  Result<FromParts> bind_join(const FromItem& item, const JoinRef& join, Scope* outer);
  Result<Relation> bind_outer_join(const FromItem& item, const JoinRef& join, FromParts left,
                                   FromParts right, Scope* outer);
  Result<Relation> combine(FromParts parts, int position, Scope* scope);
  Result<void> attach_unit(Relation& relation, int position);
  Result<void> rename(Relation& relation, const FromItem& item) const;
  Relation with_fresh_columns(const Relation& relation);
  bool tied(const Relation& left, const Relation& right,
            const std::vector<ScalarPtr>& conjuncts) const;
  Result<Relation> bind_cte(const FromItem& item, std::size_t index);

  // bind_expression.cc
  Result<ScalarPtr> bind_expr(const Expr& expr, Scope& scope);
  Result<ScalarPtr> bind_condition(const ExprPtr& expr, Scope& scope, const char* where);
  Result<ScalarPtr> bind_node(const Expr& expr, Scope& scope);
  Result<ScalarPtr> bind_literal(const Expr& expr, const LiteralExpr& literal);
  Result<ScalarPtr> bind_name(const Expr& expr, const NameExpr& name, Scope& scope);
  Result<ScalarPtr> bind_call(const Expr& expr, const CallExpr& call, Scope& scope);
  Result<ScalarPtr> bind_case(const Expr& expr, const CaseExpr& when, Scope& scope);
  Result<ScalarPtr> bind_cast(const Expr& expr, const CastExpr& cast, Scope& scope);
  Result<ScalarPtr> bind_subquery(const Expr& expr, const SubqueryExpr& subquery, Scope& scope);
  Result<const Field*> find_field(const Expr& expr, const NameExpr& name, Scope& scope,
                                  bool& is_outer);
  Result<ScalarPtr> make_call(int position, const std::string& function,
                              std::vector<ScalarPtr> args);
  Result<ScalarPtr> make_arithmetic(int position, const std::string& op,
                                    std::vector<ScalarPtr> args);
  Result<ScalarPtr> coerce(ScalarPtr scalar, Type type);
  Result<Type> unify(std::vector<ScalarPtr>& args, std::size_t from, const char* what);

  // bind_aggregate.cc
  static bool is_aggregate(const std::string& name);
  static bool contains_aggregate(const Expr& expr);
  static bool contains_subquery(const Expr& expr);
  Result<void> start_aggregation(const Query& query, const std::vector<Target>& targets,
                                 const Relation& input, Scope& scope, Aggregation& aggregation);
  Result<Relation> finish_aggregation(const Query& query, Relation input, Aggregation& aggregation);
  Result<ExprPtr> resolve_group_item(const ExprPtr& item, const std::vector<Target>& targets,
                                     Scope& scope);
  Result<ScalarPtr> bind_grouped(const Expr& expr, Scope& scope);
  Result<ScalarPtr> bind_aggregate(const Expr& expr, const CallExpr& call, Scope& scope);
  Result<ScalarPtr> bind_exact_aggregate(const Expr& expr, const CallExpr& call,
                                         Aggregation& aggregation);
  Facts facts_of_exact(const ExactAggregate& aggregate, const Relation& input) const;
  Result<std::vector<double>> bind_numbers(const Expr& expr, const char* what);

  // bind_inference.cc
  static bool is_test(const std::string& name);
  Result<ScalarPtr> bind_result_part(const Expr& expr, const CallExpr& call, Scope& scope);
  Result<ScalarPtr> bind_test(const Expr& expr, const CallExpr& call, Aggregation& aggregation);
  Result<ScalarPtr> add_result(const Expr& expr, const CallExpr& call, AggregateKind kind,
                               const std::string& identity, Aggregation& aggregation);

  // bind_release.cc; finish_release.cc
  std::string text_of(int position, const CallExpr& call) const;
  Result<ScalarPtr> bind_release_aggregate(const Expr& expr, const CallExpr& call,
                                           Aggregation& aggregation);
  Result<std::size_t> add_value(const ScalarPtr& scalar, const std::optional<AskedBounds>& asked,
                                const ScalarPtr& filter, bool for_products,
                                Aggregation& aggregation, bool only_counted = false);
  std::size_t add_feature(Feature::Kind kind, std::optional<std::size_t> value,
                          std::optional<std::size_t> second, const std::string& sql,
                          Aggregation& aggregation);
  std::size_t add_rows(const std::vector<ScalarPtr>& conditions, Aggregation& aggregation);
  Result<std::size_t> add_stream(const ScalarPtr& scalar, const std::optional<AskedBounds>& asked,
                                 const ScalarPtr& filter, Aggregation& aggregation);
  Result<std::optional<AskedBounds>> asked_bounds(const Expr& expr, const CallExpr& call);
  Result<ScalarPtr> bind_grouping(const Expr& expr, const CallExpr& call, Aggregation& aggregation);
  /// A public table (or table.column) with the number of rows by some of the keys.
  Result<PublicCounts> bind_public_counts(const std::string& name, const Relation& input,
                                          const Aggregation& aggregation);
  Result<Relation> finish_release(const Query& query, Relation input, Aggregation& aggregation);

  ColumnId new_column(const std::string& name, Type type);
  const Field* anchored(const Relation& relation) const;
  /// The column's anchor, if the scalar is a column that has one.
  const std::string* anchor_of(const Scalar& scalar, const std::vector<Field>& fields) const;
  void assume_within(const std::vector<ScalarPtr>& conjuncts, const std::vector<Field>& fields);
  void notice(std::string text);

  struct Cte {
    const CteRef* ref;
    std::size_t visible;                                // how many earlier CTEs it may see
    std::shared_ptr<std::optional<Relation>> released;  // bound once: a release is paid for once
  };

  const Source& source_;
  const catalog::Policy& policy_;
  const SchemaProvider& schema_;
  const std::vector<PrivacyClause>& clauses_;

  ColumnId next_column_ = 1;
  FactsTable facts_;
  std::vector<Cte> ctes_;
  std::vector<Release> releases_;
  std::set<std::string> tables_;
  std::vector<std::string> notices_;
  std::map<ColumnId, std::vector<std::string>> computed_from_;  // output columns to aggregates
  std::set<ColumnId> plain_;  // output columns that are one aggregate and nothing else
  int depth_ = 0;
};

/// A number read off the text of a test's result.
ScalarPtr result_part(const ScalarPtr& result, const std::string& part);

/// Decimals leave as reals: noise has no digits to keep.
inline Type released_type(Type type) {
  return type.kind == TypeKind::Decimal ? double_type() : type;
}

/// Domains of a release's keys: listed, ranges, or rows of public tables (key_domains.cc).
void find_key_domains(const Plan& input, const std::vector<std::pair<ColumnId, ScalarPtr>>& keys,
                      const FactsTable& facts, const catalog::Policy& policy, Release& release,
                      const EngineDialect* dialect);

/// A date "2026-01-31" or timestamp "2026-01-31 10:00:00" (fractions and T allowed).
std::optional<catalog::Date> parse_date(const std::string& text);
std::optional<catalog::Timestamp> parse_timestamp(const std::string& text);
std::optional<IntervalConstant> parse_interval(const std::string& text, int field_mask);

}  // namespace discreet::sql
