// Spark Connect over gRPC. Messages are made by reflection from Spark's own protocol files, which
// the build turns into one descriptor (cmake/DiscreetSpark.cmake): generated classes for all of it
// would take longer to compile than this program's libraries.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/sync_stream.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include <fmt/format.h>

#include "engines/spark/connection_internal.h"
#include "engines/spark/words_internal.h"

namespace discreet::spark {

// Written by the build.
extern const unsigned char kProtocol[];
extern const std::size_t kProtocolSize;

namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

/// Spark's protocol, read once.
class Protocol {
 public:
  static const Protocol& get() {
    static const Protocol protocol;
    return protocol;
  }
  std::unique_ptr<Message> make(const std::string& name) const {
    const Descriptor* type = pool_.FindMessageTypeByName("spark.connect." + name);
    DISCREET_CHECK(type != nullptr, "a message that Spark's protocol does not have");
    return std::unique_ptr<Message>(factory_.GetPrototype(type)->New());
  }

 private:
  Protocol() : factory_(&pool_) {
    google::protobuf::FileDescriptorSet files;
    DISCREET_CHECK(files.ParseFromArray(kProtocol, static_cast<int>(kProtocolSize)),
                   "Spark's protocol does not parse");
    for (const auto& file : files.file())
      DISCREET_CHECK(pool_.BuildFile(file) != nullptr, "Spark's protocol is incomplete");
  }
  google::protobuf::DescriptorPool pool_;
  mutable google::protobuf::DynamicMessageFactory factory_;
};

const FieldDescriptor* field(const Message& message, const char* name) {
  const auto* found = message.GetDescriptor()->FindFieldByName(name);
  DISCREET_CHECK(found != nullptr, name);
  return found;
}
Message* part(Message& message, const char* name) {
  return message.GetReflection()->MutableMessage(&message, field(message, name));
}
Message* added(Message& message, const char* list) {
  return message.GetReflection()->AddMessage(&message, field(message, list));
}
const Message& inside(const Message& message, const char* name) {
  return message.GetReflection()->GetMessage(message, field(message, name));
}
bool has(const Message& message, const char* name) {
  return message.GetReflection()->HasField(message, field(message, name));
}
void set(Message& message, const char* name, const std::string& value) {
  message.GetReflection()->SetString(&message, field(message, name), value);
}
std::string text(const Message& message, const char* name) {
  return message.GetReflection()->GetString(message, field(message, name));
}
std::int32_t number(const Message& message, const char* name) {
  return message.GetReflection()->GetInt32(message, field(message, name));
}

/// A new name for a session. It is no secret: it only has to be unlike the others.
std::string new_uuid() {
  std::string uuid;
  std::getline(std::ifstream("/proc/sys/kernel/random/uuid") >> std::ws, uuid);
  return uuid;
}

// Nothing may depend on how the server is set up: no errors where a row does not fit, times in UTC,
// days counted in one calendar, plain Arrow.
constexpr std::array<std::pair<const char*, const char*>, 10> kSessionSettings = {{
    {"spark.sql.ansi.enabled", "false"},
    {"spark.sql.session.timeZone", "UTC"},
    {"spark.sql.timestampType", "TIMESTAMP_LTZ"},
    {"spark.sql.caseSensitive", "false"},
    {"spark.sql.parser.escapedStringLiterals", "false"},
    {"spark.sql.parser.quotedRegexColumnNames", "false"},
    {"spark.sql.parquet.datetimeRebaseModeInRead", "CORRECTED"},
    {"spark.sql.parquet.int96RebaseModeInRead", "CORRECTED"},
    {"spark.sql.avro.datetimeRebaseModeInRead", "CORRECTED"},
    // Batches end at some megabytes, whatever their number of rows.
    {"spark.sql.execution.arrow.maxRecordsPerBatch", "350000"},
}};

constexpr int kMessageBytesMax = 256 << 20;

constexpr char kToken[] = "SPARK_CONNECT_AUTHENTICATE_TOKEN";

/// Spark's type as its SQL names it; what this program cannot use keeps another name.
std::string type_name(const Message& type) {
  const auto* reflection = type.GetReflection();
  const auto* kind =
      reflection->GetOneofFieldDescriptor(type, type.GetDescriptor()->FindOneofByName("kind"));
  if (kind == nullptr) return "unknown";
  const std::string name(kind->name());
  const Message& detail = reflection->GetMessage(type, kind);
  if (name == "decimal")
    return fmt::format("decimal({},{})",
                       has(detail, "precision") ? number(detail, "precision") : 10,
                       has(detail, "scale") ? number(detail, "scale") : 0);
  if (name == "string") {
    // Another collation than that of bytes calls different texts equal.
    if (detail.GetDescriptor()->FindFieldByName("collation") == nullptr) return "string";
    const auto collation = text(detail, "collation");
    return collation.empty() || collation == "UTF8_BINARY" ? "string" : "string " + collation;
  }
  return name;
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(Address address, ConnectionSettings settings)
      : address_(std::move(address)), settings_(std::move(settings)), session_(new_uuid()) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(kMessageBytesMax);
    arguments.SetMaxSendMessageSize(kMessageBytesMax);
    channel_ =
        grpc::CreateCustomChannel(address_.target,
                                  address_.tls ? grpc::SslCredentials(grpc::SslCredentialsOptions())
                                               : grpc::InsecureChannelCredentials(),
                                  arguments);
  }
  ~GrpcConnection() override {
    GrpcConnection::drain();
    if (lost_ || server_session_.empty()) return;
    const auto request = prepared("ReleaseSessionRequest", false);
    const auto response = Protocol::get().make("ReleaseSessionResponse");
    grpc::ClientContext context;
    with_deadline(context, 5);
    static_cast<void>(unary("ReleaseSession", context, *request, *response));
  }
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  Result<void> open() {
    const auto request = prepared("ConfigRequest");
    Message* pairs = part(*part(*request, "operation"), "set");
    for (const auto& [key, value] : kSessionSettings) {
      Message* pair = added(*pairs, "pairs");
      set(*pair, "key", key);
      set(*pair, "value", value);
    }
    const auto response = Protocol::get().make("ConfigResponse");
    DISCREET_TRY_VOID(call("Config", *request, *response));
    server_session_ = text(*response, "server_side_session_id");
    return {};
  }

