#include <gtest/gtest.h>

#include <fmt/format.h>

#include "engines/spark/files_internal.h"

namespace discreet::spark {
namespace {

constexpr char kUuid[] = "90646223-45f9-4bd3-94a6-0e5b5792b5d9";

std::string plan_of(const std::string& nodes, const std::string& location) {
  return fmt::format(
      "== Optimized Logical Plan ==\n{}\n\n== Physical Plan ==\n*(1) ColumnarToRow\n+- FileScan "
      "parquet spark_catalog.b.t[a#1] Batched: true, DataFilters: [], Format: Parquet, Location: "
      "{}(1 paths)[file:/w/t], PartitionFilters: []\n\n",
      nodes, location);
}
const std::string kRelation =
    "Relation spark_catalog.b.t[a#1,b#2L] parquet, Statistics(sizeInBytes=6.4 KiB)";

TEST(SparkFiles, ATableOfParquetFilesIsPlain) {
  EXPECT_TRUE(is_plain(plan_of(kRelation, "InMemoryFileIndex")));
}

TEST(SparkFiles, WhateverStandsBetweenFilesAndRowsIsNotPlain) {
  EXPECT_FALSE(is_plain(""));
  EXPECT_FALSE(is_plain("== Physical Plan ==\n" + kRelation));
  // A view with a condition, a mask, characters that are padded.
  EXPECT_FALSE(is_plain(plan_of("Filter (a#1 < 3), Statistics(sizeInBytes=1 B)\n+- " + kRelation,
                                "InMemoryFileIndex")));
  EXPECT_FALSE(is_plain(
      plan_of("Project [a#1], Statistics(sizeInBytes=1 B)\n+- " + kRelation, "InMemoryFileIndex")));
  EXPECT_FALSE(
      is_plain(plan_of("Union, Statistics(sizeInBytes=1 B)\n:- " + kRelation + "\n+- " + kRelation,
                       "InMemoryFileIndex")));
  // Partitions, a log with deleted rows, another format.
  EXPECT_FALSE(is_plain(plan_of(kRelation, "CatalogFileIndex")));
  EXPECT_FALSE(is_plain(plan_of(kRelation, "PreparedDeltaFileIndex")));
  EXPECT_FALSE(
      is_plain(plan_of("Relation spark_catalog.b.t[a#1] orc, Statistics(sizeInBytes=6.4 KiB)",
                       "InMemoryFileIndex")));
  EXPECT_FALSE(is_plain(plan_of("RelationV2[a#1] spark_catalog.b.t, Statistics(sizeInBytes=1 B)",
                                "InMemoryFileIndex")));
}

TEST(SparkFiles, ItsOwnFilesOfThisMachineHaveAPath) {
  const std::string name = fmt::format("part-00000-{}-c000.snappy.parquet", kUuid);
  EXPECT_EQ(local_file("file:/lake/t/" + name), "/lake/t/" + name);
  EXPECT_EQ(local_file("file:///lake/t/" + name), "/lake/t/" + name);
  EXPECT_EQ(local_file("file:/lake%20of/%25t/" + name), "/lake of/%t/" + name);
}

TEST(SparkFiles, OtherFilesHaveNone) {
  const std::string name = fmt::format("part-00000-{}-c000.snappy.parquet", kUuid);
  EXPECT_FALSE(local_file("hdfs://lake/t/" + name));
  EXPECT_FALSE(local_file("s3a://lake/t/" + name));
  EXPECT_FALSE(local_file("/lake/t/" + name));
  EXPECT_FALSE(local_file("file://other/lake/t/" + name));
  EXPECT_FALSE(local_file("file:lake/" + name));
  // Names that another file may have as well.
  EXPECT_FALSE(local_file("file:/lake/t/visits.parquet"));
  EXPECT_FALSE(local_file("file:/lake/t/part-00000.parquet"));
  EXPECT_FALSE(local_file("file:/lake/t/part-00000-1234.parquet"));
  EXPECT_FALSE(local_file(fmt::format("file:/lake/t/part-00000-{}-c000.csv", kUuid)));
  EXPECT_FALSE(local_file(fmt::format("file:/lake/t/{}.parquet", kUuid)));
  // Patterns, partitions, and what is no encoding.
  EXPECT_FALSE(local_file("file:/lake/year=2024/" + name));
  EXPECT_FALSE(local_file("file:/lake/year%3D2024/" + name));
  EXPECT_FALSE(local_file("file:/lake/*/" + name));
  EXPECT_FALSE(local_file("file:/lake/%zz/" + name));
  EXPECT_FALSE(local_file("file:/lake/%00/" + name));
}

}  // namespace
}  // namespace discreet::spark
