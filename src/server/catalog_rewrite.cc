// A client's catalog query in the catalog database's dialect, token by token.
#include <map>
#include <set>

#include <fmt/format.h>

#include "server/catalog_database.h"
#include "sql/scan.h"

namespace discreet::server {
namespace {

using sql::Token;
using sql::TokenKind;

/// Functions that the engine has too, but with its own idea of the answer, or not at all.
const std::map<std::string, std::string>& functions() {
  static const std::map<std::string, std::string> names = [] {
    std::map<std::string, std::string> map{
        {"version", "dsc_version"},          {"current_database", "dsc_database"},
        {"current_catalog", "dsc_database"}, {"current_schema", "dsc_schema"},
        {"current_schemas", "dsc_schemas"},  {"current_setting", "dsc_setting"},
        {"format_type", "dsc_format_type"},  {"pg_table_is_visible", "dsc_visible"},
        {"to_regclass", "dsc_regclass"},     {"to_regtype", "dsc_regtype"},
        {"pg_has_role", "dsc_true1"},        {"pg_relation_is_publishable", "dsc_false"},
        {"row_security_active", "dsc_false"}};
    for (const char* shown :
         {"pg_type_is_visible", "pg_function_is_visible", "pg_operator_is_visible",
          "pg_collation_is_visible", "pg_statistics_obj_is_visible", "pg_opclass_is_visible"})
      map[shown] = "dsc_shown";
    for (const char* allowed :
         {"has_table_privilege", "has_schema_privilege", "has_database_privilege",
          "has_column_privilege", "has_any_column_privilege", "has_sequence_privilege"})
      map[allowed] = "dsc_true1";
    for (const char* size : {"pg_relation_size", "pg_total_relation_size", "pg_table_size",
                             "pg_indexes_size", "pg_database_size", "pg_tablespace_size"})
      map[size] = "dsc_zero";
    for (const char* absent : {"pg_get_expr",
                               "pg_get_indexdef",
                               "pg_get_constraintdef",
                               "pg_get_viewdef",
                               "pg_get_ruledef",
                               "pg_get_triggerdef",
                               "pg_get_functiondef",
                               "pg_get_function_arguments",
                               "pg_get_function_identity_arguments",
                               "pg_get_function_result",
                               "pg_get_partkeydef",
                               "pg_get_statisticsobjdef_columns",
                               "pg_get_serial_sequence",
                               "obj_description",
                               "col_description",
                               "shobj_description",
                               "pg_size_pretty",
                               "pg_tablespace_location",
                               "inet_server_addr",
                               "inet_client_addr"})
      map[absent] = "dsc_null1";
    return map;
  }();
  return names;
}

/// {a,"b c",NULL}, as PostgreSQL writes an array, in the engine's form.
std::string list_literal(std::string_view text) {
  std::string list = "[", item;
  bool quoted = false, was_quoted = false;
  const auto finish = [&] {
    if (list.size() > 1) list += ", ";
    list += item == "NULL" && !was_quoted ? "NULL" : sql_literal(item);
    item.clear();
    was_quoted = false;
  };
  for (std::size_t i = 1; i + 1 < text.size(); ++i) {
    if (text[i] == '\\' && i + 2 < text.size())
      item += text[++i];
    else if (text[i] == '"') {
      quoted = !quoted;
      was_quoted = true;
    } else if (text[i] == ',' && !quoted)
      finish();
    else
      item += text[i];
  }
  if (text.size() > 2) finish();
  return list + "]";
}

std::string literal(const sql::Parameter& given) {
  if (!given.text) return "NULL";
  if (given.type.empty() && given.text->starts_with('{') && given.text->ends_with('}'))
    return list_literal(*given.text);
  if (given.type == "bool") return *given.text == "true" || *given.text == "t" ? "true" : "false";
  if (given.type == "int8" || given.type == "float8" || given.type == "numeric")
    return fmt::format("CAST({} AS {})", sql_literal(*given.text),
                       given.type == "int8" ? "BIGINT" : "DOUBLE");
  return sql_literal(*given.text);
}

/// PostgreSQL's ~ looks for a match anywhere, the engine's wants the whole text to match.
std::string whole_pattern(const std::string& quoted) {
  std::string inner = quoted.substr(1, quoted.size() - 2);
  inner = inner.starts_with('^') ? inner.substr(1) : ".*" + inner;
  inner = inner.ends_with('$') ? inner.substr(0, inner.size() - 1) : inner + ".*";
  return "'" + inner + "'";
}

class Rewriter {
 public:
  Rewriter(std::vector<Token> tokens, const std::vector<sql::Parameter>& parameters)
      : tokens_(std::move(tokens)), parameters_(parameters) {}

  Result<std::string> rewrite() {
    // psql asks which publications a table is in, in a form the engine does not know; in none.
    for (const Token& token : tokens_)
      if (token.is("pg_publication_rel"))
        return std::string("SELECT '' AS pubname, '' AS qual, '' AS columns WHERE false");
    for (at_ = 0; at_ < tokens_.size();) {
      if (tokens_[at_].is(";")) break;
      DISCREET_TRY_VOID(step());
    }
    return out_;
  }

 private:
  bool is(std::size_t index, std::string_view text) const {
    return index < tokens_.size() && tokens_[index].is(text);
  }
  static std::string bare(const Token& token) {
    return token.kind == TokenKind::QuotedName ? token.text.substr(1, token.text.size() - 2)
                                               : token.text;
  }
  void emit(const std::string& text) {
    if (!out_.empty()) out_ += ' ';
    out_ += text;
  }

