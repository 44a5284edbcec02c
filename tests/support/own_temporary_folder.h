// A test whose $TMPDIR is a folder of its own, gone at the end.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace discreet {

class OwnTemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/discreet_test_XXXXXX";
    folder_ = mkdtemp(name);
    if (const char* set = std::getenv("TMPDIR")) before_ = set;
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (before_)
      setenv("TMPDIR", before_->c_str(), 1);
    else
      unsetenv("TMPDIR");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;

 private:
  std::optional<std::string> before_;
};

}  // namespace discreet
