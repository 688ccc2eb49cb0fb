#include "commands/admin_client.hpp"

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

#include "net/local_socket.hpp"

namespace commands {

namespace {

constexpr std::size_t answer_bytes_max = std::size_t{64} << 20U;
constexpr std::chrono::seconds patience{60};

std::string unasked(const std::filesystem::path& file, const std::string& reason) {
    return "can not ask the process that listens on " + file.string() + ": " + reason;
}

}  // namespace

std::filesystem::path admin_socket(const store::Options& options) {
    return options.directory / "posthouse.sock";
}

AdminClient::AdminClient(const store::Options& options)
    : file_(admin_socket(options)),
      client_(net::at_socket_file(file_.string()), answer_bytes_max, nullptr) {}

bool AdminClient::finds_process() const {
    if (net::connect_to_file(file_).is_open()) return true;
    const int reason = errno;
    if (reason == ENOENT || reason == ENOTDIR || reason == ECONNREFUSED) return false;
    if (reason == EAGAIN) return true;  // busy
    if (reason == EACCES || reason == EPERM) {
        throw NotAsked(unasked(file_, "run this as root or as the user of the service"));
    }
    throw NotAsked(unasked(file_, std::generic_category().message(reason)));
}

void AdminClient::require_process(std::string_view verb) const {
    if (finds_process()) return;
    throw std::runtime_error("no process runs on " + file_.parent_path().string() + ": " +
                             std::string(verb) + " is done by the running process; start it first");
}

net::ClientResponse AdminClient::get(std::string_view target) {
    return ask({.method = "GET", .target = target, .repeatable = true});
}

net::ClientResponse AdminClient::post(std::string_view target, std::string_view json) {
    return ask({.method = "POST", .target = target, .body = json});
}

net::ClientResponse AdminClient::ask(const net::ClientRequest& request) {
    net::ClientResult result = client_.exchange(request, patience);
    if (const auto* error = std::get_if<net::TransportError>(&result)) {
        const std::string text = unasked(file_, error->text);
        if (error->kind == net::TransportError::Kind::unsent) throw NotAsked(text);
        throw std::runtime_error(text);
    }
    return std::get<net::ClientResponse>(std::move(result));
}

}  // namespace commands
