#include <algorithm>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/bodies.hpp"
#include "bench/http_load.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"

namespace bench {

namespace {

constexpr double mebibyte = 1U << 20U;
constexpr std::size_t pending_jobs = 500;

double mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / mebibyte;
}

HttpLoad::Options to(const Posthouse& posthouse, std::size_t clients) {
    return {.host = "127.0.0.1", .port = posthouse.port(), .connections = clients};
}

HttpLoad::Outcome accept(HttpLoad& load, std::uint64_t requests) {
    Expectation expectation = share_accepted;
    expectation.watch(load);
    HttpLoad::Outcome outcome = load.run(requests);
    expectation.check(outcome);
    return outcome;
}

// Killed under the load of new shares, so that there is a log to recover.
void measure_restarts(const Options& options, const Posthouse::DataPlace& place, Posts& posts,
                      Report& report) {
    constexpr std::uint64_t accepted_before = 2'000;
    Series seconds;
    std::optional<Posthouse> posthouse(std::in_place, options, place, standing_still());
    for (std::size_t restart = 0; restart < options.amount.restarts; ++restart) {
        {
            HttpLoad load(to(*posthouse, many_clients), far_shares(posts));
            static_cast<void>(accept(load, accepted_before));
        }
        posthouse->kill_hard();
        posthouse.emplace(options, place, standing_still());
        seconds.add(posthouse->seconds_to_ready());
    }
    report.bounded(1.0, "restart to ready after kill -9, the slowest", "s",
                   Series({seconds.at(1000)}));
    report.bounded(64, "resident memory after restart", "MiB",
                   Series({mebibytes(posthouse->resident_bytes())}));
    posthouse->kill_hard();
}

void measure_next_accept(const Options& options, const Posthouse& big, Posts& posts,
                         Report& report) {
    constexpr std::size_t turns = 20;
    constexpr std::uint64_t accepts_per_turn = 50;
    constexpr std::uint64_t few = 1'000;
    const Body share = Body::vote_share(options.bodies);
    const Scratch scratch(options.directory);
    static_cast<void>(
        seed_shares(data_directory(scratch.path()), share, few, [](std::uint64_t number) {
            return domain::Timestamp{std::chrono::seconds(far_second(number))};
        }));
    Posthouse small(options, {scratch.path(), {}}, standing_still());
    Posts small_posts(share, 1, few);
    HttpLoad to_big(to(big, 1), far_shares(posts));
    HttpLoad to_small(to(small, 1), far_shares(small_posts));
    Series big_us;
    Series small_us;
    const auto take = [](Series& series, const HttpLoad::Outcome& outcome) {
        for (const std::uint32_t us : outcome.latencies_us) series.add(us);
    };
    for (std::size_t turn = 0; turn < turns; ++turn) {
        take(big_us, accept(to_big, accepts_per_turn));
        take(small_us, accept(to_small, accepts_per_turn));
    }
    report.at_most(1.2, "next accept, one client, median", "us", Series({big_us.median()}),
                   "with 1,000 in the store", Series({small_us.median()}));
}

std::vector<std::string> polls_of_new_jobs(const Options& options, const Posthouse& posthouse) {
    std::vector<std::string> polls;
    Posts posts(Body::public_decrypt(options.bodies), 1);
    HttpLoad load(to(posthouse, 1), [&posts](std::size_t connection, std::uint64_t) {
        return posts.next(connection);
    });
    load.on_answer([&polls](std::size_t, int status, std::string_view body) {
        constexpr std::string_view member = "\"jobId\":\"";
        constexpr std::size_t uuid_length = 36;
        const std::size_t at = body.find(member);
        if (status != 202 || at == std::string_view::npos) {
            throw std::runtime_error("a decrypt was not accepted: " + std::string(body));
        }
        polls.push_back("GET /v2/public-decrypt/" +
                        std::string(body.substr(at + member.size(), uuid_length)) +
                        " HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    });
    static_cast<void>(load.run(pending_jobs));
    return polls;
}

void measure_polls(const Options& options, const Posthouse& posthouse, Report& report) {
    const std::vector<std::string> polls = polls_of_new_jobs(options, posthouse);
    std::mt19937_64 random(1);
    HttpLoad load(to(posthouse, many_clients), [&](std::size_t, std::uint64_t) {
        return std::string_view(polls[random() % polls.size()]);
    });
    Expectation expectation("posthouse", 202, "\"queued\"");
    expectation.watch(load);
    const HttpLoad::Outcome outcome = load.run_for(options.amount.slice);
    expectation.check(outcome);
    report.note("GET of a pending job, 64 clients", "/s", Series({outcome.per_second()}));
    report.note("GET of a pending job, 64 clients, p50", "ms", Series({outcome.latency_ms(500)}));
    report.bounded(5, "GET of a pending job, 64 clients, p99", "ms",
                   Series({outcome.latency_ms(990)}));
}

}  // namespace

void measure_scheduled(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const std::uint64_t rows = options.amount.scheduled;
    const Scratch scratch(options.directory);
    const std::uint64_t payload_bytes =
        seed_shares(data_directory(scratch.path()), share, rows, [](std::uint64_t number) {
            return domain::Timestamp{std::chrono::seconds(far_second(number))};
        });
    const double bytes_per_row =
        static_cast<double>(bytes_in(data_directory(scratch.path()))) / static_cast<double>(rows);
    report.note("scheduled shares in the store", "rows", Series({static_cast<double>(rows)}));
    report.note("payload of a share", "B", Series({static_cast<double>(payload_bytes)}));
    report.bounded(1.5 * static_cast<double>(payload_bytes) + 300, "disk per scheduled share", "B",
                   Series({bytes_per_row}));

    const Posthouse::DataPlace place{scratch.path(), {}};
    Posts posts(share, many_clients, rows);
    measure_restarts(options, place, posts, report);
    Posthouse posthouse(options, place, standing_still());
    measure_next_accept(options, posthouse, posts, report);
    measure_polls(options, posthouse, report);
    report.note("resident memory after the load", "MiB",
                Series({mebibytes(posthouse.resident_bytes())}));
    posthouse.stop();
}

}  // namespace bench
