#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>

namespace bench {

// How much is measured. A full run stays below 15 minutes.
struct Amount {
    std::size_t rounds = 5;                  // repetitions of every interleaved comparison
    std::chrono::milliseconds slice{3'000};  // one repetition of a rate
    std::uint64_t drained = 50'000;          // requests of one drain
    std::size_t drain_rounds = 3;            // … and of all else that takes long
    std::uint64_t timed_shares = 10'000;     // shares of the lateness run …
    std::chrono::seconds timed_over{60};     // … and the time their moments are spread over
    std::uint64_t scheduled = 1'000'000;     // rows of the big store
    std::size_t restarts = 5;
    std::chrono::seconds rate_window{60};  // of transactions on a real chain
    std::uint64_t chained = 900;           // transactions of one run there, blocks at once …
    std::uint64_t chain_blocks = 9;        // … and blocks of one run, when they take their time
    std::size_t snapshots = 5;             // that are waited for while the journal is trimmed
};

[[nodiscard]] inline Amount quick_amount() {
    using namespace std::chrono_literals;
    return {.rounds = 3,
            .slice = 500ms,
            .drained = 5'000,
            .timed_shares = 1'000,
            .timed_over = 6s,
            .scheduled = 50'000,
            .restarts = 2,
            .rate_window = 10s,
            .chained = 300,
            .chain_blocks = 3,
            .snapshots = 3};
}

struct Options {
    std::filesystem::path posthouse;  // the binary under test
    std::filesystem::path bench;      // this one
    std::filesystem::path slow_sync;  // the library that delays syncs
    std::filesystem::path bodies;     // folder of the sample bodies
    std::filesystem::path anvil;      // the program of the development chain
    std::filesystem::path contracts;  // its contracts, compiled
    std::filesystem::path peers;      // the script that fills queues on PostgreSQL
    std::filesystem::path directory;  // on the disk to be measured
    bool alone = false;               // accepts and drain without their peers
    Amount amount;
};

}  // namespace bench
