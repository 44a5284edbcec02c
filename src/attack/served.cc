#include "attack/served.h"

#include <stdlib.h>

#include <fstream>

#include <fmt/format.h>

#include "base/clock.h"
#include "base/parse_number.h"
#include "curator/curator.h"

namespace discreet::attack {
namespace fs = std::filesystem;

struct Served::State {
  fs::path folder;
  SystemClock clock;
  std::optional<catalog::Policy> policy;
  std::optional<Curator> curator;

  ~State() {
    curator.reset();
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
};

namespace {

Result<void> write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return Error{ErrorCode::Unavailable, "a temporary file could not be written."};
  return {};
}

std::string policy_text(const std::vector<Served::Table>& tables,
                        const Served::Analysts& analysts) {
  std::string text;
  for (const auto& table : tables)
    text += fmt::format("[tables.{0}]\nsource = \"{0}.csv\"\n{1}\n", table.name, table.policy);
  // The people are fictional: all attempts together may spend what they like, each one may not.
  text += "[budgets.default]\nepsilon = \"unlimited\"\ndelta = \"unlimited\"\n";
  for (std::size_t i = 0; i < analysts.count; ++i)
    text += fmt::format("[analysts.a{}]\nbudget = {{ epsilon = {}, of = \"default\" }}\n", i,
                        analysts.epsilon);
  return text;
}

}  // namespace

Served::Served(std::unique_ptr<State> state) : state_(std::move(state)) {}
Served::~Served() = default;

Result<std::unique_ptr<Served>> Served::open(const std::vector<Table>& tables,
                                             const Analysts& analysts, RandomSource& random) {
  auto state = std::make_unique<State>();
  // The rows are fictional and the ledger is gone afterwards: memory does as well as a disk.
  std::error_code ignored;
  const fs::path memory = "/dev/shm";
  const fs::path root = fs::is_directory(memory, ignored) ? memory : fs::temp_directory_path();
  std::string folder = (root / "discreet-attack-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr)
    return Error{ErrorCode::Unavailable, "a temporary folder could not be made."};
  state->folder = folder;
  for (const auto& table : tables) {
    DISCREET_TRY_VOID(write_file(state->folder / (table.name + ".csv"), table.csv));
  }
  DISCREET_TRY(auto policy, catalog::Policy::parse(policy_text(tables, analysts),
                                                   state->folder / "discreet.toml"));
  state->policy.emplace(std::move(policy));
  DISCREET_TRY(auto curator, Curator::open(*state->policy, state->clock, random, nullptr));
  state->curator.emplace(std::move(curator));
  return std::unique_ptr<Served>(new Served(std::move(state)));
}

Result<std::vector<double>> Served::ask(const std::string& sql, std::size_t analyst, double epsilon,
                                        std::size_t column) {
  Question question;
  question.sql = sql;
  question.account = fmt::format("a{}", analyst);
  DISCREET_TRY(question.epsilon, Epsilon::make(epsilon));
  DISCREET_TRY(const Answer answer, state_->curator->answer(question));
  repeated_ += answer.repeated;
  std::vector<double> numbers;
  for (const auto& row : answer.rows) {
    DISCREET_CHECK(column < row.size(), "an answer has the columns asked for");
    double number = 0;
    if (row[column]) {
      DISCREET_TRY(number, parse_number(*row[column], "an answer"));
    }
    numbers.push_back(number);
  }
  return numbers;
}

Result<void> Served::replace(const std::string& table, const std::string& csv) {
  return write_file(state_->folder / (table + ".csv"), csv);
}

}  // namespace discreet::attack
