#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/http/routes.h"

namespace discreet::server::http {
namespace {

namespace fs = std::filesystem;

/// Letters, digits and . _ - in each part, and no part that starts with a dot.
bool is_plain(const std::string& path) {
  bool at_start = true;
  for (const char c : path) {
    if (c == '/') {
      at_start = true;
      continue;
    }
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '_' || c == '-' || (c == '.' && !at_start);
    if (!allowed) return false;
    at_start = false;
  }
  return true;
}

std::string type_of(const fs::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".html") return "text/html; charset=utf-8";
  if (extension == ".js" || extension == ".mjs") return "text/javascript; charset=utf-8";
  if (extension == ".css") return "text/css; charset=utf-8";
  if (extension == ".svg") return "image/svg+xml";
  if (extension == ".png") return "image/png";
  if (extension == ".ico") return "image/x-icon";
  if (extension == ".json" || extension == ".webmanifest") return "application/json";
  if (extension == ".woff2") return "font/woff2";
  return "application/octet-stream";
}

std::optional<Response> read(const fs::path& file, bool may_cache) {
  std::error_code failed;
  if (!fs::is_regular_file(file, failed)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return Response{200, type_of(file), {std::istreambuf_iterator<char>(in), {}}, may_cache, 0};
}

}  // namespace

std::optional<Response> static_file(const std::string& folder, const std::string& path) {
  if (folder.empty() || !is_plain(path)) return std::nullopt;
  const fs::path root(folder);
  if (path == "/") return read(root / "index.html", false);
  // Names under assets/ carry a hash of their content.
  if (auto found = read(root / path.substr(1), path.starts_with("/assets/"))) return found;
  // A page of the console that the browser asks for by its own address.
  if (fs::path(path).extension().empty()) return read(root / "index.html", false);
  return std::nullopt;
}

std::optional<Response> documentation_file(const std::string& folder, const std::string& path) {
  if (folder.empty() || !is_plain(path)) return std::nullopt;
  const fs::path root(folder);
  // Links of the pages are relative, so the address must end with a file's name.
  if (path.empty() || path == "/") {
    std::error_code failed;
    if (!fs::is_regular_file(root / "index.html", failed)) return std::nullopt;
    return Response{200, "text/html; charset=utf-8",
                    "<!doctype html><meta http-equiv='refresh' content='0; url=/docs/index.html'>"
                    "<title>Discreet</title><a href='/docs/index.html'>Documentation</a>\n",
                    false, 0};
  }
  return read(root / path.substr(1), false);
}

}  // namespace discreet::server::http
