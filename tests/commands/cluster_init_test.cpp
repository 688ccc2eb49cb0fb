// A book is begun once, by one file, wherever the one who begins it is cut off.

#include "commands/cluster_init.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cluster/snapshots.hpp"
#include "commands/cluster_book.hpp"
#include "domain/identity.hpp"
#include "domain/moves.hpp"
#include "store/follower.hpp"
#include "store/journal_position.hpp"
#include "store/store.hpp"
#include "support/requests.hpp"
#include "support/simulated_database.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace {

struct Killed {};

const cluster::Keys the_keys{domain::Bytes32{7}};

// Dies before or after one of its calls.
class MortalDatabase : public support::SimulatedDatabase {
    template <class Call>
    auto lived(const Call& call) {
        step();
        auto answer = call();
        step();
        return answer;
    }

public:
    MortalDatabase(support::SimulatedServer& server, int step)
        : SimulatedDatabase(server, "main"), left_(step) {}

    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Exists> initialise(
        const domain::Bytes32& genesis) override {
        return lived([&] { return SimulatedDatabase::initialise(genesis); });
    }
    [[nodiscard]] cluster::Read<std::optional<cluster::Owner>> read_owner() override {
        return lived([&] { return SimulatedDatabase::read_owner(); });
    }
    [[nodiscard]] cluster::Read<std::vector<cluster::Snapshot>> read_heads() override {
        return lived([&] { return SimulatedDatabase::read_heads(); });
    }
    [[nodiscard]] cluster::Outcome<cluster::Done> put_part(const cluster::Snapshot& snapshot,
                                                           std::int64_t part,
                                                           domain::ByteView bytes) override {
        return lived([&] { return SimulatedDatabase::put_part(snapshot, part, bytes); });
    }
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Absent> put_head(
        const cluster::Snapshot& snapshot) override {
        return lived([&] { return SimulatedDatabase::put_head(snapshot); });
    }

    void step() {
        if (left_-- == 0) throw Killed();
    }
    [[nodiscard]] bool has_died() const { return left_ < 0; }

private:
    int left_;
};

store::Options options_at(const std::filesystem::path& directory) {
    store::Options options;
    options.directory = directory;
    options.reserve_bytes = 0;
    return options;
}

class Machine {
public:
    [[nodiscard]] const store::Options& options() const { return options_; }
    [[nodiscard]] std::optional<store::StoredPosition> position() const {
        return store::stored_position(options_);
    }

    void fill() const {
        const domain::Request request = support::input_proof(1);
        const domain::Bytes payload = domain::encode(request);
        store::Store store(options_);
        store::Store::Transaction transaction(store);
        store::NewRequest row;
        row.row.id = support::request_id(1);
        row.row.kind = domain::Kind::input_proof;
        row.row.status = domain::first_status(row.row.kind);
        row.row.schedule.lane = store::Lane::gate;
        row.identity = domain::identify(request);
        row.payload = payload;
        store.insert(row);
        transaction.commit();
    }

private:
    support::TempDirectory directory_;
    store::Options options_ = options_at(directory_.path() / "data");
};

struct World {
    support::VirtualClock clock;
    support::SimulatedServer server{clock, 1};
    support::SeededRandom random{5};
    std::vector<engine::ChainIdentity> identities{
        {.chain = store::Chain::gateway, .is = "evm chain_id=8009", .is_own = {}}};

    [[nodiscard]] commands::BookBeginning beginning(cluster::Database& database,
                                                    const Machine& machine) {
        return {database,
                the_keys,
                random,
                "main",
                machine.options(),
                identities,
                false,
                [this](domain::Milliseconds time) { clock.advance(time); }};
    }
    cluster::Snapshot begin(const Machine& machine, bool takes_used_file = false) {
        support::SimulatedDatabase database(server, "main");
        auto beginning = this->beginning(database, machine);
        beginning.takes_used_file = takes_used_file;
        return commands::begin_book(beginning, [](const ports::Done&) {});
    }
    // What it says when it does not.
    std::string refusal(const Machine& machine, bool takes_used_file = false) {
        try {
            static_cast<void>(begin(machine, takes_used_file));
        } catch (const std::runtime_error& error) {
            return error.what();
        }
        return "none";
    }
    // The book begins with this file, and a node without one can begin with the snapshot.
    void check_begun_by(const Machine& machine) {
        const auto stored = machine.position();
        REQUIRE(stored);
        CHECK(stored->position.seq == 0);
        const support::SimulatedBook* book = server.book("main");
        REQUIRE(book != nullptr);
        REQUIRE(book->journal.size() == 1);
        CHECK(book->journal.at(0).hash == stored->position.hash);

        const Machine other;
        std::filesystem::create_directory(other.options().directory);
        support::SimulatedDatabase database(server, "main");
        const auto got = cluster::get_snapshot(database, the_keys, {"main", 0},
                                               store::database_path(other.options()),
                                               [](domain::Milliseconds) {});
        REQUIRE(std::holds_alternative<cluster::Snapshot>(got));
        const store::Follower follower(other.options());
        CHECK(follower.position() == stored->position);
        const auto left = machine.options().directory / "cluster-init.snapshot";
        CHECK_FALSE(std::filesystem::exists(left));
        CHECK_FALSE(std::filesystem::exists(left.string() + ".unfinished"));
    }
};

