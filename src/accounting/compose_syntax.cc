#include "accounting/compose_syntax.h"

#include <cctype>
#include <charconv>
#include <cmath>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "accounting/account_question.h"
#include "base/rounding.h"

namespace discreet {
namespace {

using nlohmann::json;

constexpr int kDepthMax = 16;

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<LossEvent> all() {
    DISCREET_TRY(LossEvent event, sum(0));
    skip();
    if (at_ != text_.size()) return wrong("expected '+' or the end");
    return event;
  }

 private:
  Error wrong(const std::string& what) const {
    return invalid_input(fmt::format("{} at character {} of \"{}\"", what, at_ + 1, text_));
  }
  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool at_digit() {
    skip();
    return at_ < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[at_])) ||
                                  text_[at_] == '.' || text_[at_] == '-');
  }
  Result<double> number() {
    skip();
    double value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) return wrong("expected a number");
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }
  std::string name() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  Result<LossEvent> sum(int depth) {
    if (depth > kDepthMax) return wrong("terms nest too deeply");
    std::vector<LossEvent> parts;
    do {
      DISCREET_TRY(LossEvent part, term(depth));
      parts.push_back(std::move(part));
    } while (take('+'));
    if (parts.size() == 1) return std::move(parts.front());
    return LossEvent(loss::Composed{std::move(parts)});
  }

  Result<LossEvent> term(int depth) {
    std::uint64_t count = 1;
    if (at_digit()) {
      DISCREET_TRY(const double times, number());
      if (!(times >= 1 && times <= 0x1p53 && times == std::floor(times)))
        return wrong("a count must be a whole number of at least 1 before here");
      count = static_cast<std::uint64_t>(times);
      skip();
      if (!take('x') && !take('*')) return wrong("expected 'x' after the count");
    }
    DISCREET_TRY(LossEvent event, call(depth));
    if (count == 1) return event;
    return LossEvent(loss::Repeated{count, std::make_shared<LossEvent>(std::move(event))});
  }

  Result<LossEvent> call(int depth) {
    if (take('(')) {
      DISCREET_TRY(LossEvent inside, sum(depth + 1));
      if (!take(')')) return wrong("expected ')'");
      return inside;
    }
    const std::string mechanism = name();
    if (mechanism.empty()) return wrong("expected the name of a mechanism");
    const bool wraps = mechanism == "sampled" || mechanism == "sampled_without_replacement" ||
                       mechanism == "group" || mechanism == "parallel";
    json params = json::object();
    std::vector<LossEvent> inner;
    if (take('(') && !take(')')) {
      do {
        const std::size_t before = at_;
        const std::string field = name();
        if (!field.empty() && take('=')) {
          DISCREET_TRY(params[field], value());
          continue;
        }
        at_ = before;  // not a field: a term inside
        if (!wraps) return wrong("expected field=value");
        DISCREET_TRY(LossEvent term, sum(depth + 1));
        inner.push_back(std::move(term));
      } while (take(','));
      if (!take(')')) return wrong("expected ',' or ')'");
    }
    if (wraps) return wrapped(mechanism, params, std::move(inner));
    return build(mechanism, params);
  }

  Result<json> value() {
    if (!take('[')) {
      DISCREET_TRY(const double one, number());
      return json(one);
    }
    json list = json::array();
    do {
      DISCREET_TRY(const double one, number());
      list.push_back(one);
    } while (take(';') || take(','));
    if (!take(']')) return wrong("expected ';' or ']'");
    return list;
  }

  // The whole number in this field.
  Result<std::uint64_t> whole(const json& params, const char* field) {
    const double value =
        params.contains(field) && params[field].is_number() ? params[field].get<double>() : -1.0;
    if (!(value >= 1 && value <= 0x1p53 && value == std::floor(value)))
      return wrong(fmt::format("{} must be a whole number of at least 1 before here", field));
    return static_cast<std::uint64_t>(value);
  }

  Result<LossEvent> wrapped(const std::string& mechanism, const json& params,
                            std::vector<LossEvent> inner) {
    if (mechanism == "parallel") {
      if (inner.empty() || !params.empty()) return wrong("parallel(...) takes terms before here");
      return LossEvent(loss::Parallel{std::move(inner)});
    }
    if (inner.size() != 1)
      return wrong(fmt::format("{}(...) takes one term before here", mechanism));
    const auto term = std::make_shared<LossEvent>(std::move(inner.front()));
    if (mechanism == "sampled") {
      if (!params.contains("q") || params.size() != 1 || !params["q"].is_number())
        return wrong("sampled(...) takes q=PROBABILITY and one term before here");
      const double q = params["q"];
      if (!(q >= 0 && q <= 1)) return wrong("q must be between 0 and 1 before here");
      return LossEvent(loss::PoissonSubsampled{q, term});
    }
    if (mechanism == "group") {
      if (params.size() != 1) return wrong("group(...) takes size=UNITS and one term before here");
      DISCREET_TRY(const std::uint64_t size, whole(params, "size"));
      return LossEvent(loss::Group{size, term});
    }
    if (params.size() != 2)
      return wrong(
          "sampled_without_replacement(...) takes sample, population and one term before here");
    DISCREET_TRY(const std::uint64_t sample, whole(params, "sample"));
    DISCREET_TRY(const std::uint64_t population, whole(params, "population"));
    if (sample > population)
      return wrong("a sample cannot be larger than its population before here");
    return LossEvent(loss::SampledWithoutReplacement{sample, population, term});
  }

  // What people write for the names and fields of the JSON form.
  static std::string full_name(const std::string& name) {
    static const std::map<std::string, std::string> names = {
        {"pure", "pure_dp"},           {"approx", "approx_dp"},
        {"approximate", "approx_dp"},  {"exponential", "bounded_range"},
        {"rr", "randomized_response"}, {"geometric", "discrete_laplace"}};
    const auto found = names.find(name);
    return found == names.end() ? name : found->second;
  }
  static void rename(json& params, const char* from, const char* to) {
    if (!params.contains(from) || params.contains(to)) return;
    params[to] = params[from];
    params.erase(from);
  }

  Result<LossEvent> build(const std::string& short_name, json params) {
    const std::string mechanism = full_name(short_name);
    rename(params, "epsilon", "epsilon0");
    rename(params, "delta", "delta0");
    if (mechanism == "discrete_gaussian" && params.contains("sigma") &&
        params["sigma"].is_number()) {
      const double sigma = params["sigma"];
      params["sigma"] = mul_down(sigma, sigma);  // no more noise than was meant
      rename(params, "sigma", "sigma2");
    }
    const bool additive = mechanism == "gaussian" || mechanism == "laplace" ||
                          mechanism == "discrete_gaussian" || mechanism == "discrete_laplace" ||
                          mechanism == "poisson_subsampled_laplace";
    if (additive && !params.contains("sensitivity")) params["sensitivity"] = 1U;
    auto event = event_of_entry(mechanism, params);
    if (!event) return wrong(event.error().message + ", before here,");
    return event;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

Result<LossEvent> parse_composition(std::string_view text) {
  return Parser(text).all();
}

}  // namespace discreet
