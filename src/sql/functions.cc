#include "sql/functions_internal.h"

#include <algorithm>

namespace discreet::sql {
namespace {

using R = FunctionRule::Result;

constexpr FunctionRule kRules[] = {
    {"abs", Function::Abs, "n", R::SameAsFirst},
    {"ceil", Function::Ceil, "n", R::WholeOfFirst},
    {"ceiling", Function::Ceil, "n", R::WholeOfFirst},
    {"floor", Function::Floor, "n", R::WholeOfFirst},
    {"round", Function::Round, "n", R::WholeOfFirst},
    {"trunc", Function::Trunc, "n", R::WholeOfFirst},
    {"sign", Function::Sign, "n", R::Integer},
    {"sqrt", Function::Sqrt, "n", R::Double},
    {"ln", Function::Ln, "n", R::Double},
    {"log", Function::Log10, "n", R::Double},
    {"log10", Function::Log10, "n", R::Double},
    {"exp", Function::Exp, "n", R::Double},
    {"power", Function::Power, "nn", R::Double},
    {"pow", Function::Power, "nn", R::Double},
    {"length", Function::Length, "t", R::Integer},
    {"char_length", Function::Length, "t", R::Integer},
    {"character_length", Function::Length, "t", R::Integer},
    {"lower", Function::Lower, "t", R::Text},
    {"upper", Function::Upper, "t", R::Text},
    {"btrim", Function::Trim, "t", R::Text},
    {"ltrim", Function::TrimLeft, "t", R::Text},
    {"rtrim", Function::TrimRight, "t", R::Text},
    {"substring", Function::Substring, "ti?i", R::Text},
    {"substr", Function::Substring, "ti?i", R::Text},
    {"left", Function::Left, "ti", R::Text},
    {"right", Function::Right, "ti", R::Text},
    {"replace", Function::Replace, "ttt", R::Text},
    {"position", Function::Position, "tt", R::Integer},
    {"strpos", Function::Position, "tt", R::Integer},
    {"starts_with", Function::StartsWith, "tt", R::Boolean},
    {"split_part", Function::SplitPart, "tti", R::Text},
    {"extract", Function::DatePart, "cd", R::Integer},
    {"date_part", Function::DatePart, "cd", R::Integer},
    {"date_trunc", Function::DateTrunc, "cd", R::Timestamp},
};

constexpr std::string_view kVolatile[] = {"random",
                                          "setseed",
                                          "now",
                                          "clock_timestamp",
                                          "statement_timestamp",
                                          "transaction_timestamp",
                                          "timeofday",
                                          "nextval",
                                          "currval",
                                          "lastval",
                                          "setval",
                                          "gen_random_uuid",
                                          "uuid",
                                          "pg_sleep",
                                          "txid_current",
                                          "current_setting",
                                          "set_config",
                                          "age",
                                          "version",
                                          "today",
                                          "get_current_timestamp"};

}  // namespace

const FunctionRule* find_function(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRules), std::end(kRules),
                                   [&](const FunctionRule& rule) { return rule.name == name; });
  return found == std::end(kRules) ? nullptr : found;
}

bool is_volatile_function(std::string_view name) {
  return std::find(std::begin(kVolatile), std::end(kVolatile), name) != std::end(kVolatile);
}

}  // namespace discreet::sql
