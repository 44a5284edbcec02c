#include "cli/question_options.h"

#include <cstdio>
#include <cstdlib>

#include "base/parse_number.h"
#include "cli/interruption.h"
#include "random/secure_random.h"

namespace discreet::cli {

void add_question_options(CLI::App* verb, QuestionArguments& arguments) {
  add_policy_option(verb, arguments.policy);
  verb->add_option("--as", arguments.as, "Ask as this analyst; the owner asks otherwise")
      ->type_name("NAME");
  verb->add_option("--epsilon", arguments.epsilon, "What the statement may cost (default 0.5)")
      ->type_name("E");
  verb->add_option("--delta", arguments.delta,
                   "For private group keys (default 1e-7, or a tenth of the budget)")
      ->type_name("D");
  verb->add_option("--target-error", arguments.target_error,
                   "Instead of an epsilon: '±50 at 95%', reached at the least cost")
      ->type_name("ERROR");
  verb->add_option("sql", arguments.sql, "The statement")->required()->type_name("SQL");
}

Result<Question> make_question(const QuestionArguments& arguments) {
  Question question;
  question.sql = arguments.sql;
  if (!arguments.as.empty()) question.account = arguments.as;
  if (!arguments.epsilon.empty()) {
    DISCREET_TRY(const double value, parse_number(arguments.epsilon, "epsilon"));
    DISCREET_TRY(question.epsilon, Epsilon::make(value));
  }
  if (!arguments.delta.empty()) {
    DISCREET_TRY(const double value, parse_number(arguments.delta, "delta"));
    DISCREET_TRY(question.delta, Delta::make(value));
  }
  if (!arguments.target_error.empty()) {
    DISCREET_TRY(question.target_error, TargetError::parse(arguments.target_error));
  }
  return question;
}

int with_question(const QuestionArguments& arguments,
                  const std::function<int(Curator&, Question)>& work) {
  auto question = make_question(arguments);
  if (!question) return fail(question.error());
  const auto policy = load_policy(arguments.policy);
  if (!policy) return fail(policy.error());
  const SystemClock clock;
  SecureRandom random;
  const Interruption interruption;
  auto curator = Curator::open(*policy, clock, random, operator_log());
  if (!curator) return fail(curator.error());
  curator->stop_with(interruption.token());
  return work(*curator, *std::move(question));
}

OperatorLog operator_log() {
  const char* path = std::getenv("DISCREET_OPERATOR_LOG");
  if (path == nullptr) return nullptr;
  return [file = std::string(path)](std::string_view message) {
    if (std::FILE* out = std::fopen(file.c_str(), "a")) {
      std::fprintf(out, "%.*s\n", static_cast<int>(message.size()), message.data());
      std::fclose(out);
    }
  };
}

}  // namespace discreet::cli
