#pragma once

#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bench/measure.hpp"

namespace bench {

// Stands between a relayer and its node on 127.0.0.1, hands everything on, and notes when a
// transaction arrives to be sent: the border that nothing comes back over.
class Recorder {
public:
    struct Sending {
        Stopwatch::time_point at;
        std::string body;  // JSON-RPC
    };

    explicit Recorder(int node_port);
    ~Recorder();
    Recorder(const Recorder&) = delete;
    Recorder& operator=(const Recorder&) = delete;

    [[nodiscard]] int port() const { return port_; }
    // So far, in the order of their arrival.
    [[nodiscard]] std::vector<Sending> sendings() const;

private:
    void accept_all();
    void relay(int client);
    void note(const std::string& message);
    // False: we are ending.
    [[nodiscard]] bool keep(int socket);

    const int node_port_;
    int listener_;
    int port_;

    mutable std::mutex mutex_;  // for what follows
    std::vector<Sending> sendings_;
    std::vector<int> sockets_;  // shut down at the end
    bool ending_ = false;

    std::list<std::jthread> relays_;  // only accept_all() adds
    std::jthread accepting_;          // last: it uses the rest
};

}  // namespace bench
