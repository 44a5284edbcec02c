#include "server/pgwire/session_internal.h"

#include "server/pgwire/types.h"

namespace discreet::server::pgwire {
namespace {

constexpr std::size_t kReadSize = 16 * 1024, kWriteSize = 64 * 1024;
constexpr std::size_t kNamedMax = 1000;  // prepared statements, and portals, of one session

std::string sqlstate_of(const Error& error) {
  if (error.message.starts_with("canceling statement")) return "57014";
  if (error.code == ErrorCode::InvalidInput) return "42601";
  if (error.code == ErrorCode::NotFound) return "42P01";
  return sqlstate(error.code);
}

std::string csv_field(const std::string& text, const CopyOptions& options) {
  const std::string special = std::string("\"\r\n") + options.delimiter;
  if (text.find_first_of(special) == std::string::npos && text != options.null) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string text_field(const std::string& text, const CopyOptions& options) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\n')
      escaped += "\\n";
    else if (c == '\r')
      escaped += "\\r";
    else if (c == '\t')
      escaped += "\\t";
    else if (c == '\\' || c == options.delimiter)
      escaped += std::string("\\") + c;
    else
      escaped += c;
  }
  return escaped;
}

}  // namespace

Session::Session(Tcp::socket socket, std::shared_ptr<Shared> shared)
    : shared_(std::move(shared)),
      service_(shared_->service),
      stream_(std::move(socket), shared_->tls) {
  process_ = shared_->next_process++;
  shared_->sessions[process_] = this;
  service_.metrics().opened(Protocol::Postgres);
}

Session::~Session() {
  shared_->sessions.erase(process_);
  if (!identity_.name.empty() && --shared_->by_user[identity_.name] == 0)
    shared_->by_user.erase(identity_.name);
  service_.metrics().closed(Protocol::Postgres);
}

awaitable<void> Session::run() {
  const auto self = shared_from_this();
  waiting_ = std::make_shared<Waiting>(co_await asio::this_coro::executor);
  stream_.set_deadline(service_.settings().login_timeout);
  if (!co_await open()) {
    stream_.close();
    co_return;
  }
  stream_.clear_deadline();
  while (!ending_ && !shared_->stopping) {
    busy_ = false;
    auto message = co_await next_message();
    busy_ = true;
    if (!message || !co_await handle(*std::move(message))) break;
  }
  if (shared_->stopping) co_await fatal("57P01", "the server is shutting down");
  stream_.finish_writing();
  stream_.close();
}

void Session::cancel(std::int32_t secret) {
  if (secret_ != 0 && secret == secret_) waiting_->give_up();
}

void Session::shut_down() {
  if (!busy_) stream_.close();
}

// -- bytes

awaitable<bool> Session::fill() {
  if (used_ > 0) {
    in_.erase(0, used_);
    used_ = 0;
  }
  const std::size_t before = in_.size();
  in_.resize(before + kReadSize);
  const std::size_t read = co_await stream_.read_some(in_.data() + before, kReadSize);
  in_.resize(before + read);
  co_return read > 0;
}

awaitable<std::optional<Message>> Session::next_message() {
  // A client may think for hours between messages, but not in the middle of one, nor before it has
  // logged in.
  const bool logged_in = secret_ != 0;
  bool in_the_middle = false;
  for (;;) {
    const auto frame = take_frame(std::string_view(in_).substr(used_),
                                  logged_in ? service_.settings().message_bytes_max : 4096);
    if (!frame) {
      co_await fatal("08P01", frame.error().message);
      co_return std::nullopt;
    }
    if (*frame) {
      if (in_the_middle && logged_in) stream_.clear_deadline();
      auto message = decode((*frame)->message);
      used_ += (*frame)->bytes;
      if (message) co_return *std::move(message);
      co_await fatal("08P01", message.error().message);
      co_return std::nullopt;
    }
    if (logged_in && !in_the_middle && used_ < in_.size()) {
      in_the_middle = true;
      stream_.set_deadline(service_.settings().message_timeout);
    }
    if (!co_await fill()) co_return std::nullopt;
  }
}

awaitable<bool> Session::flush() {
  if (out_.empty()) co_return true;
  // A client that does not read must not hold the answer's memory for ever.
  const bool logged_in = secret_ != 0;
  if (logged_in) stream_.set_deadline(service_.settings().message_timeout);
  const std::string sending = std::exchange(out_, {});
  const bool sent = co_await stream_.write(sending);
  if (logged_in) stream_.clear_deadline();
  co_return sent;
}

awaitable<bool> Session::fatal(std::string sqlstate, std::string message) {
  append_error(out_, {"FATAL", std::move(sqlstate), std::move(message)});
  co_await flush();
  co_return false;
}

void Session::report(const Error& error) {
  const ErrorParts parts = parts_of(error);
  append_error(out_, {"ERROR", sqlstate_of(error), parts.message, parts.hint, parts.position});
  if (transaction_ == 'T') transaction_ = 'E';
}

