#include "base/result.h"

namespace discreet {
namespace {

struct Row {
  ErrorCode code;
  const char* name;
  const char* sqlstate;
  int http_status;
};

constexpr Row kRows[] = {
    {ErrorCode::InvalidParameter, "invalid_parameter", "22023", 400},
    {ErrorCode::InvalidInput, "invalid_input", "22000", 400},
    {ErrorCode::NotFound, "not_found", "42704", 404},
    {ErrorCode::Refused, "refused", "0A000", 422},
    {ErrorCode::BudgetExhausted, "budget_exhausted", "53400", 402},
    {ErrorCode::PermissionDenied, "permission_denied", "42501", 403},
    {ErrorCode::Unavailable, "unavailable", "58000", 503},
};

const Row& row(ErrorCode code) {
  for (const Row& candidate : kRows)
    if (candidate.code == code) return candidate;
  fail_check("code in table", "an error code without a row");
}

}  // namespace

const char* name(ErrorCode code) {
  return row(code).name;
}
const char* sqlstate(ErrorCode code) {
  return row(code).sqlstate;
}
int http_status(ErrorCode code) {
  return row(code).http_status;
}

}  // namespace discreet
