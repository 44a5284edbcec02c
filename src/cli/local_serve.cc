// `discreet local serve`: the collector and the emoji demo over HTTP.
#include <cstdio>

#include <fmt/format.h>

#include "base/parse_number.h"
#include "cli/collections.h"
#include "cli/local_options.h"
#include "local/collector/collector.h"
#include "local/collector/http_front.h"

namespace discreet::cli {
namespace {

struct Options {
  std::string folder = "reports", port = "8088", address = "127.0.0.1";
  std::vector<std::string> headers;
  bool demo = false;
};

Result<int> serve(const Options& o) {
  DISCREET_TRY(const auto port, parse_integer(o.port, "http-port"));
  if (port < 0 || port > 65535) return invalid_parameter("http-port must be from 0 to 65535");
  DISCREET_TRY(const auto collector, local::Collector::open(o.folder));
  DISCREET_TRY_VOID(begin_collections(*collector, o.headers, o.demo));
  if (collector->names().empty())
    return invalid_parameter(
        "there is nothing to collect; give --collection (a file of header lines) or --demo");
  DISCREET_TRY(const auto front,
               local::HttpFront::listen(
                   *collector, {.address = o.address, .port = static_cast<std::uint16_t>(port)}));
  for (const auto& name : collector->names())
    fmt::print(stderr, "{}: {} reports\n", name, collector->reports(name).value());
  std::printf("ready http=%s:%u\n", o.address.c_str(), static_cast<unsigned>(front->port()));
  std::fflush(stdout);
  front->run();
  return kOk;
}

}  // namespace

void add_local_serve(CLI::App& app, Action& chosen) {
  CLI::App* verb = add_verb(
      app, "serve", "Collect reports over HTTP; --demo adds the emoji page",
      "  discreet local serve --demo --folder reports --http-port 8088\n"
      "  discreet local randomize --oracle olh --epsilon 1 --values 8 --name drinks < /dev/null > "
      "drinks.header\n"
      "  discreet local serve --collection drinks.header");
  auto o = std::make_shared<Options>();
  verb->add_option("--folder", o->folder, "Where reports are kept")->capture_default_str();
  verb->add_option("--http-port", o->port, "0 picks one")->capture_default_str();
  verb->add_option("--address", o->address, "Listen here")->capture_default_str();
  verb->add_option("--collection", o->headers, "File of header lines; may be repeated");
  verb->add_flag("--demo", o->demo, "Add the emoji collections");
  verb->callback([&chosen, o] {
    chosen = [o] {
      const auto done = serve(*o);
      return done ? *done : fail(done.error());
    };
  });
}

}  // namespace discreet::cli
