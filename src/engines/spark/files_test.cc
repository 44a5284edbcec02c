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
  EXPECT_EQ(layout_of(plan_of(kRelation, "InMemoryFileIndex")), Layout::Files);
  EXPECT_EQ(layout_of(plan_of(kRelation, "CatalogFileIndex")), Layout::Partitions);
}

bool is_plain(const std::string& plan) {
  return layout_of(plan) != Layout::Other;
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
  // A log with deleted rows, another format.
  EXPECT_FALSE(is_plain(plan_of(kRelation, "PreparedDeltaFileIndex")));
  EXPECT_FALSE(
      is_plain(plan_of("Relation spark_catalog.b.t[a#1] orc, Statistics(sizeInBytes=6.4 KiB)",
                       "InMemoryFileIndex")));
  EXPECT_FALSE(is_plain(plan_of("RelationV2[a#1] spark_catalog.b.t, Statistics(sizeInBytes=1 B)",
                                "InMemoryFileIndex")));
}

std::string path_of(const std::string& uri) {
  const auto files = local_files({uri}, Layout::Files).files;
  return files.empty() ? "" : files[0];
}

TEST(SparkFiles, ItsOwnFilesOfThisMachineHaveAPath) {
  const std::string name = fmt::format("part-00000-{}-c000.snappy.parquet", kUuid);
  EXPECT_EQ(path_of("file:/lake/t/" + name), "/lake/t/" + name);
  EXPECT_EQ(path_of("file:///lake/t/" + name), "/lake/t/" + name);
  EXPECT_EQ(path_of("file:/lake%20of/%25t/" + name), "/lake of/%t/" + name);
}

TEST(SparkFiles, FilesOfOtherFileSystemsHaveALocation) {
  const std::string name = fmt::format("part-00000-{}-c000.snappy.parquet", kUuid);
  const auto location = [&](const std::string& folder) {
    const auto files = located_files({folder + "/" + name}, Layout::Files).files;
    return files.empty() ? "" : files[0].substr(0, files[0].rfind('/'));
  };
  EXPECT_EQ(location("hdfs://lake:8020/t%20u"), "hdfs://lake:8020/t u");
  EXPECT_EQ(location("s3a://lake/t"), "s3a://lake/t");
  EXPECT_EQ(location("file:///lake/t"), "file:/lake/t");
  EXPECT_EQ(location("file://other/lake/t"), "file://other/lake/t");
  EXPECT_EQ(location("/lake/t"), "");
  EXPECT_EQ(location("file:lake"), "");
  EXPECT_EQ(location("s3a://lake"), "s3a://lake");
  EXPECT_EQ(location("s3a:"), "s3a:");
  EXPECT_FALSE(own_file("s3a://" + name));
}

TEST(SparkFiles, OtherFilesHaveNone) {
  const std::string name = fmt::format("part-00000-{}-c000.snappy.parquet", kUuid);
  EXPECT_EQ(path_of("hdfs://lake/t/" + name), "");
  EXPECT_EQ(path_of("s3a://lake/t/" + name), "");
  EXPECT_EQ(path_of("/lake/t/" + name), "");
  EXPECT_EQ(path_of("file://other/lake/t/" + name), "");
  EXPECT_EQ(path_of("file:lake/" + name), "");
  // Names that another file may have as well.
  EXPECT_FALSE(own_file("file:/lake/t/visits.parquet"));
  EXPECT_FALSE(own_file("file:/lake/t/part-00000.parquet"));
  EXPECT_FALSE(own_file("file:/lake/t/part-00000-1234.parquet"));
  EXPECT_FALSE(own_file(fmt::format("file:/lake/t/part-00000-{}-c000.csv", kUuid)));
  EXPECT_FALSE(own_file(fmt::format("file:/lake/t/{}.parquet", kUuid)));
  // Patterns, and what is no encoding.
  EXPECT_FALSE(own_file("file:/lake/*/" + name));
  EXPECT_FALSE(own_file("file:/lake/%zz/" + name));
  EXPECT_FALSE(own_file("file:/lake/%00/" + name));
}

TEST(SparkFiles, FoldersTellTheValuesOfPartitions) {
  const std::string name = fmt::format("part-00000-{}.c000.snappy.parquet", kUuid);
  const auto found = local_files({"file:/lake/t/year=2024/word=a%252Fb%20%253D1/" + name,
                                  "file:/lake/t/year=__HIVE_DEFAULT_PARTITION__/word=NULL/" + name},
                                 Layout::Partitions);
  ASSERT_EQ(found.files.size(), 2U);
  EXPECT_EQ(found.files[0], "/lake/t/year=2024/word=a%2Fb %3D1/" + name);
  ASSERT_EQ(found.constants.size(), 2U);
  EXPECT_EQ(found.constants[0].column, "year");
  EXPECT_EQ(found.constants[0].values, (std::vector<std::optional<std::string>>{"2024", {}}));
  EXPECT_EQ(found.constants[1].column, "word");
  EXPECT_EQ(found.constants[1].values, (std::vector<std::optional<std::string>>{"a/b =1", "NULL"}));
}

TEST(SparkFiles, FilesThatDoNotLieAlikeAreNoTable) {
  const std::string name = fmt::format("part-00000-{}.c000.snappy.parquet", kUuid);
  const auto is_table = [&](const std::vector<std::string>& folders, Layout layout) {
    std::vector<std::string> uris;
    for (const auto& folder : folders) uris.push_back("file:/lake/" + folder + "/" + name);
    return !local_files(uris, layout).files.empty();
  };
  EXPECT_TRUE(is_table({"t/a=1/b=2", "t/a=1/b=3"}, Layout::Partitions));
  EXPECT_FALSE(is_table({"t/a=1/b=2", "t/a=1"}, Layout::Partitions));
  EXPECT_FALSE(is_table({"t/a=1/b=2", "t/b=1/a=2"}, Layout::Partitions));
  EXPECT_FALSE(is_table({"t/a=1", "u/a=2"}, Layout::Partitions)) << "set by hand";
  EXPECT_FALSE(is_table({"t"}, Layout::Partitions));
  EXPECT_FALSE(is_table({"a=1/t"}, Layout::Files));
  EXPECT_FALSE(is_table({"a=1/t/a=1"}, Layout::Partitions));
  // Names that are the table's own, not a partition's.
  EXPECT_FALSE(is_table({"t/a=1"}, Layout::Files));
  EXPECT_TRUE(is_table({"t", "u"}, Layout::Files));
  EXPECT_FALSE(is_table({"t/a%253=1"}, Layout::Partitions));
}

}  // namespace
}  // namespace discreet::spark
