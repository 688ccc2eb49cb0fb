#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
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

// Something of any kind that the embedded chain answers.
[[nodiscard]] Wish any_wish(WishNumbers& numbers, std::mt19937_64& dice);

// Clients that ask until they are told to stop, for a few things twice, and note what they are
// promised. A client whose connection breaks stops.
class Load {
public:
    struct Options {
        std::uint64_t seed = 0;  // of the bodies
        std::uint64_t dice = 0;  // of what is asked for
        // What is asked for next; nothing: the client stops. Any thread.
        std::function<std::optional<Wish>(std::mt19937_64& dice)> draw;
        unsigned clients = 6;
        std::uint64_t pause_ms_max = 25;  // of a client
        std::uint64_t repeats_percent = 3;
    };

    // Both outlive it.
    Load(net::Client& client, Notebook& notebook, const Options& options);
    ~Load();  // stops
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    // Before the process is killed: who gets no answer from now on need not tell.
    void expect_silence() { silence_expected_ = true; }
    // Milliseconds from each POST to its promise. Stops.
    [[nodiscard]] std::vector<double> latencies();

private:
    void run(std::uint64_t dice);
    // False: the client has to stop.
    [[nodiscard]] bool ask_new(std::mt19937_64& dice);
    [[nodiscard]] bool ask_again(std::mt19937_64& dice);
    // What is no promise; false: the client has to stop.
    [[nodiscard]] bool note_other(const Reply& reply);
    void stop();

    net::Client& client_;
    Notebook& notebook_;
    const Options options_;
    std::atomic<bool> stopping_{false};
    std::atomic<bool> silence_expected_{false};
    std::mutex mutex_;
    std::vector<double> latencies_;
    std::vector<std::jthread> threads_;
};

}  // namespace commands::drill
