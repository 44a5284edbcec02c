#include "learn/holdout_question.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace discreet::learn {
namespace {

Result<ColumnCoder> coder_of(const std::string& name, const std::vector<synth::ColumnSpec>& specs) {
  for (const auto& spec : specs)
    if (spec.name == name) return ColumnCoder::make(spec);
  return Error{ErrorCode::NotFound, fmt::format("the domain has no column \"{}\"", name)};
}

}  // namespace

Result<HoldoutQuestion> HoldoutQuestion::parse(const std::string& line,
                                               const std::vector<synth::ColumnSpec>& specs,
                                               const ReadFile& read) {
  std::istringstream words(line);
  std::string kind, word;
  words >> kind;
  HoldoutQuestion question;
  if (kind == "model" && words >> word) {
    DISCREET_TRY(const std::string text, read(word));
    DISCREET_TRY(question.model_, model_from_json(text));
    if (question.model_->coding.classes() == 0)
      return invalid_input("a holdout is asked about classifiers: this model has no classes");
    return question;
  }
  if (kind == "mean" && words >> word) {
    DISCREET_TRY(auto coder, coder_of(word, specs));
    question.columns_.emplace_back(std::move(coder), std::nullopt);
    return question;
  }
  if (kind == "share") {
    while (words >> word) {
      const std::size_t at = word.rfind('=');
      if (at == std::string::npos) return invalid_input("a share is asked as COLUMN=VALUE ...");
      DISCREET_TRY(auto coder, coder_of(word.substr(0, at), specs));
      synth::RawColumnBuilder one("value");
      one.add(word.substr(at + 1));
      const std::uint16_t code = coder.codes(one.take()).front();
      question.columns_.emplace_back(std::move(coder), code);
    }
    if (!question.columns_.empty()) return question;
  }
  return invalid_input(
      "a question is \"model FILE\", \"mean COLUMN\" or \"share COLUMN=VALUE ...\"");
}

Result<std::vector<double>> HoldoutQuestion::answers(const synth::RawTable& raw) const {
  std::vector<double> answers(raw.rows(), 1);
  if (model_) {
    DISCREET_TRY(const CodedRows rows, code_rows(model_->coding, raw, WithTarget::Yes));
    DISCREET_TRY(const auto predictions, predict(*model_, raw));
    for (std::size_t row = 0; row < answers.size(); ++row)
      answers[row] = predictions[row].value == model_->coding.class_text(rows.labels[row]) ? 1 : 0;
    return answers;
  }
  for (const auto& [coder, wanted] : columns_) {
    const auto found = std::find_if(raw.columns.begin(), raw.columns.end(),
                                    [&](const auto& c) { return c.name == coder.name(); });
    if (found == raw.columns.end())
      return Error{ErrorCode::NotFound,
                   fmt::format("the table has no column \"{}\"", coder.name())};
    if (!wanted) {
      const auto numbers = coder.numbers(*found);
      for (std::size_t row = 0; row < answers.size(); ++row) answers[row] = (numbers[row] + 1) / 2;
      continue;
    }
    const auto codes = coder.codes(*found);
    for (std::size_t row = 0; row < answers.size(); ++row)
      if (codes[row] != *wanted) answers[row] = 0;
  }
  return answers;
}

}  // namespace discreet::learn
