#include "local/wire.h"

#include <array>
#include <cstring>

#include <fmt/format.h>

#include "local/report_bytes_internal.h"

namespace discreet::local {
namespace {

constexpr std::string_view kMagic = "DLR1";
constexpr std::size_t kRefusalsKept = 20;

constexpr auto kDigits = [] {
  std::array<std::int8_t, 256> digits{};
  digits.fill(-1);
  for (std::size_t i = 0; i < 10; ++i) digits['0' + i] = static_cast<std::int8_t>(i);
  for (std::size_t i = 0; i < 6; ++i)
    digits['a' + i] = digits['A' + i] = static_cast<std::int8_t>(10 + i);
  return digits;
}();

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// Appends the bytes of a JSON string of hexadecimal digits; false when it is none.
bool append_hex(std::string_view line, std::vector<std::uint8_t>& bytes) {
  if (line.size() < 2 || line.size() % 2 != 0 || line.front() != '"' || line.back() != '"')
    return false;
  int bad = 0;
  for (std::size_t i = 1; i + 1 < line.size(); i += 2) {
    const int high = kDigits[static_cast<unsigned char>(line[i])];
    const int low = kDigits[static_cast<unsigned char>(line[i + 1])];
    bad |= high | low;
    bytes.push_back(static_cast<std::uint8_t>(high * 16 + low));
  }
  return bad >= 0;
}

/// Why the line is no report; nothing when it was appended.
const char* append_line(const Oracle& oracle, std::string_view line,
                        std::vector<std::uint8_t>& reports) {
  const std::size_t start = reports.size();
  const char* why = nullptr;
  if (!append_hex(line, reports))
    why = "not a JSON string of hexadecimal digits";
  else if (reports.size() - start != oracle.report_bytes())
    why = "not as long as a report of this collection";
  else if (!oracle.valid(Bytes(reports).subspan(start)))
    why = "no client of this collection sends such a report";
  if (why != nullptr) reports.resize(start);
  return why;
}

}  // namespace

std::string report_line(Bytes report) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string line(2 * report.size() + 2, '"');
  for (std::size_t i = 0; i < report.size(); ++i) {
    line[1 + 2 * i] = kHex[report[i] >> 4];
    line[2 + 2 * i] = kHex[report[i] & 15];
  }
  return line;
}

std::optional<std::vector<std::uint8_t>> parse_report_line(std::string_view line) {
  std::vector<std::uint8_t> bytes;
  if (!append_hex(trim(line), bytes)) return std::nullopt;
  return bytes;
}

void ReadReports::refuse(std::uint64_t place, std::string why) {
  ++refused;
  if (refusals.size() < kRefusalsKept) refusals.push_back({place, std::move(why)});
}

void read_lines(const Oracle& oracle, std::string_view text, std::uint64_t first_line,
                ReadReports& into) {
  for (std::uint64_t number = first_line; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (const char* why = append_line(oracle, line, into.reports))
      into.refuse(number, why);
    else
      ++into.accepted;
  }
}

void read_records(const Oracle& oracle, Bytes records, ReadReports& into) {
  const std::size_t size = oracle.report_bytes();
  std::uint64_t number = 1;
  into.reports.reserve(into.reports.size() + records.size());
  for (; records.size() >= size; records = records.subspan(size), ++number) {
    const auto record = records.first(size);
    if (!oracle.valid(record)) {
      into.refuse(number, "no client of this collection sends such a report");
      continue;
    }
    into.reports.insert(into.reports.end(), record.begin(), record.end());
    ++into.accepted;
  }
  if (!records.empty()) into.refuse(number, "cut off before its end");
}

std::string binary_batch(const Spec& spec, Bytes reports) {
  const std::string header = header_line(spec);
  std::string out(kMagic);
  std::uint8_t length[4];
  put(length, header.size(), 4);
  out.append(reinterpret_cast<const char*>(length), 4);
  out += header;
  out.append(reinterpret_cast<const char*>(reports.data()), reports.size());
  return out;
}

bool is_binary_batch(Bytes bytes) {
  return bytes.size() >= 8 && std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) == 0;
}

Result<BinaryBatch> parse_binary_batch(Bytes bytes) {
  if (!is_binary_batch(bytes)) return invalid_input("not a binary batch: it begins with DLR1");
  const std::uint64_t length = get(bytes.data() + 4, 4);
  if (length > bytes.size() - 8)
    return invalid_input("the header of the binary batch is longer than the batch");
  const auto* text = reinterpret_cast<const char*>(bytes.data() + 8);
  DISCREET_TRY(auto spec, parse_header(std::string_view(text, length)));
  return BinaryBatch{std::move(spec), bytes.subspan(8 + length)};
}

}  // namespace discreet::local
