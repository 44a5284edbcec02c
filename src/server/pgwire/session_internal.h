// One PostgreSQL connection: who it is, what it has set, what it has prepared.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/io_internal.h"
#include "server/pgwire/message.h"
#include "server/statement.h"

namespace discreet::server::pgwire {

class Session;

/// What the sessions of a listener share. The I/O thread only.
struct Shared {
  Service& service;
  asio::ssl::context* tls;
  std::string binding;
  bool stopping = false;
  std::map<std::int32_t, Session*> sessions;  ///< by process number, for CancelRequest
  std::map<std::string, std::size_t> by_user;
  std::int32_t next_process = 1;
};

struct PreparedStatement {
  ClientStatement statement;
  std::vector<std::uint32_t> types;
};

/// What a statement gave: rows, or only words.
struct Reply {
  std::optional<Answer> rows;
  std::string tag;
  std::vector<std::string> notices{};
  bool charged = false;  ///< leaves in a time slot
};

struct Portal {
  std::shared_ptr<const PreparedStatement> prepared;
  std::vector<sql::Parameter> parameters;
  std::vector<std::int16_t> formats;
  std::optional<Reply> reply;
  std::size_t sent = 0;
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Tcp::socket socket, std::shared_ptr<Shared> shared);
  ~Session();

  awaitable<void> run();
  /// Stops the statement that runs now, if `secret` is this session's.
  void cancel(std::int32_t secret);
  void shut_down();

 private:
  // login.cc
  awaitable<bool> open();
  awaitable<bool> log_in(const Startup& startup);
  awaitable<std::optional<std::string>> authentication_data();

  // session.cc
  awaitable<bool> fill();
  awaitable<std::optional<Message>> next_message();
  awaitable<bool> flush();
  awaitable<bool> fatal(std::string sqlstate, std::string message);
  awaitable<bool> handle(Message message);
  awaitable<void> simple_query(const std::string& sql);
  void on_parse(Parse parse);
  void on_bind(Bind bind);
  awaitable<void> on_describe(const Describe& describe);
  awaitable<void> on_execute(const Execute& execute);
  void report(const Error& error);
  void notify(const std::vector<std::string>& notices);
  void send_rows(const Answer& answer, const std::vector<std::int16_t>& formats, std::size_t from,
                 std::size_t to);
  void send_copy(const Answer& answer, const CopyOptions& options);

  // execute.cc
  awaitable<Result<Reply>> execute(const ClientStatement& statement,
                                   const std::vector<sql::Parameter>& parameters);
  awaitable<Result<Reply>> ask(const ClientStatement& statement,
                               const std::vector<sql::Parameter>& parameters, StatementKind kind);
  awaitable<Result<std::vector<AnswerColumn>>> describe(
      const ClientStatement& statement, const std::vector<sql::Parameter>& parameters);
  Result<Reply> set(const ClientStatement& statement);
  Result<Reply> show(const std::string& setting) const;
  Result<Question> question(const std::string& sql,
                            const std::vector<sql::Parameter>& parameters) const;
  std::string setting(const std::string& name) const;

  std::shared_ptr<Shared> shared_;
  Service& service_;
  Stream stream_;
  std::string in_, out_;
  std::size_t used_ = 0;  // of in_
  std::shared_ptr<Waiting> waiting_;
  Identity identity_;
  std::int32_t process_ = 0, secret_ = 0;
  char transaction_ = 'I';
  bool skipping_ = false;  // until Sync, after an error
  bool busy_ = false;
  bool ending_ = false;
  std::map<std::string, std::string> settings_;
  std::map<std::string, std::shared_ptr<const PreparedStatement>> statements_;
  std::map<std::string, Portal> portals_;
};

std::vector<FieldDescription> fields_of(const std::vector<AnswerColumn>& columns,
                                        const std::vector<std::int16_t>& formats);

}  // namespace discreet::server::pgwire
