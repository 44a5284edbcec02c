#include "sql/explain.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sql/emit.h"

namespace discreet::sql {
namespace {

std::string shortened(std::string text) {
  constexpr std::size_t kMax = 100;
  if (text.size() > kMax) text = text.substr(0, kMax - 3) + "...";
  return text;
}

void describe(const Plan& plan, int depth, std::string& into) {
  const auto line = [&](const std::string& text) {
    into += fmt::format("{:{}}{}\n", "", depth * 2, text);
  };
  const auto child = [&](const PlanPtr& one) { describe(*one, depth + 1, into); };
  struct Describe {
    decltype(line)& say;
    decltype(child)& below;
    void operator()(const OneRow&) const { say("one row"); }
    void operator()(const Scan& scan) const { say("scan " + scan.table); }
    void operator()(const ReleasedTable& table) const {
      say(fmt::format("released_{}", table.index + 1));
    }
    void operator()(const Filter& node) const {
      say("filter " + shortened(emit_scalar(*node.predicate)));
      below(node.input);
    }
    void operator()(const Project& node) const {
      say(fmt::format("project {} columns", node.outputs.size()));
      below(node.input);
    }
    void operator()(const Join& node) const {
      const char* kind = node.kind == JoinKind::Inner   ? (node.condition ? "join" : "cross join")
                         : node.kind == JoinKind::Left  ? "left join"
                         : node.kind == JoinKind::Right ? "right join"
                                                        : "full join";
      say(node.condition ? fmt::format("{} on {}", kind, shortened(emit_scalar(*node.condition)))
                         : kind);
      below(node.left);
      below(node.right);
    }
    void operator()(const Aggregate& node) const {
      say(fmt::format("exact aggregate by {} keys", node.keys.size()));
      below(node.input);
    }
    void operator()(const Combine& node) const {
      say(node.set ? "set operation" : "union all");
      for (const auto& [input, columns] : node.inputs) below(input);
    }
    void operator()(const Distinct& node) const {
      say("distinct");
      below(node.input);
    }
    void operator()(const SortLimit& node) const {
      say(node.limit ? fmt::format("sort and keep {}", *node.limit) : "sort");
      below(node.input);
    }
  };
  std::visit(Describe{line, child}, plan.node);
}

std::string bounds_text(const Value& value) {
  return fmt::format("[{:.6g}, {:.6g}] {}", static_cast<double>(value.lower) * value.grid.unit(),
                     static_cast<double>(value.upper) * value.grid.unit(), name(value.origin));
}

// Lines whose depth is their indentation, drawn as a tree behind `prefix`.
void append_drawn(std::string& into, const std::string& text, const std::string& prefix) {
  std::vector<std::pair<std::size_t, std::string>> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const auto end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    const auto indent = std::min(line.find_first_not_of(' '), line.size());
    lines.emplace_back(indent / 2, line.substr(indent));
    from = end + 1;
  }
  // A level goes on where a later line is at it before one is above it.
  const auto goes_on = [&](std::size_t line, std::size_t level) {
    for (std::size_t i = line + 1; i < lines.size() && lines[i].first >= level; ++i)
      if (lines[i].first == level) return true;
    return false;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto& [depth, what] = lines[i];
    into += prefix;
    for (std::size_t level = 1; level < depth; ++level) into += goes_on(i, level) ? "│  " : "   ";
    if (depth > 0) into += goes_on(i, depth) ? "├─ " : "└─ ";
    into += what + "\n";
  }
}

}  // namespace

std::string describe_plan(const Plan& plan) {
  std::string text;
  describe(plan, 0, text);
  return text;
}

const char* name(BoundsOrigin origin) {
  switch (origin) {
    case BoundsOrigin::Proved:
      return "proved";
    case BoundsOrigin::Declared:
      return "declared";
    case BoundsOrigin::Asked:
      return "asked";
    case BoundsOrigin::Technical:
      return "found privately";
  }
  return "";
}

std::string kind_name(const AggregateKind& kind) {
  struct Name {
    std::string operator()(const CountRelease&) const { return "count"; }
    std::string operator()(const SumRelease&) const { return "sum"; }
    std::string operator()(const AvgRelease&) const { return "avg"; }
    std::string operator()(const VarianceRelease& one) const {
      return fmt::format("{}_{}", one.standard_deviation ? "stddev" : "var",
                         one.sample ? "samp" : "pop");
    }
    std::string operator()(const CovarianceRelease& one) const {
      return one.kind == CovarianceRelease::Kind::Correlation ? "corr"
             : one.kind == CovarianceRelease::Kind::Sample    ? "covar_samp"
                                                              : "covar_pop";
    }
    std::string operator()(const ExtremeRelease& one) const { return one.maximum ? "max" : "min"; }
    std::string operator()(const QuantilesRelease&) const { return "quantiles"; }
    std::string operator()(const CountUnitsRelease&) const { return "count_units"; }
    std::string operator()(const CountDistinctRelease&) const { return "count_distinct"; }
    std::string operator()(const ModeRelease&) const { return "mode"; }
    std::string operator()(const TopKRelease&) const { return "top_k"; }
    std::string operator()(const HistogramRelease& one) const {
      return one.cumulative ? "cdf" : "histogram";
    }
    std::string operator()(const TestRelease& one) const {
      switch (one.kind) {
        case TestRelease::Kind::OneSample:
          return "t_test, one sample";
        case TestRelease::Kind::TwoSample:
          return "t_test, two samples";
        case TestRelease::Kind::Anova:
          return "anova";
        case TestRelease::Kind::Proportion:
          return "prop_test, one sample";
        case TestRelease::Kind::TwoProportions:
          return "prop_test, two samples";
        case TestRelease::Kind::Fit:
          return "chi_square, goodness of fit";
        case TestRelease::Kind::Independence:
          return "chi_square, independence";
        case TestRelease::Kind::Correlation:
          return "corr_test";
        case TestRelease::Kind::Regression:
          return "linear_regression";
      }
      return "test";
    }
    std::string operator()(const QuantileIntervalRelease&) const { return "quantile_interval"; }
  };
  return std::visit(Name{}, kind);
}

