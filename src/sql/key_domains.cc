// Which groups a release can have, as far as that is public: listed values, small ranges, and
// columns of public tables with the conditions that stand on public tables only.
//
// A key whose domain is found here answers empty groups and needs no threshold. Rows whose key is
// not in it are dropped, so a domain that is too small costs accuracy, never privacy.
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "sql/binder_internal.h"
#include "sql/emit.h"
#include "sql/engine_dialect.h"

namespace discreet::sql {
namespace {

constexpr double kRangeKeysMax = 4096;
constexpr std::size_t kListedKeysMax = 100000;

bool is_public_plan(const Plan& plan, const catalog::Policy& policy);

bool is_public_scalar(const ScalarPtr& scalar, const catalog::Policy& policy) {
  if (!scalar) return true;
  if (const auto* subquery = std::get_if<SubqueryValue>(&scalar->node))
    return is_public_plan(*subquery->plan, policy) && is_public_scalar(subquery->test, policy);
  if (const auto* applied = std::get_if<Apply>(&scalar->node))
    return std::all_of(applied->args.begin(), applied->args.end(),
                       [&](const auto& arg) { return is_public_scalar(arg, policy); });
  if (const auto* cast = std::get_if<CastTo>(&scalar->node))
    return is_public_scalar(cast->arg, policy);
  if (const auto* when = std::get_if<CaseWhen>(&scalar->node)) {
    for (const auto& [condition, result] : when->branches)
      if (!is_public_scalar(condition, policy) || !is_public_scalar(result, policy)) return false;
    return is_public_scalar(when->otherwise, policy);
  }
  return true;
}

/// Reads public tables and earlier releases only.
bool is_public_plan(const Plan& plan, const catalog::Policy& policy) {
  struct Look {
    const catalog::Policy& policy;
    bool scalar(const ScalarPtr& one) const { return is_public_scalar(one, policy); }
    bool plan(const PlanPtr& one) const { return is_public_plan(*one, policy); }
    bool operator()(const OneRow&) const { return true; }
    bool operator()(const Scan& scan) const {
      const auto* table = policy.table(scan.table);
      return table != nullptr && table->is_public();
    }
    bool operator()(const ReleasedTable&) const { return true; }
    bool operator()(const Filter& node) const { return scalar(node.predicate) && plan(node.input); }
    bool operator()(const Project& node) const {
      return plan(node.input) &&
             std::all_of(node.outputs.begin(), node.outputs.end(),
                         [&](const auto& output) { return scalar(output.second); });
    }
    bool operator()(const Join& node) const {
      return scalar(node.condition) && plan(node.left) && plan(node.right);
    }
    bool operator()(const Aggregate& node) const {
      for (const auto& [id, key] : node.keys)
        if (!scalar(key)) return false;
      for (const auto& [id, one] : node.aggregates)
        if (!scalar(one.filter) || !std::all_of(one.args.begin(), one.args.end(),
                                                [&](const auto& arg) { return scalar(arg); }))
          return false;
      return plan(node.input);
    }
    bool operator()(const Combine& node) const {
      return std::all_of(node.inputs.begin(), node.inputs.end(),
                         [&](const auto& input) { return plan(input.first); });
    }
    bool operator()(const Distinct& node) const { return plan(node.input); }
    bool operator()(const SortLimit& node) const { return plan(node.input); }
  };
  return std::visit(Look{policy}, plan.node);
}

void outputs_of(const Plan& plan, std::set<ColumnId>& into) {
  struct Look {
    std::set<ColumnId>& into;
    void operator()(const OneRow&) const {}
    void operator()(const Scan& scan) const {
      for (const auto& column : scan.columns) into.insert(column.id);
    }
    void operator()(const ReleasedTable& table) const {
      into.insert(table.keys.begin(), table.keys.end());
      into.insert(table.aggregates.begin(), table.aggregates.end());
    }
    void operator()(const Filter& node) const { outputs_of(*node.input, into); }
    void operator()(const Project& node) const {
      for (const auto& [id, value] : node.outputs) into.insert(id);
    }
    void operator()(const Join& node) const {
      outputs_of(*node.left, into);
      outputs_of(*node.right, into);
    }
    void operator()(const Aggregate& node) const {
      for (const auto& [id, key] : node.keys) into.insert(id);
      for (const auto& [id, one] : node.aggregates) into.insert(id);
    }
    void operator()(const Combine& node) const {
      into.insert(node.outputs.begin(), node.outputs.end());
    }
    void operator()(const Distinct& node) const {
      into.insert(node.columns.begin(), node.columns.end());
    }
    void operator()(const SortLimit& node) const { outputs_of(*node.input, into); }
  };
  std::visit(Look{into}, plan.node);
}

struct Leaf {
  PlanPtr plan;
  std::set<ColumnId> columns;
};

/// The release's input, taken apart: public leaves, definitions of columns, and conditions that
/// hold for every row.
class Flattened {
 public:
  explicit Flattened(const catalog::Policy& policy) : policy_(policy) {}

