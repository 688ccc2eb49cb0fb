// Of a share that ended nothing stays on disk: not in the database, and soon not in its log
// (share-helper 2.1, 2.2).

#include "engine/checkpointer.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/world.hpp"

using domain::Status;
using engine::PrepareOrder;
using namespace std::chrono_literals;

namespace {

// Shares whose secrets occur nowhere else.
domain::VoteShare secret_share(std::uint64_t number, std::uint64_t submit_at = 0) {
    domain::VoteShare share = support::vote_share(number, submit_at);
    const std::string text = "witness-of-" + std::to_string(1'000'000 + number) + "-is-secret";
    std::copy_n(text.begin(), text.size(), share.primary_blind.begin());
    share.c1 = share.c2 = share.primary_blind;
    share.share_comms.fill(share.primary_blind);
    return share;
}

bool is_on_disk(support::World& world, std::uint64_t number) {
    const domain::Bytes32 secret = secret_share(number).primary_blind;
    for (const auto& entry :
         std::filesystem::directory_iterator(world.engine.store_options.directory)) {
        std::ifstream stream(entry.path(), std::ios::binary);
        const std::string bytes{std::istreambuf_iterator<char>(stream),
                                std::istreambuf_iterator<char>()};
        const auto found =
            std::search(bytes.begin(), bytes.end(), secret.begin(), secret.end(),
                        [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
        if (found != bytes.end()) return true;
    }
    return false;
}

// How often the log was cut: each time it begins with nothing.
struct Cuts : engine::Observer {
    void stepped(const engine::StepFacts& facts) override {
        if (facts.wal_bytes < before) ++count;
        before = facts.wal_bytes;
    }
    std::uint64_t before = 0;
    std::size_t count = 0;
};

}  // namespace

TEST_CASE("a second after a share ended nothing of it is on disk, whatever its end was") {
    for (const char* end : {"revealed", "failed", "timed out"}) {
        CAPTURE(end);
        const std::string ending = end;
        support::World world;
        if (ending == "failed") world.engine.options.shares.attempts_max = 1;
        if (ending == "timed out") world.engine.options.lease = 1s;
        world.engine.start();
        world.run_for(40s);  // right after a maintenance: the next one is far
        (void)world.submit(secret_share(2, world.in_seconds(3'600)));
        if (ending == "failed") {
            world.gateway.on_prepare = [](const PrepareOrder&) {
                return engine::Rejected{{domain::Reason::internal_error, "code 5", {}}};
            };
        } else if (ending == "timed out") {
            world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
            world.engine.vote_end = world.clock.wall() + 1s;
        }
        const auto id = world.submit(secret_share(1));
        CHECK(is_on_disk(world, 1));
        int waited = 0;
        while (!domain::is_terminal(world.status(id)) && ++waited < 500) world.run_for(10ms);
        REQUIRE(domain::is_terminal(world.status(id)));
        world.run_for(1s);
        CHECK_FALSE(is_on_disk(world, 1));
        CHECK(is_on_disk(world, 2));
    }
}

TEST_CASE("while shares end one after the other the log is cut now and then, not for each") {
    support::World world;
    world.engine.options.shares.max_concurrent_proofs = 4;
    world.gateway.prepare_delay = 0ms;
    world.gateway.send_delay = 100ms;
    Cuts cuts;
    world.engine.observers.add(cuts);
    world.engine.start();
    world.run_for(31s);
    for (std::uint64_t number = 1; number <= 1'000; ++number) {
        world.engine.post(secret_share(number), [](engine::AcceptOutcome) {});
    }
    const std::size_t before = cuts.count;
    world.run_for(24s);
    CHECK(world.number("select count(*) from request where status = 'completed'") >= 950);
    CHECK_FALSE(is_on_disk(world, 1));
    CHECK_FALSE(is_on_disk(world, 300));
    CHECK(cuts.count - before >= 2);
    CHECK(cuts.count - before <= 4);  // two, and what the log's size asks for
    world.run_for(3s);
    for (const std::uint64_t number : {1U, 500U, 1'000U}) CHECK_FALSE(is_on_disk(world, number));
}

TEST_CASE("shares that end a little apart cost one cut a second at most") {
    support::World world;
    world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
    Cuts cuts;
    world.engine.observers.add(cuts);
    world.engine.start();
    world.run_for(31s);
    const std::size_t before = cuts.count;
    for (std::uint64_t number = 1; number <= 100; ++number) {
        (void)world.submit(secret_share(number));
        world.run_for(100ms);
    }
    world.run_for(1s);
    CHECK(cuts.count - before >= 5);
    CHECK(cuts.count - before <= 11);
    CHECK_FALSE(is_on_disk(world, 100));
}

TEST_CASE("the better the moment the sooner the log is cut") {
    support::World world;
    world.engine.start();
    world.run_for(1s);
    const auto id = world.submit(support::vote_share(1, world.in_seconds(3'600)));
    auto& store = world.engine.process().store;
    engine::Checkpointer checkpointer(store, world.engine.logger);
    {
        store::Store::Transaction transaction(store);
        REQUIRE(store.fail(world.row(id),
                           {Status::queued, Status::failure, domain::Cause::internal},
                           {domain::Reason::undecodable, "", {}}, world.clock.wall()));
        transaction.commit();
    }
    REQUIRE(store.wal_holds_wiped_data());
    const domain::Monotonic begin = world.clock.monotonic();
    struct Row {
        domain::Milliseconds at;
        bool idle;
        bool at_work;
        domain::Milliseconds until_next;
        bool cut;
    };
    const auto must_cut = [&](const std::vector<Row>& rows) {
        for (const Row& row : rows) {
            CAPTURE(row.at.count());
            const domain::Monotonic now = begin + row.at;
            checkpointer.after_step({now, row.idle, row.at_work, false, row.until_next});
            CHECK(store.wal_holds_wiped_data() != row.cut);
            CHECK(checkpointer.next(now).has_value() != row.cut);
            if (!row.cut) CHECK(checkpointer.next(now) > now);
        }
    };
    SUBCASE("at rest") {
        must_cut({{0ms, true, false, 999ms, false}, {1ms, true, false, 1s, true}});
    }
    SUBCASE("in a gap") {
        must_cut({{0ms, true, true, 1h, false},
                  {500ms, false, false, 1h, false},
                  {9'999ms, true, true, 1h, false},
                  {10s, true, true, 49ms, false},
                  {10s, false, true, 1h, false},
                  {10s, true, true, 50ms, true}});
    }
    SUBCASE("under unbroken load") {
        must_cut({{0ms, false, true, 0ms, false},
                  {14'999ms, false, true, 0ms, false},
                  {15s, false, true, 0ms, true}});
    }
}

TEST_CASE("a quiet moment cuts the log, and a reader in the way is asked again a second later") {
    support::World world;
    world.engine.start();
    world.run_for(40s);
    const auto id = world.submit(secret_share(1));
    {
        SQLite::Database shell{store::database_path(world.engine.store_options).string(),
                               SQLite::OPEN_READONLY};
        shell.exec("begin");
        CHECK(shell.execAndGet("select count(*) from request").getInt() == 1);
        world.run_for(5s);
        REQUIRE(world.status(id) == Status::completed);
        CHECK(is_on_disk(world, 1));
        CHECK(world.engine.turn().length > 0s);
    }
    world.run_for(1s);
    CHECK_FALSE(is_on_disk(world, 1));
}
