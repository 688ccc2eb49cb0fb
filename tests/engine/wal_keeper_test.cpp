// Of a share that ended nothing stays on disk: not in the database, and soon not in its log
// (share-helper 2.1, 2.2).

#include "engine/wal_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/world.hpp"

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

bool is_on_disk(World& world, std::uint64_t number) {
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
        World world;
        world.engine.start();
        world.run_for(40s);  // right after a maintenance: the next one is far
        (void)world.submit(secret_share(2, world.in_seconds(3'600)));
        if (ending == "failed") {
            world.engine.options.shares.attempts_max = 1;
            world.gateway.on_prepare = [](const PrepareOrder&) {
                return engine::Rejected{{domain::Reason::internal_error, "code 5", {}}};
            };
        } else if (ending == "timed out") {
            world.gateway.on_prepare = [](const PrepareOrder&) { return std::nullopt; };
            world.engine.options.lease = 1s;
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

TEST_CASE("the log is cut once a second at most while shares end one after the other") {
    World world;
    world.engine.options.shares.max_concurrent_proofs = 4;
    world.gateway.prepare_delay = 0ms;
    world.gateway.send_delay = 100ms;
    Cuts cuts;
    world.engine.observers.add(cuts);
    for (std::uint64_t number = 1; number <= 400; ++number) {
        world.engine.post(secret_share(number), [](engine::AcceptOutcome) {});
    }
    world.run_for(10s);
    CHECK(world.number("select count(*) from request where status = 'completed'") >= 390);
    CHECK(cuts.count >= 5);
    CHECK(cuts.count <= 11);
    world.run_for(2s);
    for (const std::uint64_t number : {1U, 200U, 400U}) CHECK_FALSE(is_on_disk(world, number));
}

TEST_CASE("when there is never a quiet moment the log is cut after ten seconds") {
    World world;
    world.gateway.prepare_delay = world.gateway.send_delay = 0ms;
    Cuts cuts;
    world.engine.observers.add(cuts);
    world.engine.start();
    world.run_for(31s);
    // Something is due every 20 ms.
    for (std::uint64_t number = 1; number <= 40; ++number) {
        const auto at = static_cast<std::uint64_t>(domain::unix_ms(world.clock.wall()) / 1000) + 2;
        (void)world.submit(support::vote_share(number, at));
    }
    engine::WalKeeper keeper(world.engine.process().store, world.engine.journal);
    auto& store = world.engine.process().store;
    world.run_for(1s);
    {
        store::Store::Transaction transaction(store);
        const auto row = store.due(store::Lane::schedule, domain::Timestamp::max(), 1).at(0);
        REQUIRE(store.fail(row, {Status::queued, Status::failure, domain::Cause::internal},
                           {domain::Reason::undecodable, "", {}}, world.clock.wall()));
        transaction.commit();
    }
    REQUIRE(store.wal_holds_wiped_data());
    const domain::Monotonic begin = world.clock.monotonic();
    struct Row {
        domain::Milliseconds at;
        bool idle;
        domain::Milliseconds until_next;
        bool cut;
    };
    for (const Row& row : {Row{0ms, true, 20ms, false}, Row{500ms, false, 1s, false},
                           Row{9'999ms, true, 49ms, false}, Row{10s, false, 0ms, true}}) {
        CAPTURE(row.at.count());
        keeper.after_step({begin + row.at, row.idle, false, row.until_next});
        CHECK(store.wal_holds_wiped_data() != row.cut);
        CHECK(keeper.next(begin + row.at).has_value() != row.cut);
        if (!row.cut) CHECK(keeper.next(begin + row.at) > begin + row.at);
    }
}

TEST_CASE("a quiet moment cuts the log, and a reader in the way is asked again a second later") {
    World world;
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
