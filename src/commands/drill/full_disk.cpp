#include "commands/drill/full_disk.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>

namespace commands::drill {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t filler_bytes = 3U << 20U;
constexpr std::size_t filling_bytes = 18'000;  // of a ciphertext, as real ones have: it fills fast
constexpr unsigned posts_max = 2'000;
constexpr auto full_time = 3s;
constexpr auto healing_time = 30s;

bool passes(const Wait& wait, std::chrono::milliseconds time,
            const std::function<bool()>& is_over) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!is_over()) {
        if (std::chrono::steady_clock::now() >= end) return false;
        wait(20ms);
    }
    return true;
}

class Filling {
public:
    Filling(Server& server, const Place& place, std::uint64_t seed, WishNumbers& numbers,
            const Wait& wait)
        : server_(server), place_(place), seed_(seed), numbers_(numbers), wait_(wait) {}

    // False: it never came to be full.
    bool run() {
        const std::filesystem::path filler =
            server_.child().seen_from_here(place_.data()) / "filler";
        std::ofstream(filler) << std::string(filler_bytes, ' ');
        bool full = false;
        for (unsigned i = 0; i < posts_max && !full; ++i) full = !is_taken();
        if (full) stay_full();
        std::error_code ignored;
        std::filesystem::remove(filler, ignored);
        if (!passes(wait_, healing_time, [this] { return is_taken(); })) {
            notebook_.violation("half a minute after there was room again, nothing was accepted");
        }
        return full;
    }

    Counts judge_it() {
        const Notes notes = notebook_.notes();
        Evidence evidence{
            seed_, notes, ask_until_ended(server_.client(), seed_, notes.promises, wait_), {}};
        evidence.ledger = copied_ledger();
        if (!server_.child().stop(stop_patience)) {
            evidence.notes.violations.push_back("it did not stop well after its disk was full");
        }
        return judge(evidence);
    }

private:
    // Asks for one thing more; whether it was promised.
    bool is_taken() {
        wait_(0ms);
        const Wish wish{.kind = domain::Kind::input_proof,
                        .number = numbers_.next(),
                        .ciphertext_bytes = filling_bytes};
        const Reply reply = post(server_.client(), seed_, wish);
        if (reply.kind == Reply::Kind::promised) notebook_.promise({wish, reply.job});
        if (reply.kind == Reply::Kind::refused) notebook_.violation(reply.text);
        if (reply.kind == Reply::Kind::nothing) {
            notebook_.violation("no answer while the disk was full");
        }
        return reply.kind == Reply::Kind::promised;
    }

    void stay_full() {
        static_cast<void>(passes(wait_, full_time, [this] {
            static_cast<void>(is_taken());
            const auto alive = server_.client().exchange(
                {.method = "GET", .target = "/liveness", .repeatable = true}, 5s);
            const auto* const response = std::get_if<net::ClientResponse>(&alive);
            if (response == nullptr || response->status != 200) {
                notebook_.violation("it did not say that it lives while its disk was full");
            }
            return false;
        }));
    }

    // The disk goes with the process, so what lies on it is copied while nothing moves.
    std::vector<chains::loopback::LedgerEntry> copied_ledger() {
        const std::filesystem::path copy = place_.home / "loopback.db";
        server_.child().pause();
        for (const char* const suffix : {"", "-wal"}) {
            const std::string from =
                server_.child().seen_from_here(place_.ledger()).string() + suffix;
            if (std::filesystem::exists(from)) {
                std::filesystem::copy_file(from, copy.string() + suffix);
            }
        }
        server_.child().resume();
        return chains::loopback::read_ledger(copy.string());
    }

    Server& server_;
    const Place& place_;
    const std::uint64_t seed_;
    WishNumbers& numbers_;
    const Wait& wait_;
    Notebook notebook_;
};

}  // namespace

FullDisk fill_disk(const Place& place, std::uint64_t seed, WishNumbers& numbers, const Wait& wait) {
    Server server(place);
    while (server.child().is_running() && !server.is_ready()) wait(2ms);
    if (!server.child().is_running()) {
        if (server.child().exit_status() != Child::exit_no_disk) {
            throw std::runtime_error("posthouse did not start on a small disk: " +
                                     server.log_end());
        }
        return {{0, "no small disk can be mounted here: that takes root, or user namespaces"}, {}};
    }
    Filling filling(server, place, seed, numbers, wait);
    FullDisk result;
    if (filling.run()) {
        result.trial.times = 1;
    } else {
        result.trial.not_tried = "the small disk did not come to be full";
    }
    result.counts = filling.judge_it();
    return result;
}

}  // namespace commands::drill
