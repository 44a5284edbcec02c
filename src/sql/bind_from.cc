// FROM: tables, joins, and the rules by which rows of one person stay that person's.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/suggest.h"
#include "sql/binder_internal.h"

namespace discreet::sql {
namespace {

double on_axis(const catalog::Literal& literal, Type type) {
  const double at = catalog::as_number(literal);
  constexpr double kMicrosPerDay = 86400e6;
  if (type.kind == TypeKind::Timestamp && std::holds_alternative<catalog::Date>(literal))
    return at * kMicrosPerDay;
  if (type.kind == TypeKind::Date && std::holds_alternative<catalog::Timestamp>(literal))
    return at / kMicrosPerDay;
  return at;
}

Facts facts_of_column(const catalog::Column& column, const std::string& engine_type, Type type) {
  Facts facts;
  const auto within = [&](double lower, double upper) {
    facts.lower = lower;
    facts.upper = upper;
  };
  if (engine_type == "TINYINT") within(-128, 127);
  if (engine_type == "SMALLINT") within(-32768, 32767);
  if (engine_type == "INTEGER") within(-2147483648.0, 2147483647.0);
  if (engine_type == "UTINYINT") within(0, 255);
  if (engine_type == "USMALLINT") within(0, 65535);
  if (engine_type == "UINTEGER") within(0, 4294967295.0);
  // What the type implies is no bound anybody chose: too wide to add noise for.
  facts.from_type_only = facts.is_bounded();
  if (column.range && type.is_ordered_number()) {
    facts.lower = std::max(facts.lower, on_axis(column.range->lower, type));
    facts.upper = std::min(facts.upper, on_axis(column.range->upper, type));
    facts.declared = true;
    facts.from_type_only = false;
  }
  if (!column.values.empty()) {
    facts.values = column.values;
    if (type.is_ordered_number() && !column.range) {
      facts.lower = Facts::kInfinity;
      facts.upper = -Facts::kInfinity;
      for (const auto& value : column.values) {
        facts.lower = std::min(facts.lower, on_axis(value, type));
        facts.upper = std::max(facts.upper, on_axis(value, type));
      }
      facts.declared = true;
      facts.from_type_only = false;
    }
  }
  if (type.kind == TypeKind::Boolean && !facts.values)
    facts.values = std::vector<catalog::Literal>{false, true};
  facts.grid = column.grid;
  return facts;
}

/// Disjoint sets of parts that are known to belong to one unit.
class Groups {
 public:
  explicit Groups(std::size_t count) : parent_(count) {
    std::iota(parent_.begin(), parent_.end(), std::size_t{0});
  }
  std::size_t find(std::size_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  void unite(std::size_t a, std::size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<std::size_t> parent_;
};

const Field* field_of(const Scalar& scalar, const std::vector<Field>& fields) {
  const auto* id = as_column(scalar);
  if (id == nullptr) return nullptr;
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const Field& field) { return field.id == *id; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<std::uint64_t> product(std::optional<std::uint64_t> a,
                                     std::optional<std::uint64_t> b) {
  std::uint64_t made = 0;
  if (!a || !b || __builtin_mul_overflow(*a, *b, &made)) return std::nullopt;
  return made;
}

std::string described(const Relation& relation) {
  for (const Field& field : relation.fields)
    if (!field.qualifier.empty()) return "'" + field.qualifier + "'";
  return "a subquery";
}

}  // namespace

ColumnId Binder::new_column(const std::string&, Type) {
  return next_column_++;
}

void Binder::notice(std::string text) {
  if (std::find(notices_.begin(), notices_.end(), text) == notices_.end())
    notices_.push_back(std::move(text));
}

const std::string* Binder::anchor_of(const Scalar& scalar, const std::vector<Field>& fields) const {
  const Field* field = field_of(scalar, fields);
  return field == nullptr ? nullptr : &field->anchor;
}

const Field* Binder::anchored(const Relation& relation) const {
  const auto found = std::find_if(relation.fields.begin(), relation.fields.end(),
                                  [](const Field& field) { return !field.anchor.empty(); });
  return found == relation.fields.end() ? nullptr : &*found;
}

void Binder::assume_within(const std::vector<ScalarPtr>& conjuncts,
                           const std::vector<Field>& fields) {
  for (const auto& conjunct : conjuncts) {
    bool inside = true;
    for_each_column(*conjunct, [&](ColumnId id) {
      inside &= std::any_of(fields.begin(), fields.end(),
                            [&](const Field& field) { return field.id == id; });
    });
    if (inside) facts_.assume(*conjunct);
  }
}

Result<Relation> Binder::scan(const catalog::Table& table, const std::string& alias, int position) {
  auto schema = schema_.columns(table.name);
  if (!schema) return schema.error();
  tables_.insert(table.name);
  Relation relation;
  Scan node{table.name, {}, std::nullopt};
  const catalog::Unit& unit = table.unit;
  relation.privacy = table.is_public() ? Privacy::Public : Privacy::Private;
  relation.people = unit.people;
  relation.rows_max = table.max_rows_per_unit;

  std::set<std::string> targets;  // columns that links of other tables lead to
  for (const auto& other : policy_.tables())
    for (const auto& link : other.unit.links)
      if (link.table == table.name) targets.insert(link.target_column);

  for (const SchemaColumn& column : schema.value()) {
    const catalog::Column known = table.column(column.name);
    const bool is_unit = !unit.column.empty() && unit.column == column.name;
    const bool is_link = unit.kind == catalog::Unit::Kind::Linked && !is_unit &&
                         unit.links.front().column == column.name;
    if (known.hidden && !is_unit && !is_link) continue;
    const auto type = parse_engine_type(column.engine_type);
    Field field;
    field.qualifier = alias;
    field.name = known.hidden ? "" : column.name;
    field.type = type.value_or(text_type());
    field.unusable = !type;
    if (!type && (is_unit || is_link))
      return source_.refuse(
          position,
          fmt::format("the privacy unit of '{}' has a type that cannot be compared", table.name),
          "The data owner can store it as a number or text");
    field.id = new_column(column.name, field.type);
    if (is_unit) {
      field.anchor = unit.people;
      relation.unit = field.id;
    } else if (is_link) {
      field.anchor = unit.links.front().table + "." + unit.links.front().target_column;
    } else if (relation.privacy == Privacy::Private && targets.contains(column.name)) {
      field.anchor = table.name + "." + column.name;
    }
    field.is_key = targets.contains(column.name);
    field.is_public_key = table.is_public() && column.name == table.key;
    field.per_unit = relation.rows_max == 1 && relation.privacy == Privacy::Private;
    if (type) {
      facts_.set(field.id, facts_of_column(known, column.engine_type, *type));
      node.columns.push_back({column.name, field.id});
    }
    relation.fields.push_back(std::move(field));
  }
  if (unit.kind == catalog::Unit::Kind::Row) {
    relation.unit_is_row = true;
    relation.one_row_per_unit = true;
    relation.rows_max = 1;
    node.row_number = new_column("row", integer_type());
    relation.unit = node.row_number;
  }
  relation.plan = make_plan(std::move(node));
  return relation;
}

Relation Binder::with_fresh_columns(const Relation& relation) {
  Relation fresh = relation;
  Project project{relation.plan, {}};
  for (Field& field : fresh.fields) {
    const ColumnId id = new_column(field.name, field.type);
    project.outputs.emplace_back(id, use_column(field.id, field.type));
    facts_.set(id, facts_.of(*use_column(field.id, field.type)));
    if (const auto from = computed_from_.find(field.id); from != computed_from_.end())
      computed_from_[id] = std::vector(from->second);
    field.id = id;
  }
  fresh.plan = make_plan(std::move(project));
  return fresh;
}

Result<Relation> Binder::bind_cte(const FromItem& item, std::size_t index) {
  const Cte cte = ctes_[index];
  if (!cte.released->has_value()) {
    auto all = ctes_;
    ctes_.resize(cte.visible);
    auto bound = bind_query(*cte.ref->query, nullptr);
    ctes_ = std::move(all);
    if (!bound) return bound;
    FromItem naming;
    naming.alias = cte.ref->name;
    naming.column_aliases = cte.ref->column_aliases;
    naming.position = cte.ref->position;
    DISCREET_TRY_VOID(rename(*bound, naming));
    // Public and private bodies are expanded at each use; a release is made and paid for once.
    if (bound->privacy == Privacy::Released)
      *cte.released = *bound;
    else
      return bound;
  }
  (void)item;
  return with_fresh_columns(**cte.released);
}

Result<Relation> Binder::bind_table(const FromItem& item, const TableRef& table, Scope*) {
  for (std::size_t i = ctes_.size(); i-- > 0;)
    if (ctes_[i].ref->name == table.name) return bind_cte(item, i);
  // A table whose columns the schema does not know is one that the asker may not know of.
  const auto is_shown = [&](const std::string& name) {
    const auto columns = schema_.columns(name);
    return columns || columns.error().code != ErrorCode::NotFound;
  };
  const catalog::Table* found = policy_.table(table.name);
  if (found != nullptr && !is_shown(found->name)) found = nullptr;
  if (found == nullptr) found = schema_.twin(table.name);
  if (found == nullptr) {
    auto names = policy_.table_names();
    std::erase_if(names, [&](const std::string& name) { return !is_shown(name); });
    return source_.not_found(
        item.position,
        fmt::format("there is no table '{}'{}", table.name, did_you_mean(table.name, names)),
        "SELECT name FROM discreet.tables lists them");
  }
  return scan(*found, item.alias, item.position);
}

Result<void> Binder::rename(Relation& relation, const FromItem& item) const {
  std::size_t visible = 0;
  for (Field& field : relation.fields) {
    field.qualifier = item.alias;
    if (field.name.empty()) continue;
    if (visible < item.column_aliases.size()) field.name = item.column_aliases[visible];
    ++visible;
  }
  if (item.column_aliases.size() > visible)
    return source_.invalid(item.position,
                           fmt::format("'{}' has {} columns but {} names are given", item.alias,
                                       visible, item.column_aliases.size()));
  return {};
}

Result<Binder::FromParts> Binder::bind_from(const FromItem& item, Scope* outer) {
  if (const auto* join = std::get_if<JoinRef>(&item.node)) return bind_join(item, *join, outer);
  FromParts parts;
  if (const auto* table = std::get_if<TableRef>(&item.node)) {
    DISCREET_TRY(auto relation, bind_table(item, *table, outer));
    DISCREET_TRY_VOID(rename(relation, item));
    parts.parts.push_back(std::move(relation));
    return parts;
  }
  // A subquery in FROM sees nothing of its neighbours: there is no LATERAL.
  DISCREET_TRY(auto relation, bind_query(*std::get<SubqueryRef>(item.node).query, outer));
  DISCREET_TRY_VOID(rename(relation, item));
  parts.parts.push_back(std::move(relation));
  return parts;
}

Result<Binder::FromParts> Binder::bind_join(const FromItem& item, const JoinRef& join,
                                            Scope* outer) {
  DISCREET_TRY(auto left, bind_from(*join.left, outer));
  DISCREET_TRY(auto right, bind_from(*join.right, outer));
  if (join.kind != JoinKind::Inner) {
    DISCREET_TRY(auto joined,
                 bind_outer_join(item, join, std::move(left), std::move(right), outer));
    FromParts parts;
    parts.parts.push_back(std::move(joined));
    return parts;
  }
  Scope scope;
  scope.outer = outer;
  const auto add_fields = [&](FromParts& side) {
    for (const Relation& part : side.parts) {
      scope.fields.insert(scope.fields.end(), part.fields.begin(), part.fields.end());
      scope.is_private |= part.privacy == Privacy::Private;
    }
  };
  auto names = join.using_columns;
  if (join.natural)
    for (const Relation& part : left.parts)
      for (const Field& field : part.fields)
        for (const Relation& other : right.parts)
          for (const Field& twin : other.fields)
            if (!field.name.empty() && field.name == twin.name) names.push_back(field.name);
  FromParts made;
  for (const std::string& name : names) {
    const auto find = [&](FromParts& side) -> Field* {
      for (Relation& part : side.parts)
        for (Field& field : part.fields)
          if (field.name == name && !field.merged) return &field;
      return nullptr;
    };
    Field *mine = find(left), *theirs = find(right);
    if (mine == nullptr || theirs == nullptr)
      return source_.not_found(item.position,
                               fmt::format("USING ({}) needs that column on both sides", name));
    DISCREET_TRY(auto equal, make_call(item.position, "=",
                                       {use_column(mine->id, mine->type),
                                        use_column(theirs->id, theirs->type)}));
    made.conjuncts.push_back(std::move(equal));
    theirs->merged = true;
  }
  add_fields(left);
  add_fields(right);
  if (join.condition) {
    DISCREET_TRY(const auto condition, bind_condition(join.condition, scope, "ON"));
    split_conjuncts(condition, made.conjuncts);
  }
  if (outer != nullptr) outer->uses_released |= scope.uses_released;
  for (FromParts* side : {&left, &right}) {
    std::move(side->parts.begin(), side->parts.end(), std::back_inserter(made.parts));
    std::move(side->conjuncts.begin(), side->conjuncts.end(), std::back_inserter(made.conjuncts));
  }
  return made;
}

bool Binder::tied(const Relation& left, const Relation& right,
                  const std::vector<ScalarPtr>& conjuncts) const {
  return std::any_of(conjuncts.begin(), conjuncts.end(), [&](const ScalarPtr& conjunct) {
    const auto* equal = as_apply(*conjunct, Function::Equal);
    if (equal == nullptr) return false;
    for (const bool swapped : {false, true}) {
      const auto* mine = anchor_of(*equal->args[swapped ? 1 : 0], left.fields);
      const auto* theirs = anchor_of(*equal->args[swapped ? 0 : 1], right.fields);
      if (mine != nullptr && theirs != nullptr && !mine->empty() && *mine == *theirs) return true;
    }
    return false;
  });
}

Result<Relation> Binder::bind_outer_join(const FromItem& item, const JoinRef& join,
                                         FromParts left_parts, FromParts right_parts,
                                         Scope* outer) {
  if (!join.using_columns.empty() || join.natural)
    return source_.refuse(item.position, "USING and NATURAL are supported for inner joins only",
                          "Write ON a.x = b.x");
  DISCREET_TRY(auto left, combine(std::move(left_parts), item.position, nullptr));
  DISCREET_TRY(auto right, combine(std::move(right_parts), item.position, nullptr));
  Scope scope;
  scope.outer = outer;
  scope.fields = left.fields;
  scope.fields.insert(scope.fields.end(), right.fields.begin(), right.fields.end());
  scope.is_private = left.privacy == Privacy::Private || right.privacy == Privacy::Private;
  DISCREET_TRY(const auto condition, bind_condition(join.condition, scope, "ON"));
  std::vector<ScalarPtr> conjuncts;
  split_conjuncts(condition, conjuncts);
  if (outer != nullptr) outer->uses_released |= scope.uses_released;

  const bool left_private = left.privacy == Privacy::Private,
             right_private = right.privacy == Privacy::Private;
  if (join.kind == JoinKind::Full && (left_private || right_private))
    return source_.refuse(item.position,
                          "a FULL JOIN of private rows makes rows that belong to nobody",
                          "Use LEFT JOIN, or UNION ALL of two LEFT JOINs");
  Relation& kept = join.kind == JoinKind::Right ? right : left;
  Relation& other = join.kind == JoinKind::Right ? left : right;
  const bool kept_private = kept.privacy == Privacy::Private,
             other_private = other.privacy == Privacy::Private;
  if (kept_private && other_private) {
    if (kept.people != other.people)
      return source_.refuse(
          item.position,
          fmt::format("{} and {} protect different people", described(kept), described(other)),
          "Ask about one of them at a time");
    if (!tied(kept, other, conjuncts))
      return source_.refuse(
          item.position,
          fmt::format("{} is joined to {} without the privacy unit, so one person's rows would "
                      "change another's",
                      described(other), described(kept)),
          "Add an equality on the unit column, or on a column the policy links to it, to ON");
    DISCREET_TRY_VOID(attach_unit(kept, item.position));
  }
  Relation joined;
  JoinKind kind = join.kind;
  if (!kept_private && other_private) {
    // Unmatched rows of the public side belong to nobody, and whether they exist depends on
    // everybody. They are dropped; as public keys they come back as empty groups.
    kind = JoinKind::Inner;
    notice(
        fmt::format("rows of the public side without a match belong to nobody and are not counted; "
                    "groups by its columns are answered even if empty"));
    joined.unit = other.unit;
    joined.people = other.people;
    joined.unit_is_row = other.unit_is_row;
    DISCREET_TRY_VOID(attach_unit(other, item.position));
    joined.unit = other.unit;
  } else if (kept_private) {
    joined.unit = kept.unit;
    joined.people = kept.people;
    joined.unit_is_row = kept.unit_is_row;
    const bool by_key =
        std::any_of(conjuncts.begin(), conjuncts.end(), [&](const ScalarPtr& conjunct) {
          const auto* equal = as_apply(*conjunct, Function::Equal);
          if (equal == nullptr) return false;
          for (std::size_t i = 0; i < 2; ++i)
            if (const Field* field = field_of(*equal->args[i], other.fields);
                field != nullptr && field_of(*equal->args[1 - i], other.fields) == nullptr)
              if (other_private ? field->is_key && !field->anchor.empty() : field->is_public_key)
                return true;
          return false;
        });
    if (by_key)
      joined.rows_max = kept.rows_max;
    else if (other_private)
      joined.rows_max = product(kept.rows_max, other.rows_max);
  }
  joined.privacy = kept_private || other_private ? Privacy::Private
                   : left.privacy == Privacy::Released || right.privacy == Privacy::Released
                       ? Privacy::Released
                       : Privacy::Public;
  joined.fields = left.fields;
  joined.fields.insert(joined.fields.end(), right.fields.begin(), right.fields.end());
  joined.plan = make_plan(Join{kind, left.plan, right.plan, condition});
  return joined;
}

Result<void> Binder::attach_unit(Relation& relation, int position) {
  if (relation.privacy != Privacy::Private || relation.unit) return {};
  const Field* by = anchored(relation);
  if (by == nullptr)
    return source_.refuse(position, "whose rows these are can no longer be told",
                          "Keep the column that links to the privacy unit");
  const auto point = by->anchor.find('.');
  const auto* parent = policy_.table(by->anchor.substr(0, point));
  if (parent == nullptr || point == std::string::npos)
    return source_.refuse(position, "the link to the privacy unit leads nowhere",
                          "The data owner must mend the policy");
  const Field key = *by;
  DISCREET_TRY(auto owner, scan(*parent, "", position));
  const std::string target = key.anchor.substr(point + 1);
  const std::string wanted = parent->unit.column == target ? parent->unit.people : key.anchor;
  const auto match = std::find_if(owner.fields.begin(), owner.fields.end(),
                                  [&](const Field& field) { return field.anchor == wanted; });
  if (match == owner.fields.end())
    return source_.refuse(
        position,
        fmt::format("table '{}' has no column '{}' that the policy links to", parent->name, target),
        "The data owner must mend the policy");
  const auto condition = apply(boolean_type(), position, Function::Equal,
                               {use_column(key.id, key.type), use_column(match->id, match->type)});
  DISCREET_TRY_VOID(attach_unit(owner, position));
  relation.plan = make_plan(Join{JoinKind::Inner, relation.plan, owner.plan, condition});
  relation.unit = owner.unit;
  const auto unit = std::find_if(owner.fields.begin(), owner.fields.end(),
                                 [&](const Field& field) { return field.id == *owner.unit; });
  DISCREET_CHECK(unit != owner.fields.end(), "a unit that is no column of its table");
  Field carried = *unit;
  carried.name.clear();
  relation.fields.push_back(std::move(carried));
  return {};
}

Result<Relation> Binder::combine(FromParts from, int position, Scope* scope) {
  std::vector<Relation>& parts = from.parts;
  DISCREET_CHECK(!parts.empty(), "a FROM clause without parts");
  const std::size_t outside = parts.size();  // the row of the query around, as one more part
  Groups groups(parts.size() + 1);
  std::vector<bool> by_key(parts.size(), false), public_by_key(parts.size(), false);
  const auto owner = [&](const Scalar& scalar, const Field*& field) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < parts.size(); ++i)
      if ((field = field_of(scalar, parts[i].fields)) != nullptr) return i;
    for (Scope* at = scope == nullptr ? nullptr : scope->outer; at != nullptr; at = at->outer)
      if ((field = field_of(scalar, at->fields)) != nullptr) return outside;
    return std::nullopt;
  };
  for (const auto& conjunct : from.conjuncts) {
    const auto* equal = as_apply(*conjunct, Function::Equal);
    if (equal == nullptr) continue;
    const Field *a = nullptr, *b = nullptr;
    const auto left = owner(*equal->args[0], a), right = owner(*equal->args[1], b);
    // A public table joined on its key: `key = "code"` in the policy. The bound on a unit's rows
    // that follows is enforced, so a key that is not one costs rows, not privacy.
    if (left && *left != outside && a->is_public_key && right != left) public_by_key[*left] = true;
    if (right && *right != outside && b->is_public_key && right != left)
      public_by_key[*right] = true;
    if (!left || !right || *left == *right || a->anchor.empty() || a->anchor != b->anchor) continue;
    groups.unite(*left, *right);
    if (*left != outside && a->is_key) by_key[*left] = true;
    if (*right != outside && b->is_key) by_key[*right] = true;
  }
  Relation made;
  std::optional<std::size_t> first;
  bool mixed = false, all_keys = true, single_rows = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Relation& part = parts[i];
    if (part.privacy == Privacy::Released && made.privacy == Privacy::Public)
      made.privacy = Privacy::Released;
    if (part.privacy != Privacy::Private) {
      // A relation of one row (an aggregate without GROUP BY), or one that is joined on its key,
      // makes no row of a unit into several.
      single_rows = single_rows && part.single_row;
      mixed = mixed || !(part.single_row || public_by_key[i]);
      continue;
    }
    if (!first) {
      first = i;
      made.privacy = Privacy::Private;
      made.people = part.people;
      made.unit_is_row = part.unit_is_row;
    } else if (part.people != made.people) {
      return source_.refuse(position,
                            fmt::format("{} and {} protect different people",
                                        described(parts[*first]), described(part)),
                            "Ask about one of them at a time");
    } else if (groups.find(i) != groups.find(*first)) {
      return source_.refuse(
          position,
          part.unit_is_row
              ? fmt::format("{} protects rows, and rows of different people cannot be joined",
                            described(part))
              : fmt::format("{} is joined to {} without the privacy unit, so one person's rows "
                            "would change another's",
                            described(part), described(parts[*first])),
          "Join them on the unit column, or on a column the policy links to it");
    }
    if (!made.unit) made.unit = part.unit;
    all_keys = all_keys && by_key[i];
  }
  if (first) {
    made.within_outer_unit = groups.find(*first) == groups.find(outside);
    for (const Relation& part : parts) made.within_outer_unit |= part.within_outer_unit;
    made.rows_max = 1;
    bool counted = false;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].privacy != Privacy::Private || (by_key[i] && !(all_keys && !counted))) continue;
      made.rows_max = product(made.rows_max, parts[i].rows_max);
      counted = true;
    }
    if (mixed) made.rows_max.reset();
    const auto privates = std::count_if(parts.begin(), parts.end(), [](const Relation& part) {
      return part.privacy == Privacy::Private;
    });
    made.one_row_per_unit = privates == 1 && single_rows && parts[*first].one_row_per_unit;
  }
  for (const Relation& part : parts)
    made.fields.insert(made.fields.end(), part.fields.begin(), part.fields.end());
  if (scope != nullptr && scope->uses_released && made.privacy == Privacy::Public)
    made.privacy = Privacy::Released;
  made.single_row = parts.size() == 1 && parts[0].single_row && from.conjuncts.empty();
  made.plan = parts[0].plan;
  for (std::size_t i = 1; i < parts.size(); ++i)
    made.plan = make_plan(Join{JoinKind::Inner, made.plan, parts[i].plan, nullptr});
  if (auto predicate = join_conjuncts(from.conjuncts))
    made.plan = make_plan(Filter{made.plan, std::move(predicate)});
  assume_within(from.conjuncts, made.fields);
  return made;
}

}  // namespace discreet::sql