  void add(const PlanPtr& plan) {
    // Two public tables side by side stay two: a key of one has nothing to do with the other unless
    // a condition says so, and their product may be huge.
    const auto* sides = std::get_if<Join>(&plan->node);
    const bool apart = sides != nullptr && sides->kind == JoinKind::Inner;
    if (!apart && is_public_plan(*plan, policy_)) {
      Leaf leaf{plan, {}};
      outputs_of(*plan, leaf.columns);
      leaves.push_back(std::move(leaf));
      return;
    }
    if (const auto* filter = std::get_if<Filter>(&plan->node)) {
      split_conjuncts(filter->predicate, conjuncts);
      add(filter->input);
    } else if (const auto* project = std::get_if<Project>(&plan->node)) {
      for (const auto& [id, value] : project->outputs) definitions[id] = value;
      add(project->input);
    } else if (const auto* distinct = std::get_if<Distinct>(&plan->node)) {
      add(distinct->input);
    } else if (const auto* join = std::get_if<Join>(&plan->node)) {
      // Conditions of an outer join hold only where there is a match, so they are not used.
      if (join->kind == JoinKind::Inner) split_conjuncts(join->condition, conjuncts);
      add(join->left);
      add(join->right);
    } else if (const auto* aggregate = std::get_if<Aggregate>(&plan->node)) {
      // Within a unit: its keys are values of rows that passed everything below.
      for (const auto& [id, key] : aggregate->keys) definitions[id] = key;
      add(aggregate->input);
    }
  }

  /// The scalar over leaf columns.
  ScalarPtr expanded(const ScalarPtr& scalar) const {
    struct Expand {
      const Flattened& flat;
      const Scalar& whole;
      ScalarPtr same() const { return std::make_shared<const Scalar>(whole); }
      ScalarPtr operator()(const Constant&) const { return same(); }
      ScalarPtr operator()(const ColumnUse& use) const {
        const auto found = flat.definitions.find(use.id);
        return found == flat.definitions.end() ? same() : flat.expanded(found->second);
      }
      ScalarPtr operator()(const Apply& applied) const {
        Apply made{applied.function, {}};
        for (const auto& arg : applied.args) made.args.push_back(flat.expanded(arg));
        return make_scalar(whole.type, whole.position, std::move(made));
      }
      ScalarPtr operator()(const CaseWhen& when) const {
        CaseWhen made;
        for (const auto& [condition, result] : when.branches)
          made.branches.emplace_back(flat.expanded(condition), flat.expanded(result));
        made.otherwise = flat.expanded(when.otherwise);
        return make_scalar(whole.type, whole.position, std::move(made));
      }
      ScalarPtr operator()(const CastTo& cast) const {
        return make_scalar(whole.type, whole.position, CastTo{flat.expanded(cast.arg)});
      }
      ScalarPtr operator()(const SubqueryValue&) const { return same(); }
    };
    return std::visit(Expand{*this, *scalar}, scalar->node);
  }

  /// The leaves a scalar reads; nothing if it reads anything else, or nothing at all.
  std::optional<std::set<std::size_t>> leaves_of(const Scalar& scalar) const {
    std::set<std::size_t> found;
    bool all = true;
    for_each_column(scalar, [&](ColumnId id) {
      for (std::size_t i = 0; i < leaves.size(); ++i)
        if (leaves[i].columns.contains(id)) {
          found.insert(i);
          return;
        }
      all = false;
    });
    if (!all || found.empty()) return std::nullopt;
    return found;
  }

