#include "bench/empty_handler.hpp"

#include <httplib.h>

#include <limits>
#include <stdexcept>
#include <string>

#include "bench/load.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t threads = 96;  // a connection keeps a thread

}  // namespace

EmptyHandler::EmptyHandler(const std::filesystem::path& bench,
                           const std::filesystem::path& directory)
    : port_(free_port()),
      child_({.arguments = {bench.string(), "--empty-handler", std::to_string(port_)},
              .environment = {},
              .output = directory / "empty-handler.output"}) {
    wait_until(
        child_, directory / "empty-handler.output", [this] { return is_alive(port_); }, 10s);
}

void EmptyHandler::serve(int port) {
    httplib::Server server;
    server.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    server.set_tcp_nodelay(true);
    server.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server.Get("/liveness", [](const httplib::Request&, httplib::Response&) {});
    server.Post("/shielded-vote/v1/shares", [](const httplib::Request&, httplib::Response&) {});
    server.listen("127.0.0.1", port);
    throw std::runtime_error("the empty handler can not listen on port " + std::to_string(port));
}

}  // namespace bench
