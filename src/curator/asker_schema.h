// The tables as one account may know of them.
//
// Guarantee: a table that the policy does not list for the asker, or whose unit is found through
//            such a table, cannot be told from one that does not exist.
#pragma once

#include <string>
#include <vector>

#include "curator/data.h"

namespace discreet {

/// Whether this account may know of the table. Accounts that are no analyst's of the policy may
/// know of all.
bool shows(const catalog::Policy& policy, const std::string& account, const catalog::Table& table);
std::vector<std::string> shown_names(const catalog::Policy& policy, const std::string& account);

/// Everything passed in must outlive it.
class AskerSchema final : public sql::SchemaProvider {
 public:
  AskerSchema(const catalog::Policy& policy, const Data& data, const std::string& account)
      : policy_(policy), data_(data), account_(account) {}

  Result<std::vector<sql::SchemaColumn>> columns(const std::string& table) const override;
  const catalog::Table* twin(const std::string& table) const override { return data_.twin(table); }
  const sql::EngineDialect* dialect() const override { return data_.dialect(); }

 private:
  const catalog::Policy& policy_;
  const Data& data_;
  const std::string& account_;
};

}  // namespace discreet
