#include "commands/drill/drill.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "commands/drill/asking.hpp"
#include "commands/drill/bodies.hpp"
#include "commands/drill/full_disk.hpp"
#include "commands/drill/load.hpp"
#include "commands/drill/scratch.hpp"
#include "commands/drill/server.hpp"
#include "commands/drill/settings.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::milliseconds;
using Stopwatch = std::chrono::steady_clock;

constexpr std::uint64_t rounds_quick = 18;
constexpr std::uint64_t rounds_usual = 100;
constexpr std::uint64_t scratch_bytes = 128ULL << 20U;
constexpr std::uint64_t scratch_bytes_per_round = 4ULL << 20U;
constexpr unsigned idle_posts = 100;
constexpr auto load_time = 3s;
constexpr unsigned small_disk_mebibytes = 8;
constexpr std::uint64_t start_kill_ms = 150;  // at the latest, while no start was measured

// What the parts of a drill take on a machine that is not slow; for the time that is left.
constexpr double seconds_of_measuring = 6;
constexpr double seconds_of_round = 1.4;
constexpr double seconds_of_full_disk = 8;
constexpr double seconds_of_ending = 6;

double milliseconds_since(Stopwatch::time_point begin) {
    return std::chrono::duration<double, std::milli>(Stopwatch::now() - begin).count();
}

// Before the clients that wait for its answers are waited for, however their use ends.
class KilledAtEnd {
public:
    explicit KilledAtEnd(Child& child) : child_(child) {}
    ~KilledAtEnd() { child_.kill(); }
    KilledAtEnd(const KilledAtEnd&) = delete;
    KilledAtEnd& operator=(const KilledAtEnd&) = delete;

private:
    Child& child_;
};

class Drill {
public:
    Drill(const config::Settings& settings, std::uint64_t rounds, std::uint64_t seed,
          const ports::Progress& progress)
        : progress_(progress),
          dice_(seed),
          scratch_(settings.store.directory, scratch_bytes + rounds * scratch_bytes_per_round),
          place_{scratch_.path() / "load", 0},
          small_{scratch_.path() / "small", small_disk_mebibytes} {
        report_.seed = seed;
        report_.rounds = rounds;
        report_.directory = scratch_.path().parent_path();
        report_.power_cut_safe = settings.store.synchronous == store::Synchronous::full;
        report_.clock_steps.not_tried =
            "the clock of the machine is not ours to set; the simulation of the sources does it";
        for (const Place& place : {place_, small_}) furnish(place, config_of(settings, seed));
        seconds_left_ = seconds_of_measuring + seconds_of_round * static_cast<double>(rounds) +
                        seconds_of_full_disk + seconds_of_ending;
    }

    Report run() {
        begin("measuring", seconds_of_measuring);
        measure();
        for (std::uint64_t round = 1; round <= report_.rounds; ++round) {
            begin("round " + std::to_string(round) + " of " + std::to_string(report_.rounds),
                  seconds_of_round);
            if (dice_() % 4 == 0) kill_during_start();
            kill_under_load();
        }
        begin("full disk", seconds_of_full_disk);
        auto [trial, counts] = fill_disk(small_, report_.seed, numbers_, wait_);
        report_.full_disk = std::move(trial);
        begin("ending", seconds_of_ending);
        report_.counts = let_it_end();
        report_.counts += counts;
        report_.restart = percentiles(std::move(restarts_));
        return std::move(report_);
    }

private:
    [[nodiscard]] Milliseconds between(std::uint64_t min_ms, std::uint64_t max_ms) {
        return Milliseconds{min_ms + dice_() % (max_ms - min_ms + 1)};
    }

    void begin(std::string what, double seconds) {
        what_ = std::move(what);
        part_began_ = Stopwatch::now();
        part_seconds_ = seconds;
        seconds_left_ -= seconds;
        show();
    }

    void wait(Milliseconds time) {
        const auto end = Stopwatch::now() + time;
        do {
            show();
            std::this_thread::sleep_until(std::min(end, Stopwatch::now() + 20ms));
        } while (Stopwatch::now() < end);
    }

