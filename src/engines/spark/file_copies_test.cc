#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "engines/spark/file_copies_internal.h"

namespace discreet::spark {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

class SparkFileCopies : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/discreet_copies_XXXXXX";
    folder_ = mkdtemp(name);
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", before_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
  std::string before_;
};

TEST_F(SparkFileCopies, HoldWhatWasWrittenAndZeros) {
  const auto copies = FileCopies::make({10, 4});
  ASSERT_NE(copies, nullptr);
  EXPECT_TRUE(copies->write(0, 3, "abc"));
  EXPECT_TRUE(copies->write(1, 0, "wxyz"));
  EXPECT_EQ(content(copies->paths()[0]), std::string("\0\0\0abc\0\0\0\0", 10));
  EXPECT_EQ(content(copies->paths()[1]), "wxyz");
  EXPECT_EQ(copies->bytes_written(), 7U);
  // Not beyond a file's end, however large the numbers.
  EXPECT_FALSE(copies->write(0, 8, "abc"));
  EXPECT_FALSE(copies->write(0, 11, ""));
  EXPECT_FALSE(copies->write(0, UINT64_MAX, "abc"));
  EXPECT_EQ(std::filesystem::file_size(copies->paths()[0]), 10U);
}

TEST_F(SparkFileCopies, HaveNoNameAndTakeNoRoomForWhatIsNotThere) {
  const auto copies = FileCopies::make({std::uint64_t{1} << 30});
  ASSERT_NE(copies, nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  struct stat is{};
  ASSERT_EQ(stat(copies->paths()[0].c_str(), &is), 0);
  EXPECT_EQ(is.st_nlink, 0U);
  EXPECT_EQ(is.st_mode & 0777, 0600U);
  EXPECT_EQ(is.st_size, 1 << 30);
  EXPECT_LT(is.st_blocks, 1000);
}

TEST_F(SparkFileCopies, AreGoneWithTheLastHolder) {
  auto copies = FileCopies::make({10}), other = copies;
  const std::string path = copies->paths()[0];
  copies.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  other.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SparkFileCopies, WithoutAFolderThereAreNone) {
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_EQ(FileCopies::make({10}), nullptr);
}

TEST_F(SparkFileCopies, ColumnsAreThereWhenTheyWereAdded) {
  const auto copies = FileCopies::make({10});
  EXPECT_FALSE(copies->has("cost"));
  copies->add({"cost", "person"});
  EXPECT_TRUE(copies->has("cost"));
  EXPECT_FALSE(copies->has("kind"));
}

TEST_F(SparkFileCopies, ThoseAskedForLeastLatelyGoFirst) {
  FileCopiesKept kept(10);
  const auto keep = [&](const std::string& name) {
    auto copies = FileCopies::make({4});
    EXPECT_TRUE(copies->write(0, 0, "1234"));
    kept.keep({name}, copies);
  };
  keep("a");
  keep("b");
  EXPECT_TRUE(kept.find({"a"}).is_known);
  keep("c");  // twelve bytes
  EXPECT_TRUE(kept.find({"a"}).is_known);
  EXPECT_FALSE(kept.find({"b"}).is_known);
  EXPECT_TRUE(kept.find({"c"}).is_known);
  // Another list of files is another table.
  EXPECT_FALSE(kept.find({"a", "c"}).is_known);
  // What a question still reads stays open although it is not kept.
  const auto held = kept.find({"a"}).copies;
  keep("d");
  keep("e");
  EXPECT_FALSE(kept.find({"a"}).is_known);
  EXPECT_EQ(content(held->paths()[0]), "1234");
}

TEST_F(SparkFileCopies, WhatIsNotToBeHadIsKnown) {
  FileCopiesKept kept(10);
  kept.keep({"a"}, nullptr);
  EXPECT_TRUE(kept.find({"a"}).is_known);
  EXPECT_EQ(kept.find({"a"}).copies, nullptr);
  kept.keep({"a"}, FileCopies::make({4}));
  EXPECT_NE(kept.find({"a"}).copies, nullptr);
}

TEST_F(SparkFileCopies, OfManyFilesOnlySomeStayOpen) {
  FileCopiesKept kept(1000);
  const std::vector<std::uint64_t> sizes(FileCopiesKept::kFilesMax / 2, 1);
  for (const char* name : {"a", "b", "c"}) kept.keep({name}, FileCopies::make(sizes));
  EXPECT_FALSE(kept.find({"a"}).is_known);
  EXPECT_TRUE(kept.find({"b"}).is_known);
  EXPECT_TRUE(kept.find({"c"}).is_known);
}

}  // namespace
}  // namespace discreet::spark
