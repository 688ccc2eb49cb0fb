// What the commands see of a book and its nodes, and what they refuse.

#include <doctest/doctest.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "commands/cluster_book.hpp"
#include "commands/cluster_leave.hpp"
#include "commands/cluster_members.hpp"
#include "commands/cluster_sight.hpp"
#include "commands/cluster_status.hpp"
#include "support/simulated_database.hpp"
#include "support/virtual_time.hpp"

namespace {

using namespace std::chrono_literals;
using domain::Bytes32;
using Texts = std::vector<std::string>;

const Bytes32 genesis_hash{1};
constexpr cluster::Instance instance_of_a{0xa};

struct Book {
    support::VirtualClock clock;
    support::SimulatedServer server{clock, 1};
    support::SimulatedDatabase database{server, "main"};
    // What the nodes do while somebody watches.
    std::function<void()> goes_on = [] {};
    commands::Watching watching{clock, [this](domain::Milliseconds pause) {
                                    clock.advance(pause);
                                    goes_on();
                                }};
    std::int64_t epoch = 0;
    std::int64_t last = 0;
    Bytes32 hash = genesis_hash;

    Book() { REQUIRE(std::holds_alternative<cluster::Done>(database.initialise(genesis_hash))); }

    void take(const std::string& node) {
        const auto owner = std::get<0>(database.read_owner()).value();
        const auto taken =
            database.take({owner.epoch, owner.instance}, {node, instance_of_a, "http://" + node});
        epoch = std::get<cluster::Taken>(taken).epoch;
    }
    void append() {
        const Bytes32 next{static_cast<std::uint8_t>(last + 2)};
        const domain::Bytes bytes(100);
        REQUIRE(std::holds_alternative<cluster::Appended>(
            database.append({last + 1, epoch, hash, next, last, bytes})));
        hash = next;
        ++last;
        renew();
    }
    void renew() { REQUIRE(std::holds_alternative<cluster::Renewed>(database.renew(epoch, last))); }
    void tell(const std::string& name, std::int64_t seq) {
        REQUIRE(std::holds_alternative<cluster::Done>(
            database.register_node({name, "http://" + name, seq, clock.wall()})));
    }
    [[nodiscard]] commands::BookSight look() {
        return commands::look_at_book(database, watching).value();
    }
    [[nodiscard]] Texts objections(const std::string& node, std::int64_t seq, const Bytes32& own) {
        watching.nodes_too = true;
        return commands::objections_to_leaving(
            database, {"main", 0, static_cast<std::uint64_t>(seq), 1, own}, node, watching);
    }
};

}  // namespace

TEST_CASE("an owner that renews its lease lives, and is not watched for longer than that takes") {
    Book book;
    book.take("a");
    book.goes_on = [&] { book.renew(); };
    const commands::BookSight sight = book.look();
    CHECK(sight.owner.node == "a");
    CHECK(sight.owner.epoch == 1);
    CHECK(sight.owner_lives);
    CHECK(sight.watched >= 100ms);
    CHECK(sight.watched < 500ms);
}

