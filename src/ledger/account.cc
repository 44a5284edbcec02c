#include "ledger/account.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "accounting/conversion.h"

namespace discreet::ledger {
namespace {

double with_slack(double limit) {
  return mul_down(limit, 1 + kSlack);
}

Delta eighths_of(Delta whole, int eighths) {
  return Delta::make(whole.value() / 8 * eighths).value();  // exact: a power of two and at most 8
}

/// Can zCDP run beside the sums? It needs a finite epsilon and some delta to convert with.
bool concentrated_runs(const Amount& total) {
  return total.epsilon && total.delta && total.delta->value() > 0 && total.delta->value() < 1;
}

Delta basic_delta(const GrantEvent& grant, FilterKind filter) {
  return filter == FilterKind::Best && concentrated_runs(grant.total)
             ? eighths_of(*grant.total.delta, kBasicEighths)
             : *grant.total.delta;
}

Rho computed_limit(const Amount& total) {
  const auto rho = zcdp_rho({*total.epsilon, eighths_of(*total.delta, kConversionEighths)});
  return rho ? *rho : Rho::zero();
}

Rho infinite_rho() {
  const Rho huge = Rho::make(std::numeric_limits<double>::max()).value();
  return huge + huge;
}

}  // namespace

Rho concentrated_limit(const Amount& total) {
  if (!concentrated_runs(total)) return Rho::zero();
  // Found numerically, about a millisecond, and asked for with every balance: the last totals of
  // this thread are remembered. Same total, same limit.
  struct Known {
    Amount total;
    Rho limit = Rho::zero();
  };
  thread_local std::array<Known, 16> known;
  thread_local std::size_t next = 0;
  for (const Known& one : known)
    if (one.total.epsilon && one.total == total) return one.limit;
  const Rho limit = computed_limit(total);
  known[next++ % known.size()] = {total, limit};
  return limit;
}
FilterKind Account::filter_for(const Price& price) const {
  const bool first = spent_.charges == 0;
  if (!first || grant_.filter != FilterKind::Best || !concentrated_runs(grant_.total))
    return grant_.filter;
  const bool only_sums_fit =
      price.delta.value() > with_slack(basic_delta(grant_, FilterKind::Best).value()) &&
      !fits_concentrated(after(price));
  return only_sums_fit ? FilterKind::Basic : FilterKind::Best;
}

Result<void> Account::regrant(const GrantEvent& grant) {
  if (spent_.charges > 0 && grant.filter != grant_.filter)
    return invalid_parameter(
        fmt::format("the filter of account '{}' was fixed as \"{}\" by its first charge", name_,
                    ledger::name(grant_.filter)));
  grant_ = grant;
  rho_limit_.reset();
  return {};
}

Rho Account::rho_limit() const {
  if (!rho_limit_) rho_limit_ = concentrated_limit(grant_.total);
  return *rho_limit_;
}

Spent Account::after(const Price& price) const {
  Spent next = spent_;
  next.epsilon = next.epsilon + price.epsilon;
  next.delta = next.delta + price.delta;
  next.rho = next.rho + (price.concentrated ? price.concentrated->rho : infinite_rho());
  if (price.concentrated) next.rho_delta = next.rho_delta + price.concentrated->delta;
  ++next.charges;
  return next;
}

bool Account::fits_basic(const Spent& after) const {
  const Amount& total = grant_.total;
  if (total.epsilon && !(after.epsilon.value() <= with_slack(total.epsilon->value()))) return false;
  if (!total.delta) return true;
  return after.delta.value() <= with_slack(basic_delta(grant_, grant_.filter).value());
}

bool Account::fits_concentrated(const Spent& after) const {
  if (grant_.filter != FilterKind::Best || !concentrated_runs(grant_.total)) return false;
  return after.rho.value() <= with_slack(rho_limit().value()) &&
         after.rho_delta.value() <=
             with_slack(eighths_of(*grant_.total.delta, kConcentratedEighths).value());
}

Result<void> Account::admit(const Price& price) const {
  const Spent next = after(price);
  if (fits_basic(next) || fits_concentrated(next)) return {};
  const auto limit = [](const auto& value) {
    return value ? fmt::format("{:.6g}", value->value()) : std::string("unlimited");
  };
  const Amount rest = left();
  std::string message = fmt::format(
      "the budget of '{}' is not enough: this costs epsilon {:.6g} and delta {:.6g}; epsilon {} of "
      "{} and delta "
      "{} of {} are left",
      name_, price.epsilon.value(), price.delta.value(), limit(rest.epsilon),
      limit(grant_.total.epsilon), limit(rest.delta), limit(grant_.total.delta));
  if (const auto question = question_left(); question && question->value() > 0)
    message +=
        fmt::format("; a question of epsilon {:.6g} and delta 0 would fit", question->value());
  return Error{ErrorCode::BudgetExhausted, std::move(message)};
}

void Account::spend(const Price& price) {
  spent_ = after(price);
}

Amount Account::left() const {
  Amount rest = grant_.total;
  if (rest.epsilon)
    rest.epsilon =
        Epsilon::make(std::fmax(0.0, sub_down(rest.epsilon->value(), spent_.epsilon.value())))
            .value();
  if (rest.delta)
    rest.delta = Delta::make(std::fmax(0.0, sub_down(basic_delta(grant_, grant_.filter).value(),
                                                     spent_.delta.value())))
                     .value();
  return rest;
}

Rho Account::rho_left() const {
  if (grant_.filter != FilterKind::Best) return Rho::zero();
  const double rest = sub_down(rho_limit().value(), spent_.rho.value());
  return rest > 0 ? Rho::make(rest).value() : Rho::zero();
}

std::optional<Epsilon> Account::question_left() const {
  const Amount rest = left();
  if (!rest.epsilon) return std::nullopt;
  Spent now = spent_;
  const double by_sums = fits_basic(now) ? rest.epsilon->value() : 0;
  const double by_rho = fits_concentrated(now) ? sqrt_down(mul_down(2, rho_left().value())) : 0;
  return Epsilon::make(std::fmax(by_sums, by_rho)).value();
}

}  // namespace discreet::ledger
