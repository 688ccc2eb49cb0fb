#include <algorithm>
#include <functional>
#include <map>
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
// chain's ledger, by the chain's clock. It contains two commits of the engine and one of the chain.
// When the work begins is earlier still; Posthouse itself says so, in its metrics.
namespace bench {

namespace {

using namespace std::chrono_literals;

constexpr auto lead = 5s;
constexpr auto patience = 30s;
constexpr std::uint64_t shares_of_one_second = 200;

using Moments = std::map<std::int64_t, domain::Timestamp>;  // by row id

void wait_for_the_end(Inspection& inspection, domain::Timestamp last_moment) {
    std::this_thread::sleep_until(last_moment);
    while (!inspection.all_ended()) {
        if (wall_now() > last_moment + patience) throw std::runtime_error("shares do not end");
        std::this_thread::sleep_for(10ms);
    }
}

// Milliseconds.
Series lateness_of(const Moments& included, const Moments& due) {
    if (included.size() != due.size()) {
        throw std::runtime_error(std::to_string(included.size()) + " inclusions of " +
                                 std::to_string(due.size()) + " shares");
    }
    Series lateness;
    for (const auto& [id, moment] : due) {
        lateness.add(static_cast<double>((included.at(id) - moment).count()));
    }
    return lateness;
}

double early_of(const Series& lateness) {
    return static_cast<double>(
        std::ranges::count_if(lateness.samples(), [](double late) { return late < 0; }));
}

void report_lateness(Inspection& inspection, const std::string& what, const Moments& due,
                     domain::Timestamp last_moment, Report& report) {
    wait_for_the_end(inspection, last_moment);
    const Series lateness = lateness_of(inspection.inclusions(), due);
    report.note("lateness p50, " + what, "ms", Series({lateness.median()}));
    report.bounded(5, "lateness p99, " + what, "ms", Series({lateness.at(990)}));
    report.bounded(50, "lateness max, " + what, "ms", Series({lateness.at(1000)}));
    report.bounded(0, "early, " + what, "", Series({early_of(lateness)}));
}

// Through the front door; each for the second that `second` gives it. Returns when they are due.
Moments post(const Posthouse& posthouse, Inspection& inspection, const Body& share,
             std::uint64_t count, const std::function<std::uint64_t()>& second,
             domain::Timestamp first) {
    Posts posts(share, many_clients);
    HttpLoad load(
        {.host = "127.0.0.1", .port = posthouse.port(), .connections = many_clients},
        [&](std::size_t connection, std::uint64_t) { return posts.next(connection, second()); });
    Expectation expectation = share_accepted;
    expectation.watch(load);
    expectation.check(load.run(count));
    Moments due = inspection.wakes();
    if (wall_now() >= first || due.size() != count) {
        throw std::runtime_error("the shares did not come in before the first was due");
    }
    return due;
}

domain::Timestamp coming_second() {
    return std::chrono::ceil<std::chrono::seconds>(wall_now() + lead);
}

std::uint64_t unix_seconds(domain::Timestamp second) {
    return static_cast<std::uint64_t>(domain::unix_ms(second)) / std::uint64_t{1000};
}

// Moments are whole seconds: they come in bursts.
void measure_seconds(const Options& options, const Body& share, Report& report) {
    const Scratch scratch(options.directory);
    Posthouse posthouse(options, {scratch.path(), {}}, unlimited());
    Inspection inspection(data_directory(scratch.path()), ledger_file(scratch.path()));
    const domain::Timestamp first = coming_second();
    std::mt19937_64 random(1);
    std::uniform_int_distribution<std::uint64_t> within(
        0, static_cast<std::uint64_t>(options.amount.timed_over.count()) - 1);
    const Moments due = post(
        posthouse, inspection, share, options.amount.timed_shares,
        [&] { return unix_seconds(first) + within(random); }, first);
    report_lateness(inspection, "whole seconds", due, first + options.amount.timed_over, report);
    posthouse.stop();
}

// How long after their second 99 of 100 shares were begun, at most: the bound of a bucket.
double begun_ms(const Posthouse& posthouse) {
    const std::string name = "posthouse_wake_lateness_seconds";
    const double all = posthouse.metric(name + R"(_count{lane="schedule"})");
    for (const std::string bound : {"0.001", "0.002", "0.005", "0.01", "0.1", "0.5"}) {
        const double within =
            posthouse.metric(name + R"(_bucket{lane="schedule",le=")" + bound + "\"}");
        if (within >= 0.99 * all) return std::stod(bound) * 1'000;
    }
    throw std::runtime_error("shares begin half a second after their time");
}

// One burst, and nothing beside it.
void measure_one_second(const Options& options, const Body& share, Report& report) {
    Settings settings = unlimited();
    settings["helper.expose_timing"] = "true";
    Series begun_p99_ms;
    Series p50_ms;
    Series p99_ms;
    double early = 0;
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        const Scratch scratch(options.directory);
        Posthouse posthouse(options, {scratch.path(), {}}, settings);
        Inspection inspection(data_directory(scratch.path()), ledger_file(scratch.path()));
        const domain::Timestamp second = coming_second();
        const Moments due = post(
            posthouse, inspection, share, shares_of_one_second,
            [second] { return unix_seconds(second); }, second);
        wait_for_the_end(inspection, second);
        const Series lateness = lateness_of(inspection.inclusions(), due);
        begun_p99_ms.add(begun_ms(posthouse));
        p50_ms.add(lateness.median());
        p99_ms.add(lateness.at(990));
        early += early_of(lateness);
        posthouse.stop();
    }
    const std::string what = std::to_string(shares_of_one_second) + " of one second";
    report.bounded(5, "begun p99, no later than, " + what, "ms", begun_p99_ms);
    report.note("lateness p50, " + what, "ms", p50_ms);
    report.bounded(10, "lateness p99, " + what, "ms", p99_ms);
    report.bounded(0, "early, " + what, "", Series({early}));
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
    measure_one_second(options, share, report);
    measure_milliseconds(options, share, report);
}

}  // namespace bench
