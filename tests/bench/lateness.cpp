#include <random>
#include <stdexcept>
#include <string>
#include <thread>

#include "bench/bodies.hpp"
#include "bench/http_load.hpp"
#include "bench/inspection.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"

// Lateness is taken where it counts: from the share's moment to its inclusion in the loopback
// chain's ledger, by the chain's clock. It contains two commits of the engine and one of the chain,
// so the start of the work is earlier still.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto lead = 5s;
constexpr auto patience = 30s;

void report_lateness(Inspection& inspection, const std::string& what,
                     const std::map<std::int64_t, domain::Timestamp>& due,
                     domain::Timestamp last_moment, Report& report) {
    std::this_thread::sleep_until(last_moment);
    while (!inspection.all_ended()) {
        if (wall_now() > last_moment + patience) throw std::runtime_error("shares do not end");
        std::this_thread::sleep_for(10ms);
    }
    const auto inclusions = inspection.inclusions();
    if (inclusions.size() != due.size()) {
        throw std::runtime_error(std::to_string(inclusions.size()) + " inclusions of " +
                                 std::to_string(due.size()) + " shares");
    }
    Series lateness;
    double early = 0;
    for (const auto& [id, moment] : due) {
        const auto late = inclusions.at(id) - moment;
        if (late < 0ms) ++early;
        lateness.add(static_cast<double>(late.count()));
    }
    report.note("lateness p50, " + what, "ms", Series({lateness.median()}));
    report.bounded(5, "lateness p99, " + what, "ms", Series({lateness.at(990)}));
    report.bounded(50, "lateness max, " + what, "ms", Series({lateness.at(1000)}));
    report.bounded(0, "early, " + what, "", Series({early}));
}

// Through the front door, where moments are whole seconds: they come in bursts.
void measure_seconds(const Options& options, const Body& share, Report& report) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), {}}, unlimited());
    const auto first =
        std::chrono::ceil<std::chrono::seconds>(std::chrono::system_clock::now() + lead);
    const auto first_second = static_cast<std::uint64_t>(first.time_since_epoch().count());
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> within(
        0, static_cast<std::uint64_t>(options.amount.timed_over.count()) - 1);
    Posts posts(share, many_clients);
    HttpLoad load({.host = "127.0.0.1", .port = posthouse.port(), .connections = many_clients},
                  [&](std::size_t connection, std::uint64_t) {
                      return posts.next(connection, first_second + within(random));
                  });
    Expectation expectation = share_accepted;
    expectation.watch(load);
    expectation.check(load.run(options.amount.timed_shares));

    Inspection inspection(data_directory(scratch.path()), ledger_file(scratch.path()));
    const auto due = inspection.wakes();
    if (wall_now() >= first || due.size() != options.amount.timed_shares) {
        throw std::runtime_error("the shares did not come in before the first was due");
    }
    report_lateness(inspection, "whole seconds", due, first + options.amount.timed_over, report);
    posthouse.stop();
}

// Put into the store beforehand, at any millisecond.
void measure_milliseconds(const Options& options, const Body& share, Report& report) {
    const Scratch scratch(options.directory);
    const domain::Timestamp first = wall_now() + lead;
    std::mt19937_64 random(2);
    const auto over = std::chrono::milliseconds(options.amount.timed_over);
    std::uniform_int_distribution<std::int64_t> within(0, over.count() - 1);
    seed_shares(data_directory(scratch.path()), share, options.amount.timed_shares,
                [&](std::uint64_t) { return first + std::chrono::milliseconds(within(random)); });
    Posthouse posthouse(options, {scratch.path(), {}}, unlimited());
    Inspection inspection(data_directory(scratch.path()), ledger_file(scratch.path()));
    const auto due = inspection.wakes();
    if (wall_now() >= first) throw std::runtime_error("seeding took too long");
    report_lateness(inspection, "any millisecond", due, first + over, report);
    posthouse.stop();
}

}  // namespace

void measure_lateness(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    measure_seconds(options, share, report);
    measure_milliseconds(options, share, report);
}

}  // namespace bench