    // In milliseconds, as planned.
    void show() {
        const double spent = milliseconds_since(began_);
        const double left_of_part = 1'000 * part_seconds_ - milliseconds_since(part_began_);
        const double left = 1'000 * seconds_left_ + std::max(left_of_part, 0.0);
        const auto accepted = notebook_.promises();
        const auto rate = static_cast<std::uint64_t>(1'000 * static_cast<double>(accepted) / spent);
        const std::string note =
            what_ + ", " + std::to_string(accepted) + " accepted, " + std::to_string(rate) + "/s";
        progress_({"drill", static_cast<std::uint64_t>(spent),
                   static_cast<std::uint64_t>(spent + left), note});
    }

    void measure() {
        report_.flush = measure_flushes(scratch_.path());
        report_.device = device_of(scratch_.path());
        report_.flush_verdict = judge_flushes(report_.flush, report_.device);
        const auto server = start(place_, wait_);
        report_.commit_idle = percentiles(ask_one_by_one(*server));
        Load load(server->client(), notebook_, numbers_, load_options());
        const KilledAtEnd killed(server->child());
        wait(load_time);
        require_alive(*server);
        report_.commit_load = percentiles(load.latencies());
    }

    std::vector<double> ask_one_by_one(Server& server) {
        std::vector<double> latencies;
        for (unsigned i = 0; i < idle_posts; ++i) {
            const Wish wish{domain::Kind::public_decrypt, numbers_.next(), 0};
            const auto begin = Stopwatch::now();
            const Reply reply = post(server.client(), report_.seed, wish);
            if (reply.kind != Reply::Kind::promised) continue;
            latencies.push_back(milliseconds_since(begin));
            notebook_.promise({wish, reply.job});
            wait(10ms);
        }
        return latencies;
    }

    [[nodiscard]] Load::Options load_options() { return {.seed = report_.seed, .dice = dice_()}; }

    void kill_during_start() {
        Server server(place_);
        const auto usual =
            restarts_.empty() ? start_kill_ms : static_cast<std::uint64_t>(restarts_.back());
        wait(between(0, usual + usual / 2));
        require_alive(server);
        server.child().kill();
        ++report_.kills_during_start;
    }

    void kill_under_load() {
        const auto begin = Stopwatch::now();
        const auto server = start(place_, wait_);
        restarts_.push_back(milliseconds_since(begin));
        Load load(server->client(), notebook_, numbers_, load_options());
        const KilledAtEnd killed(server->child());
        wait(between(200, 1'800));
        if (dice_() % 3 == 0) pause(server->child());
        require_alive(*server);
        load.expect_silence();
        server->child().kill();
        ++report_.kills_under_load;
    }

    // Some are killed while they stand still.
    void pause(Child& child) {
        child.pause();
        ++report_.pauses;
        wait(between(50, 900));
        if (dice_() % 3 == 0) return;
        child.resume();
        wait(between(0, 400));
    }

    void require_alive(Server& server) {
        if (server.child().is_running()) return;
        notebook_.violation("the process ended by itself with " +
                            std::to_string(server.child().exit_status()) + ": " + server.log_end());
    }

    Counts let_it_end() {
        const auto server = start(place_, wait_);
        Evidence evidence{report_.seed, notebook_.notes(), {}, {}};
        evidence.answers =
            ask_until_ended(server->client(), report_.seed, evidence.notes.promises, wait_);
        evidence.ledger = ledger_at_rest();
        if (!server->child().stop(stop_patience)) {
            evidence.notes.violations.push_back("the last stop was not clean: " +
                                                server->log_end());
        }
        return judge(evidence);
    }

    // Shares have no job to ask for: the ledger says whether they were revealed.
    std::vector<chains::loopback::LedgerEntry> ledger_at_rest() {
        std::set<domain::Bytes> missing;
        for (const Promise& promise : notebook_.notes().promises) {
            if (promise.wish.kind != domain::Kind::share) continue;
            const domain::Bytes32 nullifier = nullifier_of(report_.seed, promise.wish);
            missing.emplace(nullifier.begin(), nullifier.end());
        }
        std::size_t entries = 0;
        auto moved = Stopwatch::now();
        while (true) {
            auto ledger = chains::loopback::read_ledger(place_.ledger().string());
            for (const auto& entry : ledger) missing.erase(entry.subject);
            if (ledger.size() > entries) moved = Stopwatch::now();
            entries = ledger.size();
            if (missing.empty() || Stopwatch::now() - moved > standstill) return ledger;
            wait(300ms);
        }
    }

    const ports::Progress& progress_;
    std::mt19937_64 dice_;
    const Scratch scratch_;
    const Place place_;
    const Place small_;
    const Wait wait_ = [this](Milliseconds time) { wait(time); };
    Report report_;
    Notebook notebook_;
    WishNumbers numbers_;
    std::vector<double> restarts_;
    const Stopwatch::time_point began_ = Stopwatch::now();
    std::string what_;
    Stopwatch::time_point part_began_;
    double part_seconds_ = 0;
    double seconds_left_ = 0;
};

}  // namespace

Report drill(const config::Settings& settings, const DrillOptions& options,
             const ports::Progress& progress) {
    const std::uint64_t rounds =
        options.rounds.value_or(options.quick ? rounds_quick : rounds_usual);
    const std::uint64_t seed = options.seed.value_or(std::random_device{}() % 1'000'000);
    return Drill(settings, rounds, seed, progress).run();
}

}  // namespace commands::drill
