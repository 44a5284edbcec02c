// What `query` and `explain` share: the policy, who asks, the price.
#pragma once

#include <functional>

#include "cli/policy_option.h"
#include "curator/curator.h"

namespace discreet::cli {

struct QuestionArguments {
  std::string policy, as, epsilon, delta, target_error, sql;
};

void add_question_options(CLI::App* verb, QuestionArguments& arguments);

/// Parses the numbers. InvalidParameter: not numbers, or out of range.
Result<Question> make_question(const QuestionArguments& arguments);

/// What both verbs begin with: policy, curator, question. Failures are said; otherwise the exit
/// code is what `work` returns.
int with_question(const QuestionArguments& arguments,
                  const std::function<int(Curator&, Question)>& work);

/// The engine's own words go to a file only the operator asks for (DISCREET_OPERATOR_LOG), never to
/// the terminal.
OperatorLog operator_log();

}  // namespace discreet::cli
