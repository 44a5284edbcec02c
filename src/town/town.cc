#include "town/town.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "engines/duckdb/appender.h"
#include "engines/duckdb/database.h"
#include "town/dice.h"
#include "town/emoji.h"
#include "town/hospital.h"
#include "town/names.h"
#include "town/people.h"
#include "town/school.h"
#include "town/survey.h"
#include "town/tables.h"
#include "town/trial.h"
#include "town/voters.h"

namespace discreet::town {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = ".discreet-town";

Error disk_error(const fs::path& path) {
  return Error{ErrorCode::Unavailable, "cannot write " + path.string() +
                                           "; check that the folder is writable and the disk has "
                                           "room"};
}

std::optional<std::string> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

/// Written beside and renamed, so that a half-written file never has the real name.
Result<void> write_file(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    out << text;
    if (!out.flush()) return disk_error(path);
  }
  std::error_code failed;
  fs::rename(part, path, failed);
  if (failed) return disk_error(path);
  return {};
}

std::string_view ending(Format format) {
  return format == Format::Parquet ? "parquet" : "csv";
}

Result<void> check(const Options& options) {
  if (options.people == 0 || options.people > kPeopleMax)
    return invalid_parameter(fmt::format("a town has 1 to {} people", kPeopleMax));
  if (options.out.empty()) return invalid_parameter("name the folder to write the town to");
  return {};
}

Result<void> claim_folder(const fs::path& out) {
  std::error_code failed;
  const fs::file_status status = fs::status(out, failed);
  if (fs::exists(status) && !fs::is_directory(status))
    return Error{ErrorCode::Refused, out.string() + " is a file; name a folder"};
  fs::create_directories(out, failed);
  if (failed) return disk_error(out);
  const bool empty = fs::is_empty(out, failed);
  if (failed) return disk_error(out);
  if (!empty && !fs::exists(out / kMarker, failed))
    return Error{
        ErrorCode::Refused,
        out.string() + " is not empty and was not made by discreet town; name another folder"};
  return {};
}

/// One table on its way into DuckDB; the fingerprint covers every value in order.
class Writer {
 public:
  static Result<Writer> make(DuckDb& database, const Table& table) {
    std::string columns;
    for (const Column& column : table.columns)
      columns += fmt::format("{}{} {}", columns.empty() ? "" : ", ", sql_identifier(column.name),
                             sql_type(column.kind));
    const std::string name = sql_identifier(table.name);
    DISCREET_TRY_VOID(database.execute(fmt::format("CREATE TABLE {} ({})", name, columns)));
    DISCREET_TRY(auto appender, DuckDbAppender::make(database, std::string(table.name)));
    return Writer(std::move(appender));
  }

  template <class... Values>
  void row(const Values&... values) {
    if (!outcome_) return;
    (put(values), ...);
    ++rows_;
    outcome_ = appender_.end_row();
  }

  Result<void> close() {
    DISCREET_TRY_VOID(outcome_);
    return appender_.close();
  }
  std::uint64_t rows() const { return rows_; }
  std::uint64_t fingerprint() const { return fingerprint_.value(); }

 private:
  explicit Writer(DuckDbAppender appender) : appender_(std::move(appender)) {}

  void put(bool value) {
    fingerprint_.add(std::int64_t{value});
    appender_.append(value);
  }
  void put(std::int64_t value) {
    fingerprint_.add(value);
    appender_.append(value);
  }
  void put(int value) { put(std::int64_t{value}); }
  void put(std::uint8_t value) { put(std::int64_t{value}); }
  void put(std::int8_t value) { put(std::int64_t{value}); }
  void put(std::uint16_t value) { put(std::int64_t{value}); }
  void put(std::string_view value) {
    fingerprint_.add(value);
    appender_.append(value);
  }
  void put(const std::string& value) { put(std::string_view(value)); }

  DuckDbAppender appender_;
  Result<void> outcome_;
  std::uint64_t rows_ = 0;
  Fingerprint fingerprint_;
};

