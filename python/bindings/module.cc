// The module discreet._core: what the Python files of the package stand on. Use those.
#include "base/check.h"
#include "bindings/glue.h"
#include "bindings/learn.h"
#include "random/secure_random.h"

namespace discreet::python {
namespace {

/// discreet.errors has a class for every code; it is looked up by name when something is wrong.
void set_error(const char* name, const char* message) {
  const nb::object errors = nb::module_::import_("discreet.errors");
  PyErr_SetString(errors.attr(name).ptr(), message);
}

const char* class_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::InvalidParameter:
      return "InvalidParameter";
    case ErrorCode::InvalidInput:
      return "InvalidInput";
    case ErrorCode::NotFound:
      return "NotFound";
    case ErrorCode::Refused:
      return "Refused";
    case ErrorCode::BudgetExhausted:
      return "BudgetExhausted";
    case ErrorCode::PermissionDenied:
      return "PermissionDenied";
    case ErrorCode::Unavailable:
      return "Unavailable";
  }
  return "DiscreetError";
}

void translate(const std::exception_ptr& thrown, void* /*payload*/) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Failure& failure) {
    set_error(class_of(failure.error().code), failure.what());
  } catch (const InvariantViolation& broken) {
    set_error("InvariantViolation", broken.what());
  }
}

}  // namespace

RandomSource& noise() {
  thread_local SecureRandom random;
  return random;
}

}  // namespace discreet::python

NB_MODULE(_core, m) {
  using namespace discreet::python;  // NOLINT: the list below
  m.doc() = "The compiled half of discreet. Its names may change; those of discreet.* do not.";
  m.attr("version") = DISCREET_VERSION;
  nb::register_exception_translator(translate);
  bind_accounting(m);
  bind_noise(m);
  bind_choices(m);
  bind_rows(m);
  bind_groups(m);
  bind_filters(m);
  bind_curator(m);
  bind_synth(m);
  bind_learn(m);
  bind_local(m);
  bind_audit(m);
  bind_prio(m);
}
