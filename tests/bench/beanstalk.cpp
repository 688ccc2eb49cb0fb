#include "bench/beanstalk.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bench/measure.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view reserved = "RESERVED ";
constexpr std::string_view line_end = "\r\n";
constexpr int silence_ms_max = 10'000;

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::generic_category(), what);
}

int connect_to(int port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    if (socket < 0 ||
        ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        fail("connect to beanstalkd");
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
}

// A line, after RESERVED <id> <bytes> followed by that many bytes and a line end.
bool is_complete(std::string_view reply) {
    const std::size_t line = reply.find(line_end);
    if (line == std::string_view::npos) return false;
    if (!reply.starts_with(reserved)) return true;
    const std::string_view head = reply.substr(0, line);
    std::size_t bytes = 0;
    const std::size_t at = head.rfind(' ') + 1;
    std::from_chars(head.data() + at, head.data() + head.size(), bytes);
    return reply.size() >= line + line_end.size() + bytes + line_end.size();
}

std::string_view id_of(std::string_view reply) {
    reply.remove_prefix(reserved.size());
    return reply.substr(0, reply.find(' '));
}

void expect(std::string_view reply, std::string_view start) {
    if (reply.starts_with(start)) return;
    throw std::runtime_error("beanstalkd said " + std::string(reply.substr(0, 60)) +
                             " instead of " + std::string(start));
}

Child::Command command(const std::filesystem::path& directory, int port) {
    std::filesystem::create_directories(directory);
    return {.arguments = {"beanstalkd", "-l", "127.0.0.1", "-p", std::to_string(port), "-b",
                          directory.string(), "-f0"},
            .environment = {},
            .output = directory / "output"};
}

}  // namespace

Beanstalkd::Beanstalkd(const std::filesystem::path& directory)
    : port_(free_port()), child_(command(directory, port_)) {
    wait_until(
        child_, directory / "output", [this] { return is_listening(port_); }, 10s);
}

BeanstalkLoad::BeanstalkLoad(int port, std::size_t connections)
    : epoll_(::epoll_create1(EPOLL_CLOEXEC)), clients_(connections) {
    if (epoll_ < 0) fail("epoll_create1");
    for (std::size_t index = 0; index < clients_.size(); ++index) {
        clients_[index].socket = connect_to(port);
        epoll_event event{};
        event.events = EPOLLIN | EPOLLOUT | EPOLLET;
        event.data.u64 = index;
        if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, clients_[index].socket, &event) != 0) {
            fail("epoll_ctl");
        }
    }
}

BeanstalkLoad::~BeanstalkLoad() {
    for (const Client& client : clients_) ::close(client.socket);
    ::close(epoll_);
}

double BeanstalkLoad::put(const Body& body, std::uint64_t jobs) {
    Body numbered = body;
    std::uint64_t started = 0;
    const auto begin = Stopwatch::now();
    run([&](std::size_t, std::string_view reply) -> std::optional<std::string> {
        if (!reply.empty()) expect(reply, "INSERTED");
        if (started == jobs) return std::nullopt;
        numbered.set_number(started++);
        return "put 0 0 60 " + std::to_string(numbered.text().size()) + "\r\n" + numbered.text() +
               "\r\n";
    });
    return static_cast<double>(jobs) / seconds_since(begin);
}

double BeanstalkLoad::drain(std::uint64_t jobs) {
    std::uint64_t taken = 0;
    const auto begin = Stopwatch::now();
    run([&](std::size_t, std::string_view reply) -> std::optional<std::string> {
        if (reply.starts_with(reserved)) {
            return "delete " + std::string(id_of(reply)) + "\r\n";
        }
        if (!reply.empty()) expect(reply, "DELETED");
        if (taken == jobs) return std::nullopt;
        ++taken;
        return "reserve-with-timeout 0\r\n";
    });
    return static_cast<double>(jobs) / seconds_since(begin);
}

void BeanstalkLoad::run(const Next& next) {
    std::size_t busy = 0;
    for (std::size_t index = 0; index < clients_.size(); ++index) {
        auto command = next(index, {});
        if (!command) break;
        ++busy;
        say(clients_[index], std::move(*command));
    }
    std::array<epoll_event, 256> events{};
    while (busy > 0) {
        const int count =
            ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), silence_ms_max);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw std::runtime_error("beanstalkd does not answer");
        for (int position = 0; position < count; ++position) {
            const epoll_event& event = events[static_cast<std::size_t>(position)];
            Client& client = clients_[event.data.u64];
            if ((event.events & EPOLLOUT) != 0) send_rest(client);
            if (!receive(client)) continue;
            auto command = next(event.data.u64, std::exchange(client.reply, {}));
            if (!command) {
                --busy;
                continue;
            }
            say(client, std::move(*command));
        }
    }
}

void BeanstalkLoad::say(Client& client, std::string command) {
    client.command = std::move(command);
    client.unsent = client.command;
    send_rest(client);
}

void BeanstalkLoad::send_rest(Client& client) {
    while (!client.unsent.empty()) {
        const auto count = ::send(client.socket, client.unsent.data(), client.unsent.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) return;
        client.unsent.remove_prefix(static_cast<std::size_t>(count));
    }
}

bool BeanstalkLoad::receive(Client& client) {
    std::array<char, 16384> chunk;
    for (;;) {
        const auto count = ::recv(client.socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
        if (count <= 0) throw std::runtime_error("beanstalkd closed a connection");
        client.reply.append(chunk.data(), static_cast<std::size_t>(count));
        if (is_complete(client.reply)) return true;
    }
}

}  // namespace bench