void Session::notify(const std::vector<std::string>& notices) {
  const std::string least = setting("client_min_messages");
  if (least == "warning" || least == "error") return;
  for (const std::string& notice : notices) append_notice(out_, {"NOTICE", "00000", notice});
}

// -- messages

awaitable<bool> Session::handle(Message message) {
  if (std::holds_alternative<Terminate>(message)) co_return false;
  if (std::holds_alternative<Sync>(message)) {
    skipping_ = false;
    if (transaction_ == 'I') portals_.clear();
    append_ready(out_, transaction_);
    co_return co_await flush();
  }
  if (const auto* query = std::get_if<Query>(&message)) {
    skipping_ = false;
    co_await simple_query(query->sql);
    append_ready(out_, transaction_);
    co_return co_await flush();
  }
  if (skipping_) co_return true;
  if (std::holds_alternative<Flush>(message)) co_return co_await flush();
  if (auto* parse = std::get_if<Parse>(&message)) on_parse(std::move(*parse));
  if (auto* bind = std::get_if<Bind>(&message)) on_bind(std::move(*bind));
  if (const auto* described = std::get_if<Describe>(&message)) co_await on_describe(*described);
  if (const auto* executed = std::get_if<Execute>(&message)) co_await on_execute(*executed);
  if (const auto* closed = std::get_if<Close>(&message)) {
    if (closed->is_portal)
      portals_.erase(closed->name);
    else
      statements_.erase(closed->name);
    append_close_complete(out_);
  }
  if (std::holds_alternative<AuthenticationData>(message))
    co_return co_await fatal("08P01", "a password was not asked for");
  if (out_.size() > kWriteSize) co_return co_await flush();
  co_return true;
}

awaitable<void> Session::simple_query(const std::string& sql) {
  const auto statements = split_statements(sql);
  if (statements.empty()) append_empty_query(out_);
  for (const std::string& one : statements) {
    const auto statement = classify(one);
    if (!statement) {
      report(statement.error());
      co_return;
    }
    auto reply = co_await execute(*statement, {});
    if (!reply) {
      report(reply.error());
      co_return;
    }
    if (reply->rows && statement->kind == StatementKind::Copy) {
      send_copy(*reply->rows, statement->copy);
    } else if (reply->rows) {
      append_row_description(out_, fields_of(reply->rows->columns, {}));
      send_rows(*reply->rows, {}, 0, reply->rows->rows.size());
    }
    notify(reply->notices);
    if (statement->kind == StatementKind::Empty)
      append_empty_query(out_);
    else
      append_command_complete(out_, reply->tag);
    if (out_.size() > kWriteSize && !co_await flush()) co_return;
  }
}

void Session::on_parse(Parse parse) {
  const auto fail = [&](const Error& error) {
    report(error);
    skipping_ = true;
  };
  if (split_statements(parse.sql).size() > 1)
    return fail(invalid_input("cannot insert multiple commands into a prepared statement"));
  if (!parse.name.empty() && statements_.contains(parse.name))
    return fail(invalid_input("prepared statement \"" + parse.name + "\" already exists"));
  if (statements_.size() >= kNamedMax)
    return fail(invalid_parameter("too many prepared statements; close some"));
  auto statement = classify(parse.sql);
  if (!statement) return fail(statement.error());
  auto made = std::make_shared<PreparedStatement>();
  made->statement = *std::move(statement);
  made->types = std::move(parse.types);
  made->types.resize(std::max(made->types.size(), parameter_count(parse.sql)), kUnspecified);
  statements_[parse.name] = std::move(made);
  append_parse_complete(out_);
}

void Session::on_bind(Bind bind) {
  const auto fail = [&](const Error& error) {
    report(error);
    skipping_ = true;
  };
  const auto found = statements_.find(bind.statement);
  if (found == statements_.end())
    return fail({ErrorCode::InvalidParameter,
                 "prepared statement \"" + bind.statement + "\" does not exist"});
  if (bind.values.size() != found->second->types.size())
    return fail(invalid_input("bind message supplies " + std::to_string(bind.values.size()) +
                              " parameters, but the statement requires " +
                              std::to_string(found->second->types.size())));
  if (portals_.size() >= kNamedMax) return fail(invalid_parameter("too many portals; close some"));
  Portal portal{found->second, {}, std::move(bind.result_formats), std::nullopt, 0};
  for (std::size_t i = 0; i < bind.values.size(); ++i) {
    const std::int16_t format = bind.formats.empty()       ? std::int16_t{0}
                                : bind.formats.size() == 1 ? bind.formats[0]
                                                           : bind.formats[i];
    auto parameter = to_parameter(found->second->types[i], format == 1, bind.values[i]);
    if (!parameter) return fail(parameter.error());
    portal.parameters.push_back(*std::move(parameter));
  }
  portals_[bind.portal] = std::move(portal);
  append_bind_complete(out_);
}

