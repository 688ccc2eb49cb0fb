#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "support/fault_vfs.hpp"
#include "support/world.hpp"

using domain::Kind;
using domain::Status;
using engine::AccountFound;
using engine::Cancel;
using engine::CheckOrder;
using engine::Done;
using engine::InstructionOutcome;
using engine::NotWritten;
using engine::Pending;
using engine::PrepareOrder;
using engine::Release;
using engine::Released;
using engine::Reseal;
using engine::SendOrder;
using engine::SendOutcome;
using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t longest_retry_after = 300;

// Requests of all kinds that wait for readiness or for a gateway that does not answer.
struct HoldWorld : support::World {
    HoldWorld() {
        gateway.on_check = [this](const CheckOrder&) -> std::optional<engine::CheckOutcome> {
            if (!ready) return engine::NotReady{};
            return engine::Ready{};
        };
        gateway.on_prepare = [this](const PrepareOrder&) -> std::optional<engine::PrepareOutcome> {
            if (!ready) return std::nullopt;
            return engine::Plan{};
        };
        engine.options.readiness_timeout = {1h, 1h};
        engine.options.readiness_attempts_max = 1'000'000;
    }

    std::vector<domain::RequestId> submit_all() {
        std::vector<domain::RequestId> ids;
        for (const Kind kind : support::relayer_kinds) {
            ids.push_back(submit(support::request_of(kind, 100)));
        }
        return ids;
    }

    // As `restore` leaves it.
    void restore() {
        crash();
        const std::string now = std::to_string(domain::unix_ms(clock.wall()));
        const std::string unsealed = store::unsealed_in_work;
        tamper("insert into hold (id, since_ms) select id, " + now + " from request where " +
               unsealed + "; update request set lane = 2, wake_ms = " + now + " where " + unsealed +
               "; insert into cursor select 'mark restored', max(id) from request");
        gateway.checks.clear();
        gateway.prepares.clear();
        gateway.sends.clear();
        engine.start();
    }

    // Nothing when it was not stored.
    std::optional<Released> release(const std::vector<domain::RequestId>& ids, bool all = false) {
        std::optional<InstructionOutcome> told;
        engine.process().service.instruct(
            {Release{all, ids}, [&](const InstructionOutcome& outcome) { told = outcome; }});
        engine.turn();
        if (const auto* released = std::get_if<Released>(&told.value())) return *released;
        CHECK(std::holds_alternative<NotWritten>(*told));
        return std::nullopt;
    }

    bool cancel(const domain::RequestId& id) {
        std::optional<InstructionOutcome> told;
        engine.process().service.instruct(
            {Cancel{id}, [&](const InstructionOutcome& outcome) { told = outcome; }});
        engine.turn();
        return std::holds_alternative<Done>(told.value());
    }

    std::size_t asked_for(const domain::RequestId& id) const {
        const auto is_it = [&id](const auto& order) { return order.id == id; };
        const auto was_sent = [&id](const auto& sent) { return sent.order.id == id; };
        return static_cast<std::size_t>(std::ranges::count_if(gateway.checks, is_it) +
                                        std::ranges::count_if(gateway.prepares, is_it) +
                                        std::ranges::count_if(gateway.sends, was_sent));
    }

    std::size_t lines(const std::string& part) const { return engine.logger.count(part); }

    bool ready = false;
};

}  // namespace

TEST_CASE("what is held is not touched, whatever time passes, and polls say when to come back") {
    HoldWorld world;
    const auto ids = world.submit_all();
    world.run_for(1s);
    std::vector<Status> before;
    for (const auto& id : ids) before.push_back(world.status(id));
    world.restore();
    CHECK(world.lines("requests_held alert=true count=5") == 1);
    world.ready = true;
    for (int restarts = 0; restarts < 3; ++restarts) {
        world.run_for(30h);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            CAPTURE(i);
            CHECK(world.status(ids[i]) == before[i]);
            CHECK(world.asked_for(ids[i]) == 0);
            const auto found = world.engine.process().service.find(ids[i]);
            CHECK(std::get<Pending>(found).retry_after_seconds == longest_retry_after);
            const auto again = support::accepted(
                world.engine.try_submit(support::request_of(support::relayer_kinds[i], 100)));
            CHECK(again.duplicate);
            CHECK(again.id == ids[i]);
            CHECK(again.retry_after_seconds == longest_retry_after);
        }
        world.restart();
    }
    CHECK(world.lines("requests_held alert=true count=5") == 4);
}

