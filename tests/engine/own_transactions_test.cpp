// Transactions that a gateway signs for no request: stored before they leave.

#include <sqlite3.h>

#include <chrono>
#include <optional>
#include <string>

#include <SQLiteCpp/SQLiteCpp.h>

#include "engine/chain_marks.hpp"
#include "support/fault_vfs.hpp"
#include "support/world.hpp"

using engine::OwnSettled;
using store::OwnFate;
using store::OwnTransaction;
using namespace std::chrono_literals;

namespace {

OwnTransaction own(std::uint64_t nonce, std::uint8_t mark, OwnTransaction::Purpose purpose,
                   const std::string& account = "0xA") {
    OwnTransaction transaction;
    transaction.account = account;
    transaction.nonce = nonce;
    transaction.hash.fill(mark);
    transaction.purpose = purpose;
    transaction.sealed = {mark, 1, 2};
    return transaction;
}

constexpr auto approval = OwnTransaction::Purpose::approval;
constexpr auto filler = OwnTransaction::Purpose::filler;

std::string text(support::World& world, const std::string& sql) {
    SQLite::Database database(store::database_path(world.engine.store_options).string());
    SQLite::Statement statement(database, sql);
    return statement.executeStep() && !statement.getColumn(0).isNull()
               ? statement.getColumn(0).getString()
               : "none";
}

std::string fate_of(support::World& world, std::uint8_t mark) {
    domain::Bytes32 hash{};
    hash.fill(mark);
    return text(world,
                "select fate from own_transaction where hash = x'" + domain::to_hex(hash) + "'");
}

}  // namespace

TEST_CASE("what is signed for no request is stored, then sent, and its nonce counts as ours") {
    support::World world;
    engine::Inbox& inbox = world.engine.process().inbox;
    inbox.own_sealed(own(7, 1, approval));
    CHECK(world.gateway.own_sent.empty());
    world.engine.turn();
    REQUIRE(world.gateway.own_sent.size() == 1);
    CHECK(world.gateway.own_sent[0].hash == own(7, 1, approval).hash);
    CHECK(world.gateway.own_sent[0].at == world.clock.wall());
    CHECK(text(world, "select position from cursor where listener = 'mark nonce 0xA'") == "8");
    CHECK(world.engine.logger.count("own_transaction_signed purpose=approval account=0xA nonce=7 "
                                    "hash=0x0101") == 1);
    // A filler lies below; the same bytes twice are one row.
    inbox.own_sealed(own(3, 2, filler));
    inbox.own_sealed(own(3, 2, filler));
    world.engine.turn();
    CHECK(text(world, "select count(*) from own_transaction") == "2");
    CHECK(text(world, "select position from cursor where listener = 'mark nonce 0xA'") == "8");
}

TEST_CASE("a commit that fails sends nothing, and the next one does") {
    support::FaultVfs vfs{support::FaultVfs::Memory::none};
    support::World world;
    world.engine.store_options.vfs = vfs.name();
    engine::Inbox& inbox = world.engine.process().inbox;
    vfs.fail({support::FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
    inbox.own_sealed(own(7, 1, approval));
    world.run_for(10s);
    CHECK(world.gateway.own_sent.empty());
    vfs.heal();
    world.run_for(20s);
    CHECK(world.gateway.own_sent.size() == 1);
}

TEST_CASE("a restart hands over what is not settled, with its bytes, and holds its nonces") {
    support::World world;
    engine::Inbox* inbox = &world.engine.process().inbox;
    inbox->own_sealed(own(7, 1, approval));
    world.run_for(1s);
    inbox->own_sealed(own(7, 2, approval));
    inbox->own_sealed(own(4, 3, filler, "0xB"));
    world.run_for(1s);
    world.restart();
    const engine::Resume& resumed = world.gateway.resumed;
    REQUIRE(resumed.own.size() == 3);
    CHECK(resumed.own[0].hash == own(7, 1, approval).hash);
    CHECK(resumed.own[0].sealed == own(7, 1, approval).sealed);
    CHECK(resumed.own[0].purpose == approval);
    CHECK(resumed.own[1].hash == own(7, 2, approval).hash);
    CHECK(resumed.own[2].account == "0xB");
    CHECK(resumed.own[2].purpose == filler);
    REQUIRE(resumed.in_flight.size() == 3);
    CHECK(resumed.in_flight[2].nonce == 4);
    CHECK(resumed.in_flight[2].account == "0xB");

    inbox = &world.engine.process().inbox;
    inbox->own_settled({"0xA", 7, own(7, 2, approval).hash, OwnFate::included});
    inbox->own_settled({"0xB", 4, std::nullopt, OwnFate::replaced});
    world.engine.turn();
    CHECK(fate_of(world, 1) == "replaced");
    CHECK(fate_of(world, 2) == "included");
    CHECK(fate_of(world, 3) == "replaced");
    world.restart();
    CHECK(world.gateway.resumed.own.empty());
    CHECK(world.gateway.resumed.in_flight.empty());
}

TEST_CASE("settled ones are purged when what is kept longest is, and others never") {
    support::World world;
    world.engine.options.retention.expiry_enabled = true;
    world.engine.options.retention.public_decrypt = 48h;
    world.engine.options.retention.user_decrypt = 1h;
    world.engine.options.retention.input_proof = 1h;
    engine::Inbox& inbox = world.engine.process().inbox;
    inbox.own_sealed(own(1, 1, filler));
    inbox.own_sealed(own(2, 2, filler));
    inbox.own_settled({"0xA", 1, own(1, 1, filler).hash, OwnFate::included});
    world.run_for(24h);
    CHECK(text(world, "select count(*) from own_transaction") == "2");
    world.run_for(26h);
    CHECK(text(world, "select group_concat(nonce) from own_transaction") == "2");
}

TEST_CASE("another chain forgets them") {
    support::World world;
    world.engine.process().inbox.own_sealed(own(1, 1, filler));
    world.run_for(1s);
    world.crash();
    store::Store store(world.engine.store_options);
    engine::claim(store, {store::Chain::gateway, "type=evm chain_id=1"});
    CHECK(store.own_unsettled().size() == 1);
    const auto adopted = engine::adopt(store, {store::Chain::gateway, "type=evm chain_id=2"});
    CHECK(adopted.was_other);
    CHECK(store.own_unsettled().empty());
}