awaitable<void> Session::on_describe(const Describe& described) {
  std::shared_ptr<const PreparedStatement> prepared;
  std::vector<sql::Parameter> parameters;
  std::vector<std::int16_t> formats;
  if (described.is_portal) {
    const auto found = portals_.find(described.name);
    if (found != portals_.end()) {
      prepared = found->second.prepared;
      parameters = found->second.parameters;
      formats = found->second.formats;
    }
  } else if (const auto found = statements_.find(described.name); found != statements_.end()) {
    prepared = found->second;
    // Types of columns do not hang on values; any value of the type will do.
    for (const std::uint32_t type : prepared->types) {
      const std::string name = parameter_type(type);
      const bool number = name == "int8" || name == "numeric" || name == "float8";
      const bool time = name == "date" || name == "timestamp";
      parameters.push_back({number           ? std::optional<std::string>("1")
                            : time           ? std::optional<std::string>("2000-01-01")
                            : name == "bool" ? std::optional<std::string>("true")
                            : name == "text" ? std::optional<std::string>("")
                                             : std::nullopt,
                            name});
    }
  }
  if (!prepared) {
    report({ErrorCode::InvalidParameter, "nothing of this name is prepared"});
    skipping_ = true;
    co_return;
  }
  const auto columns = co_await describe(prepared->statement, parameters);
  if (!columns) {
    report(columns.error());
    skipping_ = true;
    co_return;
  }
  if (!described.is_portal) {
    auto types = prepared->types;
    for (std::uint32_t& type : types)
      if (type == kUnspecified) type = kText;
    append_parameter_description(out_, types);
  }
  if (columns->empty())
    append_no_data(out_);
  else
    append_row_description(out_, fields_of(*columns, formats));
}

awaitable<void> Session::on_execute(const Execute& executed) {
  const auto found = portals_.find(executed.portal);
  if (found == portals_.end()) {
    report({ErrorCode::InvalidParameter, "portal \"" + executed.portal + "\" does not exist"});
    skipping_ = true;
    co_return;
  }
  // The portal may be closed or replaced by no one while this waits: one message at a time.
  Portal& portal = found->second;
  const ClientStatement& statement = portal.prepared->statement;
  if (!portal.reply) {
    auto reply = co_await execute(statement, portal.parameters);
    if (!reply) {
      report(reply.error());
      skipping_ = true;
      co_return;
    }
    portal.reply = *std::move(reply);
    notify(portal.reply->notices);
  }
  const Reply& reply = *portal.reply;
  if (statement.kind == StatementKind::Empty) {
    append_empty_query(out_);
    co_return;
  }
  if (reply.rows && statement.kind == StatementKind::Copy) {
    send_copy(*reply.rows, statement.copy);
  } else if (reply.rows) {
    const std::size_t total = reply.rows->rows.size();
    const std::size_t from = portal.sent;
    std::size_t to = total;
    if (executed.rows_max > 0)
      to = std::min(total, from + static_cast<std::size_t>(executed.rows_max));
    send_rows(*reply.rows, portal.formats, from, to);
    portal.sent = to;
    if (to < total) {
      append_portal_suspended(out_);
      co_return;
    }
  }
  append_command_complete(out_, reply.tag);
}

// -- rows

std::vector<FieldDescription> fields_of(const std::vector<AnswerColumn>& columns,
                                        const std::vector<std::int16_t>& formats) {
  std::vector<FieldDescription> fields;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::uint32_t oid = oid_of(columns[i].type);
    const std::int16_t format = formats.empty()       ? std::int16_t{0}
                                : formats.size() == 1 ? formats[0]
                                : i < formats.size()  ? formats[i]
                                                      : std::int16_t{0};
    fields.push_back({columns[i].name, oid, size_of(oid), format});
  }
  return fields;
}

void Session::send_rows(const Answer& answer, const std::vector<std::int16_t>& formats,
                        std::size_t from, std::size_t to) {
  const auto fields = fields_of(answer.columns, formats);
  std::vector<std::optional<std::string>> cells(fields.size());
  for (std::size_t row = from; row < to; ++row) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& cell = answer.rows[row][i];
      cells[i].reset();
      if (!cell) continue;
      if (fields[i].format == 0) {
        cells[i] = to_text(fields[i].type, *cell);
      } else if (auto binary = to_binary(fields[i].type, *cell)) {
        cells[i] = *std::move(binary);
      }
    }
    append_data_row(out_, cells);
  }
}

void Session::send_copy(const Answer& answer, const CopyOptions& options) {
  append_copy_out(out_, answer.columns.size());
  const auto field = options.csv ? csv_field : text_field;
  std::string line;
  if (options.header) {
    for (std::size_t i = 0; i < answer.columns.size(); ++i)
      line += (i == 0 ? "" : std::string(1, options.delimiter)) +
              field(answer.columns[i].name, options);
    append_copy_data(out_, line + "\n");
  }
  for (const auto& row : answer.rows) {
    line.clear();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += options.delimiter;
      line +=
          row[i] ? field(to_text(oid_of(answer.columns[i].type), *row[i]), options) : options.null;
    }
    append_copy_data(out_, line + "\n");
  }
  append_copy_done(out_);
}

}  // namespace discreet::server::pgwire
