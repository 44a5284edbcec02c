#include "accounting/wanted_number.h"

#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "accounting/compose_syntax.h"

namespace discreet {
namespace {

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view one : names)
    if (name == one) return true;
  return false;
}

// The name before "= ?", or "count" where there is none.
std::string field_before(std::string_view text) {
  const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  if (text.empty() || text.back() != '=') return "count";
  text.remove_suffix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  std::size_t begin = text.size();
  while (begin > 0 &&
         (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_'))
    --begin;
  return std::string(text.substr(begin));
}

}  // namespace

bool wants_number(std::string_view composition) {
  return composition.find('?') != std::string_view::npos;
}

Result<WantedNumber> find_wanted_number(std::string_view composition, ApproxDp target,
                                        const Pricing& pricing) {
  const std::size_t at = composition.find('?');
  if (at == std::string_view::npos || composition.find('?', at + 1) != std::string_view::npos)
    return invalid_input(
        fmt::format("leave exactly one number open with '?' in \"{}\"", composition));
  const auto with = [&](const std::string& number) {
    return std::string(composition.substr(0, at)) + number +
           std::string(composition.substr(at + 1));
  };
  const std::string field = field_before(composition.substr(0, at));
  const auto answer = [&](bool least, double value, const std::string& text) {
    return WantedNumber{field, least, value, with(text)};
  };
  if (field == "count") {
    const auto family = [&](std::uint64_t count) {
      return parse_composition(with(std::to_string(count)));
    };
    DISCREET_TRY(const std::uint64_t count,
                 most_counted_releases(family, target, pricing, std::uint64_t{1} << 40));
    if (count == 0)
      return Error{ErrorCode::Refused,
                   fmt::format("not even one release meets epsilon {} at delta {}",
                               target.epsilon.value(), target.delta.value())};
    return answer(false, static_cast<double>(count), std::to_string(count));
  }
  const bool noise = is_one_of(field, {"sigma", "scale", "sigma2"});
  if (!noise && !is_one_of(field, {"epsilon", "rho", "q", "sensitivity"}))
    return invalid_input(
        fmt::format("'{}' cannot be left open in \"{}\": sigma, scale, sigma2, epsilon, rho, q, "
                    "sensitivity and a "
                    "count can",
                    field, composition));
  const auto text_of = [&](double dial) { return fmt::format("{:.17g}", noise ? dial : 1 / dial); };
  NoiseSearch search;
  if (field == "q") search.noise_min = 1;
  DISCREET_TRY(const double dial,
               least_noise([&](double d) { return parse_composition(with(text_of(d))); }, 1, target,
                           pricing, search));
  return answer(noise, noise ? dial : 1 / dial, text_of(dial));
}

}  // namespace discreet
