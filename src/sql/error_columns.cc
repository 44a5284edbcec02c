#include "sql/error_columns.h"

#include <algorithm>

namespace discreet::sql {
namespace {

using Errors = std::map<ColumnId, std::optional<ColumnId>>;

ScalarPtr as_double(const ScalarPtr& scalar) {
  return scalar->type.kind == TypeKind::Double
             ? scalar
             : make_scalar(double_type(), scalar->position, CastTo{scalar});
}
ScalarPtr absolute(const ScalarPtr& scalar) {
  return apply(double_type(), -1, Function::Abs, {as_double(scalar)});
}
ScalarPtr null_error() {
  return make_scalar(double_type(), -1, Constant{std::monostate{}});
}

bool reads_released(const Plan& plan);

bool reads_released(const Scalar& scalar) {
  struct Walk {
    bool operator()(const Constant&) const { return false; }
    bool operator()(const ColumnUse&) const { return false; }
    bool operator()(const Apply& node) const {
      return std::any_of(node.args.begin(), node.args.end(),
                         [](const ScalarPtr& arg) { return reads_released(*arg); });
    }
    bool operator()(const CaseWhen& node) const {
      return reads_released(*node.otherwise) ||
             std::any_of(node.branches.begin(), node.branches.end(), [](const auto& branch) {
               return reads_released(*branch.first) || reads_released(*branch.second);
             });
    }
    bool operator()(const CastTo& node) const { return reads_released(*node.arg); }
    bool operator()(const SubqueryValue& node) const {
      return reads_released(*node.plan) || (node.test && reads_released(*node.test));
    }
  };
  return std::visit(Walk{}, scalar.node);
}

bool reads_released(const Plan& plan) {
  struct Walk {
    bool operator()(const OneRow&) const { return false; }
    bool operator()(const Scan&) const { return false; }
    bool operator()(const ReleasedTable&) const { return true; }
    bool operator()(const Filter& node) const {
      return reads_released(*node.input) || reads_released(*node.predicate);
    }
    bool operator()(const Project& node) const {
      return reads_released(*node.input) ||
             std::any_of(node.outputs.begin(), node.outputs.end(),
                         [](const auto& output) { return reads_released(*output.second); });
    }
    bool operator()(const Join& node) const {
      return reads_released(*node.left) || reads_released(*node.right) ||
             (node.condition && reads_released(*node.condition));
    }
    bool operator()(const Aggregate& node) const { return reads_released(*node.input); }
    bool operator()(const Combine& node) const {
      return std::any_of(node.inputs.begin(), node.inputs.end(),
                         [](const auto& input) { return reads_released(*input.first); });
    }
    bool operator()(const Distinct& node) const { return reads_released(*node.input); }
    bool operator()(const SortLimit& node) const { return reads_released(*node.input); }
  };
  return std::visit(Walk{}, plan.node);
}

// Rows of one released table, each at most once: only then are rows' noises independent.
bool rows_of_one_release(const Plan& plan) {
  if (const auto* node = std::get_if<ReleasedTable>(&plan.node)) return !node->joint;
  if (const auto* node = std::get_if<Filter>(&plan.node)) return rows_of_one_release(*node->input);
  if (const auto* node = std::get_if<Project>(&plan.node)) return rows_of_one_release(*node->input);
  if (const auto* node = std::get_if<SortLimit>(&plan.node))
    return rows_of_one_release(*node->input);
  return false;
}

class Pass {
 public:
  explicit Pass(const std::function<ColumnId()>& new_column) : new_column_(new_column) {}

  PlanWithErrors run(const PlanPtr& plan) {
    return std::visit([&](const auto& node) { return of(node, plan); }, plan->node);
  }

 private:
  /// What is known of an expression's error. `known` without a scalar: it is exact.
  struct Found {
    bool known = true;
    ScalarPtr error;
  };

