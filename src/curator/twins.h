// Twins that statements made: public tables beside the policy's.
//
// They have names of their own: in the engine and in plans a twin is "twin.NAME", which no table of
// a policy can be called. A twin may therefore have the name of a policy's table that its maker
// does not see, and making it tells nothing; whoever sees that table means the table by the name.
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
  /// By the name that statements use; its own `name` is the engine's. Nothing: there is no such
  /// twin, as far as was looked.
  const catalog::Table* table(const std::string& name) const;

  // By the engine's name.
  bool holds(const std::string& relation) const;
  Result<std::vector<sql::SchemaColumn>> columns(const std::string& relation) const;
  /// Names its rows: two twins of one name have different ones.
  std::string state(const std::string& relation) const;

  /// Makes the twin a table of the engine. Without effect if there is one of this name already.
  Result<void> add(const std::string& name, std::uint64_t charge, const RecordedTwins& twins,
                   DuckDb& local);

  struct Listed {
    const catalog::Table* table;  ///< as statements name it; lives as long as the twins do
    std::vector<sql::SchemaColumn> columns;
  };
  /// All there are, as far as was looked, by name.
  std::vector<Listed> all() const;

  /// Adds what the ledger has recorded since the last time. Whether there was anything new.
  Result<bool> find_recorded(ledger::Ledger& ledger, DuckDb& local);

 private:
  struct Known {
    catalog::Table shown, table;  // named as statements do, and as the engine does
    std::vector<sql::SchemaColumn> columns;
    std::uint64_t charge;
  };
  const Known* find(const std::string& relation) const;
  Result<void> add_locked(const std::string& name, std::uint64_t charge, const RecordedTwins& twins,
                          DuckDb& local);

  mutable std::mutex mutex_;
  std::map<std::string, Known> known_;  // entries stay where they are, and are never changed
  std::uint64_t seen_ = 0;              // charges up to this one were looked at
};

/// May a twin have this name, whatever else there is? InvalidParameter: says why not.
Result<void> check_twin_name(const std::string& name);

}  // namespace discreet
