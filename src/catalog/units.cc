#include <algorithm>
#include <map>
#include <set>

#include "base/suggest.h"
#include "catalog/units_internal.h"

namespace discreet::catalog {
namespace {

std::string trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") - first + 1));
}

class Resolver {
 public:
  Resolver(std::vector<Table>& tables, const std::vector<UnitClaim>& claims, Problems& problems)
      : tables_(tables), claims_(claims), problems_(problems) {}

  void run() {
    for (std::size_t i = 0; i < tables_.size(); ++i) resolve(i);
    for (Table& table : tables_) find_joins(table);
    refuse_shared_names();
  }

 private:
  std::size_t find(const std::string& name) const {
    for (std::size_t i = 0; i < tables_.size(); ++i)
      if (tables_[i].name == name) return i;
    return tables_.size();
  }

  void resolve(std::size_t i) {
    const UnitClaim& claim = claims_[i];
    Table& table = tables_[i];
    Unit& unit = table.unit;
    unit.kind = claim.kind;
    if (claim.kind == Unit::Kind::None) return;
    if (claim.kind == Unit::Kind::Linked) return follow(i);
    unit.owner_table = table.name;
    unit.owner_column = unit.column = claim.column;
    const bool row = claim.kind == Unit::Kind::Row;
    unit.people = !claim.people.empty() ? claim.people
                                        : table.name + "." + (row ? "row" : claim.column.c_str());
  }

  /// Walks from table i to the owner, keeping the links that a join needs.
  void follow(std::size_t i) {
    Unit& unit = tables_[i].unit;
    std::set<std::string> seen{tables_[i].name};
    bool carried = true;  // does the column at hand hold the unit itself all the way?
    std::size_t at = i;
    while (claims_[at].kind == Unit::Kind::Linked) {
      const Link& link = claims_[at].link;
      const std::size_t next = find(link.table);
      if (next == tables_.size()) {
        if (at == i) unknown_table(i);
        return;  // a table further on has its own message
      }
      if (!seen.insert(link.table).second) {
        problems_.add(claims_[i].line,
                      fmt::format("the links of table '{}' run in a circle through '{}'; one table "
                                  "must own the unit: unit = \"{}\"",
                                  tables_[i].name, link.table, link.target_column));
        return;
      }
      unit.links.push_back(link);
      const UnitClaim& target = claims_[next];
      const std::string& its_key =
          target.kind == Unit::Kind::Linked ? target.link.column : target.column;
      carried = carried && its_key == link.target_column;
      at = next;
    }
    if (claims_[at].kind != Unit::Kind::Column) return no_unit_there(i, at);
    if (carried) unit.column = claims_[i].link.column;
    unit.owner_table = tables_[at].name;
    unit.owner_column = claims_[at].column;
    unit.people = !claims_[at].people.empty() ? claims_[at].people
                                              : unit.owner_table + "." + unit.owner_column;
    if (!claims_[i].people.empty() && claims_[i].people != unit.people)
      problems_.add(
          claims_[i].line,
          fmt::format("table '{}' is linked to the people of '{}'; remove `people = \"{}\"`",
                      tables_[i].name, unit.owner_table, claims_[i].people));
  }

  void find_joins(Table& table) {
    Unit& unit = table.unit;
    if (unit.people.empty()) return;  // public, or its links lead nowhere
    const Table* at = &table;
    for (const Link& link : unit.links) {
      if (!at->unit.column.empty()) break;
      unit.joins.push_back(link);
      at = &tables_[find(link.table)];
    }
    unit.joined_column = at->unit.column;
  }

  void unknown_table(std::size_t i) {
    std::vector<std::string> names;
    for (const Table& table : tables_) names.push_back(table.name);
    const Link& link = claims_[i].link;
    std::string hint = did_you_mean(link.table, names);
    if (hint.empty()) hint = fmt::format("; add [tables.{}]", link.table);
    problems_.add(claims_[i].line,
                  fmt::format("the unit of table '{}' links to the unknown table '{}'{}",
                              tables_[i].name, link.table, hint));
  }

  void no_unit_there(std::size_t i, std::size_t at) {
    const std::string& owner = tables_[at].name;
    const bool is_public = claims_[at].kind == Unit::Kind::None;
    const Link& last = tables_[i].unit.links.back();
    problems_.add(claims_[i].line,
                  is_public
                      ? fmt::format("the unit of table '{}' links to '{}', which is public and "
                                    "protects nobody; link to the table that owns the unit",
                                    tables_[i].name, owner)
                      : fmt::format("the unit of table '{}' links to '{}', whose unit is \"row\"; "
                                    "give '{}' its key instead: unit = \"{}\"",
                                    tables_[i].name, owner, owner, last.target_column));
  }

  void refuse_shared_names() {
    std::map<std::string, std::size_t> owner_of_name;
    std::map<std::string, std::size_t> owner_of_people;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
      const UnitClaim& claim = claims_[i];
      if (claim.kind == Unit::Kind::None || claim.kind == Unit::Kind::Linked) continue;
      if (!claim.people.empty()) {
        const auto [at, fresh] = owner_of_people.emplace(claim.people, i);
        if (!fresh)
          problems_.add(claim.line,
                        fmt::format("tables '{}' and '{}' both own the people \"{}\"; link one "
                                    "to the other, or name two kinds of people",
                                    tables_[at->second].name, tables_[i].name, claim.people));
        continue;
      }
      if (claim.kind != Unit::Kind::Column) continue;
      const auto [at, fresh] = owner_of_name.emplace(claim.column, i);
      if (fresh) continue;
      const std::string& first = tables_[at->second].name;
      problems_.add(
          claim.line,
          fmt::format(
              "tables '{0}' and '{1}' both have the unit '{2}' and no link. If they are the "
              "same people, write unit = \"{2} -> {0}.{2}\"; if not, name them: people = "
              "\"{1}\"",
              first, tables_[i].name, claim.column));
    }
  }

  std::vector<Table>& tables_;
  const std::vector<UnitClaim>& claims_;
  Problems& problems_;
};

}  // namespace

bool read_unit(const std::string& text, const std::string& table, int line, UnitClaim& claim,
               Problems& problems) {
  const auto arrow = text.find("->");
  claim.line = line;
  if (arrow == std::string::npos) {
    const std::string column = trim(text);
    claim.kind = column == "row" ? Unit::Kind::Row : Unit::Kind::Column;
    if (column != "row") claim.column = column;
    if (!column.empty()) return true;
  } else {
    const std::string target = trim(std::string_view(text).substr(arrow + 2));
    const auto dot = target.rfind('.');
    claim.kind = Unit::Kind::Linked;
    claim.link.column = trim(std::string_view(text).substr(0, arrow));
    if (dot != std::string::npos) {
      claim.link.table = trim(std::string_view(target).substr(0, dot));
      claim.link.target_column = trim(std::string_view(target).substr(dot + 1));
    }
    if (!claim.link.column.empty() && !claim.link.table.empty() &&
        !claim.link.target_column.empty() && target.find("->") == std::string::npos)
      return true;
  }
  problems.add(
      line,
      fmt::format("the unit of table '{}' does not read; write \"row\", \"column\" or \"column "
                  "-> table.column\"",
                  table));
  return false;
}

void resolve_units(std::vector<Table>& tables, const std::vector<UnitClaim>& claims,
                   Problems& problems) {
  Resolver(tables, claims, problems).run();
}

}  // namespace discreet::catalog