  Found error_of(const ScalarPtr& scalar, const Errors& errors) {
    if (const auto* id = as_column(*scalar)) {
      const auto at = errors.find(*id);
      if (at == errors.end()) return {};
      if (!at->second) return {false, nullptr};
      return {true, use_column(*at->second, double_type())};
    }
    if (const auto* cast = std::get_if<CastTo>(&scalar->node)) {
      Found arg = error_of(cast->arg, errors);
      if (arg.error && !scalar->type.is_number()) return {false, nullptr};
      return arg;
    }
    if (const auto* subquery = std::get_if<SubqueryValue>(&scalar->node);
        subquery != nullptr && subquery->kind == SubqueryKind::Scalar) {
      PlanWithErrors inner = run(subquery->plan);
      const auto at = inner.errors.find(subquery->output);
      if (at == inner.errors.end() && !reads_released(*subquery->plan)) return {};
      if (at == inner.errors.end() || !at->second) return {false, nullptr};
      return {true, make_scalar(double_type(), -1,
                                SubqueryValue{SubqueryKind::Scalar, inner.plan, *at->second, {}})};
    }
    const auto* applied = std::get_if<Apply>(&scalar->node);
    if (applied == nullptr) {
      bool noisy = reads_released(*scalar);
      for_each_column(*scalar, [&](ColumnId id) { noisy = noisy || errors.contains(id); });
      return {!noisy, nullptr};
    }
    std::vector<Found> args;
    for (const auto& arg : applied->args) args.push_back(error_of(arg, errors));
    if (std::any_of(args.begin(), args.end(), [](const Found& arg) { return !arg.known; }))
      return {false, nullptr};
    const auto noisy = std::count_if(args.begin(), args.end(),
                                     [](const Found& arg) { return arg.error != nullptr; });
    if (noisy == 0) return {};
    switch (applied->function) {
      case Function::Negate:
      case Function::Round:
        return args[0].error ? args[0] : Found{false, nullptr};
      case Function::Add:
      case Function::Subtract:
        if (noisy == 1) return args[0].error ? args[0] : args[1];
        return {true, apply(double_type(), -1, Function::Add, {args[0].error, args[1].error})};
      case Function::Multiply: {
        if (noisy == 2) return {false, nullptr};
        const std::size_t at = args[0].error ? 0 : 1;
        return {true, apply(double_type(), -1, Function::Multiply,
                            {args[at].error, absolute(applied->args[1 - at])})};
      }
      case Function::Divide:
        if (args[1].error) return {false, nullptr};
        return {true, apply(double_type(), -1, Function::Divide,
                            {args[0].error, absolute(applied->args[1])})};
      case Function::ResultPart: {
        // An estimate has its interval beside it: the farther end counts.
        const auto& part = std::get<std::string>(as_constant(*applied->args[1])->value);
        const bool coefficient = part.size() >= 2 && part[0] == 'b' &&
                                 part.find_first_not_of("0123456789", 1) == std::string::npos;
        if (part != "estimate" && !coefficient) return {false, nullptr};
        const auto other = [&](const char* end) {
          return apply(double_type(), -1, Function::ResultPart,
                       {applied->args[0],
                        make_scalar(text_type(), -1,
                                    Constant{coefficient ? part + "_" + end : std::string(end)})});
        };
        const auto less = [](const ScalarPtr& a, const ScalarPtr& b) {
          return apply(double_type(), -1, Function::Subtract, {a, b});
        };
        return {true, apply(double_type(), -1, Function::Greatest,
                            {less(other("high"), scalar), less(scalar, other("low"))})};
      }
      case Function::Coalesce:
        // The first is nearly always there; where it is not, its error is NULL too.
        if (args[0].error && noisy == 1) return args[0];
        return {false, nullptr};
      default:
        return {false, nullptr};
    }
  }

