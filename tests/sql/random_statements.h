// Random statements for the planner, around the borders of what is private.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "random/random_source.h"

namespace discreet::sql {

/// Random statements around the borders of what is private: joins with and without the unit,
/// correlated and uncorrelated subqueries, features of a person, set operations. Most are planned,
/// many are refused; the planner does not know which the generator meant.
class Statements {
 public:
  explicit Statements(RandomSource& random) : random_(random) {}

  // Tables are chosen before columns: each line below is a step of its own.
  std::string next() {
    switch (below(6)) {
      case 0:
        return aggregate(rows(2));
      case 1:
        return over_features();
      case 2: {
        const auto inner = plain();
        return fmt::format("WITH t0 AS ({}) SELECT count(*), sum(x) FROM t0 {}", inner,
                           below(2) ? "WHERE x > 3" : "");
      }
      case 3: {
        const auto left = plain();
        const auto right = plain();
        return fmt::format("SELECT count(*), sum(x) FROM ({} UNION ALL {}) u", left, right);
      }
      case 4: {
        const auto from = rows(below(2) + 1);
        const auto g = column("a");
        const auto x = column("a");
        return fmt::format(
            "SELECT g, count(*) FROM (SELECT DISTINCT {} AS g, {} AS x {}) d GROUP BY g", g, x,
            from);
      }
      default:
        return aggregate(rows(1));
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_.bits64() % n; }
  std::string pick(std::initializer_list<const char*> all) {
    return *(all.begin() + static_cast<std::ptrdiff_t>(below(all.size())));
  }
  std::string one_of(const std::vector<std::string>& all) { return all[below(all.size())]; }
  std::string table(const std::string& alias) {
    tables_[alias] = pick({"patients", "visits", "visits", "tests", "wards", "zips"});
    return tables_[alias] + " " + alias;
  }
  std::string column(const std::string& alias) {
    static const std::map<std::string, std::vector<std::string>> kColumns = {
        {"patients", {"patient_id", "age", "ward", "zip", "sex"}},
        {"visits", {"patient_id", "visit_id", "ward", "days", "day"}},
        {"tests", {"visit_id", "name", "code"}},
        {"wards", {"ward", "floor"}},
        {"zips", {"zip", "region"}}};
    return alias + "." + one_of(kColumns.at(tables_[alias]));
  }
  std::string number(const std::string& alias) {
    static const std::map<std::string, std::vector<std::string>> kNumbers = {
        {"patients", {"age", "score", "income"}},
        {"visits", {"days", "cost"}},
        {"tests", {"result"}},
        {"wards", {"beds", "floor"}},
        {"zips", {"length(zip)"}}};
    const auto name = one_of(kNumbers.at(tables_[alias]));
    return name.starts_with("length") ? "length(" + alias + ".zip)" : alias + "." + name;
  }
  /// An equality on a column both have, which may or may not be one that ties people together.
  std::string equal(const std::string& a, const std::string& b) {
    static const std::map<std::string, std::vector<std::string>> kLinks = {
        {"patients", {"patient_id", "ward", "zip"}},
        {"visits", {"patient_id", "visit_id", "ward"}},
        {"tests", {"visit_id"}},
        {"wards", {"ward"}},
        {"zips", {"zip"}}};
    std::vector<std::string> both;
    for (const auto& name : kLinks.at(tables_[a]))
      for (const auto& other : kLinks.at(tables_[b]))
        if (name == other) both.push_back(name);
    if (both.empty()) return "true";
    const auto name = one_of(both);
    return fmt::format("{}.{} = {}.{}", a, name, b, name);
  }
  std::string condition(const std::string& alias) {
    switch (below(7)) {
      case 0:
        return number(alias) + " > " + std::to_string(below(50));
      case 1:
      case 2: {
        const auto inner = table("s");
        const auto tie = equal("s", alias);
        return fmt::format("{}EXISTS (SELECT 1 FROM {} WHERE {}{})", below(2) ? "NOT " : "", inner,
                           tie, below(2) ? " AND " + number("s") + " > 2" : "");
      }
      case 3: {
        const auto inner = table("s");
        const auto tie = equal("s", alias);  // "s.x = a.x", whose sides are taken apart
        const auto middle = tie.find(" = ");
        if (middle == std::string::npos) return "true";
        return fmt::format("{} {} (SELECT {} FROM {}{})", tie.substr(middle + 3),
                           pick({"IN", "NOT IN"}), tie.substr(0, middle), inner,
                           below(2) ? " WHERE " + number("s") + " > 3" : "");
      }
      case 4: {
        const auto inner = table("s");
        const auto tie = equal("s", alias);
        return fmt::format("{} > (SELECT {}({}) FROM {} WHERE {})", number(alias),
                           pick({"avg", "count", "max"}), number("s"), inner, tie);
      }
      case 5:
        return column(alias) + " IS NOT NULL";
      default:
        return number(alias) + " IS NOT NULL";
    }
  }
  /// FROM and WHERE over aliases a, b.
  std::string rows(std::size_t parts) {
    std::string from = table("a"), where = "true";
    if (parts == 2) {
      const auto other = table("b");
      const auto tie = equal("a", "b");
      from += fmt::format(" {} {} ON {}", pick({"JOIN", "JOIN", "LEFT JOIN", "RIGHT JOIN"}), other,
                          tie);
    }
    for (std::size_t i = below(3); i > 0; --i) where += " AND " + condition("a");
    return fmt::format("FROM {} WHERE {}", from, where);
  }
  std::string plain() {
    const auto from = rows(1);
    return fmt::format("SELECT {} AS x {}", number("a"), from);
  }
  std::string over_features() {
    const auto from = rows(below(2) + 1);
    const auto key = column("a");
    const auto inner = fmt::format("SELECT {} AS k, {}({}) AS f, count(*) AS n {} GROUP BY {}", key,
                                   pick({"sum", "max", "avg", "count"}), number("a"), from, key);
    const auto what = pick({"count(*)", "sum(f)", "avg(n)", "n, count(*)"});
    return fmt::format("SELECT {} FROM ({}) t WHERE {} > 1{}", what, inner, pick({"f", "n"}),
                       what[0] == 'n' ? " GROUP BY n" : "");
  }
  std::string aggregate(const std::string& from) {
    const auto what = pick({"count(*)", "sum", "avg", "max", "count(DISTINCT", "count("});
    const auto argument = what.ends_with(")") ? what
                          : what.find('(') != std::string::npos
                              ? fmt::format("{} {})", what, column("a"))
                              : fmt::format("{}({})", what, number("a"));
    if (below(2)) return fmt::format("SELECT {} {}", argument, from);
    const auto key = column("a");
    return fmt::format("SELECT {}, {} {} GROUP BY {}", key, argument, from, key);
  }

  RandomSource& random_;
  std::map<std::string, std::string> tables_;
};
}  // namespace discreet::sql
