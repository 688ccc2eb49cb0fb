#include "bench/http_load.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace bench {

struct HttpLoad::Client {
    int socket = -1;
    std::uint64_t sequence = 0;
    bool busy = false;
    std::string_view unsent;
    Clock::time_point sent_at;
    std::string input;
};

namespace {

[[noreturn]] void fail(const char* what) {
    throw std::system_error(errno, std::system_category(), what);
}

struct AnswerSize {
    std::size_t head = 0;
    std::size_t body = 0;
    int status = 0;
    bool closes = false;
};

// Nothing yet: `head` is 0.
AnswerSize measure(std::string_view input) {
    const auto end = input.find("\r\n\r\n");
    if (end == std::string_view::npos) return {};
    AnswerSize size;
    size.head = end + 4;
    const auto head = input.substr(0, end);
    std::from_chars(head.data() + 9, head.data() + 12, size.status);
    size.body = content_length(head);
    size.closes = head.find("\r\nConnection: close") != std::string_view::npos;
    return size;
}

}  // namespace

std::size_t content_length(std::string_view head) {
    std::size_t length = 0;
    for (const std::string_view name : {"\r\nContent-Length: ", "\r\ncontent-length: "}) {
        if (const auto at = head.find(name); at != std::string_view::npos) {
            std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
        }
    }
    return length;
}

double HttpLoad::Outcome::per_second() const {
    const double seconds = std::chrono::duration<double>(duration).count();
    return seconds > 0 ? static_cast<double>(answers) / seconds : 0;
}

std::chrono::microseconds HttpLoad::Outcome::latency(std::size_t permille) const {
    if (latencies_us.empty()) return {};
    const auto index = std::min(latencies_us.size() * permille / 1000, latencies_us.size() - 1);
    return std::chrono::microseconds(latencies_us[index]);
}

double HttpLoad::Outcome::latency_ms(std::size_t permille) const {
    return std::chrono::duration<double, std::milli>(latency(permille)).count();
}

HttpLoad::HttpLoad(const Options& options, Request request)
    : options_(options),
      request_(std::move(request)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      clients_(options.connections) {
    if (epoll_ < 0) fail("epoll_create1");
    for (std::size_t index = 0; index < clients_.size(); ++index) {
        connect(index);
        // Slower than a listen backlog of five overflows.
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
}

HttpLoad::~HttpLoad() {
    for (const auto& client : clients_) {
        if (client.socket >= 0) ::close(client.socket);
    }
    ::close(epoll_);
}

void HttpLoad::connect(std::size_t index) {
    Client& client = clients_[index];
    if (client.socket >= 0) ::close(client.socket);
    client.input.clear();
    client.socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(options_.port));
    if (::inet_pton(AF_INET, options_.host.c_str(), &address.sin_addr) != 1) {
        throw std::invalid_argument("not an IPv4 address: " + options_.host);
    }
    if (client.socket < 0 || ::connect(client.socket, reinterpret_cast<const sockaddr*>(&address),
                                       sizeof address) != 0) {
        fail("connect");
    }
    const int on = 1;
    ::setsockopt(client.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.u64 = index;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, client.socket, &event) != 0) fail("epoll_ctl");
}

void HttpLoad::send_next(std::size_t index) {
    Client& client = clients_[index];
    client.unsent = request_(index, client.sequence++);
    client.busy = true;
    client.sent_at = Clock::now();
    send_rest(client);
}

void HttpLoad::send_rest(Client& client) {
    while (!client.unsent.empty()) {
        const auto count = ::send(client.socket, client.unsent.data(), client.unsent.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (count < 0) return;  // full for now, or closed, which receiving will tell
        client.unsent.remove_prefix(static_cast<std::size_t>(count));
    }
}

bool HttpLoad::receive(std::size_t index, Outcome& outcome) {
    Client& client = clients_[index];
    std::array<char, 16384> chunk;
    for (;;) {
        const auto count = ::recv(client.socket, chunk.data(), chunk.size(), MSG_DONTWAIT);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return false;
        if (count <= 0) {
            // The request under way is lost; it is sent again as a new one.
            ++outcome.reconnects;
            connect(index);
            if (client.busy) send_next(index);
            return false;
        }
        client.input.append(chunk.data(), static_cast<std::size_t>(count));
        const auto size = measure(client.input);
        if (size.head == 0 || client.input.size() < size.head + size.body) {
            if (static_cast<std::size_t>(count) < chunk.size()) return false;
            continue;
        }
        const auto latency =
            std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - client.sent_at);
        outcome.latencies_us.push_back(static_cast<std::uint32_t>(latency.count()));
        ++outcome.answers;
        ++outcome.by_status[size.status];
        if (answer_) {
            answer_(index, size.status,
                    std::string_view(client.input).substr(size.head, size.body));
        }
        client.input.clear();
        client.busy = false;
        if (size.closes) {
            ++outcome.reconnects;
            connect(index);
        }
        return true;
    }
}

HttpLoad::Outcome HttpLoad::run(std::uint64_t requests) {
    return run(requests, Clock::time_point::max());
}

HttpLoad::Outcome HttpLoad::run_for(std::chrono::milliseconds duration) {
    return run(UINT64_MAX, Clock::now() + duration);
}

HttpLoad::Outcome HttpLoad::run(std::uint64_t requests, Clock::time_point until) {
    Outcome outcome;
    std::uint64_t started = 0;
    const auto begin = Clock::now();
    for (std::size_t index = 0; index < clients_.size() && started < requests; ++index, ++started) {
        send_next(index);
    }
    std::uint64_t under_way = started;
    std::array<epoll_event, 256> events{};
    while (under_way > 0) {
        const int count =
            ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 10'000);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) throw std::runtime_error("no answer within ten seconds");
        const bool late = Clock::now() >= until;
        for (int position = 0; position < count; ++position) {
            const auto& event = events[static_cast<std::size_t>(position)];
            const auto index = static_cast<std::size_t>(event.data.u64);
            if ((event.events & EPOLLOUT) != 0) send_rest(clients_[index]);
            if (!receive(index, outcome)) continue;
            --under_way;
            if (late || started == requests) continue;
            ++started;
            ++under_way;
            send_next(index);
        }
    }
    outcome.duration = Clock::now() - begin;
    std::sort(outcome.latencies_us.begin(), outcome.latencies_us.end());
    return outcome;
}

}  // namespace bench