  PlanWithErrors of(const OneRow&, const PlanPtr& plan) { return {plan, {}}; }
  PlanWithErrors of(const Scan&, const PlanPtr& plan) { return {plan, {}}; }
  PlanWithErrors of(const ReleasedTable& node, const PlanPtr&) {
    ReleasedTable table = node;
    Errors errors;
    for (const ColumnId aggregate : node.aggregates) {
      const ColumnId error = new_column_();
      table.aggregates.push_back(error);
      errors[aggregate] = error;
    }
    return {make_plan(std::move(table)), std::move(errors)};
  }
  PlanWithErrors of(const Filter& node, const PlanPtr&) {
    PlanWithErrors input = run(node.input);
    return {make_plan(Filter{input.plan, node.predicate}), std::move(input.errors)};
  }
  PlanWithErrors of(const SortLimit& node, const PlanPtr&) {
    PlanWithErrors input = run(node.input);
    SortLimit made = node;
    made.input = input.plan;
    return {make_plan(std::move(made)), std::move(input.errors)};
  }
  PlanWithErrors of(const Project& node, const PlanPtr&) {
    const PlanWithErrors input = run(node.input);
    Project made{input.plan, node.outputs};
    Errors errors;
    for (const auto& [id, value] : node.outputs) {
      Found found = error_of(value, input.errors);
      if (!found.known) {
        errors[id] = std::nullopt;
      } else if (found.error) {
        const ColumnId error = new_column_();
        made.outputs.emplace_back(error, found.error);
        errors[id] = error;
      }
    }
    return {make_plan(std::move(made)), std::move(errors)};
  }
  PlanWithErrors of(const Join& node, const PlanPtr&) {
    PlanWithErrors left = run(node.left), right = run(node.right);
    left.errors.merge(right.errors);
    return {make_plan(Join{node.kind, left.plan, right.plan, node.condition}),
            std::move(left.errors)};
  }
  PlanWithErrors of(const Distinct& node, const PlanPtr& plan) {
    return {plan, unknown(node.columns, node.input)};
  }
  PlanWithErrors of(const Combine& node, const PlanPtr& plan) {
    if (node.set) {
      Errors errors;
      for (const auto& [input, columns] : node.inputs)
        for (std::size_t i = 0; i < columns.size(); ++i)
          if (run(input).errors.contains(columns[i])) errors[node.outputs[i]] = std::nullopt;
      return {plan, std::move(errors)};
    }
    // One below the other: a column has an error where it has one in some input.
    Combine made = node;
    std::vector<PlanWithErrors> inputs;
    for (const auto& [input, columns] : node.inputs) inputs.push_back(run(input));
    Errors errors;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      bool noisy = false, known = true;
      for (std::size_t n = 0; n < inputs.size(); ++n)
        if (const auto at = inputs[n].errors.find(node.inputs[n].second[i]);
            at != inputs[n].errors.end()) {
          noisy = true;
          known = known && at->second.has_value();
        }
      if (noisy) errors[node.outputs[i]] = known ? std::optional(new_column_()) : std::nullopt;
    }
    for (const ColumnId output : node.outputs)
      if (const auto at = errors.find(output); at != errors.end() && at->second)
        made.outputs.push_back(*at->second);
    for (std::size_t n = 0; n < inputs.size(); ++n) {
      const std::vector<ColumnId>& columns = node.inputs[n].second;
      std::vector<std::pair<ColumnId, ScalarPtr>> added;
      for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        const auto wanted = errors.find(node.outputs[i]);
        if (wanted == errors.end() || !wanted->second) continue;
        const auto at = inputs[n].errors.find(columns[i]);
        added.emplace_back(new_column_(), at == inputs[n].errors.end()
                                              ? null_error()
                                              : use_column(*at->second, double_type()));
      }
      made.inputs[n].first = keep_and_add(inputs[n].plan, columns, added);
      for (const auto& [id, error] : added) made.inputs[n].second.push_back(id);
    }
    return {make_plan(std::move(made)), std::move(errors)};
  }
  PlanWithErrors of(const Aggregate& node, const PlanPtr& plan) {
    PlanWithErrors input = run(node.input);
    Errors errors;
    for (const auto& [id, key] : node.keys) {
      const Found found = error_of(key, input.errors);
      if (!found.known || found.error) errors[id] = std::nullopt;
    }
    const bool independent = rows_of_one_release(*node.input);
    Aggregate made = node;
    made.input = input.plan;
    std::vector<std::pair<ColumnId, ScalarPtr>> roots;
    for (const auto& [id, one] : node.aggregates) {
      std::vector<Found> args;
      for (const auto& arg : one.args) args.push_back(error_of(arg, input.errors));
      const bool noisy = std::any_of(args.begin(), args.end(),
                                     [](const Found& arg) { return !arg.known || arg.error; });
      if (!noisy) continue;
      errors[id] = std::nullopt;
      const bool average = one.function == ExactFunction::Avg;
      if (!independent || !args[0].known || (one.function != ExactFunction::Sum && !average))
        continue;
      const ColumnId squares = new_column_(), error = new_column_();
      made.aggregates.emplace_back(squares,
                                   ExactAggregate{ExactFunction::Sum,
                                                  {apply(double_type(), -1, Function::Multiply,
                                                         {args[0].error, args[0].error})},
                                                  one.filter,
                                                  0});
      ScalarPtr root =
          apply(double_type(), -1, Function::Sqrt, {use_column(squares, double_type())});
      if (average) {
        const ColumnId rows = new_column_();
        made.aggregates.emplace_back(
            rows, ExactAggregate{ExactFunction::Count, {one.args[0]}, one.filter, 0});
        root = apply(double_type(), -1, Function::Divide,
                     {root, as_double(use_column(rows, integer_type()))});
      }
      roots.emplace_back(error, root);
      errors[id] = error;
    }
    if (roots.empty()) return {plan, std::move(errors)};
    std::vector<ColumnId> columns;
    for (const auto& [id, key] : node.keys) columns.push_back(id);
    for (const auto& [id, one] : node.aggregates) columns.push_back(id);
    return {keep_and_add(make_plan(std::move(made)), columns, roots), std::move(errors)};
  }

  /// A projection that leaves `columns` as they are and adds some.
  static PlanPtr keep_and_add(const PlanPtr& input, const std::vector<ColumnId>& columns,
                              const std::vector<std::pair<ColumnId, ScalarPtr>>& added) {
    Project made{input, {}};
    for (const ColumnId id : columns) made.outputs.emplace_back(id, use_column(id, Type{}));
    made.outputs.insert(made.outputs.end(), added.begin(), added.end());
    return make_plan(std::move(made));
  }

  /// Noisy columns that cannot take their errors along.
  Errors unknown(const std::vector<ColumnId>& columns, const PlanPtr& input) {
    const PlanWithErrors below = run(input);
    Errors errors;
    for (const ColumnId id : columns)
      if (below.errors.contains(id)) errors[id] = std::nullopt;
    return errors;
  }

  const std::function<ColumnId()>& new_column_;
};

}  // namespace

PlanWithErrors add_errors(const PlanPtr& plan, const std::function<ColumnId()>& new_column) {
  return Pass(new_column).run(plan);
}

}  // namespace discreet::sql
