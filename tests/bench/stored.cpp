#include <array>
#include <string>

#include "bench/bodies.hpp"
#include "bench/load.hpp"
#include "bench/posthouse.hpp"
#include "bench/scenarios.hpp"
#include "bench/scratch.hpp"
#include "bench/seeding.hpp"

namespace bench {

namespace {

struct Store {
    std::uint64_t rows = 0;
    Series per_second = {};
};

double accept_rate(const Options& options, const Body& share, std::uint64_t rows) {
    const Scratch scratch(options.directory);
    static_cast<void>(
        seed_shares(data_directory(scratch.path()), share, rows, [](std::uint64_t number) {
            return domain::Timestamp{std::chrono::seconds(far_second(number))};
        }));
    Posthouse posthouse(options, {scratch.path(), {}}, standing_still());
    Posts posts(share, many_clients, rows);
    const auto outcome = load_for(posthouse.port(), many_clients, far_shares(posts),
                                  options.amount.slice, share_accepted);
    posthouse.stop();
    return outcome.per_second();
}

}  // namespace

void measure_stored(const Options& options, Report& report) {
    const Body share = Body::vote_share(options.bodies);
    const std::uint64_t most = options.amount.scheduled;
    std::array<Store, 4> stores{{{0}, {most / 100}, {most / 10}, {most}}};
    for (std::size_t round = 0; round < options.amount.drain_rounds; ++round) {
        for (Store& store : stores) store.per_second.add(accept_rate(options, share, store.rows));
    }
    for (const Store& store : stores) {
        report.point({"accepts over stored rows", static_cast<double>(store.rows)},
                     "accepts, 64 clients, rows stored: " + std::to_string(store.rows), "/s",
                     store.per_second);
    }
    report.at_least(0.9, "accepts, 64 clients, most rows stored", "/s", stores.back().per_second,
                    "in an empty store", stores.front().per_second);
}

}  // namespace bench
