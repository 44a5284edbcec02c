// Several statements as one workload: those that count and sum over the same rows are asked as one
// statement with GROUPING SETS, planned jointly, and their answers taken apart again.
//
// Works on the statements' text: a joined statement is parsed, bound and priced like any other, so
// nothing here needs to be trusted. What cannot be joined is asked by itself.
#pragma once

#include <string>
#include <vector>

#include "curator/curator.h"

namespace discreet {

/// One question that answers one or more statements of the workload.
struct WorkloadPart {
  std::string sql;
  struct Member {
    std::size_t statement;             ///< place in the workload
    std::vector<std::size_t> columns;  ///< of the part's answer
    std::vector<std::string> names;
    std::optional<std::int64_t> grouping;  ///< its value of the first column; absent: all rows
  };
  std::vector<Member> members;
};

/// Statements of a file, separated by semicolons. InvalidInput: not SQL.
Result<std::vector<std::string>> split_statements(const std::string& text);

/// Which statements go together.
Result<std::vector<WorkloadPart>> join_statements(const std::vector<std::string>& statements);

/// What of the part's answer is this member's.
Answer answer_of(const WorkloadPart::Member& member, const Answer& answer);

/// Asks everything; each part gets the share of epsilon and delta of its statements. Answers are in
/// the order of the statements. All parts are explained before the first is paid, so a workload
/// that has a refused statement costs nothing.
Result<std::vector<Answer>> answer_workload(Curator& curator, const Question& common,
                                            const std::vector<std::string>& statements);

}  // namespace discreet
