// The tests' Spark as the place of a second copy: the same Parquet files, read by Spark.
#pragma once

#include "engines/two_worlds.h"

namespace discreet::testing {

class SparkWorld final : public Elsewhere {
 public:
  void clear(const std::string& schema) override;
  void copy(DuckDb& from, const std::string& table, const std::string& schema,
            const std::string& parquet) override;
  std::string source(const std::string& schema, const std::string& table) override;
};

}  // namespace discreet::testing