  Result<void> start(const std::string& sql) override {
    const auto request = prepared("ExecutePlanRequest");
    set(*part(*part(*part(*request, "plan"), "root"), "sql"), "query", sql);
    return start(*request);
  }

  Result<void> start_over(const std::string& sql,
                          const std::vector<std::string>& locations) override {
    const auto request = prepared("ExecutePlanRequest");
    Message* both = part(*part(*part(*request, "plan"), "root"), "with_relations");
    set(*part(*part(*both, "root"), "sql"), "query", sql);
    Message* named = part(*added(*both, "references"), "subquery_alias");
    set(*named, "alias", kFilesTable);
    Message* source = part(*part(*part(*named, "input"), "read"), "data_source");
    set(*source, "format", "binaryFile");
    for (const std::string& location : locations)
      source->GetReflection()->AddString(source, field(*source, "paths"), location);
    return start(*request);
  }

  Result<void> start(Message& request) {
    drain();
    operation_ = new_uuid();
    set(request, "operation_id", operation_);
    response_ = Protocol::get().make("ExecutePlanResponse");
    auto context = std::make_unique<grpc::ClientContext>();
    with_deadline(*context, settings_.statement_timeout_s);
    {
      const std::scoped_lock lock(mutex_);
      context_ = std::move(context);
      running_ = true;
    }
    const std::string method = method_name("ExecutePlan");
    const grpc::internal::RpcMethod rpc(method.c_str(),
                                        grpc::internal::RpcMethod::SERVER_STREAMING);
    reader_.reset(grpc::internal::ClientReaderFactory<Message>::Create(
        channel_.get(), rpc, context_.get(), static_cast<const Message&>(request)));
    return {};
  }

  Result<std::optional<std::string>> next() override {
    if (!reader_) return std::optional<std::string>();
    while (reader_->Read(response_.get())) {
      if (!has(*response_, "arrow_batch")) continue;
      return std::optional(text(inside(*response_, "arrow_batch"), "data"));
    }
    const auto status = end_stream();
    if (!status.ok()) return failure(status);
    return std::optional<std::string>();
  }

  void drain() override {
    if (!reader_) return;
    cancel();
    while (reader_->Read(response_.get())) {
    }
    static_cast<void>(end_stream());
  }

  Result<std::vector<RemoteColumn>> schema(const std::string& sql) override {
    const auto request = prepared("AnalyzePlanRequest");
    set(*part(*part(*part(*part(*request, "schema"), "plan"), "root"), "sql"), "query", sql);
    return columns_of(*request);
  }

