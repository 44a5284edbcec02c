#include "server/pgwire/message.h"

namespace discreet::server::pgwire {
namespace {

constexpr std::int32_t kSslCode = 80877103, kGssCode = 80877104, kCancelCode = 80877102;
constexpr std::size_t kOpeningMax = 10'000;  // as PostgreSQL itself

/// Reads big-endian numbers and zero-terminated texts; remembers whether all of them were there.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t byte() {
    if (!need(1)) return 0;
    const auto value = static_cast<std::uint8_t>(rest_[0]);
    rest_.remove_prefix(1);
    return value;
  }
  std::uint16_t word() {
    const unsigned high = byte();
    return static_cast<std::uint16_t>(high << 8 | byte());
  }
  std::uint32_t number() {
    const std::uint32_t high = word();
    return high << 16 | word();
  }
  std::string text() {
    const auto end = rest_.find('\0');
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }
  std::string bytes(std::size_t size) {
    if (!need(size)) return {};
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  std::size_t left() const { return rest_.size(); }
  bool good() const { return good_; }
  bool finished() const { return good_ && rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  bool need(std::size_t size) {
    if (rest_.size() < size) {
      good_ = false;
      rest_ = {};
    }
    return good_;
  }
  std::string_view rest_;
  bool good_ = true;
};

Error malformed(const char* what) {
  return invalid_input(std::string("malformed ") + what + " message");
}

Result<Message> decode_parse(Reader& in) {
  Parse parse{in.text(), in.text(), {}};
  const std::size_t count = in.word();
  if (in.left() != count * 4) return malformed("Parse");
  for (std::size_t i = 0; i < count; ++i) parse.types.push_back(in.number());
  if (!in.finished()) return malformed("Parse");
  return Message(std::move(parse));
}

Result<Message> decode_bind(Reader& in) {
  Bind bind;
  bind.portal = in.text();
  bind.statement = in.text();
  const std::size_t formats = in.word();
  if (in.left() < formats * 2) return malformed("Bind");
  for (std::size_t i = 0; i < formats; ++i)
    bind.formats.push_back(static_cast<std::int16_t>(in.word()));
  const std::size_t values = in.word();
  if (in.left() < values * 4) return malformed("Bind");
  for (std::size_t i = 0; i < values && in.good(); ++i) {
    const auto size = static_cast<std::int32_t>(in.number());
    if (size < -1) return malformed("Bind");
    bind.values.push_back(size == -1 ? std::nullopt
                                     : std::optional(in.bytes(static_cast<std::size_t>(size))));
  }
  const std::size_t results = in.word();
  if (in.left() != results * 2) return malformed("Bind");
  for (std::size_t i = 0; i < results; ++i)
    bind.result_formats.push_back(static_cast<std::int16_t>(in.word()));
  if (!in.finished()) return malformed("Bind");
  if (formats > 1 && formats != values) return malformed("Bind");
  return Message(std::move(bind));
}

template <class Named>
Result<Message> decode_named(Reader& in, const char* what) {
  const char kind = static_cast<char>(in.byte());
  Named named{kind == 'P', in.text()};
  if (!in.finished() || (kind != 'P' && kind != 'S')) return malformed(what);
  return Message(std::move(named));
}

/// One message: a letter, a length that is known at the end, a body.
class Writer {
 public:
  Writer(std::string& out, char type) : out_(out) {
    out_ += type;
    start_ = out_.size();
    out_.append(4, '\0');
  }
  ~Writer() {
    const auto size = static_cast<std::uint32_t>(out_.size() - start_);
    for (std::size_t i = 0; i < 4; ++i)
      out_[start_ + i] = static_cast<char>(size >> (24 - 8 * i) & 0xff);
  }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Writer& word(std::uint16_t value) {
    out_ += static_cast<char>(value >> 8);
    out_ += static_cast<char>(value & 0xff);
    return *this;
  }
  Writer& number(std::uint32_t value) {
    return word(static_cast<std::uint16_t>(value >> 16)).word(static_cast<std::uint16_t>(value));
  }
  /// Texts end at their first zero byte: one inside would shift everything after it.
  Writer& text(std::string_view value) {
    out_ += value.substr(0, value.find('\0'));
    out_ += '\0';
    return *this;
  }
  Writer& raw(std::string_view value) {
    out_ += value;
    return *this;
  }

 private:
  std::string& out_;
  std::size_t start_;
};

void append_complaint(std::string& out, char type, const Complaint& complaint) {
  Writer message(out, type);
  message.raw("S").text(complaint.severity).raw("V").text(complaint.severity);
  message.raw("C").text(complaint.sqlstate).raw("M").text(complaint.message);
  if (!complaint.hint.empty()) message.raw("H").text(complaint.hint);
  if (complaint.position > 0) message.raw("P").text(std::to_string(complaint.position));
  message.raw(std::string_view("\0", 1));
}

}  // namespace

Result<std::optional<Taken<Opening>>> take_opening(std::string_view bytes) {
  if (bytes.size() < 4) return std::optional<Taken<Opening>>();
  Reader in(bytes);
  const std::size_t size = in.number();
  if (size < 8 || size > kOpeningMax) return invalid_input("invalid length of startup packet");
  if (bytes.size() < size) return std::optional<Taken<Opening>>();
  in = Reader(bytes.substr(4, size - 4));
  const auto code = static_cast<std::int32_t>(in.number());
  const auto taken = [&](Opening opening) {
    return std::optional(Taken<Opening>{std::move(opening), size});
  };
  if (code == kSslCode && in.finished()) return taken(SslRequest{});
  if (code == kGssCode && in.finished()) return taken(GssRequest{});
  if (code == kCancelCode && in.left() == 8) {
    CancelRequest cancel;
    cancel.process = static_cast<std::int32_t>(in.number());
    cancel.secret = static_cast<std::int32_t>(in.number());
    return taken(cancel);
  }
  if (code >> 16 != 3)
    return invalid_input("unsupported frontend protocol; this server speaks 3.0");
  Startup startup{code & 0xffff, {}};
  while (in.good() && in.left() > 1) {
    std::string name = in.text();
    startup.parameters[std::move(name)] = in.text();
  }
  if (!in.good() || in.left() != 1 || in.byte() != 0) return malformed("startup");
  return taken(std::move(startup));
}

Result<std::optional<Taken<Frame>>> take_frame(std::string_view bytes, std::size_t body_max) {
  if (bytes.size() < 5) return std::optional<Taken<Frame>>();
  Reader in(bytes);
  const char type = static_cast<char>(in.byte());
  const std::size_t size = in.number();
  if (size < 4 || size - 4 > body_max) return invalid_input("invalid message length");
  if (bytes.size() < size + 1) return std::optional<Taken<Frame>>();
  return std::optional(Taken<Frame>{{type, bytes.substr(5, size - 4)}, size + 1});
}

Result<Message> decode(const Frame& frame) {
  Reader in(frame.body);
  switch (frame.type) {
    case 'Q': {
      Query query{in.text()};
      if (!in.finished()) return malformed("Query");
      return Message(std::move(query));
    }
    case 'P':
      return decode_parse(in);
    case 'B':
      return decode_bind(in);
    case 'D':
      return decode_named<Describe>(in, "Describe");
    case 'C':
      return decode_named<Close>(in, "Close");
    case 'E': {
      Execute execute{in.text(), static_cast<std::int32_t>(in.number())};
      if (!in.finished()) return malformed("Execute");
      return Message(std::move(execute));
    }
    case 'H':
      if (!in.finished()) return malformed("Flush");
      return Message(Flush{});
    case 'S':
      if (!in.finished()) return malformed("Sync");
      return Message(Sync{});
    case 'X':
      return Message(Terminate{});
    case 'p':
      return Message(AuthenticationData{std::string(frame.body)});
    case 'd':
    case 'c':
    case 'f':
      return Message(CopyInput{});
    default:
      return invalid_input("unknown kind of message");
  }
}

Result<SaslInitial> decode_sasl_initial(std::string_view bytes) {
  Reader in(bytes);
  SaslInitial initial{in.text(), {}};
  const auto size = static_cast<std::int32_t>(in.number());
  if (size < 0 || static_cast<std::size_t>(size) != in.left() || !in.good())
    return malformed("SASLInitialResponse");
  initial.response = std::string(in.rest());
  return initial;
}

void append_authentication_ok(std::string& out) {
  Writer(out, 'R').number(0);
}
void append_sasl_mechanisms(std::string& out, const std::vector<std::string>& mechanisms) {
  Writer message(out, 'R');
  message.number(10);
  for (const std::string& mechanism : mechanisms) message.text(mechanism);
  message.text("");
}
void append_sasl_continue(std::string& out, std::string_view data) {
  Writer(out, 'R').number(11).raw(data);
}
void append_sasl_final(std::string& out, std::string_view data) {
  Writer(out, 'R').number(12).raw(data);
}
void append_parameter_status(std::string& out, std::string_view name, std::string_view value) {
  Writer(out, 'S').text(name).text(value);
}
void append_backend_key(std::string& out, std::int32_t process, std::int32_t secret) {
  Writer(out, 'K')
      .number(static_cast<std::uint32_t>(process))
      .number(static_cast<std::uint32_t>(secret));
}
void append_ready(std::string& out, char state) {
  Writer(out, 'Z').raw(std::string_view(&state, 1));
}

void append_row_description(std::string& out, const std::vector<FieldDescription>& fields) {
  Writer message(out, 'T');
  message.word(static_cast<std::uint16_t>(fields.size()));
  for (const FieldDescription& field : fields)
    message.text(field.name)
        .number(0)
        .word(0)
        .number(field.type)
        .word(static_cast<std::uint16_t>(field.size))
        .number(0xffffffff)
        .word(static_cast<std::uint16_t>(field.format));
}
void append_data_row(std::string& out, const std::vector<std::optional<std::string>>& cells) {
  Writer message(out, 'D');
  message.word(static_cast<std::uint16_t>(cells.size()));
  for (const auto& cell : cells) {
    if (cell)
      message.number(static_cast<std::uint32_t>(cell->size())).raw(*cell);
    else
      message.number(0xffffffff);
  }
}
void append_command_complete(std::string& out, std::string_view tag) {
  Writer(out, 'C').text(tag);
}
void append_empty_query(std::string& out) {
  Writer(out, 'I').raw("");
}
void append_parse_complete(std::string& out) {
  Writer(out, '1').raw("");
}
void append_bind_complete(std::string& out) {
  Writer(out, '2').raw("");
}
void append_close_complete(std::string& out) {
  Writer(out, '3').raw("");
}
void append_no_data(std::string& out) {
  Writer(out, 'n').raw("");
}
void append_portal_suspended(std::string& out) {
  Writer(out, 's').raw("");
}
void append_parameter_description(std::string& out, const std::vector<std::uint32_t>& types) {
  Writer message(out, 't');
  message.word(static_cast<std::uint16_t>(types.size()));
  for (const std::uint32_t type : types) message.number(type);
}
void append_copy_out(std::string& out, std::size_t columns) {
  Writer message(out, 'H');
  message.raw(std::string_view("\0", 1)).word(static_cast<std::uint16_t>(columns));
  for (std::size_t i = 0; i < columns; ++i) message.word(0);
}
void append_copy_data(std::string& out, std::string_view data) {
  Writer(out, 'd').raw(data);
}
void append_copy_done(std::string& out) {
  Writer(out, 'c').raw("");
}
void append_error(std::string& out, const Complaint& complaint) {
  append_complaint(out, 'E', complaint);
}
void append_notice(std::string& out, const Complaint& complaint) {
  append_complaint(out, 'N', complaint);
}

}  // namespace discreet::server::pgwire
