#include "commands/drill/server.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <variant>

#include "platform/log.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;

constexpr auto start_patience = 120s;
constexpr std::size_t answer_bytes_max = 4U << 20U;
constexpr std::size_t log_shown_max = 1'000;

std::string read_from(const std::filesystem::path& file, std::uintmax_t begin) {
    std::ifstream stream(file, std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(begin));
    return {std::istreambuf_iterator<char>(stream), {}};
}

std::uintmax_t size_of(const std::filesystem::path& file) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    return error ? 0 : size;
}

Child::Command command(const Place& place) {
    Child::Command command{
        .arguments = {"serve", "--data-dir", place.data().string(), "--listen", "127.0.0.1:0"},
        .output = place.log(),
        .disk = std::nullopt,
        .settings = std::nullopt};
    if (place.disk_mebibytes > 0) command.disk = {place.data(), place.disk_mebibytes};
    std::optional<std::filesystem::path> config = place.config();
    if (place.settings) {
        config = place.settings->file;
        command.settings = place.settings->variables;
    }
    if (config) command.arguments.insert(command.arguments.end(), {"--config", config->string()});
    return command;
}

}  // namespace

void furnish(const Place& place, const std::string& config) {
    std::filesystem::create_directories(place.data());
    std::ofstream stream(place.config());
    stream << config;
    if (!stream.flush()) throw std::runtime_error("can not write " + place.config().string());
}

Server::Server(const Place& place)
    : place_(place), log_begin_(size_of(place.log())), child_(command(place)) {}

std::optional<std::string> Server::address() const {
    constexpr std::string_view mark = " listening http=";
    const std::string log = read_from(place_.log(), log_begin_);
    const std::size_t found = log.find(mark);
    if (found == std::string::npos) return std::nullopt;
    const std::size_t begin = found + mark.size();
    const std::size_t end = log.find('\n', begin);
    if (end == std::string::npos) return std::nullopt;
    return log.substr(begin, end - begin);
}

bool Server::is_ready() {
    if (!client_) {
        const auto found = address();
        const auto url = found ? net::parse_url("http://" + *found) : std::nullopt;
        if (!url) return false;
        client_ = std::make_unique<net::Client>(*url, answer_bytes_max, nullptr);
    }
    const auto result =
        client_->exchange({.method = "GET", .target = "/liveness", .repeatable = true}, 1'000ms);
    const auto* const response = std::get_if<net::ClientResponse>(&result);
    return response != nullptr && response->status == 200;
}

std::unique_ptr<Server> start(const Place& place, const Wait& wait) {
    auto server = std::make_unique<Server>(place);
    const auto end = std::chrono::steady_clock::now() + start_patience;
    while (!server->is_ready()) {
        const bool running = server->child().is_running();
        if (running && std::chrono::steady_clock::now() < end) {
            wait(1ms);
            continue;
        }
        throw std::runtime_error((running ? "posthouse does not begin to serve: "
                                          : "posthouse ended with " +
                                                std::to_string(server->child().exit_status()) +
                                                " instead of serving: ") +
                                 server->log_end());
    }
    return server;
}

void require_alive(Server& server, Notebook& notebook) {
    if (server.child().is_running()) return;
    notebook.violation("the process ended by itself with " +
                       std::to_string(server.child().exit_status()) + ": " + server.log_end());
}

void stop_cleanly(Server& server, Notes& notes) {
    if (server.child().stop(stop_patience)) return;
    notes.violations.push_back("the last stop was not clean: " + server.log_end());
}

std::string Server::log_end() const {
    const std::string log = read_from(place_.log(), log_begin_);
    return platform::printable(log.substr(log.size() - std::min(log.size(), log_shown_max)));
}

}  // namespace commands::drill
