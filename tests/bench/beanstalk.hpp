#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/bodies.hpp"
#include "bench/child.hpp"

namespace bench {

// beanstalkd with a write-ahead log and a flush per write (`-f0`).
class Beanstalkd {
public:
    explicit Beanstalkd(const std::filesystem::path& directory);

    [[nodiscard]] int port() const { return port_; }

private:
    int port_;
    Child child_;
};

// Connections to a beanstalkd, all in the calling thread, each with one command under way
// (protocol.txt of beanstalkd 1.12).
class BeanstalkLoad {
public:
    BeanstalkLoad(int port, std::size_t connections);
    ~BeanstalkLoad();
    BeanstalkLoad(const BeanstalkLoad&) = delete;
    BeanstalkLoad& operator=(const BeanstalkLoad&) = delete;

    // Both return jobs per second.
    [[nodiscard]] double put(const Body& body, std::uint64_t jobs);
    // Reserves and deletes until `jobs` are gone, which must be there.
    [[nodiscard]] double drain(std::uint64_t jobs);

private:
    struct Client {
        int socket = -1;
        std::string command;
        std::string_view unsent;
        std::string reply;
    };

    // What to say after a reply, or first (then it is empty); nothing: this client has finished.
    using Next =
        std::function<std::optional<std::string>(std::size_t client, std::string_view reply)>;

    void run(const Next& next);
    void say(Client& client, std::string command);
    void send_rest(Client& client);
    // True: the reply is complete.
    [[nodiscard]] bool receive(Client& client);

    int epoll_;
    std::vector<Client> clients_;
};

}  // namespace bench