TEST_CASE("an owner that is not heard of for a lease and its margin does not live") {
    Book book;
    book.take("a");
    const commands::BookSight sight = book.look();
    CHECK_FALSE(sight.owner_lives);
    CHECK(sight.watched >= 3'300ms);
    CHECK(sight.watched < 3'300ms + 250ms);

    // Another one that takes its place meanwhile is as alive as one that renews.
    book.goes_on = [&] { book.take("b"); };
    const commands::BookSight next = book.look();
    CHECK(next.owner.node == "b");
    CHECK(next.owner_lives);
}

TEST_CASE("a book that nobody has owned yet is not waited for, and one that is not there is none") {
    Book book;
    const commands::BookSight sight = book.look();
    CHECK(sight.owner.epoch == 0);
    CHECK(sight.watched == 0ms);
    CHECK(sight.extent.last == 0);

    support::SimulatedDatabase other(book.server, "other");
    CHECK_FALSE(commands::look_at_book(other, book.watching));
    book.server.set_faults({.unreachable = 1'000});
    support::SimulatedDatabase gone(book.server, "main");
    CHECK_THROWS_AS(static_cast<void>(commands::look_at_book(gone, book.watching)),
                    commands::NoAnswerOfDatabase);
}

TEST_CASE("a node lives when it tells of itself while it is watched") {
    Book book;
    book.take("a");
    book.tell("b", 0);
    book.tell("c", 0);
    book.watching.nodes_too = true;
    int looks = 0;
    book.goes_on = [&] {
        book.renew();
        if (++looks == 3) book.tell("c", 0);
    };
    const commands::BookSight sight = book.look();
    REQUIRE(sight.nodes.size() == 2);
    CHECK(sight.nodes[0].node.name == "b");
    CHECK_FALSE(sight.nodes[0].lives);
    CHECK(sight.nodes[1].lives);
    CHECK(sight.watched >= 3'300ms);
}

TEST_CASE("status says who owns the book, who follows, and where this machine is") {
    Book book;
    book.take("a");
    book.append();
    book.append();
    book.tell("b", 1);
    book.goes_on = [&] { book.renew(); };
    cluster::Options options;
    commands::ClusterStatus status{book.look(), 1, {"/d/posthouse.db", {}, {}, {}}};
    status.file.stored = store::StoredPosition{{"main", 0, 1, 1, {}}, {}};
    status.file.standing = cluster::Standing::continues;
    status.book.watched = 250ms;
    status.book.nodes.front().node.seen = domain::from_unix_ms(1'780'272'000'000);
    CHECK(commands::status_lines(options, status) ==
          "book       main\n"
          "database   1 synchronous standby\n"
          "owner      a, epoch 1, http://a, lives\n"
          "journal    entries 0 to 2, 200 bytes; acknowledged up to 2\n"
          "snapshots  none: a follower makes the next one\n"
          "node       b  http://b  entry 1 is on its disk, 1 behind, told of itself at "
          "2026-06-01T00:00:00.000Z by its own clock\n"
          "this file  /d/posthouse.db: entry 1 of epoch 1; the journal goes on from there\n");
    const auto json = nlohmann::json::parse(commands::status_json(options, status));
    CHECK(json == nlohmann::json::parse(R"({
        "book": "main", "durability": "standby", "standbys": 1,
        "owner": {"node": "a", "url": "http://a", "epoch": 1, "beat": 4, "lives": true,
                  "watched_ms": 250},
        "journal": {"first": 0, "last": 2, "epoch": 1, "stable": 2, "bytes": 200},
        "snapshots": [],
        "nodes": [{"name": "b", "url": "http://b", "seq": 1, "behind": 1,
                   "seen": "2026-06-01T00:00:00.000Z", "lives": false}],
        "file": {"path": "/d/posthouse.db", "book": "main", "seq": 1, "epoch": 1,
                 "standing": "continues"}})"));
}

TEST_CASE("status says what is wrong in words") {
    Book book;
    book.take("a");
    cluster::Options options;
    commands::ClusterStatus status{book.look(), 0, {"/d/posthouse.db", {}, {}, "there is no x"}};
    const std::string lines = commands::status_lines(options, status);
    CAPTURE(lines);
    const auto said = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    CHECK(said(lines, "database   no synchronous standby: nodes take no requests"));
    CHECK(said(lines, "not heard of for 3 s: its lease is over"));
    CHECK(said(lines, "node       none has told of itself yet"));
    CHECK(said(lines, "this file  there is no x"));

    options.durability = cluster::Durability::storage;
    status.file.problem.clear();
    const std::string plain = commands::status_lines(options, status);
    CHECK(said(plain, "database   replicates below us"));
    CHECK(said(plain, "/d/posthouse.db: belongs to no book"));
    status.file.stored = store::StoredPosition{{"other", 0, 1, 1, {}}, {}};
    CHECK(said(commands::status_lines(options, status), "of another book, other"));
    status.file.stored->position.book = "main";
    status.file.standing = cluster::Standing::behind;
    CHECK(said(commands::status_lines(options, status), "the database lacks it: it went back"));
    status.file.stored->diverged = "a slice";
    CHECK(
        said(commands::status_lines(options, status), "diverged, only a snapshot helps: a slice"));

    Book young;
    status.book = young.look();
    CHECK(said(commands::status_lines(options, status), "owner      nobody yet"));
    CHECK(nlohmann::json::parse(commands::status_json(options, status)).at("owner").is_null());
}

TEST_CASE("the last owner leaves with all of the book when nobody goes on with it") {
    Book book;
    book.take("a");
    book.append();
    book.tell("b", 1);
    CHECK(book.objections("a", 1, book.hash).empty());

    Book young;
    CHECK(young.objections("a", 0, genesis_hash).empty());
}

TEST_CASE("what speaks against leaving is said, each thing once") {
    Book book;
    book.take("b");
    book.append();
    const Bytes32 first = book.hash;
    book.append();
    book.tell("a", 1);

    CHECK(book.objections("a", 1, first) ==
          Texts{"this file ends with entry 1, the journal with 2: requests that were accepted in "
                "between would be lost, and what was sent in between could be sent again; start "
                "posthouse serve here, wait until it is not behind, and stop it",
                "node b owned the book last; leave there, or let this node own it first"});
    CHECK(book.objections("b", 3, first) ==
          Texts{"the database ends before entry 3, which this file has: it went back, or is "
                "another one"});
    CHECK(book.objections("b", 2, first) ==
          Texts{"the database has another entry 2 than this file"});

    book.goes_on = [&] {
        book.renew();
        book.tell("c", 2);
        book.tell("b", 2);
    };
    CHECK(book.objections("b", 2, book.hash) ==
          Texts{"node b owns the book and lives: stop it",
                "node c follows the book and would go on with it, and the same would be sent "
                "twice: stop it"});

    support::SimulatedDatabase other(book.server, "other");
    CHECK(commands::objections_to_leaving(other, {"other", 0, 0, 0, {}}, "a", book.watching) ==
          Texts{"the database does not know the book other"});
}

TEST_CASE("a node that does not come back is struck off, the owner is not") {
    Book book;
    book.take("a");
    book.tell("a", 0);
    book.tell("b", 0);
    const auto refusal = [&](const std::string& node) -> std::string {
        try {
            return commands::forget_node(book.database, book.watching, "main", node) ? "it lives"
                                                                                     : "none";
        } catch (const std::runtime_error& error) {
            return error.what();
        }
    };
    CHECK(refusal("a").starts_with("not forgotten: a owns the book main; stop it"));
    CHECK(refusal("x") == "the book main has no node x; it has a, b");
    CHECK(refusal("b") == "none");
    CHECK(refusal("b") == "the book main has no node b; it has a");
    // One that tells of itself meanwhile is not gone for long.
    book.tell("c", 0);
    book.goes_on = [&] { book.tell("c", 0); };
    CHECK(refusal("c") == "it lives");
    support::SimulatedDatabase other(book.server, "other");
    CHECK_THROWS_AS(static_cast<void>(commands::forget_node(other, book.watching, "other", "b")),
                    std::runtime_error);
}
