#include "local/collector/collector.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include <fmt/format.h>

namespace discreet::local {

// Two locks: `storing` orders batches on disk, `counting` guards what readers see, so that a reader
// never waits for a disk.
struct Collector::Collection {
  std::unique_ptr<Oracle> oracle;
  std::string header;
  std::unique_ptr<ReportLog> log;
  std::mutex storing;
  std::set<BatchId> seen;
  mutable std::mutex counting;
  Tally tally;
};

namespace {

bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= 100 && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.';
         });
}

constexpr std::string_view kEnding = ".reports";

}  // namespace

Collector::Collector(std::string folder) : folder_(std::move(folder)) {}
Collector::~Collector() = default;

Result<std::unique_ptr<Collector>> Collector::open(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return Error{ErrorCode::Unavailable, "cannot make the folder " + folder};
  std::unique_ptr<Collector> collector(new Collector(folder));
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != kEnding) continue;
    DISCREET_TRY(const std::string header, ReportLog::header_of(entry.path().string()));
    DISCREET_TRY(const Spec spec, parse_header(header));
    DISCREET_TRY_VOID(collector->add_collection(spec));
  }
  if (error) return Error{ErrorCode::Unavailable, "cannot read the folder " + folder};
  return collector;
}

Result<void> Collector::add_collection(const Spec& given) {
  if (!good_name(given.name))
    return invalid_parameter(
        "a collection's name is made of letters, digits, '-', '_' and '.', up to 100 of them");
  auto collection = std::make_shared<Collection>();
  DISCREET_TRY(collection->oracle, Oracle::make(given));
  const Oracle& oracle = *collection->oracle;
  collection->header = header_line(oracle.spec());
  const std::scoped_lock lock(mutex_);
  if (const auto known = collections_.find(given.name); known != collections_.end()) {
    if (known->second->header == collection->header) return {};
    return Error{
        ErrorCode::Refused,
        fmt::format("there is a collection '{}' already, with another header", given.name)};
  }
  collection->tally = oracle.empty_tally();
  const std::string path =
      (std::filesystem::path(folder_) / (given.name + std::string(kEnding))).string();
  bool whole = true;
  DISCREET_TRY(collection->log,
               ReportLog::open(path, collection->header, [&](const BatchId& id, Bytes records) {
                 whole &= records.size() % oracle.report_bytes() == 0;
                 if (!whole) return;
                 oracle.add(records, collection->tally);
                 if (id != BatchId{}) collection->seen.insert(id);
               }));
  if (!whole)
    return Error{ErrorCode::Refused, fmt::format("the report log {} holds part of a report", path)};
  collections_.emplace(given.name, std::move(collection));
  return {};
}

std::vector<std::string> Collector::names() const {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, collection] : collections_) names.push_back(name);
  return names;
}

Result<std::shared_ptr<Collector::Collection>> Collector::find(const std::string& name) const {
  const std::scoped_lock lock(mutex_);
  const auto found = collections_.find(name);
  if (found == collections_.end())
    return Error{ErrorCode::NotFound, fmt::format("there is no collection '{}'", name)};
  return found->second;
}

Result<std::string> Collector::header(const std::string& name) const {
  DISCREET_TRY(const auto collection, find(name));
  return collection->header;
}

Result<std::uint64_t> Collector::reports(const std::string& name) const {
  DISCREET_TRY(const auto collection, find(name));
  const std::scoped_lock lock(collection->counting);
  return collection->tally.reports;
}

Result<Acknowledgement> Collector::add_lines(const std::string& name, std::string_view text,
                                             const BatchId& id) {
  DISCREET_TRY(const auto collection, find(name));
  std::uint64_t line = 1;
  if (text.starts_with('{')) {
    const auto end = std::min(text.find('\n'), text.size());
    DISCREET_TRY(const Spec spec, parse_header(text.substr(0, end)));
    if (header_line(spec) != collection->header)
      return Error{ErrorCode::InvalidInput, "these reports belong to another collection"};
    text.remove_prefix(std::min(end + 1, text.size()));
    line = 2;
  }
  ReadReports read;
  read_lines(*collection->oracle, text, line, read);
  return add(*collection, std::move(read), id);
}

Result<Acknowledgement> Collector::add_binary(const std::string& name, Bytes batch,
                                              const BatchId& id) {
  DISCREET_TRY(const auto collection, find(name));
  DISCREET_TRY(const auto parsed, parse_binary_batch(batch));
  if (header_line(parsed.spec) != collection->header)
    return Error{ErrorCode::InvalidInput, "these reports belong to another collection"};
  ReadReports read;
  read_records(*collection->oracle, parsed.records, read);
  return add(*collection, std::move(read), id);
}

Result<Acknowledgement> Collector::add(Collection& collection, ReadReports read,
                                       const BatchId& id) {
  Acknowledgement done{read.accepted, read.refused, false, std::move(read.refusals)};
  if (read.accepted == 0) return done;
  {
    const std::scoped_lock lock(collection.storing);
    if (id != BatchId{} && collection.seen.contains(id)) {
      done.accepted = 0;
      done.repeated = true;
      return done;
    }
    DISCREET_TRY_VOID(collection.log->append(id, read.reports));
    if (id != BatchId{}) collection.seen.insert(id);
  }
  Tally part = collection.oracle->empty_tally();
  collection.oracle->add(read.reports, part);
  const std::scoped_lock lock(collection.counting);
  collection.tally.merge(part);
  return done;
}

Result<EstimateTable> Collector::estimates(const std::string& name,
                                           const EstimateQuestion& question) const {
  DISCREET_TRY(const auto collection, find(name));
  Tally tally;
  {
    const std::scoped_lock lock(collection->counting);
    tally = collection->tally;
  }
  DISCREET_TRY(auto rows, estimate_rows(*collection->oracle, tally, question));
  return EstimateTable{tally.reports, std::move(rows)};
}

}  // namespace discreet::local
