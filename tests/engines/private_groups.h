// Groups that may not be named are gone as soon as they have come: memory stays flat while a
// million pass, on every engine.
#pragma once

#include <fstream>
#include <iostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "curator/curator.h"

namespace discreet::testing {

inline std::size_t peak_mib() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6)) >> 10;
  return 0;
}
inline void forget_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// `source`: a table of a million rows with one column `key`, 20,000 of them 0 and the others each
/// another number.
inline void expect_private_groups_not_held(const std::string& source, const std::string& folder,
                                           const Clock& clock, RandomSource& random,
                                           std::size_t more_mib_max) {
  std::ofstream(folder + "/groups.toml") << fmt::format(
      "[tables.groups]\nsource = \"{}\"\nunit = \"row\"\n[tables.groups.columns]\nkey = {{}}\n"
      "[budgets.default]\nepsilon = 100\ndelta = 1e-3\n",
      source);
  const auto policy = catalog::Policy::load(folder + "/groups.toml").value();
  auto curator = Curator::open(policy, clock, random, nullptr);
  ASSERT_TRUE(curator) << curator.error().message;
  const auto ask = [&](const std::string& sql) {
    Question question;
    question.sql = sql;
    question.account = "default";
    question.epsilon = Epsilon::make(1).value();
    return curator->answer(question);
  };
  ASSERT_TRUE(ask("SELECT count(*) FROM groups"));
  forget_peak_memory();
  const std::size_t before = peak_mib();
  const auto answer = ask("SELECT key, count(*) FROM groups GROUP BY key");
  ASSERT_TRUE(answer) << answer.error().message;
  std::cout << "980,001 groups, " << answer->rows.size() << " named, " << peak_mib() - before
            << " MiB more\n";
  // A group of one is named with a chance of delta / 2 or less.
  EXPECT_GE(answer->rows.size(), 1U);
  EXPECT_LT(answer->rows.size(), 1500U);
  EXPECT_LT(peak_mib() - before, more_mib_max);
}

}  // namespace discreet::testing
