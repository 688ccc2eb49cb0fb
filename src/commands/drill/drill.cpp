#include "commands/drill/drill.hpp"

#include <chrono>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/drill/asking.hpp"
#include "commands/drill/bodies.hpp"
#include "commands/drill/full_disk.hpp"
#include "commands/drill/load.hpp"
#include "commands/drill/pace.hpp"
#include "commands/drill/rounds.hpp"
#include "commands/drill/scratch.hpp"
#include "commands/drill/server.hpp"
#include "commands/drill/settings.hpp"

namespace commands::drill {

namespace {

using namespace std::chrono_literals;
using Stopwatch = std::chrono::steady_clock;

constexpr std::uint64_t rounds_quick = 18;
constexpr std::uint64_t rounds_usual = 100;
constexpr std::uint64_t scratch_bytes = 128ULL << 20U;
constexpr std::uint64_t scratch_bytes_per_round = 4ULL << 20U;
constexpr unsigned idle_posts = 100;
constexpr auto load_time = 3s;
constexpr unsigned small_disk_mebibytes = 8;

// What the parts of a drill take on a machine that is not slow; for the time that is left.
constexpr double seconds_of_measuring = 6;
constexpr double seconds_of_full_disk = 8;
constexpr double seconds_of_ending = 6;

class Drill {
public:
    Drill(const config::Settings& settings, std::uint64_t rounds, std::uint64_t seed,
          const ports::Progress& progress)
        : dice_(seed),
          scratch_(settings.store.directory, scratch_bytes + rounds * scratch_bytes_per_round),
          place_{.home = scratch_.path() / "load"},
          small_{.home = scratch_.path() / "small", .disk_mebibytes = small_disk_mebibytes},
          pace_(progress, notebook_,
                seconds_of_measuring + seconds_of_round * static_cast<double>(rounds) +
                    seconds_of_full_disk + seconds_of_ending) {
        report_.seed = seed;
        report_.rounds = rounds;
        report_.directory = scratch_.path().parent_path();
        report_.power_cut_safe = settings.store.synchronous == store::Synchronous::full;
        report_.clock_steps.not_tried =
            "the clock of the machine is not ours to set; the simulation of the sources does it";
        for (const Place& place : {place_, small_}) furnish(place, config_of(settings, seed));
    }

    Report run() {
        pace_.begin("measuring", seconds_of_measuring);
        measure();
        Rounds(place_, pace_, notebook_, dice_)
            .run([this](Server& server) { return load_on(server); }, report_);
        pace_.begin("full disk", seconds_of_full_disk);
        auto [trial, counts] = fill_disk(small_, report_.seed, numbers_, wait_);
        report_.full_disk = std::move(trial);
        pace_.begin("ending", seconds_of_ending);
        report_.counts = let_it_end();
        report_.counts += counts;
        return std::move(report_);
    }

private:
    void measure() {
        measure_disk(scratch_.path(), report_);
        const auto server = start(place_, wait_);
        report_.commit_idle = percentiles(ask_one_by_one(*server));
        const auto load = load_on(*server);
        const KilledAtEnd killed(server->child());
        pace_.wait(load_time);
        require_alive(*server, notebook_);
        report_.commit_load = percentiles(load->latencies());
    }

    std::vector<double> ask_one_by_one(Server& server) {
        std::vector<double> latencies;
        for (unsigned i = 0; i < idle_posts; ++i) {
            const Wish wish{.kind = domain::Kind::public_decrypt, .number = numbers_.next()};
            const auto begin = Stopwatch::now();
            const Reply reply = post(server.client(), report_.seed, wish);
            if (reply.kind != Reply::Kind::promised) continue;
            const std::chrono::duration<double, std::milli> took = Stopwatch::now() - begin;
            latencies.push_back(took.count());
            notebook_.promise({wish, reply.job});
            pace_.wait(10ms);
        }
        return latencies;
    }

    std::unique_ptr<Load> load_on(Server& server) {
        return std::make_unique<Load>(
            server.client(), notebook_,
            Load::Options{
                .seed = report_.seed, .dice = dice_(), .draw = [this](std::mt19937_64& dice) {
                    return any_wish(numbers_, dice);
                }});
    }

    Counts let_it_end() {
        const auto server = start(place_, wait_);
        Evidence evidence{report_.seed, notebook_.notes(), {}, {}};
        evidence.answers =
            ask_until_ended(server->client(), report_.seed, evidence.notes.promises, wait_);
        evidence.ledger = ledger_at_rest();
        stop_cleanly(*server, evidence.notes);
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
            pace_.wait(300ms);
        }
    }

    std::mt19937_64 dice_;
    const Scratch scratch_;
    const Place place_;
    const Place small_;
    Report report_;
    Notebook notebook_;
    Pace pace_;
    const Wait wait_ = [this](std::chrono::milliseconds time) { pace_.wait(time); };
    WishNumbers numbers_;
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
