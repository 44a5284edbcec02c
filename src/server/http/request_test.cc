#include "server/http/request.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/http/routes.h"

namespace discreet::server::http {
namespace {

TEST(HttpRequestTest, ReadsRequestsByteByByteAndOneAfterAnother) {
  const std::string two =
      "POST /v1/query?x=a%20b HTTP/1.1\r\nHost: h\r\nAuthorization: bearer dsc_1\r\n"
      "Content-Length: 3\r\n\r\nabcGET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  RequestReader reader(4096, 100);
  std::vector<Request> requests;
  std::string pending;
  for (const char c : two) {
    pending += c;
    pending.erase(0, reader.feed(pending));
    if (auto request = reader.take()) requests.push_back(*std::move(request));
  }
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].path, "/v1/query");
  EXPECT_EQ(requests[0].query.at("x"), "a b");
  EXPECT_EQ(requests[0].token, "dsc_1");
  EXPECT_EQ(requests[0].body, "abc");
  EXPECT_TRUE(requests[0].keep_alive);
  EXPECT_FALSE(requests[1].keep_alive);
}

TEST(HttpRequestTest, LimitsHaveTheirOwnStatus) {
  RequestReader large(4096, 10);
  large.feed("POST / HTTP/1.1\r\nContent-Length: 11\r\n\r\n");
  ASSERT_TRUE(large.failure());
  EXPECT_EQ(large.failure()->status, 413);
  RequestReader wide(64, 10);
  wide.feed("GET / HTTP/1.1\r\nA: " + std::string(100, 'x'));
  ASSERT_TRUE(wide.failure());
  EXPECT_EQ(wide.failure()->status, 431);
  RequestReader junk(4096, 10);
  junk.feed("\x16\x03\x01 not http\r\n\r\n");
  ASSERT_TRUE(junk.failure());
  EXPECT_EQ(junk.failure()->status, 400);
}

TEST(HttpRequestTest, TargetsThatAreNotPathsAreRefused) {
  std::string path;
  std::map<std::string, std::string> query;
  EXPECT_FALSE(split_target("*", path, query));
  EXPECT_FALSE(split_target("http://x/", path, query));
  EXPECT_FALSE(split_target("/a%0", path, query));
  EXPECT_FALSE(split_target("/a%00b", path, query));
  EXPECT_TRUE(split_target("/a?b&c=", path, query));
}

TEST(HttpStaticFilesTest, NoPathLeadsOutOfTheFolder) {
  EXPECT_FALSE(static_file("/usr/share", "/../../etc/passwd"));
  EXPECT_FALSE(static_file("/usr/share", "/..%2f"));
  EXPECT_FALSE(static_file("/", "/etc/.hidden"));
  EXPECT_FALSE(static_file("", "/index.html"));
}

TEST(HttpStaticFilesTest, DocumentationIsServedFromItsFolderOnly) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / "discreet-docs";
  fs::create_directories(folder / "lectures");
  std::ofstream(folder / "index.html") << "start";
  std::ofstream(folder / "lectures" / "000.html") << "lecture";
  std::ofstream(folder.parent_path() / "outside.html") << "outside";
  EXPECT_EQ(documentation_file(folder.string(), "/lectures/000.html")->body, "lecture");
  EXPECT_NE(documentation_file(folder.string(), "")->body.find("/docs/index.html"),
            std::string::npos);
  EXPECT_FALSE(documentation_file(folder.string(), "/../outside.html"));
  EXPECT_FALSE(documentation_file(folder.string(), "/nothing.html"));
  EXPECT_FALSE(documentation_file(folder.string(), "/lectures"));
  EXPECT_FALSE(documentation_file("", "/index.html"));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace discreet::server::http