std::string domain_text(const Key& key) {
  struct Text {
    std::string operator()(const PrivateKey&) const { return "private"; }
    std::string operator()(const ListedKey& listed) const {
      return fmt::format("public: {} listed values", listed.values.size());
    }
    std::string operator()(const RangeKey& range) const {
      return fmt::format("public: {} to {}", range.lower, range.upper);
    }
    std::string operator()(const PublicSetKey&) const { return "public: rows of public tables"; }
  };
  return std::visit(Text{}, key.domain);
}

std::string explain_text(const PlannedQuestion& question) {
  std::string text = question.is_public() ? "public question: answered exactly, costs nothing\n"
                                          : "private question\n";
  for (const Release& release : question.releases) {
    text += fmt::format("├─ release {} of {}{}\n", release.table, release.people,
                        release.options ? " (GoogleSQL form)" : "");
    for (const auto& aggregate : release.aggregates)
      text += fmt::format("│  ├─ {} {} = {}\n", aggregate.column, kind_name(aggregate.kind),
                          aggregate.text);
    for (const auto& value : release.values)
      if (value.type.is_ordered_number())
        text +=
            fmt::format("│  ├─ bounds {} of {}\n", bounds_text(value), shortened(value.expression));
    for (const auto& key : release.keys)
      text +=
          fmt::format("│  ├─ key {} {} = {}\n", key.column, domain_text(key), shortened(key.text));
    if (release.grouping_sets)
      text +=
          fmt::format("│  ├─ {} grouping sets, planned jointly\n", release.grouping_sets->size());
    if (release.bounds.rows_max)
      text += fmt::format("│  ├─ at most {} rows a unit{}\n", *release.bounds.rows_max,
                          release.bounds.one_row_per_unit ? " (proved)" : "");
    if (release.bounds.groups_max)
      text += fmt::format("│  ├─ at most {} groups a unit\n", *release.bounds.groups_max);
    text += "│  └─ reads\n";
    append_drawn(text, release.tree, "│     ");
  }
  text += question.is_public() ? "└─ reads\n" : "└─ after the noise\n";
  append_drawn(text, question.tree, "   ");
  for (const auto& notice : question.notices) text += "note: " + notice + "\n";
  return text;
}

std::string explain_json(const PlannedQuestion& question) {
  using nlohmann::json;
  json made;
  made["kind"] = question.is_public() ? "public" : "private";
  made["tables"] = question.tables;
  made["releases"] = json::array();
  for (const Release& release : question.releases) {
    json one;
    one["table"] = release.table;
    one["people"] = release.people;
    one["private_tables"] = release.tables;
    one["one_row_per_unit"] = release.bounds.one_row_per_unit;
    if (release.bounds.rows_max) one["rows_per_unit_max"] = *release.bounds.rows_max;
    if (release.bounds.groups_max) one["groups_per_unit_max"] = *release.bounds.groups_max;
    if (release.grouping_sets) one["grouping_sets"] = *release.grouping_sets;
    if (release.options) one["options"] = release.options->to_string();
    one["keys"] = json::array();
    for (const auto& key : release.keys)
      one["keys"].push_back({{"column", key.column},
                             {"type", name(key.type)},
                             {"public", key.is_public()},
                             {"domain", domain_text(key)}});
    one["values"] = json::array();
    for (const auto& value : release.values)
      if (value.type.is_ordered_number())
        one["values"].push_back({{"lower", static_cast<double>(value.lower) * value.grid.unit()},
                                 {"upper", static_cast<double>(value.upper) * value.grid.unit()},
                                 {"unit", value.grid.unit()},
                                 {"bounds", name(value.origin)}});
    one["aggregates"] = json::array();
    for (const auto& aggregate : release.aggregates)
      one["aggregates"].push_back({{"column", aggregate.column},
                                   {"kind", kind_name(aggregate.kind)},
                                   {"text", aggregate.text},
                                   {"type", name(aggregate.type)}});
    made["releases"].push_back(std::move(one));
  }
  made["columns"] = json::array();
  for (const auto& column : question.columns)
    made["columns"].push_back(
        {{"name", column.name}, {"type", name(column.type)}, {"from", column.from}});
  made["notices"] = question.notices;
  return made.dump(2);
}

}  // namespace discreet::sql
