// What a holdout can be asked, as text: each question gives every row a number in [0, 1].
//
//   model FILE               is the model right about this row?
//   mean COLUMN              the column's number, scaled to [0, 1] by its declared range
//   share COLUMN=VALUE ...   does the row have all these values?
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "learn/model.h"

namespace discreet::learn {

class HoldoutQuestion {
 public:
  using ReadFile = std::function<Result<std::string>(const std::string& path)>;

  /// InvalidInput: not a question. NotFound: a column or file that is not there.
  static Result<HoldoutQuestion> parse(const std::string& line,
                                       const std::vector<synth::ColumnSpec>& specs,
                                       const ReadFile& read);
  Result<std::vector<double>> answers(const synth::RawTable& raw) const;

 private:
  std::optional<Model> model_;
  std::vector<std::pair<ColumnCoder, std::optional<std::uint16_t>>> columns_;
};

}  // namespace discreet::learn
