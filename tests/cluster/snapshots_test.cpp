// A file on its way through a database that does not always answer.

#include "cluster/snapshots.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "cluster/chain.hpp"
#include "support/simulated_database.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

using cluster::Snapshot;
using cluster::SnapshotFailed;
using cluster_test::genesis;
using cluster_test::is_a;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t parts = 3;

std::string content_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// After some more calls for parts it answers none, for a while. Its heads may lose their answers.
class FlakyDatabase : public support::SimulatedDatabase {
public:
    using SimulatedDatabase::SimulatedDatabase;

    [[nodiscard]] cluster::Outcome<cluster::Done> put_part(const Snapshot& snapshot,
                                                           std::int64_t part,
                                                           domain::ByteView bytes) override {
        if (is_gone()) return cluster::Unavailable{"gone"};
        return SimulatedDatabase::put_part(snapshot, part, bytes);
    }
    [[nodiscard]] cluster::Read<std::optional<domain::Bytes>> read_part(
        const Snapshot& snapshot, std::int64_t part) override {
        if (is_gone()) return cluster::Unavailable{"gone"};
        return SimulatedDatabase::read_part(snapshot, part);
    }
    [[nodiscard]] cluster::Outcome<cluster::Done, cluster::Absent> put_head(
        const Snapshot& snapshot) override {
        auto outcome = SimulatedDatabase::put_head(snapshot);
        if (loses_heads) return cluster::Unknown{"no answer"};
        return outcome;
    }

    int lives_for = 0;
    int is_gone_for = 0;
    bool loses_heads = false;

private:
    bool is_gone() { return lives_for-- <= 0 && is_gone_for-- > 0; }
};

// A book at its beginning, and a file of some parts.
struct Way {
    Way() {
        cluster_test::begin_book(database);
        std::string content(parts * cluster::snapshot_part_bytes - 1'000, 'x');
        for (std::size_t at = 0; at < content.size(); at += 997) content[at] = 'a';
        std::ofstream(file("file"), std::ios::binary) << content;
    }

    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return directory.path() / name;
    }
    [[nodiscard]] auto put() {
        return cluster::put_snapshot(database, keys, random, {"main", 0, 0, 0, genesis},
                                     file("file"), look);
    }
    [[nodiscard]] auto get() {
        return cluster::get_snapshot(database, keys, {"main", 0}, file("copy"), look);
    }

    support::VirtualClock clock;
    support::SimulatedServer server{clock, 1};
    FlakyDatabase database{server, "main"};
    support::SeededRandom random{1};
    const cluster::Keys keys{domain::Bytes32{}};
    const support::TempDirectory directory;
    int waits = 0;
    cluster::Look look = [this](domain::Milliseconds pause) {
        clock.advance(pause);
        if (pause > 0s) ++waits;
    };
};

}  // namespace

TEST_CASE("a part that the database does not take or give is asked for again") {
    Way way;
    way.database.lives_for = 1;
    way.database.is_gone_for = 4;
    REQUIRE(is_a<Snapshot>(way.put()));
    CHECK(way.waits == 4);
    way.database.lives_for = 2;
    way.database.is_gone_for = 4;
    REQUIRE(is_a<Snapshot>(way.get()));
    CHECK(way.waits == 8);
    CHECK(content_of(way.file("copy")) == content_of(way.file("file")));
}

TEST_CASE("a snapshot that is given up leaves no parts behind") {
    Way way;
    way.database.lives_for = 2;
    way.database.is_gone_for = 1'000;
    CHECK(std::get<SnapshotFailed>(way.put()).reason == "gone");
    CHECK(way.waits == 4);
    CHECK(way.server.book("main")->parts.empty());
}

TEST_CASE("a snapshot that may count by now keeps its parts") {
    Way way;
    way.database.loses_heads = true;
    CHECK(std::get<SnapshotFailed>(way.put()).reason == "no answer");
    CHECK(way.server.book("main")->heads.size() == 1);
    CHECK(way.server.book("main")->parts.size() == parts);
    CHECK(is_a<Snapshot>(way.get()));
}

TEST_CASE("what a snapshot that is not fetched whole has written is overwritten") {
    Way way;
    REQUIRE(is_a<Snapshot>(way.put()));
    const std::filesystem::path link = way.file("link");
    way.look = [&](domain::Milliseconds) {
        const std::filesystem::path written = way.file("copy.unfinished");
        if (!std::filesystem::exists(written)) return;  // its head is looked for
        if (!std::filesystem::exists(link)) std::filesystem::create_hard_link(written, link);
        if (std::filesystem::file_size(link) > 0) throw std::runtime_error("stopping");
    };
    CHECK_THROWS_WITH_AS(static_cast<void>(way.get()), "stopping", std::runtime_error);
    const std::string left = content_of(link);
    CHECK(left.size() >= cluster::snapshot_part_bytes);
    CHECK(std::ranges::count(left, '\0') == std::ssize(left));
    CHECK_FALSE(std::filesystem::exists(way.file("copy.unfinished")));
}