  // Beside the columns of REFRESH's own (empty) answer, which Spark gives while it plans: a
  // statement by itself would cost it as much as all the other calls of a question together.
  Result<std::vector<RemoteColumn>> fresh_columns(const std::string& relation) override {
    constexpr int kCross = 7;  // JoinType
    const auto request = prepared("AnalyzePlanRequest");
    Message* join = part(*part(*part(*part(*request, "schema"), "plan"), "root"), "join");
    set(*part(*part(*part(*join, "left"), "catalog"), "refresh_table"), "table_name", relation);
    set(*part(*part(*join, "right"), "sql"), "query", "SELECT * FROM " + relation);
    join->GetReflection()->SetEnumValue(join, field(*join, "join_type"), kCross);
    DISCREET_TRY(auto columns, columns_of(*request));
    if (columns.empty()) return Error{ErrorCode::Unavailable, kStatementFailed};
    columns.erase(columns.begin());
    return columns;
  }

  Result<std::vector<std::string>> input_files(const std::string& sql) override {
    const auto request = prepared("AnalyzePlanRequest");
    set(*part(*part(*part(*part(*request, "input_files"), "plan"), "root"), "sql"), "query", sql);
    const auto response = Protocol::get().make("AnalyzePlanResponse");
    DISCREET_TRY_VOID(call("AnalyzePlan", *request, *response));
    const Message& found = inside(*response, "input_files");
    const auto* list = field(found, "files");
    std::vector<std::string> files;
    for (int i = 0; i < found.GetReflection()->FieldSize(found, list); ++i)
      files.push_back(found.GetReflection()->GetRepeatedString(found, list, i));
    return files;
  }

  Result<std::string> plan(const std::string& sql) override {
    constexpr int kCost = 4;  // ExplainMode: the plan with the size of each of its parts
    const auto request = prepared("AnalyzePlanRequest");
    Message* explain = part(*request, "explain");
    set(*part(*part(*part(*explain, "plan"), "root"), "sql"), "query", sql);
    explain->GetReflection()->SetEnumValue(explain, field(*explain, "explain_mode"), kCost);
    const auto response = Protocol::get().make("AnalyzePlanResponse");
    DISCREET_TRY_VOID(call("AnalyzePlan", *request, *response));
    return text(inside(*response, "explain"), "explain_string");
  }

  /// Asks the server to stop the statement, then stops listening to it.
  void cancel() const override {
    const std::scoped_lock lock(mutex_);
    if (!running_) return;
    const auto request = prepared("InterruptRequest", false);
    request->GetReflection()->SetEnumValue(request.get(), field(*request, "interrupt_type"), 3);
    set(*request, "operation_id", operation_);
    const auto response = Protocol::get().make("InterruptResponse");
    grpc::ClientContext context;
    with_deadline(context, 5);
    static_cast<void>(unary("Interrupt", context, *request, *response));
    context_->TryCancel();
  }

  bool is_lost() const override { return lost_; }
  bool was_too_large() const override { return too_large_; }
  bool was_stopped() const override { return stopped_; }

 private:
  static std::string method_name(const char* name) {
    return fmt::format("/spark.connect.SparkConnectService/{}", name);
  }

