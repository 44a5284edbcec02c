// `discreet continual`: totals of a growing table, period by period, for one price.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parse_number.h"
#include "cli/policy_option.h"
#include "cli/question_options.h"
#include "cli/text_table.h"
#include "curator/continual.h"
#include "random/secure_random.h"

namespace discreet::cli {
namespace {

struct ContinualArguments {
  std::string policy, as, name, sql, from, epsilon = "1", delta = "1e-7";
  std::uint32_t periods = 0, every = 1, period = 0;
  std::uint64_t rows_per_unit = 0;
  bool json = false;
};

// A civil date to days since 1970-01-01 (Hinnant's algorithm), or a whole number.
Result<std::int64_t> parse_first(const std::string& text) {
  int year = 0, month = 0, day = 0;
  char rest = 0;
  if (std::sscanf(text.c_str(), "%d-%d-%d%c", &year, &month, &day, &rest) == 3 && month >= 1 &&
      month <= 12 && day >= 1 && day <= 31) {
    const int y = year - (month <= 2 ? 1 : 0);
    const int era = (y >= 0 ? y : y - 399) / 400;
    const int of_era = y - era * 400;
    const int of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return std::int64_t{era} * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year -
           719'468;
  }
  DISCREET_TRY(const double number, parse_number(text, "--from"));
  if (number != static_cast<double>(static_cast<std::int64_t>(number)))
    return invalid_parameter("--from is a date (2026-01-31) or a whole number");
  return static_cast<std::int64_t>(number);
}

Result<StreamTerms> terms_of(const ContinualArguments& arguments) {
  StreamTerms terms;
  terms.name = arguments.name;
  terms.sql = arguments.sql;
  if (!arguments.as.empty()) terms.account = arguments.as;
  terms.periods = arguments.periods;
  terms.every = arguments.every;
  terms.rows_per_unit = arguments.rows_per_unit;
  DISCREET_TRY(terms.first, parse_first(arguments.from));
  DISCREET_TRY(const double epsilon, parse_number(arguments.epsilon, "epsilon"));
  DISCREET_TRY(terms.budget.epsilon, Epsilon::make(epsilon));
  DISCREET_TRY(const double delta, parse_number(arguments.delta, "delta"));
  DISCREET_TRY(terms.budget.delta, Delta::make(delta));
  return terms;
}

void print(const std::vector<PeriodTotals>& periods, bool json) {
  if (json) {
    auto rows = nlohmann::ordered_json::array();
    for (const PeriodTotals& one : periods) {
      nlohmann::ordered_json row{{"period", one.period}, {"last", one.last}};
      for (const StreamColumn& column : one.columns) {
        row[column.text] = column.total;
        row[column.text + "_error95"] = column.error95;
      }
      rows.push_back(std::move(row));
    }
    std::printf("%s\n", rows.dump(2).c_str());
    return;
  }
  std::vector<TextColumn> columns{{"period", true}};
  std::vector<std::vector<std::string>> rows;
  if (!periods.empty())
    for (const StreamColumn& column : periods.front().columns) {
      columns.push_back({column.text, true});
      columns.push_back({"+-", true});
    }
  for (const PeriodTotals& one : periods) {
    auto& row = rows.emplace_back(1, std::to_string(one.period));
    for (const StreamColumn& column : one.columns) {
      row.push_back(fmt::format("{:.10g}", column.total));
      row.push_back(fmt::format("{:.3g}", column.error95));
    }
  }
  std::fputs(text_table(columns, rows).c_str(), stdout);
}

template <class Work>
int with_streams(const ContinualArguments& arguments, const Work& work) {
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  const SystemClock clock;
  SecureRandom random;
  auto streams = Continual::open(*policy, clock, random, operator_log());
  if (!streams) return fail(streams.error());
  return work(*streams, arguments.as.empty() ? std::string(kOwnerAccount) : arguments.as);
}

int start(const ContinualArguments& arguments) {
  const auto terms = terms_of(arguments);
  if (!terms) return fail(terms.error());
  return with_streams(arguments, [&](Continual& streams, const std::string& account) {
    const auto columns = streams.start(*terms);
    if (!columns) return fail(columns.error());
    if (arguments.json) {
      nlohmann::ordered_json made{{"name", terms->name}, {"periods", terms->periods}};
      for (const StreamColumn& column : *columns) made[column.text + "_error95"] = column.error95;
      std::printf("%s\n", made.dump().c_str());
    } else {
      for (const StreamColumn& column : *columns)
        std::printf("%s: within %.4g of the exact total at 95 %%, in every period\n",
                    column.text.c_str(), column.error95);
    }
    std::fprintf(stderr, "cost: epsilon %g, delta %g for all %u periods\n",
                 terms->budget.epsilon.value(), terms->budget.delta.value(), terms->periods);
    if (const auto balance = streams.ledger().balance(account))
      std::fprintf(stderr, "left to %s: epsilon %s, delta %s\n", account.c_str(),
                   shown(balance->left.epsilon).c_str(), shown(balance->left.delta).c_str());
    return int{kOk};
  });
}

}  // namespace

void add_continual(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "continual", "Totals of a growing table every period, for one price",
               "  discreet continual start daily --policy town/discreet.toml --periods 365 --from "
               "2026-01-01 "
               "--epsilon 1 --rows-per-unit 4 \"select day, count(*) from visits group by day\"\n"
               "  discreet continual release daily --policy town/discreet.toml --period 0");
  verb->require_subcommand(1);
  auto arguments = std::make_shared<ContinualArguments>();
  const auto common = [&](const char* name, const char* summary, const char* example) {
    CLI::App* made = verb->add_subcommand(name, summary);
    made->footer(std::string("Example:\n  discreet continual ") + example);
    add_policy_option(made, arguments->policy);
    made->add_option("name", arguments->name, "The stream's name")->required()->type_name("NAME");
    made->add_option("--as", arguments->as, "The analyst whose stream it is; the owner otherwise")
        ->type_name("NAME");
    made->add_flag("--json", arguments->json, "One JSON value on stdout");
    return made;
  };
  CLI::App* begin = common("start", "Pay for all periods of a stream",
                           "start daily --periods 365 --from 2026-01-01 --epsilon 1 \"select day, "
                           "count(*) from visits group by day\"");
  begin->add_option("--periods", arguments->periods, "How many periods")->required();
  begin->add_option("--from", arguments->from, "The first period's first day or number")
      ->required();
  begin->add_option("--every", arguments->every, "Days or numbers in a period")
      ->capture_default_str();
  begin->add_option("--epsilon", arguments->epsilon, "For the whole stream")->capture_default_str();
  begin->add_option("--delta", arguments->delta, "For the whole stream")->capture_default_str();
  begin->add_option("--rows-per-unit", arguments->rows_per_unit,
                    "How many rows of a person count, over all periods: the earliest");
  begin->add_option("sql", arguments->sql, "SELECT key, count(*), sum(x) FROM ... GROUP BY key")
      ->required()
      ->type_name("SQL");
  begin->callback([&chosen, arguments] { chosen = [arguments] { return start(*arguments); }; });

  CLI::App* next = common("release", "The totals up to a period; asked again, the same answer",
                          "release daily --period 0");
  next->add_option("--period", arguments->period, "From 0; earlier ones are released too")
      ->required();
  next->callback([&chosen, arguments] {
    chosen = [arguments] {
      return with_streams(*arguments, [&](Continual& streams, const std::string& account) {
        const auto totals = streams.release(account, arguments->name, arguments->period);
        if (!totals) return fail(totals.error());
        print({*totals}, arguments->json);
        return int{kOk};
      });
    };
  });

  CLI::App* show = common("show", "Everything a stream has released", "show daily");
  show->callback([&chosen, arguments] {
    chosen = [arguments] {
      return with_streams(*arguments, [&](Continual& streams, const std::string& account) {
        const auto all = streams.show(account, arguments->name);
        if (!all) return fail(all.error());
        print(*all, arguments->json);
        return int{kOk};
      });
    };
  });
}

}  // namespace discreet::cli
