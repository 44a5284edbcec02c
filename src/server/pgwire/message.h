// Messages of PostgreSQL's protocol 3.0: bytes in, structs out, and back.
//
// Guarantee: pure functions; whatever the bytes are, decoding returns a message, "not yet complete"
//            or an error, reads nothing beyond them, and allocates no more than a small multiple of
//            their length.
// Format:    PostgreSQL 15 documentation, "Frontend/Backend Protocol: Message Formats".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace discreet::server::pgwire {

// -- what a client says first

struct SslRequest {};
struct GssRequest {};
struct CancelRequest {
  std::int32_t process = 0, secret = 0;
};
struct Startup {
  std::int32_t minor = 0;
  std::map<std::string, std::string> parameters;
};
using Opening = std::variant<SslRequest, GssRequest, CancelRequest, Startup>;

/// A piece of the stream with the number of bytes it took.
template <class T>
struct Taken {
  T message;
  std::size_t bytes;
};

/// Nothing: more bytes are needed. InvalidInput: not this protocol, or too long.
Result<std::optional<Taken<Opening>>> take_opening(std::string_view bytes);

// -- what it says then

struct Frame {
  char type;
  std::string_view body;
};
/// Nothing: more bytes are needed. InvalidInput: longer than `body_max`.
Result<std::optional<Taken<Frame>>> take_frame(std::string_view bytes, std::size_t body_max);

struct Query {
  std::string sql;
};
struct Parse {
  std::string name, sql;
  std::vector<std::uint32_t> types;
};
struct Bind {
  std::string portal, statement;
  std::vector<std::int16_t> formats;  ///< of parameters: none, one for all, or one each
  std::vector<std::optional<std::string>> values;
  std::vector<std::int16_t> result_formats;
};
struct Describe {
  bool is_portal = false;
  std::string name;
};
struct Execute {
  std::string portal;
  std::int32_t rows_max = 0;  ///< 0: all
};
struct Close {
  bool is_portal = false;
  std::string name;
};
struct Flush {};
struct Sync {};
struct Terminate {};
/// Password, SASLInitialResponse and SASLResponse share a letter; only the exchange knows which.
struct AuthenticationData {
  std::string bytes;
};
/// CopyData, CopyDone, CopyFail: nothing is copied in, so they mean nothing.
struct CopyInput {};
using Message = std::variant<Query, Parse, Bind, Describe, Execute, Close, Flush, Sync, Terminate,
                             AuthenticationData, CopyInput>;

/// InvalidInput: an unknown kind, or a body that does not fit its kind.
Result<Message> decode(const Frame& frame);

/// "SCRAM-SHA-256" and the client's first message.
struct SaslInitial {
  std::string mechanism, response;
};
Result<SaslInitial> decode_sasl_initial(std::string_view bytes);

// -- what the server says: each appends one message

void append_authentication_ok(std::string& out);
void append_sasl_mechanisms(std::string& out, const std::vector<std::string>& mechanisms);
void append_sasl_continue(std::string& out, std::string_view data);
void append_sasl_final(std::string& out, std::string_view data);
void append_parameter_status(std::string& out, std::string_view name, std::string_view value);
void append_backend_key(std::string& out, std::int32_t process, std::int32_t secret);
/// 'I' idle, 'T' in a transaction, 'E' in one that failed.
void append_ready(std::string& out, char state);

struct FieldDescription {
  std::string name;
  std::uint32_t type = 25;
  std::int16_t size = -1;
  std::int16_t format = 0;
};
void append_row_description(std::string& out, const std::vector<FieldDescription>& fields);
void append_data_row(std::string& out, const std::vector<std::optional<std::string>>& cells);
void append_command_complete(std::string& out, std::string_view tag);
void append_empty_query(std::string& out);
void append_parse_complete(std::string& out);
void append_bind_complete(std::string& out);
void append_close_complete(std::string& out);
void append_no_data(std::string& out);
void append_portal_suspended(std::string& out);
void append_parameter_description(std::string& out, const std::vector<std::uint32_t>& types);
void append_copy_out(std::string& out, std::size_t columns);
void append_copy_data(std::string& out, std::string_view data);
void append_copy_done(std::string& out);

struct Complaint {
  std::string severity = "ERROR";
  std::string sqlstate;
  std::string message;
  std::string hint{};
  int position = 0;  ///< character, from 1; 0: none
};
void append_error(std::string& out, const Complaint& complaint);
void append_notice(std::string& out, const Complaint& complaint);

}  // namespace discreet::server::pgwire
