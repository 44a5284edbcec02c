#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "engines/spark/file_copies_internal.h"
#include "support/own_temporary_folder.h"

namespace discreet::spark {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  return all.str();
}

using SparkFileCopies = OwnTemporaryFolder;

TEST_F(SparkFileCopies, HoldWhatWasWrittenAndZeros) {
  const auto copy = FileCopy::make(10);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(copy->write(3, "abc"));
  EXPECT_EQ(content(copy->path()), std::string("\0\0\0abc\0\0\0\0", 10));
  EXPECT_EQ(copy->bytes_written(), 3U);
  EXPECT_NE(copy->number(), FileCopy::make(10)->number());
  // Not beyond its end, however large the numbers.
  EXPECT_FALSE(copy->write(8, "abc"));
  EXPECT_FALSE(copy->write(11, ""));
  EXPECT_FALSE(copy->write(UINT64_MAX, "abc"));
  EXPECT_EQ(std::filesystem::file_size(copy->path()), 10U);
}

TEST_F(SparkFileCopies, HaveNoNameAndTakeNoRoomForWhatIsNotThere) {
  const auto copy = FileCopy::make(std::uint64_t{1} << 30);
  ASSERT_NE(copy, nullptr);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
  struct stat is{};
  ASSERT_EQ(stat(copy->path().c_str(), &is), 0);
  EXPECT_EQ(is.st_nlink, 0U);
  EXPECT_EQ(is.st_mode & 0777, 0600U);
  EXPECT_EQ(is.st_size, 1 << 30);
  EXPECT_LT(is.st_blocks, 1000);
}

TEST_F(SparkFileCopies, AreGoneWithTheLastHolder) {
  auto copy = FileCopy::make(10), other = copy;
  const std::string path = copy->path();
  copy.reset();
  EXPECT_TRUE(std::filesystem::exists(path));
  other.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SparkFileCopies, WithoutAFolderThereAreNone) {
  setenv("TMPDIR", "/nowhere/at/all", 1);
  EXPECT_EQ(FileCopy::make(10), nullptr);
}

TEST_F(SparkFileCopies, ColumnsAreThereWhenTheyWereAdded) {
  const auto copy = FileCopy::make(10);
  EXPECT_FALSE(copy->has("cost"));
  copy->add({"cost", "person"});
  EXPECT_TRUE(copy->has("cost"));
  EXPECT_FALSE(copy->has("kind"));
}

TEST_F(SparkFileCopies, ThoseAskedForLeastLatelyGoFirst) {
  FileCopies copies(10);
  const auto keep = [&](const std::string& name) {
    const auto copy = FileCopy::make(4);
    EXPECT_TRUE(copy->write(0, "1234"));
    copies.keep(name, copy);
  };
  keep("a");
  keep("b");
  EXPECT_NE(copies.find("a"), nullptr);
  keep("c");  // twelve bytes
  EXPECT_EQ(copies.find("b"), nullptr);
  EXPECT_NE(copies.find("c"), nullptr);
  // What a question still reads stays open although it is not kept.
  const auto held = copies.find("a");
  ASSERT_NE(held, nullptr);
  keep("d");
  keep("e");
  EXPECT_EQ(copies.find("a"), nullptr);
  EXPECT_EQ(content(held->path()), "1234");
  // Kept again it is one of two.
  copies.keep("a", held);
  copies.keep("a", held);
  EXPECT_NE(copies.find("a"), nullptr);
  EXPECT_NE(copies.find("e"), nullptr);
  EXPECT_EQ(copies.find("d"), nullptr);
}

TEST_F(SparkFileCopies, OfManyFilesOnlySomeStayOpen) {
  FileCopies copies(1000);
  for (std::size_t i = 0; i <= FileCopies::kFilesMax; ++i)
    copies.keep(fmt::format("{}", i), FileCopy::make(1));
  EXPECT_EQ(copies.find("0"), nullptr);
  EXPECT_NE(copies.find("1"), nullptr);
}

TEST_F(SparkFileCopies, TablesThatWereAskedForOrRefusedAreKnownByTheirFiles) {
  FileCopies copies(10);
  EXPECT_FALSE(copies.asked_again({"a", "b"}));
  EXPECT_TRUE(copies.asked_again({"a", "b"}));
  EXPECT_FALSE(copies.asked_again({"a", "b", "c"}));
  EXPECT_FALSE(copies.is_refused({"a", "b"}));
  copies.refuse({"a", "b"});
  EXPECT_TRUE(copies.is_refused({"a", "b"}));
  EXPECT_FALSE(copies.is_refused({"a"}));
  // Of many some are forgotten, and asked for anew.
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(copies.asked_again({fmt::format("{}", i)}));
}

}  // namespace
}  // namespace discreet::spark
