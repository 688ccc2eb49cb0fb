#include "cluster/entry.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "support/contains.hpp"
#include "support/virtual_time.hpp"

namespace {

using cluster::Entry;
using cluster::EntryKind;
using cluster::EntryPlace;
using cluster::Keys;
using cluster::PartPlace;
using cluster::Unreadable;

domain::Bytes32 filled_key(std::uint8_t byte) {
    domain::Bytes32 key{};
    key.fill(byte);
    return key;
}

EntryPlace some_place() {
    return {.book = "main", .shard = 0, .seq = 7, .epoch = 3, .previous = filled_key(9)};
}

Entry some_entry() {
    return {.kind = EntryKind::changes,
            .schema = 12,
            .wall = domain::from_unix_ms(1'780'272'000'123),
            .steady = domain::from_unix_ms(1'780'271'999'000),
            .payload = {1, 2, 3, 4},
            .digest = {5, 6}};
}

template <class Place>
struct Change {
    std::string_view label;
    void (*make)(Place&);
};

}  // namespace

TEST_CASE("an entry opens as what was sealed") {
    support::SeededRandom random(1);
    const Keys keys(filled_key(1));
    for (const EntryKind kind : {EntryKind::changes, EntryKind::migration, EntryKind::release}) {
        Entry entry = some_entry();
        entry.kind = kind;
        CHECK(std::get<Entry>(open_entry(keys, some_place(),
                                         seal_entry(keys, some_place(), entry, random))) == entry);
    }
    const Entry empty;
    CHECK(std::get<Entry>(open_entry(keys, some_place(),
                                     seal_entry(keys, some_place(), empty, random))) == empty);
}

TEST_CASE("sealed bytes differ each time and show nothing of what is in them") {
    support::SeededRandom random(1);
    const Keys keys(filled_key(1));
    Entry entry = some_entry();
    entry.payload.assign(64, 0x5a);
    const domain::Bytes one = seal_entry(keys, some_place(), entry, random);
    const domain::Bytes other = seal_entry(keys, some_place(), entry, random);
    CHECK(one != other);
    CHECK_FALSE(support::contains(domain::to_hex(one), "5a5a5a5a"));
    CHECK_FALSE(support::contains(domain::to_hex(one), "01010101"));
}

TEST_CASE("an entry opens in its place only") {
    support::SeededRandom random(1);
    const Keys keys(filled_key(1));
    const domain::Bytes sealed = seal_entry(keys, some_place(), some_entry(), random);
    for (const Change<EntryPlace>& change : {
             Change<EntryPlace>{"book", [](EntryPlace& place) { place.book = "other"; }},
             Change<EntryPlace>{"shard", [](EntryPlace& place) { place.shard = 1; }},
             Change<EntryPlace>{"seq", [](EntryPlace& place) { ++place.seq; }},
             Change<EntryPlace>{"epoch", [](EntryPlace& place) { --place.epoch; }},
             Change<EntryPlace>{"previous", [](EntryPlace& place) { place.previous[31] ^= 1; }},
         }) {
        CAPTURE(change.label);
        EntryPlace place = some_place();
        change.make(place);
        CHECK(std::holds_alternative<Unreadable>(open_entry(keys, place, sealed)));
        CHECK(cluster::hash_of(place, sealed) != cluster::hash_of(some_place(), sealed));
    }
}

TEST_CASE("no byte of an entry can be changed or cut off, also of those in the clear") {
    support::SeededRandom random(1);
    const Keys keys(filled_key(1));
    const domain::Bytes sealed = seal_entry(keys, some_place(), some_entry(), random);
    for (std::size_t at = 0; at < sealed.size(); ++at) {
        CAPTURE(at);
        domain::Bytes changed = sealed;
        changed[at] ^= 1;
        CHECK(std::holds_alternative<Unreadable>(open_entry(keys, some_place(), changed)));
        CHECK(std::holds_alternative<Unreadable>(
            open_entry(keys, some_place(), {sealed.data(), at})));
        CHECK(cluster::hash_of(some_place(), changed) != cluster::hash_of(some_place(), sealed));
    }
}

TEST_CASE("a key that is not here is named, and so are those that are") {
    support::SeededRandom random(1);
    const Keys old(filled_key(1));
    const Keys fresh(filled_key(2));
    const domain::Bytes sealed = seal_entry(old, some_place(), some_entry(), random);
    const auto refused = std::get<Unreadable>(open_entry(fresh, some_place(), sealed));
    CHECK(refused.reason == "was sealed with " + old.names() + "; this node has " + fresh.names());
}

TEST_CASE("while keys are exchanged both open, and the current one seals") {
    support::SeededRandom random(1);
    const Keys before(filled_key(1), filled_key(2));
    const Keys after(filled_key(2), filled_key(1));
    for (const Keys* sealing : {&before, &after}) {
        const domain::Bytes sealed = seal_entry(*sealing, some_place(), some_entry(), random);
        for (const Keys* opening : {&before, &after}) {
            CHECK(std::get<Entry>(open_entry(*opening, some_place(), sealed)) == some_entry());
        }
    }
    const domain::Bytes sealed = seal_entry(after, some_place(), some_entry(), random);
    CHECK(std::holds_alternative<Entry>(open_entry(Keys(filled_key(2)), some_place(), sealed)));
    CHECK(
        std::holds_alternative<Unreadable>(open_entry(Keys(filled_key(1)), some_place(), sealed)));
}

TEST_CASE("a part of a snapshot opens in its place only, and an entry is none") {
    support::SeededRandom random(1);
    const Keys keys(filled_key(1));
    const PartPlace here{.book = "main", .seq = 7, .hash = filled_key(3), .part = 2};
    const domain::Bytes plain{1, 2, 3};
    const domain::Bytes sealed = seal_part(keys, here, plain, random);
    CHECK(std::get<domain::Bytes>(open_part(keys, here, sealed)) == plain);
    for (const Change<PartPlace>& change : {
             Change<PartPlace>{"book", [](PartPlace& place) { place.book = "other"; }},
             Change<PartPlace>{"shard", [](PartPlace& place) { place.shard = 1; }},
             Change<PartPlace>{"seq", [](PartPlace& place) { ++place.seq; }},
             Change<PartPlace>{"hash", [](PartPlace& place) { place.hash[0] ^= 1; }},
             Change<PartPlace>{"snapshot", [](PartPlace& place) { place.snapshot[15] = 1; }},
             Change<PartPlace>{"part", [](PartPlace& place) { ++place.part; }},
             Change<PartPlace>{"last", [](PartPlace& place) { place.is_last = true; }},
         }) {
        CAPTURE(change.label);
        PartPlace place = here;
        change.make(place);
        CHECK(std::holds_alternative<Unreadable>(open_part(keys, place, sealed)));
    }
    CHECK(std::holds_alternative<Unreadable>(open_entry(keys, some_place(), sealed)));
}
