#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "store/harness.hpp"

using domain::Kind;
using domain::Status;
using std::chrono::steady_clock;

namespace {

// Longer on demand: POSTHOUSE_STRESS_SECONDS=600.
std::chrono::seconds duration() {
    const char* seconds = std::getenv("POSTHOUSE_STRESS_SECONDS");  // NOLINT(concurrency-mt-unsafe)
    return std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 1);
}

// Polls the ids that were acknowledged and counts what should not be.
class Polls {
public:
    explicit Polls(const Harness& harness) : reader_(harness.options, threads_count) {
        for (std::size_t i = 0; i < threads_.size(); ++i) {
            threads_[i] = std::jthread([this, i](const std::stop_token& stop) { run(stop, i); });
        }
    }

    void acknowledge(std::int64_t newest) { acknowledged_ = newest; }
    void stop() {
        for (std::jthread& thread : threads_) {
            thread.request_stop();
            thread.join();
        }
    }

    [[nodiscard]] std::uint64_t answered() const { return answered_; }
    [[nodiscard]] std::uint64_t missing() const { return missing_; }
    [[nodiscard]] std::uint64_t went_back() const { return went_back_; }
    [[nodiscard]] std::uint64_t failed() const { return failed_; }

private:
    void run(const std::stop_token& stop, std::size_t seed) {
        std::mt19937_64 random(seed);
        while (!stop.stop_requested()) {
            const std::int64_t newest = acknowledged_;
            if (newest == 0) continue;
            // The newest ones are those a lost log would miss.
            const auto back = static_cast<std::int64_t>(
                random() % static_cast<std::uint64_t>(std::min<std::int64_t>(newest, 500)));
            try {
                look_at(rows::id(newest - back));
            } catch (const store::StorageError&) {
                ++failed_;
            }
        }
    }

    void look_at(const domain::RequestId& id) {
        const auto first = reader_.find(id);
        const auto second = reader_.find(id);
        ++answered_;
        if (!first || !second) {
            ++missing_;
        } else if (second->row.status < first->row.status) {
            ++went_back_;
        }
    }

    static constexpr std::size_t threads_count = 4;

    store::Reader reader_;
    std::atomic<std::int64_t> acknowledged_ = 0;
    std::atomic<std::uint64_t> answered_ = 0;
    std::atomic<std::uint64_t> missing_ = 0;
    std::atomic<std::uint64_t> went_back_ = 0;
    std::atomic<std::uint64_t> failed_ = 0;
    std::array<std::jthread, threads_count> threads_;  // last: they use what stands above
};

}  // namespace

TEST_CASE("writes, polls and checkpoints at once lose nothing that was acknowledged") {
    constexpr domain::Move claim = domain::moves[0];
    static_assert(claim.to == Status::processing);
    store::Options options;
    options.wal_bytes_max = 1 << 20;
    Harness harness(options);
    Polls polls(harness);
    std::mt19937_64 random(1);
    std::int64_t number = 0;
    std::uint64_t commits = 0;
    const auto end = steady_clock::now() + duration();
    while (steady_clock::now() < end) {
        const auto group = static_cast<std::int64_t>(1 + random() % 8);
        harness.commit([&] {
            for (std::int64_t i = 1; i <= group; ++i) {
                const store::Row row = rows::row(Kind::public_decrypt, number + i);
                const domain::Bytes body(random() % 3'000);
                const auto key = static_cast<std::uint64_t>(row.id.sequence);
                harness.store->insert({row, rows::identity(key), domain::ByteView{body}});
                // An older one goes on, so that pages all over the file change.
                if (number < 100) continue;
                const auto older =
                    static_cast<std::int64_t>(1 + random() % static_cast<std::uint64_t>(number));
                static_cast<void>(take(*harness.store, rows::row(Kind::public_decrypt, older),
                                       claim, rows::in_lane(store::Lane::gate), rows::start));
            }
        });
        number += group;
        polls.acknowledge(number);
        switch (++commits % 10) {
            case 3:
                harness.store->checkpoint();
                break;
            case 9:
                harness.store->truncate_wal();
                break;
            default:
                break;
        }
    }
    polls.stop();
    CHECK(polls.answered() > 0);
    CHECK(polls.missing() == 0);
    CHECK(polls.went_back() == 0);
    CHECK(polls.failed() == 0);

    CHECK(integrity(harness.options) == "ok");
    harness.reopen();
    CHECK(integrity(harness.options) == "ok");
    std::int64_t next = 1;
    for (const store::Row& row : harness.store->standing_in(store::Lane::gate)) {
        if (row.id != rows::id(next)) break;
        ++next;
    }
    CHECK(next == number + 1);
    MESSAGE(commits << " commits of " << number << " rows, " << polls.answered() << " polls");
}