  std::vector<Leaf> leaves;
  std::vector<ScalarPtr> conjuncts;
  std::map<ColumnId, ScalarPtr> definitions;

 private:
  const catalog::Policy& policy_;
};

}  // namespace

void find_key_domains(const Plan& input, const std::vector<std::pair<ColumnId, ScalarPtr>>& keys,
                      const FactsTable& facts, const catalog::Policy& policy, Release& release,
                      const EngineDialect* dialect) {
  Flattened flat(policy);
  flat.add(std::make_shared<const Plan>(input));

  // Public leaves that conditions tie together form one domain.
  std::vector<std::size_t> group(flat.leaves.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  const auto find = [&](std::size_t at) {
    while (group[at] != at) at = group[at];
    return at;
  };
  const auto unite = [&](const std::set<std::size_t>& all) {
    for (const std::size_t one : all) group[find(one)] = find(*all.begin());
  };
  std::vector<std::pair<ScalarPtr, std::size_t>> conditions;  // and one of its leaves
  for (const auto& conjunct : flat.conjuncts) {
    const auto expanded = flat.expanded(conjunct);
    if (const auto leaves = flat.leaves_of(*expanded)) {
      unite(*leaves);
      conditions.emplace_back(expanded, *leaves->begin());
    }
  }
  std::map<std::size_t, std::vector<std::pair<std::size_t, ScalarPtr>>>
      sets;  // by first leaf: key index and expression
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto expanded = flat.expanded(keys[i].second);
    if (const auto leaves = flat.leaves_of(*expanded)) unite(*leaves);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    Key& key = release.keys[i];
    const Facts known = facts.of(*keys[i].second);
    const auto expanded = flat.expanded(keys[i].second);
    if (const auto leaves = flat.leaves_of(*expanded)) {
      sets[find(*leaves->begin())].emplace_back(i, expanded);
    } else if (known.values && known.values->size() <= kListedKeysMax) {
      key.domain = ListedKey{*known.values};
    } else if ((key.type.kind == TypeKind::Integer || key.type.kind == TypeKind::Date) &&
               known.is_bounded() && !known.from_type_only &&
               known.upper - known.lower < kRangeKeysMax) {
      key.domain = RangeKey{static_cast<std::int64_t>(std::ceil(known.lower)),
                            static_cast<std::int64_t>(std::floor(known.upper))};
    }
  }
  for (const auto& [root, members] : sets) {
    std::vector<PlanPtr> leaves;
    for (std::size_t i = 0; i < flat.leaves.size(); ++i)
      if (find(i) == root) leaves.push_back(flat.leaves[i].plan);
    PlanPtr plan = leaves.front();
    for (std::size_t i = 1; i < leaves.size(); ++i)
      plan = make_plan(Join{JoinKind::Inner, plan, leaves[i], nullptr});
    std::vector<ScalarPtr> holding;
    for (const auto& [condition, leaf] : conditions)
      if (find(leaf) == root) holding.push_back(condition);
    if (auto predicate = join_conjuncts(holding))
      plan = make_plan(Filter{plan, std::move(predicate)});
    std::vector<ColumnId> wanted;
    std::string columns;
    for (std::size_t column = 0; column < members.size(); ++column) {
      const auto& [index, expression] = members[column];
      for_each_column(*expression, [&](ColumnId id) { wanted.push_back(id); });
      auto text = emit_scalar(*expression, nullptr, dialect);
      if (expression->type.kind == TypeKind::Decimal)
        text = fmt::format("CAST({} AS DOUBLE)", text);
      columns +=
          fmt::format("{}{} AS {}", columns.empty() ? "" : ", ", text, release.keys[index].column);
      release.keys[index].domain = PublicSetKey{release.public_key_sets.size(), column};
    }
    release.public_key_sets.push_back({fmt::format("SELECT DISTINCT {} FROM ({})", columns,
                                                   emit_plan(*plan, wanted, nullptr, dialect))});
    if (dialect != nullptr) {
      std::string& sql = release.public_key_sets.back().sql;
      sql = dialect->statement(sql);
    }
  }
}

}  // namespace discreet::sql