  void with_deadline(grpc::ClientContext& context, std::uint32_t seconds) const {
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(seconds));
    if (const char* token = std::getenv(kToken))
      context.AddMetadata("authorization", fmt::format("Bearer {}", token));
  }

  std::unique_ptr<Message> prepared(const char* name, bool observed = true) const {
    auto request = Protocol::get().make(name);
    set(*request, "session_id", session_);
    set(*request, "client_type", "discreet");
    set(*part(*request, "user_context"), "user_id", address_.user);
    // The server says so if it has forgotten us, instead of starting with its own settings.
    if (observed && !server_session_.empty())
      set(*request, "client_observed_server_side_session_id", server_session_);
    return request;
  }

  grpc::Status unary(const char* name, grpc::ClientContext& context, const Message& request,
                     Message& response) const {
    const std::string method = method_name(name);
    const grpc::internal::RpcMethod rpc(method.c_str(), grpc::internal::RpcMethod::NORMAL_RPC);
    return grpc::internal::BlockingUnaryCall<Message, Message>(channel_.get(), rpc, &context,
                                                               request, &response);
  }

  Result<std::vector<RemoteColumn>> columns_of(const Message& request) {
    const auto response = Protocol::get().make("AnalyzePlanResponse");
    DISCREET_TRY_VOID(call("AnalyzePlan", request, *response));
    const Message& fields = inside(inside(inside(*response, "schema"), "schema"), "struct");
    const auto* list = field(fields, "fields");
    std::vector<RemoteColumn> columns;
    for (int i = 0; i < fields.GetReflection()->FieldSize(fields, list); ++i) {
      const Message& one = fields.GetReflection()->GetRepeatedMessage(fields, list, i);
      columns.push_back({text(one, "name"), type_name(inside(one, "data_type"))});
    }
    return columns;
  }

  Result<void> call(const char* name, const Message& request, Message& response) {
    grpc::ClientContext context;
    with_deadline(context, settings_.call_timeout_s);
    const auto status = unary(name, context, request, response);
    if (!status.ok()) return failure(status);
    return {};
  }

  grpc::Status end_stream() {
    const auto status = reader_->Finish();
    const std::scoped_lock lock(mutex_);
    running_ = false;
    reader_.reset();
    context_.reset();
    return status;
  }

  Error failure(const grpc::Status& status) {
    const std::string& words = status.error_message();
    if (settings_.log) settings_.log(words);
    const auto says = [&](const char* what) { return words.find(what) != std::string::npos; };
    too_large_ = says("spark.driver.maxResultSize") || says("OutOfMemoryError") ||
                 says("ExecutorLostFailure");
    stopped_ = status.error_code() == grpc::StatusCode::CANCELLED ||
               status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED ||
               says("OPERATION_CANCELED");
    const auto unavailable = [](std::string sentence) {
      return Error{ErrorCode::Unavailable, std::move(sentence)};
    };
    if (status.error_code() == grpc::StatusCode::UNAVAILABLE || says("INVALID_HANDLE")) {
      lost_ = true;
      return unavailable(
          fmt::format("Spark Connect at {} cannot be reached, or the connection to it was lost; "
                      "the operator's log has the reason.",
                      address_.target));
    }
    if (stopped_)
      return unavailable(
          "Spark stopped the statement: it took longer than allowed, or was cancelled.");
    switch (status.error_code()) {
      case grpc::StatusCode::UNAUTHENTICATED:
      case grpc::StatusCode::PERMISSION_DENIED:
        return unavailable(
            fmt::format("Spark Connect at {} does not let us in; check the token in "
                        "SPARK_CONNECT_AUTHENTICATE_TOKEN.",
                        address_.target));
      case grpc::StatusCode::UNIMPLEMENTED:
        return unavailable(fmt::format("{} answers, but not as Spark Connect does; check the port.",
                                       address_.target));
      default:
        break;
    }
    if (says("TABLE_OR_VIEW_NOT_FOUND") || says("SCHEMA_NOT_FOUND") || says("CATALOG_NOT_FOUND"))
      return Error{
          ErrorCode::NotFound,
          fmt::format("There is no such table in Spark at {}, or this user may not see it.",
                      address_.target)};
    if (says("UNRESOLVED_") || says("DATATYPE_MISMATCH") || says("UNSUPPORTED_SUBQUERY"))
      return unavailable(
          "Spark does not take the statement: its tables have changed since they were opened, or "
          "this question needs what it cannot do. The operator's log has the reason.");
    return unavailable("Spark could not run the statement; the operator's log has the reason.");
  }

  const Address address_;
  const ConnectionSettings settings_;
  const std::string session_;
  std::string server_session_, operation_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<Message> response_;
  mutable std::mutex mutex_;  // of what cancel() looks at
  std::unique_ptr<grpc::ClientContext> context_;
  bool running_ = false;
  std::unique_ptr<grpc::ClientReader<Message>> reader_;
  bool lost_ = false, too_large_ = false, stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Connection>> open_connection(const Address& address,
                                                    const ConnectionSettings& settings) {
  if (std::getenv(kToken) != nullptr && !address.tls && !address.is_near())
    return Error{ErrorCode::Refused,
                 fmt::format("The token in {} would go to {} in the clear. Add use_ssl=true to the "
                             "address, or take the token away.",
                             kToken, address.target)};
  auto connection = std::make_unique<GrpcConnection>(address, settings);
  DISCREET_TRY_VOID(connection->open());
  return std::unique_ptr<Connection>(std::move(connection));
}

}  // namespace discreet::spark
