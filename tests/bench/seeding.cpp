#include "bench/seeding.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <stdexcept>
#include <variant>

#include "api/vote_share.hpp"
#include "domain/identity.hpp"
#include "domain/request.hpp"
#include "store/store.hpp"

namespace bench {

namespace {

constexpr std::uint64_t rows_per_commit = 20'000;
constexpr std::uint32_t shares_per_vote = 16;
constexpr std::uint32_t proposals = 15;
static_assert(shares_per_vote * proposals == seeded_per_leaf);
constexpr domain::Timestamp round_end = domain::from_unix_ms(4'102'444'800'000);

domain::VoteShare parsed(const Body& share) {
    auto decoded = api::decode_vote_share(share.text());
    if (auto* vote_share = std::get_if<domain::VoteShare>(&decoded)) return *vote_share;
    throw std::runtime_error("the sample vote share is refused");
}

// Ids of the past, so that those the service gives out come behind them.
std::int64_t first_sequence() {
    return domain::unix_ms(wall_now() - std::chrono::hours{1}) << 12U;
}

void fill(std::span<std::uint8_t> bytes, std::mt19937_64& random) {
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
}

}  // namespace

domain::Timestamp wall_now() {
    return std::chrono::time_point_cast<domain::Milliseconds>(std::chrono::system_clock::now());
}

std::uint64_t seed_shares(const std::filesystem::path& data_directory, const Body& share,
                          std::uint64_t count,
                          const std::function<domain::Timestamp(std::uint64_t)>& due) {
    store::Options store_options;
    store_options.directory = data_directory;
    store::Store store(store_options);
    domain::VoteShare vote_share = parsed(share);
    const std::int64_t first = first_sequence();
    const domain::Timestamp now = wall_now();
    std::mt19937_64 random(1);
    std::uint64_t payload_bytes = 0;
    for (std::uint64_t done = 0; done < count;) {
        store::Store::Transaction transaction(store);
        const std::int64_t round = store.round(vote_share.round_id, round_end);
        const std::uint64_t end = std::min(count, done + rows_per_commit);
        for (; done < end; ++done) {
            const domain::Timestamp moment = due(done);
            const auto number = static_cast<std::uint32_t>(done);
            vote_share.share_index = number % shares_per_vote;
            vote_share.proposal_id = 1 + number / shares_per_vote % proposals;
            vote_share.tree_position = number / seeded_per_leaf;
            vote_share.submit_at =
                static_cast<std::uint64_t>(domain::unix_ms(moment)) / std::uint64_t{1000};
            fill(vote_share.c1, random);
            fill(vote_share.primary_blind, random);
            const domain::Bytes payload = domain::encode(vote_share);
            payload_bytes = payload.size();
            store::NewRequest request;
            request.row.id = {first + static_cast<std::int64_t>(done),
                              static_cast<std::int64_t>(random() >> 2U)};
            request.row.kind = domain::Kind::share;
            request.row.status = domain::Status::queued;
            request.row.since = now;
            request.row.schedule.lane = store::Lane::schedule;
            request.row.schedule.wake = moment;
            request.row.schedule.deadline = round_end;
            request.row.round = round;
            request.identity = domain::identify(vote_share);
            request.payload = payload;
            store.insert(request);
        }
        transaction.commit();
        store.checkpoint();
    }
    return payload_bytes;
}

}  // namespace bench