bool says(const std::string& text, std::string_view part) {
    CAPTURE(text);
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a book begins with an empty file, and once") {
    World world;
    const Machine a;
    CHECK(world.begin(a).seq == 0);
    world.check_begun_by(a);
    const store::JournalPosition position = a.position()->position;
    CHECK(position.book == "main");
    CHECK(position.hash != domain::Bytes32{});

    // Nothing changes when it is called again, and no other machine begins the same book.
    CHECK(world.begin(a).seq == 0);
    CHECK(world.server.book("main")->heads.size() == 1);
    CHECK(a.position()->position == position);
    const Machine b;
    const std::string refusal = world.refusal(b);
    CHECK(says(refusal, "the book main is there already"));
    CHECK(says(refusal, "an empty data directory"));
    CHECK_FALSE(std::filesystem::exists(store::database_path(b.options())));
}

TEST_CASE("cut off at any step, the same command finishes what it began") {
    int steps = 0;
    for (bool has_died = true; has_died; ++steps) {
        CAPTURE(steps);
        World world;
        const Machine machine;
        {
            MortalDatabase database(world.server, steps);
            try {
                static_cast<void>(
                    commands::begin_book(world.beginning(database, machine),
                                         [&](const ports::Done&) { database.step(); }));
            } catch (const Killed&) {
                // It has cleaned up, unlike a process: see below.
            }
            has_died = database.has_died();
        }
        CHECK(world.begin(machine).seq == 0);
        world.check_begun_by(machine);
    }
    CHECK(steps > 10);
}

TEST_CASE("what a killed process left of its copy goes, and is no obstacle") {
    World world;
    const Machine machine;
    std::filesystem::create_directory(machine.options().directory);
    for (const char* name : {"cluster-init.snapshot", "cluster-init.snapshot.unfinished"}) {
        std::ofstream(machine.options().directory / name) << "secret";
    }
    CHECK(world.begin(machine).seq == 0);
    world.check_begun_by(machine);
}

TEST_CASE("a file with requests is taken over when that is asked for, with all of it") {
    World world;
    const Machine machine;
    machine.fill();
    const std::string refusal = world.refusal(machine);
    CHECK(says(refusal, "holds requests already"));
    CHECK(says(refusal, "posthouse cluster init --from " +
                            std::filesystem::canonical(machine.options().directory).string()));
    CHECK(world.server.book("main") == nullptr);
    CHECK_FALSE(machine.position());

    CHECK(world.begin(machine, true).seq == 0);
    world.check_begun_by(machine);
    CHECK(world.refusal(machine) == "none");
}

TEST_CASE("a book has the first machine that made it, whoever was ready before") {
    World world;
    const Machine slow;
    {
        // Until its file is one of the book: the owner is read before, and initialise() follows.
        MortalDatabase database(world.server, 2);
        CHECK_THROWS_AS(static_cast<void>(commands::begin_book(world.beginning(database, slow),
                                                               [](const ports::Done&) {})),
                        Killed);
    }
    REQUIRE(slow.position());
    const Machine quick;
    CHECK(world.begin(quick).seq == 0);
    const std::string refusal = world.refusal(slow);
    CHECK(says(refusal, "did not begin with"));
    CHECK(says(refusal, "posthouse cluster leave --force"));
    world.check_begun_by(quick);
}

TEST_CASE("who comes to a book that was not begun whole is sent to the one who can finish it") {
    World world;
    const Machine cut_off;
    {
        // Before the snapshots are asked for.
        MortalDatabase database(world.server, 4);
        CHECK_THROWS_AS(static_cast<void>(commands::begin_book(world.beginning(database, cut_off),
                                                               [](const ports::Done&) {})),
                        Killed);
    }
    REQUIRE(world.server.book("main") != nullptr);
    const Machine other;
    CHECK(says(world.refusal(other), "run this there once more"));
    CHECK(world.begin(cut_off).seq == 0);
    world.check_begun_by(cut_off);
    CHECK(says(world.refusal(other), "is there already"));
}

TEST_CASE("a file of a book that is not in the database begins nothing") {
    World world;
    const Machine machine;
    store::join_book(machine.options(), {"main", 0, 7, 2, domain::Bytes32{9}});
    CHECK(says(world.refusal(machine), "which is not in the database"));
    CHECK(world.server.book("main") == nullptr);

    World begun;
    const Machine first;
    CHECK(begun.begin(first).seq == 0);
    CHECK(says(begun.refusal(machine), "has entry 7 of it: start posthouse serve"));

    const Machine other;
    store::join_book(other.options(), {"second", 0, 0, 0, domain::Bytes32{9}});
    CHECK(says(begun.refusal(other), "belongs to the book second, not to main"));
}

TEST_CASE("a file of another chain is refused before there is a book") {
    World world;
    const Machine machine;
    {
        store::Store store(machine.options());
        engine::claim(store, {.chain = store::Chain::gateway, .is = "loopback", .is_trial = true});
    }
    machine.fill();
    CHECK_THROWS_AS(static_cast<void>(world.begin(machine, true)), engine::ForeignDatabase);
    CHECK(world.server.book("main") == nullptr);
    CHECK_FALSE(machine.position());
}

TEST_CASE("a file in use begins nothing") {
    World world;
    const Machine machine;
    const store::Store store(machine.options());
    CHECK(says(world.refusal(machine), "is in use by another process"));
    CHECK(world.server.book("main") == nullptr);
}

TEST_CASE("what the database does not say is asked for again") {
    World world;
    const Machine machine;
    world.server.set_faults({.unreachable = 1'000});
    CHECK(says(world.refusal(machine), "the database of the cluster: "));
    CHECK_FALSE(std::filesystem::exists(store::database_path(machine.options())));

    // The book is made, and nobody says so: it is found. The part of the snapshot is not known.
    world.server.set_faults({.unanswered = 1'000});
    CHECK(says(world.refusal(machine), "run the same once more"));
    world.server.set_faults({});
    CHECK(world.begin(machine).seq == 0);
    world.check_begun_by(machine);
}
