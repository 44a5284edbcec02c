// A value, or the reason there is none.
//
// Member names follow std::expected, so that C++23 can replace this file. Errors are output: a
// message may name parameters, schema and query text, never a value that came from a row.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace discreet {

/// What kind of failure it was. One table (error_code.cc) maps each to SQLSTATE and HTTP status.
enum class ErrorCode {
  InvalidParameter,  ///< a number or option outside what is allowed
  InvalidInput,      ///< a file or text that does not parse
  NotFound,          ///< a table, column, account or file that is not there
  Refused,           ///< a question that cannot be answered privately
  BudgetExhausted,   ///< the account cannot pay
  PermissionDenied,  ///< the asker may not
  Unavailable,       ///< disk, database or network failed; trying again may help
};

const char* name(ErrorCode code);
const char* sqlstate(ErrorCode code);
int http_status(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code;
  std::string message;

  friend bool operator==(const Error&, const Error&) = default;
};

inline Error invalid_parameter(std::string message) {
  return Error{ErrorCode::InvalidParameter, std::move(message)};
}
inline Error invalid_input(std::string message) {
  return Error{ErrorCode::InvalidInput, std::move(message)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  /// The value. Asking for it when there is none is a bug in the caller.
  const T& value() const& {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T& value() & {
    require_value();
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    require_value();
    return std::move(*std::get_if<0>(&state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

  const Error& error() const& {
    DISCREET_CHECK(!has_value(), "error() of a Result that holds a value");
    return *std::get_if<1>(&state_);
  }
  Error&& error() && {
    DISCREET_CHECK(!has_value(), "error() of a Result that holds a value");
    return std::move(*std::get_if<1>(&state_));
  }

  template <class U>
  T value_or(U&& fallback) const& {
    return has_value() ? value() : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  void require_value() const {
    if (!has_value()) [[unlikely]]
      fail_check("value() of a failed Result", std::get_if<1>(&state_)->message.c_str());
  }

  std::variant<T, Error> state_;
};

/// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT: implicit

  bool has_value() const { return !failed_; }
  explicit operator bool() const { return has_value(); }
  void value() const { DISCREET_CHECK(!failed_, error_.message.c_str()); }
  const Error& error() const& {
    DISCREET_CHECK(failed_, "error() of a Result that holds a value");
    return error_;
  }
  Error&& error() && {
    DISCREET_CHECK(failed_, "error() of a Result that holds a value");
    return std::move(error_);
  }

 private:
  Error error_{ErrorCode::InvalidParameter, {}};
  bool failed_ = false;
};

}  // namespace discreet

#define DISCREET_CONCAT_(a, b) a##b
#define DISCREET_CONCAT(a, b) DISCREET_CONCAT_(a, b)

/// DISCREET_TRY(const auto plan, planner.plan(sql)); names the value, or returns the error.
#define DISCREET_TRY(declaration, ...) \
  DISCREET_TRY_IMPL(DISCREET_CONCAT(discreet_try_, __LINE__), declaration, __VA_ARGS__)
#define DISCREET_TRY_IMPL(result, declaration, ...) \
  auto result = (__VA_ARGS__);                      \
  if (!result) return std::move(result).error();    \
  declaration = *std::move(result)

/// The same for a Result whose value is not wanted.
#define DISCREET_TRY_VOID(...)                                               \
  do {                                                                       \
    auto discreet_try_result = (__VA_ARGS__);                                \
    if (!discreet_try_result) return std::move(discreet_try_result).error(); \
  } while (false)
