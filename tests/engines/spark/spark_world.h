// The tests' Spark as the place of a second copy: the same Parquet files, read by Spark.
#pragma once

#include "engines/two_worlds.h"

namespace discreet::testing {

class SparkWorld final : public Elsewhere {
 public:
  SparkWorld() = default;
  /// With options in its addresses ("files=sent") and schemas of its own.
  explicit SparkWorld(std::string options) : options_(std::move(options)) {}
  void clear(const std::string& schema) override;
  void copy(DuckDb& from, const std::string& table, const std::string& schema,
            const std::string& parquet) override;
  std::string source(const std::string& schema, const std::string& table) override;

 private:
  std::string within(const std::string& schema) const;
  std::string options_;
};

}  // namespace discreet::testing
