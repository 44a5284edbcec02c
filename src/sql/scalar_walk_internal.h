// for_each_column, which must see plans to look inside subqueries.
#pragma once

#include <variant>

#include "sql/plan.h"

namespace discreet::sql {

template <class Visit>
void for_each_plan_column(const Plan& plan, const Visit& visit);

template <class Visit>
void for_each_column(const Scalar& scalar, const Visit& visit) {
  struct Walk {
    const Visit& visit;
    void operator()(const Constant&) const {}
    void operator()(const ColumnUse& use) const { visit(use.id); }
    void operator()(const Apply& applied) const {
      for (const auto& arg : applied.args) for_each_column(*arg, visit);
    }
    void operator()(const CaseWhen& when) const {
      for (const auto& [condition, result] : when.branches) {
        for_each_column(*condition, visit);
        for_each_column(*result, visit);
      }
      for_each_column(*when.otherwise, visit);
    }
    void operator()(const CastTo& cast) const { for_each_column(*cast.arg, visit); }
    void operator()(const SubqueryValue& subquery) const {
      if (subquery.test) for_each_column(*subquery.test, visit);
      if (subquery.kind != SubqueryKind::Exists) visit(subquery.output);
      for_each_plan_column(*subquery.plan, visit);
    }
  };
  std::visit(Walk{visit}, scalar.node);
}

/// Every column that some expression in the plan uses.
template <class Visit>
void for_each_plan_column(const Plan& plan, const Visit& visit) {
  struct Walk {
    const Visit& visit;
    void scalar(const ScalarPtr& one) const {
      if (one) for_each_column(*one, visit);
    }
    void operator()(const OneRow&) const {}
    void operator()(const Scan&) const {}
    void operator()(const ReleasedTable&) const {}
    void operator()(const Filter& filter) const {
      scalar(filter.predicate);
      for_each_plan_column(*filter.input, visit);
    }
    void operator()(const Project& project) const {
      for (const auto& [id, value] : project.outputs) scalar(value);
      for_each_plan_column(*project.input, visit);
    }
    void operator()(const Join& join) const {
      scalar(join.condition);
      for_each_plan_column(*join.left, visit);
      for_each_plan_column(*join.right, visit);
    }
    void operator()(const Aggregate& aggregate) const {
      for (const auto& [id, key] : aggregate.keys) scalar(key);
      for (const auto& [id, one] : aggregate.aggregates) {
        for (const auto& arg : one.args) scalar(arg);
        scalar(one.filter);
      }
      for_each_plan_column(*aggregate.input, visit);
    }
    void operator()(const Combine& combine) const {
      for (const auto& [input, columns] : combine.inputs) {
        for (const ColumnId id : columns) visit(id);
        for_each_plan_column(*input, visit);
      }
    }
    void operator()(const Distinct& distinct) const {
      for (const ColumnId id : distinct.columns) visit(id);
      for_each_plan_column(*distinct.input, visit);
    }
    void operator()(const SortLimit& sort) const {
      for (const auto& key : sort.keys) visit(key.column);
      for_each_plan_column(*sort.input, visit);
    }
  };
  std::visit(Walk{visit}, plan.node);
}

}  // namespace discreet::sql
