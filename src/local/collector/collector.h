// Collects randomised reports: checks them one by one, stores them, keeps the aggregates up to
// date.
//
// Guarantee: an acknowledged batch survives a crash (report_log.h) and is counted once; a report
// that
//            no client of the collection sends is refused alone. The collector never sees a value
//            that was not randomised, and stores nothing about who sent a report.
// Thread safety: all members may be called from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "local/collector/report_log.h"
#include "local/estimates.h"
#include "local/oracle.h"
#include "local/wire.h"

namespace discreet::local {

struct Acknowledgement {
  std::uint64_t accepted = 0, refused = 0;
  bool repeated = false;  ///< the batch's name was seen before: nothing was added
  std::vector<Refusal> refusals;
};

struct EstimateTable {
  std::uint64_t reports = 0;
  std::vector<EstimateRow> rows;
};

class Collector {
 public:
  /// Opens the collections stored in `folder`, which is made when it is not there.
  static Result<std::unique_ptr<Collector>> open(const std::string& folder);
  ~Collector();

  /// Begins (or finds again) a collection; its spec has a name of letters, digits, '-', '_' and
  /// '.'.
  Result<void> add_collection(const Spec& spec);

  std::vector<std::string> names() const;
  /// NotFound: no such collection.
  Result<std::string> header(const std::string& name) const;
  Result<std::uint64_t> reports(const std::string& name) const;

  /// Lines of JSON; a first line that is a header must be the collection's own.
  Result<Acknowledgement> add_lines(const std::string& name, std::string_view text,
                                    const BatchId& id = {});
  /// The binary form of wire.h.
  Result<Acknowledgement> add_binary(const std::string& name, Bytes batch, const BatchId& id = {});

  Result<EstimateTable> estimates(const std::string& name, const EstimateQuestion& question) const;

 private:
  struct Collection;
  explicit Collector(std::string folder);
  Result<std::shared_ptr<Collection>> find(const std::string& name) const;
  Result<Acknowledgement> add(Collection& collection, ReadReports read, const BatchId& id);

  std::string folder_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Collection>> collections_;
};

}  // namespace discreet::local