TEST_CASE("others go on beside what is held") {
    HoldWorld world;
    world.submit_all();
    world.run_for(1s);
    world.restore();
    world.ready = true;
    const auto id = world.submit(support::public_decrypt(1));
    world.run_for(10s);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("released requests go on where they stood, with the time they had left") {
    HoldWorld world;
    const auto ids = world.submit_all();
    world.run_for(30min);
    const auto deadline = world.row(ids[1]).schedule.deadline;
    REQUIRE(deadline);
    world.restore();
    world.run_for(48h);

    const auto other = world.submit(support::public_decrypt(1));
    const auto outcome = world.release({ids[1], other});
    REQUIRE(outcome);
    CHECK(outcome->count == 1);
    CHECK(outcome->not_held == std::vector{other});
    CHECK(world.row(ids[1]).schedule.deadline == *deadline + 48h);
    CHECK(world.release({ids[1]})->count == 0);
    const domain::RequestId mistyped{ids[0].sequence, ids[0].random + 1};
    CHECK(world.release({mistyped})->not_held == std::vector{mistyped});
    world.run_for(10min);
    CHECK(world.status(ids[1]) == Status::queued);
    CHECK(world.asked_for(ids[1]) > 0);
    world.ready = true;
    CHECK(world.release({ids[0]})->count == 1);
    world.run_for(1min);
    CHECK(world.status(ids[0]) == Status::receipt_received);
    CHECK(world.status(ids[1]) == Status::receipt_received);
    for (std::size_t i = 2; i < ids.size(); ++i) CHECK(world.asked_for(ids[i]) == 0);

    // Also those that are named in another life.
    world.restart();
    CHECK(world.release({}, true)->count == 3);
    world.run_for(1min);
    for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
    world.restart();
    CHECK(world.lines("requests_held") == 2);
}

TEST_CASE("a released request that never becomes ready times out after what was left") {
    HoldWorld world;
    const auto ids = world.submit_all();
    world.run_for(30min);
    world.restore();
    world.run_for(48h);
    CHECK(world.release({}, true)->count == 5);
    world.run_for(25min);
    CHECK(world.status(ids[1]) == Status::queued);
    world.run_for(10min);
    CHECK(world.status(ids[1]) == Status::timed_out);
}

TEST_CASE("a release that is not stored is told so, and what it named stays held") {
    support::FaultVfs vfs{support::FaultVfs::Memory::none};
    HoldWorld world;
    world.engine.store_options.vfs = vfs.name();
    const auto ids = world.submit_all();
    world.run_for(1s);
    world.restore();
    vfs.fail({support::FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
    CHECK_FALSE(world.release({}, true));
    vfs.heal();
    world.ready = true;
    world.run_for(1h);
    for (const auto& id : ids) CHECK(world.asked_for(id) == 0);
    CHECK(world.release({}, true)->count == 5);
}

TEST_CASE(
    "a signed request is looked up after a restore, and gets another nonce only when released") {
    HoldWorld world;
    world.ready = true;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    REQUIRE(world.number("select count(*) from attempt") == 1);
    world.restore();
    const auto wants_another = [](const SendOrder& order) -> std::optional<SendOutcome> {
        if (order.sealed.size() > 1) return support::ScriptedGateway::receipt(order);
        return Reseal{{{1}}, order.sealed.size(), true};
    };
    world.gateway.on_send = wants_another;
    world.run_for(10h);
    CHECK(world.asked_for(id) == 1);
    CHECK(world.gateway.sends.at(0).order.look_up_first);
    CHECK(world.number("select count(*) from attempt") == 1);
    CHECK(world.status(id) == Status::tx_in_flight);
    CHECK(world.lines("requests_held alert=true count=1") == 1);

    world.restart();
    world.run_for(10h);
    CHECK(world.number("select count(*) from attempt") == 1);
    CHECK(world.release({id})->count == 1);
    world.run_for(10s);
    CHECK(world.number("select count(*) from attempt") == 2);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("the same nonce may be sealed again, and later requests are as always") {
    HoldWorld world;
    world.ready = true;
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto old = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.restore();
    const auto later = world.submit(support::input_proof(2));
    world.gateway.on_send = [&](const SendOrder& order) -> std::optional<SendOutcome> {
        if (order.sealed.size() > 1) return support::ScriptedGateway::receipt(order);
        return Reseal{{{1}}, order.sealed.size(), order.id == later};
    };
    world.run_for(10s);
    CHECK(world.status(old) == Status::receipt_received);
    CHECK(world.status(later) == Status::receipt_received);
}

TEST_CASE("a chain that is ahead holds what was not signed, also what is being prepared") {
    HoldWorld world;
    const auto ids = world.submit_all();
    const auto share = world.submit(support::vote_share(1, world.in_seconds(3'600)));
    world.run_for(1s);
    world.restart();
    world.run_for(1s);
    // Nobody else can have what came since.
    const auto later = world.submit(support::input_proof(200));
    world.run_for(1s);
    world.engine.process().inbox.account_found({"0xA", 7, true});
    world.run_for(0ms);
    CHECK(world.lines("chain_is_ahead account=0xA count=7 known=0 held=5") == 1);
    CHECK(world.lines("requests_held alert=true count=5") == 1);
    // What was under way comes back, and nothing is made of it.
    for (const auto& id : ids) {
        world.engine.process().inbox.checked({{id, engine::Ready{}}});
        world.engine.process().inbox.prepared({{id, engine::Plan{}}});
    }
    world.ready = true;
    world.engine.process().inbox.prepared({{later, engine::Plan{}}});
    world.run_for(30min);
    CHECK(world.status(later) == Status::receipt_received);
    const auto sends = world.gateway.sends.size();
    CHECK(sends == 1);
    CHECK(world.number("select count(*) from attempt") == 1);
    CHECK(world.engine.process().gates.sends_in_flight() == 0);
    world.run_for(2h);
    CHECK(world.status(share) == Status::completed);  // the chain takes no share twice
    CHECK(world.release({}, true)->count == 5);
    world.run_for(1min);
    for (const auto& id : ids) CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("what is prepared in the step in which the chain is found ahead is held") {
    HoldWorld world;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.restart();
    world.run_for(1s);
    REQUIRE(world.engine.process().gates.sends_in_flight() == 1);
    engine::Inbox& inbox = world.engine.process().inbox;
    inbox.prepared({{id, engine::Plan{}}});
    inbox.account_found({"0xA", 7, true});
    world.run_for(1h);
    CHECK(world.lines("requests_held alert=true count=1") == 1);
    CHECK(world.gateway.sends.empty());
    CHECK(world.number("select count(*) from attempt") == 0);
}

TEST_CASE("leases that end and stops leave what is held where it is") {
    HoldWorld world;
    const auto ids = world.submit_all();
    world.gateway.on_check = [](const CheckOrder&) { return std::nullopt; };
    world.run_for(1s);
    world.restart();
    world.run_for(1s);
    world.engine.process().inbox.account_found({"0xA", 7, true});
    world.run_for(3h);  // nobody answered
    CHECK(world.engine.process().gates.permits() == 0);
    world.engine.process().inbox.stop();
    world.engine.process().processor.run(0ms);
    world.restart();
    world.run_for(3h);
    CHECK(world.release({}, true)->count == ids.size());
}

TEST_CASE("a chain that is ahead for other reasons holds nothing") {
    HoldWorld world;
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.engine.process().inbox.account_found({"0xA", 7, false});
    world.run_for(0ms);
    CHECK(world.lines("requests_held") == 0);
    CHECK(world.number("select position from cursor where listener = 'mark nonce 0xA'") == 7);
    world.restart();
    world.ready = true;
    world.run_for(10s);
    CHECK(world.status(id) == Status::receipt_received);
}

TEST_CASE("the highest nonce of each account is stored with the seal, and never falls") {
    HoldWorld world;
    world.ready = true;
    world.gateway.account = "0xA";
    world.submit(support::input_proof(1));
    world.submit(support::input_proof(2));
    world.run_for(1s);
    const auto stored = [&world] {
        return world.number("select position from cursor where listener = 'mark nonce 0xA'");
    };
    CHECK(stored() == world.number("select max(nonce) + 1 from attempt"));
    const auto before = stored();
    world.engine.process().inbox.account_found({"0xA", 1, false});
    world.run_for(0ms);
    CHECK(stored() == before);
    world.restart();
    CHECK(world.gateway.resumed.nonces.at("0xA") == static_cast<std::uint64_t>(before));
    CHECK(world.gateway.resumed.cursors.size() <= 1);
}

TEST_CASE("of several accounts each is waited for by its own requests alone") {
    HoldWorld world;
    world.ready = true;
    world.gateway.account = "0xA";
    bool stands_still = true;
    world.gateway.on_send =
        [&](const engine::SendOrder& order) -> std::optional<engine::SendOutcome> {
        if (stands_still) return std::nullopt;
        if (order.sealed.size() > 1) return support::ScriptedGateway::receipt(order);
        return engine::Reseal{{{1}}, order.sealed.size(), true};
    };
    const auto of_a = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.account = "0xB";
    const auto of_b = world.submit(support::input_proof(2));
    world.run_for(1s);
    world.restart();
    stands_still = false;
    world.engine.process().inbox.account_found({"0xB", 1, false});
    world.run_for(1min);
    CHECK(world.status(of_b) == Status::receipt_received);
    CHECK(world.status(of_a) == Status::tx_in_flight);
    for (const engine::Sealed& sealed : world.gateway.resumed.in_flight) {
        CHECK(sealed.account.starts_with("0x"));
    }
    world.engine.process().inbox.account_found({"0xA", 1, false});
    world.run_for(1min);
    CHECK(world.status(of_a) == Status::receipt_received);
}

TEST_CASE("until the account was looked at no request gets another nonce") {
    HoldWorld world;
    world.ready = true;
    world.gateway.account = "0xA";
    world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.restart();
    world.gateway.on_send = [](const SendOrder& order) -> std::optional<SendOutcome> {
        if (order.sealed.size() > 1) return support::ScriptedGateway::receipt(order);
        return Reseal{{{1}}, order.sealed.size(), true};
    };
    world.run_for(1min);
    CHECK(world.number("select count(*) from attempt") == 1);
    SUBCASE("nobody else sent") {
        world.engine.process().inbox.account_found({"0xA", 1, false});
        world.run_for(1min);
        CHECK(world.status(id) == Status::receipt_received);
    }
    SUBCASE("another process sent") {
        world.engine.process().inbox.account_found({"0xA", 9, true});
        world.run_for(1h);
        CHECK(world.number("select count(*) from attempt") == 1);
        CHECK(world.lines("requests_held alert=true count=1") == 1);
    }
}

TEST_CASE("an account whose key is gone is not known any more once it was looked at") {
    HoldWorld world;
    world.engine.process().inbox.account_found({"0xA", 7, false});
    world.engine.process().inbox.account_found({"0xB", 9, false});
    world.run_for(0ms);
    world.restart();
    const auto marks = [&] {
        return world.number("select count(*) from cursor where listener glob 'mark nonce *'");
    };
    CHECK(marks() == 2);
    world.engine.process().inbox.account_found({"0xA", 7, false, true});
    world.run_for(0ms);
    CHECK(marks() == 1);
    CHECK(world.number("select position from cursor where listener = 'mark nonce 0xB'") == 9);
}

TEST_CASE("what is signed and held is ended by the operator, and nothing is sent for it again") {
    for (const bool was_replaced : {true, false}) {
        for (const Kind kind : support::relayer_kinds) {
            CAPTURE(was_replaced);
            CAPTURE(to_string(kind));
            HoldWorld world;
            world.ready = true;
            const domain::Block block{7, {}};
            if (was_replaced) {
                world.gateway.block = block;
            } else {
                world.gateway.on_send = [](const SendOrder&) { return std::nullopt; };
            }
            const auto id = world.submit(support::request_of(kind, 1));
            world.run_for(1s);
            world.restore();
            world.gateway.on_send = [](const SendOrder& order) -> std::optional<SendOutcome> {
                return Reseal{{{1}}, order.sealed.size(), true};
            };
            CHECK_FALSE(world.cancel(id));  // the chain has not told
            if (was_replaced) world.gateway.news({{}, {block}, {}});
            world.run_for(10s);
            REQUIRE(world.lines("requests_held alert=true count=1") == 1);
            world.restart();
            const auto sent = world.gateway.sends.size();
            CHECK(world.cancel(id));
            CHECK(world.status(id) == Status::failure);
            CHECK(world.failure(id).text == "Cancelled by the operator");
            CHECK(world.engine.process().store.holds().empty());
            world.run_for(1h);
            world.restart();
            world.run_for(1h);
            CHECK(world.gateway.sends.size() == sent);
            CHECK(world.status(id) == Status::failure);
            CHECK(world.submit(support::request_of(kind, 1)) != id);
        }
    }
}