  Result<void> step() {
    const Token& token = tokens_[at_];
    if (token.kind == TokenKind::Symbol && token.text.size() > 1 && token.text[0] == '$')
      return parameter(token);
    if (is(at_, "operator") && is(at_ + 1, "(")) return named_operator();
    if (is(at_, "collate")) return skip_collation();
    if (is(at_, "::")) return cast();
    if (token.is("~") || token.is("!~")) return pattern();
    if (token.kind == TokenKind::Word || token.kind == TokenKind::QuotedName) return name();
    // '{a,b}' is how PostgreSQL writes an array.
    if (token.kind == TokenKind::String && token.text.starts_with("'{") &&
        token.text.ends_with("}'"))
      emit("'[" + token.text.substr(2, token.text.size() - 4) + "]'");
    else
      emit(token.text);
    ++at_;
    return {};
  }

  Result<void> parameter(const Token& token) {
    const auto number = static_cast<std::size_t>(std::atoi(token.text.c_str() + 1));
    if (number < 1 || number > parameters_.size())
      return invalid_input(fmt::format("parameter {} has no value", token.text));
    emit(literal(parameters_[number - 1]));
    ++at_;
    return {};
  }

  /// OPERATOR(pg_catalog.~)
  Result<void> named_operator() {
    std::size_t close = at_ + 2;
    while (close < tokens_.size() && !is(close, ")")) ++close;
    if (close >= tokens_.size()) return invalid_input("OPERATOR(...) is not closed");
    tokens_[close].text = tokens_[close - 1].text;
    at_ = close;
    return {};
  }

  Result<void> skip_collation() {
    at_ += is(at_ + 2, ".") ? 4 : 2;
    return {};
  }

  Result<void> pattern() {
    emit(tokens_[at_].text);
    ++at_;
    if (at_ < tokens_.size() && tokens_[at_].kind == TokenKind::String &&
        tokens_[at_].text.starts_with('\'')) {
      emit(whole_pattern(tokens_[at_].text));
      ++at_;
    }
    return {};
  }

  /// 'people'::regclass is a number, x::regclass stays readable, schemas of types go.
  Result<void> cast() {
    std::size_t type = at_ + 1;
    if (is(type + 1, ".")) type += 2;
    if (type >= tokens_.size()) return invalid_input("a cast needs a type");
    const std::string name = bare(tokens_[type]);
    const bool after_literal = at_ > 0 && tokens_[at_ - 1].kind == TokenKind::String;
    const bool looked_up = name == "regclass" || name == "regtype";
    if (looked_up && after_literal) {
      const std::string& text = tokens_[at_ - 1].text;
      out_.erase(out_.size() - text.size());
      emit(fmt::format("dsc_{}({})", name, text));
    } else if (looked_up || name == "char" || name == "name" || name == "regproc" ||
               name == "regnamespace" || name == "regrole") {
      emit(":: VARCHAR");
    } else {
      emit(":: " + (tokens_[type].kind == TokenKind::QuotedName ? tokens_[type].text : name));
    }
    at_ = type + 1;
    return {};
  }

  Result<void> name() {
    const std::string first = bare(tokens_[at_]);
    const bool after_dot = at_ > 0 && is(at_ - 1, ".");
    const bool qualified = is(at_ + 1, ".") && at_ + 2 < tokens_.size() && !after_dot;
    if (qualified && first == "information_schema") {
      emit("info." + tokens_[at_ + 2].text);
      at_ += 3;
      return {};
    }
    if (qualified && first == "pg_catalog") {
      at_ += 2;  // what follows is a table or a function of this schema
      return catalog_name(bare(tokens_[at_]), true);
    }
    return catalog_name(first, !after_dot);
  }

  Result<void> catalog_name(const std::string& name, bool may_be_table) {
    const bool call = is(at_ + 1, "(");
    const std::string written = tokens_[at_].text;
    ++at_;
    if (call) {
      const auto found = functions().find(name);
      emit(found != functions().end() ? found->second : written);
    } else if (may_be_table && !is(at_, ".") &&
               (name == "current_user" || name == "session_user" || name == "current_role")) {
      emit("pg_get_userbyid(0)");
    } else if (may_be_table && !is(at_, ".") && (name == "current_catalog")) {
      emit("dsc_database()");
    } else if (may_be_table && !is(at_, ".") && name == "current_schema") {
      emit("dsc_schema()");
    } else if (may_be_table && name.starts_with("pg_") && follows_from()) {
      emit("pgc." + name);
    } else {
      emit(written);
    }
    return {};
  }

  /// The name stands where a table stands: after FROM, JOIN, or a comma or parenthesis of FROM.
  bool follows_from() const {
    for (std::size_t i = at_ - 1; i-- > 0;) {
      if (is(i, "from") || is(i, "join")) return true;
      if (is(i, "(") || is(i, "lateral") || is(i, "only")) continue;
      if (is(i, ".") || is(i, "pg_catalog")) continue;
      if (is(i, ",")) return in_from_list(i);
      return false;
    }
    return false;
  }
  /// Back from a comma to the FROM it belongs to, over whole parentheses.
  bool in_from_list(std::size_t i) const {
    int depth = 0;
    while (i-- > 0) {
      if (is(i, ")")) ++depth;
      if (is(i, "(") && --depth < 0) return false;
      if (depth > 0) continue;
      if (is(i, "from")) return true;
      if (is(i, "select") || is(i, "where") || is(i, "by")) return false;
    }
    return false;
  }

  std::vector<Token> tokens_;
  const std::vector<sql::Parameter>& parameters_;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<std::string> rewrite_catalog_query(const std::string& sql,
                                          const std::vector<sql::Parameter>& parameters) {
  DISCREET_TRY(auto tokens, sql::scan(sql));
  return Rewriter(std::move(tokens), parameters).rewrite();
}

}  // namespace discreet::server
