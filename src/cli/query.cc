// `discreet query`: rows on stdout; price, errors and what is left on stderr.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/question_options.h"
#include "cli/text_table.h"
#include "curator/workload.h"

namespace discreet::cli {
namespace {

struct QueryArguments : QuestionArguments {
  std::string format = "table", out, certificate, workload;
  bool json = false, errors = false;
};

bool is_number(const AnswerColumn& column) {
  return column.type == "bigint" || column.type == "numeric" || column.type == "double precision" ||
         column.type == "integer";
}

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos && !text.empty()) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

void print_csv(const Answer& answer) {
  std::string line;
  for (const auto& column : answer.columns)
    line += (line.empty() ? "" : ",") + csv_field(column.name);
  std::printf("%s\n", line.c_str());
  for (const auto& row : answer.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      std::printf("%s%s", i == 0 ? "" : ",", row[i] ? csv_field(*row[i]).c_str() : "");
    std::printf("\n");
  }
}

nlohmann::ordered_json rows_json(const Answer& answer) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto& row : answer.rows) {
    nlohmann::ordered_json object = nlohmann::ordered_json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto& name = answer.columns[i].name;
      if (!row[i]) {
        object[name] = nullptr;
      } else if (is_number(answer.columns[i])) {
        const auto number = nlohmann::ordered_json::parse(*row[i], nullptr, false);
        object[name] = number.is_discarded() ? nlohmann::ordered_json(*row[i]) : number;
      } else if (answer.columns[i].type == "boolean") {
        object[name] = *row[i] == "true";
      } else {
        object[name] = *row[i];
      }
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

void print(const nlohmann::ordered_json& json) {
  std::printf("%s\n",
              json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

void print_markdown(const Answer& answer) {
  const auto cell = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  std::string names = "|", rule = "|";
  for (const auto& column : answer.columns) {
    names += " " + cell(column.name) + " |";
    rule += is_number(column) ? " ---: |" : " --- |";
  }
  std::printf("%s\n%s\n", names.c_str(), rule.c_str());
  for (const auto& row : answer.rows) {
    std::string line = "|";
    for (const auto& value : row) line += " " + cell(value.value_or("")) + " |";
    std::printf("%s\n", line.c_str());
  }
}

// A number with its error, both to the digits that the error leaves: "32066 ±145", "41.2 ±0.22".
std::string with_error(const std::string& text, double error) {
  const double value = std::strtod(text.c_str(), nullptr);
  if (!std::isfinite(value) || !std::isfinite(error)) return text;
  const bool whole = text.find_first_of(".eE") == std::string::npos;
  if (whole || !(error > 0)) return fmt::format("{} ±{:.0f}", text, std::ceil(error));
  const int decimals = std::clamp(1 - static_cast<int>(std::floor(std::log10(error))), 0, 12);
  return fmt::format("{:.{}f} ±{:.{}f}", value, decimals, error, decimals);
}

void print_table(const Answer& answer, bool with_errors) {
  std::vector<TextColumn> columns;
  for (const auto& column : answer.columns) columns.push_back({column.name, is_number(column)});
  std::vector<std::vector<std::string>> rows;
  for (std::size_t r = 0; r < answer.rows.size(); ++r) {
    auto& cells = rows.emplace_back();
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const auto& value = answer.rows[r][c];
      const bool shown = with_errors && value && columns[c].right && r < answer.errors.size() &&
                         c < answer.errors[r].size() && answer.errors[r][c];
      cells.push_back(shown ? with_error(*value, *answer.errors[r][c]) : value.value_or("NULL"));
    }
  }
  std::fputs(text_table(columns, rows).c_str(), stdout);
}

// Parquet through the embedded engine; only released text is in it, cast to the answer's types.
Result<void> write_parquet(const Answer& answer, const std::string& path) {
  DISCREET_TRY(DuckDb engine, DuckDb::open({}));
  std::string columns, casts;
  for (std::size_t i = 0; i < answer.columns.size(); ++i) {
    const std::string name = sql_identifier(answer.columns[i].name);
    const std::string type = answer.columns[i].type == "numeric" ? "DOUBLE"
                             : is_number(answer.columns[i]) ||
                                     answer.columns[i].type == "boolean" ||
                                     answer.columns[i].type == "date"
                                 ? answer.columns[i].type
                                 : "text";
    columns += fmt::format("{}c{} VARCHAR", i == 0 ? "" : ", ", i);
    casts += fmt::format("{}CAST(c{} AS {}) AS {}", i == 0 ? "" : ", ", i,
                         type == "double precision" ? "DOUBLE" : type, name);
  }
  DISCREET_TRY_VOID(engine.execute(fmt::format("CREATE TABLE answer ({})", columns)));
  for (const auto& row : answer.rows) {
    std::string values;
    for (const auto& value : row)
      values += (values.empty() ? "" : ", ") + (value ? sql_literal(*value) : std::string("NULL"));
    DISCREET_TRY_VOID(engine.execute(fmt::format("INSERT INTO answer VALUES ({})", values)));
  }
  return engine.execute(
      fmt::format("COPY (SELECT {} FROM answer) TO {} (FORMAT parquet)", casts, sql_literal(path)));
}

void say(const Answer& answer, const Result<ledger::Balance>& balance) {
  std::string errors;
  for (std::size_t i = 0; i < answer.columns.size(); ++i)
    if (answer.error95[i])
      errors += fmt::format("{}{} +-{:.3g}", errors.empty() ? "" : ", ", answer.columns[i].name,
                            *answer.error95[i]);
  if (!errors.empty()) std::fprintf(stderr, "error at 95 %%: %s\n", errors.c_str());
  for (const std::string& notice : answer.notices)
    std::fprintf(stderr, "note: %s\n", notice.c_str());
  if (answer.repeated) {
    std::fprintf(stderr, "cost: nothing, the same answer as before\n");
  } else if (answer.cost.epsilon == 0) {
    std::fprintf(stderr, "cost: nothing, the question is about public data\n");
  } else {
    std::fprintf(
        stderr, "cost: epsilon %g%s\n", answer.cost.epsilon,
        answer.cost.delta > 0 ? fmt::format(", delta {:g}", answer.cost.delta).c_str() : "");
  }
  if (balance)
    std::fprintf(stderr, "left to %s: epsilon %s, delta %s\n", balance->account.c_str(),
                 shown(balance->left.epsilon).c_str(), shown(balance->left.delta).c_str());
}

Result<void> write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text << '\n';
  if (!file.flush()) return Error{ErrorCode::Unavailable, fmt::format("cannot write {}", path)};
  return {};
}

int answer(const QueryArguments& arguments, Curator& curator, Question question) {
  question.errors = arguments.errors;
  const auto answer = curator.answer(question);
  if (!answer) return fail(answer.error());
  if (!arguments.certificate.empty()) {
    const auto certificate = curator.certificate(*answer);
    if (!certificate) return fail(certificate.error());
    if (const auto written = write_text(arguments.certificate, *certificate); !written)
      return fail(written.error());
  }
  const std::string format = arguments.json ? "json" : arguments.format;
  if (format == "csv")
    print_csv(*answer);
  else if (format == "json")
    print(rows_json(*answer));
  else if (format == "markdown")
    print_markdown(*answer);
  else if (format == "parquet") {
    if (const auto written = write_parquet(*answer, arguments.out); !written)
      return fail(written.error());
  } else
    print_table(*answer, !arguments.errors);
  say(*answer, curator.balance(question.account));
  return kOk;
}

// Answers of a workload one after another; JSON is one array with an object for each statement.
int answer_all(const QueryArguments& arguments, Curator& curator, Question question) {
  std::ifstream file(arguments.workload, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file) return fail(Error{ErrorCode::NotFound, "cannot read " + arguments.workload});
  const auto statements = split_statements(text);
  if (!statements) return fail(statements.error());
  question.errors = arguments.errors;
  const auto answers = answer_workload(curator, question, *statements);
  if (!answers) return fail(answers.error());
  const std::string format = arguments.json ? "json" : arguments.format;
  auto all = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < answers->size(); ++i) {
    const Answer& one = (*answers)[i];
    if (format == "json") {
      all.push_back({{"statement", (*statements)[i]}, {"rows", rows_json(one)}});
      continue;
    }
    if (i > 0) std::printf("\n");
    if (format == "csv")
      print_csv(one);
    else if (format == "markdown")
      print_markdown(one);
    else
      print_table(one, !arguments.errors);
    for (std::size_t c = 0; c < one.columns.size() && c < one.error95.size(); ++c)
      if (one.error95[c])
        std::fprintf(stderr, "statement %zu: %s +-%.3g at 95 %%\n", i + 1,
                     one.columns[c].name.c_str(), *one.error95[c]);
  }
  if (format == "json") print(all);
  if (const auto balance = curator.balance(question.account))
    std::fprintf(stderr, "left to %s: epsilon %s, delta %s\n", balance->account.c_str(),
                 shown(balance->left.epsilon).c_str(), shown(balance->left.delta).c_str());
  return kOk;
}

