#include "server/limits.h"

#include <algorithm>

namespace discreet::server {
namespace {

Steady::duration delay_after(int failures) {
  const int doublings = std::clamp(failures - LoginGuard::kFreeFailures, 0, 12);
  return std::min<Steady::duration>(LoginGuard::kFirstDelay * (std::int64_t{1} << doublings),
                                    LoginGuard::kDelayMax);
}

}  // namespace

std::optional<Steady::duration> LoginGuard::admit(const std::string& name,
                                                  const std::string& address,
                                                  Steady::time_point now) {
  const auto found = records_.find({name, address});
  if (found == records_.end() || found->second.failures < kFreeFailures) return Steady::duration{};
  Record& record = found->second;
  const auto starts = std::max(now, record.next);
  if (starts - now > kPatience) return std::nullopt;
  record.next = starts + delay_after(record.failures);
  return starts - now;
}

void LoginGuard::failed(const std::string& name, const std::string& address,
                        Steady::time_point now) {
  forget(now);
  Record& record = records_[{name, address}];
  ++record.failures;
  record.last = now;
  if (record.failures >= kFreeFailures)
    record.next = std::max(record.next, now + delay_after(record.failures));
}

void LoginGuard::succeeded(const std::string& name, const std::string& address) {
  records_.erase({name, address});
}

// Made-up names must not fill the memory: what is old goes, and when there are too many, the
// oldest.
void LoginGuard::forget(Steady::time_point now) {
  constexpr std::size_t kRecordsMax = 20'000;
  constexpr auto kMemory = std::chrono::minutes(15);
  if (records_.size() < kRecordsMax) return;
  std::erase_if(records_, [&](const auto& entry) { return now - entry.second.last > kMemory; });
  if (records_.size() < kRecordsMax) return;
  const auto oldest =
      std::min_element(records_.begin(), records_.end(),
                       [](const auto& a, const auto& b) { return a.second.last < b.second.last; });
  records_.erase(oldest);
}

Steady::duration RateLimit::take(const std::string& user, Steady::time_point now) {
  auto [found, fresh] = buckets_.try_emplace(user, Bucket{rate_, now});
  Bucket& bucket = found->second;
  const double passed = std::chrono::duration<double>(now - bucket.at).count();
  bucket.tokens = std::min(rate_, bucket.tokens + passed * rate_) - 1;
  bucket.at = now;
  if (bucket.tokens >= 0) return {};
  return std::chrono::duration_cast<Steady::duration>(
      std::chrono::duration<double>(-bucket.tokens / rate_));
}

}  // namespace discreet::server
