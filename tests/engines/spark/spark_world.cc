#include "engines/spark/spark_world.h"

#include <fmt/format.h>

#include "engines/spark/spark_server.h"

namespace discreet::testing {

std::string SparkWorld::within(const std::string& schema) const {
  std::string name = schema;
  for (const char c : options_) name += c == '=' ? '_' : c;
  return name;
}

void SparkWorld::clear(const std::string& schema) {
  spark_server().run(fmt::format("DROP DATABASE IF EXISTS {} CASCADE", within(schema)));
  spark_server().run(fmt::format("CREATE DATABASE {}", within(schema)));
}

void SparkWorld::copy(DuckDb&, const std::string& table, const std::string& schema,
                      const std::string& parquet) {
  // One file, read in one piece, so that rows have the numbers that they have here.
  spark_server().run(fmt::format("CREATE TABLE {}.{} USING parquet AS SELECT * FROM parquet.`{}`",
                                 within(schema), table, parquet));
}

std::string SparkWorld::source(const std::string& schema, const std::string& table) {
  return spark_server().address(within(schema) + "." + table) +
         (options_.empty() ? "" : "?" + options_);
}

}  // namespace discreet::testing
