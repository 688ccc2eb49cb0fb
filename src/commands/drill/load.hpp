#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "commands/drill/asking.hpp"
#include "commands/drill/notebook.hpp"
#include "net/client.hpp"

namespace commands::drill {

// Draws numbers that no two wishes share. Any thread.
class WishNumbers {
public:
    [[nodiscard]] std::uint64_t next() { return ++last_; }

private:
    std::atomic<std::uint64_t> last_{0};
};

// Clients that ask for all kinds of things until they are told to stop, a few of them twice, and
// note what they are promised. A client whose connection breaks stops.
class Load {
public:
    struct Options {
        std::uint64_t seed = 0;  // of the bodies
        std::uint64_t dice = 0;  // of what is asked for
        unsigned clients = 6;
    };

    // All outlive it.
    Load(net::Client& client, Notebook& notebook, WishNumbers& numbers, const Options& options);
    ~Load();  // stops
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Before the process is killed: who gets no answer from now on need not tell.
    void expect_silence() { silence_expected_ = true; }
    // Milliseconds from each POST to its promise. Stops.
    [[nodiscard]] std::vector<double> latencies();

private:
    void run(std::uint64_t dice);
    // False: the connection broke.
    [[nodiscard]] bool ask_new(std::mt19937_64& dice);
    [[nodiscard]] bool ask_again(std::mt19937_64& dice);
    // What is no promise; false: the connection broke.
    [[nodiscard]] bool note_other(const Reply& reply);
    void stop();

    net::Client& client_;
    Notebook& notebook_;
    WishNumbers& numbers_;
    const std::uint64_t seed_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> silence_expected_{false};
    std::mutex mutex_;
    std::vector<double> latencies_;
    std::vector<std::jthread> threads_;
};

}  // namespace commands::drill
