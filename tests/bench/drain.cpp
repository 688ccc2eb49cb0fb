#include <stdexcept>
#include <string>
#include <thread>

#include "bench/beanstalk.hpp"
#include "bench/bodies.hpp"
#include "bench/inspection.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"

// Vote shares are drained: they have the body beanstalkd gets, and their time is a gate that opens
// for all of them at one known moment, while everything before it is at rest. Their way is the
// longest in commits of the engine (claimed, sealed, revealed), and their end also wipes the
// payload.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto look_every = 2ms;
constexpr auto patience = 120s;

// Long enough for seeding and starting.
domain::Timestamp opening_for(std::uint64_t shares) {
    constexpr std::uint64_t seeded_per_ms = 10;
    return std::chrono::ceil<std::chrono::seconds>(
        wall_now() + 3s + std::chrono::milliseconds(shares / seeded_per_ms));
}

double drain_posthouse(const Options& options, const Body& share,
                       const std::vector<std::string>& environment) {
    const std::uint64_t shares = options.amount.drained;
    const Scratch scratch(options.directory);
    const domain::Timestamp opening = opening_for(shares);
    seed_shares(data_directory(scratch.path()), share, shares,
                [opening](std::uint64_t) { return opening; });
    Posthouse posthouse(options, {scratch.path(), environment}, unlimited());
    if (wall_now() >= opening) throw std::runtime_error("seeding took too long for the drain");
    Inspection inspection(data_directory(scratch.path()), ledger_file(scratch.path()));

    std::this_thread::sleep_until(opening);
    const auto begin = Stopwatch::now();
    while (!inspection.all_ended()) {
        if (Stopwatch::now() - begin > patience) throw std::runtime_error("the drain stands still");
        std::this_thread::sleep_for(look_every);
    }
    const double seconds = seconds_since(begin);

    const std::uint64_t completed = inspection.completed();
    const std::uint64_t included = inspection.inclusions().size();
    if (completed != shares || included != shares) {
        throw std::runtime_error("of " + std::to_string(shares) + " shares " +
                                 std::to_string(completed) + " completed and " +
                                 std::to_string(included) + " were included");
    }
    posthouse.stop();
    return static_cast<double>(shares) / seconds;
}

double drain_beanstalkd(const Options& options, const Body& share) {
    const Scratch scratch(options.directory);
    const Beanstalkd beanstalkd(scratch.path());
    BeanstalkLoad load(beanstalkd.port(), many_clients);
    static_cast<void>(load.put(share, options.amount.drained));
    return load.drain(options.amount.drained);
}

}  // namespace

void measure_drain(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    Series beanstalkd;
    Series undelayed;
    Series delayed;
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        if (!options.alone) beanstalkd.add(drain_beanstalkd(options, share));
        undelayed.add(drain_posthouse(options, share, {}));
        delayed.add(drain_posthouse(options, share, slow_syncs(options)));
    }
    report.at_least(1.0, "drain, vote shares", "/s", undelayed, "beanstalkd -f0 reserve+delete",
                    beanstalkd);
    report.reaches(25'000, "drain, vote shares", "/s", undelayed);
    report.at_least(0.8, "drain, every sync delayed by 2 ms", "/s", delayed, "undelayed",
                    undelayed);
}

}  // namespace bench