template <class Enum, std::size_t N>
std::string_view word(const std::array<std::string_view, N>& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

void fill_people(const std::vector<Person>& people, Writer& out) {
  for (const Person& p : people)
    out.row(p.id, p.household, p.name(), p.address(), std::to_string(p.zip), p.birth, p.age,
            word(kSexes, p.sex), word(kRaces, p.race), word(kMaritalStatuses, p.marital),
            word(kEducations, p.education), word(kOccupations, p.occupation), p.income);
}

void fill_patients(const std::vector<Person>& people, const Hospital& hospital, Writer& out) {
  for (const Patient& patient : hospital.patients) {
    const Person& p = people[patient.person];
    out.row(patient.id, p.id, std::to_string(p.zip), p.birth, p.age, word(kSexes, p.sex),
            word(kRaces, p.race), word(kMaritalStatuses, p.marital), p.smoker,
            word(kInsurances, patient.insurance));
  }
}

void fill_visits(const Hospital& hospital, Writer& out) {
  for (const Visit& v : hospital.visits)
    out.row(v.id, v.patient, word(kWards, v.ward), word(kDiagnoses, v.diagnosis), v.admitted,
            v.days, v.icu_days, v.cost);
}

void fill_voters(const std::vector<Person>& people, std::uint64_t seed, Writer& out) {
  for (const Voter& voter : make_voters(people, seed)) {
    const Person& p = people[voter.person];
    out.row(p.name(), p.address(), kCity, std::to_string(p.zip), p.birth, word(kSexes, p.sex),
            word(kParties, voter.party), voter.registered);
  }
}

/// Everything that exists before the first table is written.
struct Draft {
  std::vector<Person> people;
  Hospital hospital;
  std::uint64_t seed;
};

void fill(const Table& table, const Draft& draft, Writer& out) {
  const std::vector<Person>& people = draft.people;
  if (table.name == "people") {
    fill_people(people, out);
  } else if (table.name == "patients") {
    fill_patients(people, draft.hospital, out);
  } else if (table.name == "visits") {
    fill_visits(draft.hospital, out);
  } else if (table.name == "wards") {
    for (std::size_t ward = 0; ward < kWards.size(); ++ward) out.row(kWards[ward], kBeds[ward]);
  } else if (table.name == "voters") {
    fill_voters(people, draft.seed, out);
  } else if (table.name == "grades") {
    for (const Grade& g : make_grades(people, draft.seed))
      out.row(g.student, word(kSchools, g.school), word(kCourses, g.course), g.points,
              word(kGrades, g.grade));
  } else if (table.name == "trial") {
    for (const Participant& t : make_trial(people, draft.seed))
      out.row(people[t.person].id, word(kArms, t.arm), people[t.person].age, t.pressure,
              t.improvement, t.side_effects);
  } else if (table.name == "survey") {
    for (const SurveyAnswer& a : make_survey(people, draft.seed))
      out.row(a.person, a.day, word(kQuestions, a.question), word(kAnswers, a.yes));
  } else if (table.name == "emoji") {
    for (const EmojiCount& e : make_emoji(people, draft.seed))
      out.row(e.person, emoji_alphabet()[e.emoji], e.typed);
  } else {
    fail_check("a table with a filler", "a table of the town has no rows to fill it");
  }
}

Result<WrittenTable> write_table(DuckDb& database, const Table& table, const Draft& draft,
                                 const Options& options) {
  DISCREET_TRY(auto writer, Writer::make(database, table));
  fill(table, draft, writer);
  DISCREET_TRY_VOID(writer.close());
  const std::string file = fmt::format("{}.{}", table.name, ending(options.format));
  const fs::path path = options.out / file;
  const fs::path part = path.string() + ".part";
  const char* how = options.format == Format::Parquet ? "FORMAT parquet, COMPRESSION zstd"
                                                      : "FORMAT csv, HEADER true";
  const auto copied =
      database.execute(fmt::format("COPY {0} TO {1} ({2}); DROP TABLE {0}",
                                   sql_identifier(table.name), sql_literal(part.string()), how));
  if (!copied) return disk_error(path);
  std::error_code failed;
  fs::rename(part, path, failed);
  if (failed) return disk_error(path);
  return WrittenTable{std::string(table.name), file, writer.rows(), writer.fingerprint()};
}

/// The same table in the other format, from an earlier town, would now disagree. (Unless an edited
/// policy is kept, which may name it.)
void remove_other_format(const Options& options, const Table& table) {
  const Format other = options.format == Format::Parquet ? Format::Csv : Format::Parquet;
  std::error_code ignored;
  fs::remove(options.out / fmt::format("{}.{}", table.name, ending(other)), ignored);
}

/// The marker remembers the policy as we wrote it, so that an edited one can be told.
std::string marker_text(const Options& options, const std::string& policy) {
  Fingerprint print;
  print.add(policy);
  return fmt::format("people = {}\nseed = {}\npolicy = \"{:016x}\"\n", options.people, options.seed,
                     print.value());
}

bool policy_was_edited(const fs::path& out) {
  const auto policy = read_file(out / "discreet.toml");
  const auto marker = read_file(out / kMarker);
  if (!policy || !marker) return false;
  Fingerprint print;
  print.add(*policy);
  return marker->find(fmt::format("policy = \"{:016x}\"", print.value())) == std::string::npos;
}

}  // namespace

Result<Summary> write_town(const Options& options, const Progress& progress, const Log& log) {
  DISCREET_TRY_VOID(check(options));
  DISCREET_TRY_VOID(claim_folder(options.out));
  Summary summary;
  summary.policy_kept = policy_was_edited(options.out);
  const fs::path marker = options.out / kMarker;
  // Claims the folder before anything else is in it, so that a run that was cut short can be
  // repeated; what it says is only true at the end.
  if (!read_file(marker)) DISCREET_TRY_VOID(write_file(marker, "unfinished = true\n"));

  DISCREET_TRY(DuckDb database, DuckDb::open({.operator_log = log}));
  const int total = static_cast<int>(tables().size()) + 1;
  int done = 0;
  if (progress) progress("drawing people", done, total);
  Draft draft{make_people(options.people, options.seed), {}, options.seed};
  draft.hospital = make_hospital(draft.people, options.seed);
  summary.unique_people = count_unique(draft.people);
  for (const Table& table : tables()) {
    if (progress) progress(table.name, ++done, total);
    DISCREET_TRY(WrittenTable written, write_table(database, table, draft, options));
    if (!summary.policy_kept) remove_other_format(options, table);
    summary.tables.push_back(std::move(written));
  }
  const std::string policy = policy_text(ending(options.format));
  if (!summary.policy_kept) DISCREET_TRY_VOID(write_file(options.out / "discreet.toml", policy));
  DISCREET_TRY_VOID(write_file(options.out / "README.md",
                               readme_text(options.people, options.seed, summary.tables)));
  DISCREET_TRY_VOID(write_file(marker, marker_text(options, policy)));
  return summary;
}

}  // namespace discreet::town