int run_query(const QueryArguments& arguments) {
  if (arguments.workload.empty() == arguments.sql.empty())
    return fail(invalid_parameter("give a statement, or --workload FILE with several"));
  if (!arguments.workload.empty()) {
    if (arguments.format == "parquet" || !arguments.certificate.empty() ||
        !arguments.target_error.empty())
      return fail(invalid_parameter(
          "--workload goes with table, csv, json and markdown, and an epsilon; not with "
          "--certificate or --target-error"));
    return with_question(arguments, [&](Curator& curator, Question question) {
      return answer_all(arguments, curator, std::move(question));
    });
  }
  if (arguments.format == "parquet" && arguments.out.empty())
    return fail(invalid_parameter("--format parquet needs --out FILE"));
  return with_question(arguments, [&](Curator& curator, Question question) {
    return answer(arguments, curator, std::move(question));
  });
}

}  // namespace

void add_query(CLI::App& app, Action& chosen) {
  CLI::App* verb =
      add_verb(app, "query", "Ask a question in SQL: priced, charged, answered with its error",
               "  discreet query --policy town/discreet.toml --epsilon 1 \"select ward, count(*) "
               "from visits group by ward\"");
  auto arguments = std::make_shared<QueryArguments>();
  add_question_options(verb, *arguments);
  verb->get_option("sql")->required(false);
  verb->add_option("--workload", arguments->workload,
                   "Several statements, separated by semicolons: those over the same rows are "
                   "planned jointly and add up")
      ->type_name("FILE");
  verb->add_option("--format", arguments->format, "table, csv, json, markdown or parquet")
      ->check(CLI::IsMember({"table", "csv", "json", "markdown", "parquet"}))
      ->capture_default_str();
  verb->add_option("--out", arguments->out, "The file for --format parquet")->type_name("FILE");
  verb->add_flag("--json", arguments->json, "The same as --format json");
  verb->add_option("--certificate", arguments->certificate,
                   "Write what the answer can prove of itself; `ledger verify --certificate` "
                   "checks it")
      ->type_name("FILE");
  verb->add_flag("--errors", arguments->errors,
                 "A column <name>_error95 behind every noisy one: half the width of its 95 % "
                 "interval, row by row");
  verb->callback([&chosen, arguments] { chosen = [arguments] { return run_query(*arguments); }; });
}

}  // namespace discreet::cli
