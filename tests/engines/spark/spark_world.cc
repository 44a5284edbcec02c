#include "engines/spark/spark_world.h"

#include <fmt/format.h>

#include "engines/spark/spark_server.h"

namespace discreet::testing {

void SparkWorld::clear(const std::string& schema) {
  spark_server().run(fmt::format("DROP DATABASE IF EXISTS {} CASCADE", schema));
  spark_server().run(fmt::format("CREATE DATABASE {}", schema));
}

void SparkWorld::copy(DuckDb&, const std::string& table, const std::string& schema,
                      const std::string& parquet) {
  // One file, read in one piece, so that rows have the numbers that they have here.
  spark_server().run(fmt::format("CREATE TABLE {}.{} USING parquet AS SELECT * FROM parquet.`{}`",
                                 schema, table, parquet));
}

std::string SparkWorld::source(const std::string& schema, const std::string& table) {
  return spark_server().address(schema + "." + table);
}

}  // namespace discreet::testing
