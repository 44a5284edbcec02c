// Twins that statements made: public tables beside the policy's.
//
// A twin is recorded in the ledger as the answer to its charge, so it is there again after a
// restart, for every process that has the ledger: whoever meets a table that the policy does not
// know looks for it there. Its rows live in the embedded engine.
//
// Guarantee: a table here holds what the ledger has on record as the answer to a charge, nothing
//            else: public, whoever asks. Thread-safe; shared by all curators of one database.
// Proof:     docs/proofs/synth_measurements.md (the twin), docs/formats/ledger.md (the record)
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "catalog/policy.h"
#include "curator/twin_rows.h"
#include "ledger/ledger.h"

namespace discreet {

class Twins {
 public:
  /// Nothing: there is no such twin, as far as was looked.
  const catalog::Table* table(const std::string& name) const;
  Result<std::vector<sql::SchemaColumn>> columns(const std::string& name) const;
  /// Names its rows: two twins of one name have different ones.
  std::string state(const std::string& name) const;

  /// Makes the twin a table of the engine. Without effect if there is one of this name already.
  Result<void> add(const std::string& name, std::uint64_t charge, const RecordedTwins& twins,
                   DuckDb& local);

  struct Listed {
    const catalog::Table* table;  ///< lives as long as the twins do
    std::vector<sql::SchemaColumn> columns;
  };
  /// All there are, as far as was looked, by name.
  std::vector<Listed> all() const;

  /// Adds what the ledger has recorded since the last time. Whether there was anything new.
  Result<bool> find_recorded(ledger::Ledger& ledger, const catalog::Policy& policy, DuckDb& local);

 private:
  struct Known {
    catalog::Table table;
    std::vector<sql::SchemaColumn> columns;
    std::uint64_t charge;
  };
  Result<void> add_locked(const std::string& name, std::uint64_t charge, const RecordedTwins& twins,
                          DuckDb& local);

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;  // entries stay where they are, and are never changed
  std::uint64_t seen_ = 0;              // charges up to this one were looked at
};

/// May a twin have this name? InvalidParameter: says why not.
Result<void> check_twin_name(const std::string& name, const catalog::Policy& policy);

}  // namespace discreet
