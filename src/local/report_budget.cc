#include "local/report_budget.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/parse_number.h"

namespace discreet::local {
namespace {

// The file: "total E" and then "spend E tag" (the tag may be empty), one a line.
constexpr std::string_view kTotal = "total ", kSpend = "spend ";

Error unreadable(const std::string& path, const std::string& why) {
  return {ErrorCode::Refused,
          fmt::format("the report budget {} {}; no report was made", path, why)};
}

Result<std::string> whole_file(int file, const std::string& path) {
  std::string text;
  char buffer[4096];
  for (;;) {
    const auto got = ::read(file, buffer, sizeof buffer);
    if (got < 0) return unreadable(path, "cannot be read");
    if (got == 0) return text;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

bool append(int file, const std::string& line) {
  return ::write(file, line.data(), line.size()) == static_cast<ssize_t>(line.size()) &&
         ::fsync(file) == 0;
}

}  // namespace

ReportBudget::ReportBudget(ReportBudget&& other) noexcept
    : total_(other.total_),
      spent_(other.spent_),
      paid_(std::move(other.paid_)),
      file_(other.file_) {
  other.file_ = -1;
}

ReportBudget::~ReportBudget() {
  if (file_ >= 0) ::close(file_);
}

Result<ReportBudget> ReportBudget::open(const std::string& path, Epsilon total) {
  ReportBudget budget(total);
  budget.file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (budget.file_ < 0) return unreadable(path, "cannot be opened");
  if (::flock(budget.file_, LOCK_EX | LOCK_NB) != 0)
    return unreadable(path, "is in use by another process");
  DISCREET_TRY(const std::string text, whole_file(budget.file_, path));
  if (text.empty()) {
    if (!append(budget.file_, fmt::format("{}{}\n", kTotal, total.value())))
      return unreadable(path, "cannot be written");
    return budget;
  }
  // A last line without its end was never acknowledged: nothing was sent for it.
  const std::size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
  if (end < text.size() && ::ftruncate(budget.file_, static_cast<off_t>(end)) != 0)
    return unreadable(path, "cannot be mended");
  bool first = true;
  for (std::size_t at = 0; at < end;) {
    const std::size_t stop = text.find('\n', at);
    const std::string_view line(text.data() + at, stop - at);
    at = stop + 1;
    if (!line.starts_with(first ? kTotal : kSpend)) return unreadable(path, "is damaged");
    const auto rest = line.substr(kTotal.size());
    const auto space = std::min(rest.find(' '), rest.size());
    const auto number = parse_number(rest.substr(0, space), "a number of the budget");
    if (!number) return unreadable(path, "is damaged");
    const auto epsilon = Epsilon::make(*number);
    if (!epsilon) return unreadable(path, "is damaged");
    if (first && *epsilon != total)
      return unreadable(path,
                        fmt::format("was made for a total of {}, not {}", *number, total.value()));
    if (!first) {
      budget.spent_ = budget.spent_ + *epsilon;
      if (space < rest.size()) budget.paid_.emplace(rest.substr(space + 1));
    }
    first = false;
  }
  if (first && !append(budget.file_, fmt::format("{}{}\n", kTotal, total.value())))
    return unreadable(path, "cannot be written");
  return budget;
}

Result<void> ReportBudget::record(const std::string& tag, Epsilon epsilon) {
  const Epsilon after = spent_ + epsilon;
  if (after > total_)
    return Error{
        ErrorCode::BudgetExhausted,
        fmt::format("this person has given epsilon {:g} of {:g}; another report of {:g} would "
                    "be too much",
                    spent_.value(), total_.value(), epsilon.value())};
  if (file_ >= 0) {
    const std::string line = tag.empty() ? fmt::format("{}{}\n", kSpend, epsilon.value())
                                         : fmt::format("{}{} {}\n", kSpend, epsilon.value(), tag);
    if (!append(file_, line))
      return Error{ErrorCode::Unavailable,
                   "the report budget cannot be written; no report was made"};
  }
  spent_ = after;
  if (!tag.empty()) paid_.insert(tag);
  return {};
}

Result<void> ReportBudget::spend(Epsilon epsilon) {
  return record({}, epsilon);
}

Result<void> ReportBudget::spend_once(const std::string& tag, Epsilon epsilon) {
  if (paid_.contains(tag)) return {};
  return record(tag, epsilon);
}

}  // namespace discreet::local
