// What operators have done with single requests.

#include "engine/operations.hpp"

#include <sqlite3.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "support/answers.hpp"
#include "support/fault_vfs.hpp"
#include "support/is.hpp"
#include "support/world.hpp"

using domain::Kind;
using domain::RequestId;
using domain::Status;
using engine::AskedAlready;
using engine::Cancel;
using engine::Done;
using engine::InstructionOutcome;
using engine::NotDone;
using engine::NotWritten;
using engine::Retry;
using engine::UnknownRequest;
using support::World;
using namespace std::chrono_literals;

namespace {

void tell(World& world, engine::Instruction::What what,
          std::optional<InstructionOutcome>& outcome) {
    world.engine.process().service.instruct(
        {what, [&outcome](const InstructionOutcome& given) { outcome = given; }});
}

InstructionOutcome instruct(World& world, engine::Instruction::What what) {
    std::optional<InstructionOutcome> outcome;
    tell(world, what, outcome);
    CHECK_FALSE(outcome.has_value());  // nothing is said before the commit
    static_cast<void>(world.engine.turn());
    return outcome.value();
}

std::string reason_of(const InstructionOutcome& outcome) {
    const auto* refused = std::get_if<NotDone>(&outcome);
    return refused != nullptr ? refused->reason : "";
}

RequestId done(const InstructionOutcome& outcome) {
    INFO(reason_of(outcome));
    REQUIRE(is<Done>(outcome));
    return std::get<Done>(outcome).id;
}

const auto never_ready = [](const engine::CheckOrder&) { return engine::NotReady{}; };
const auto reverts = [](const engine::PrepareOrder&) {
    return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
};
const auto no_check = [](const engine::CheckOrder&) { return std::nullopt; };
const auto no_plan = [](const engine::PrepareOrder&) { return std::nullopt; };
const auto no_receipt = [](const engine::SendOrder&) { return std::nullopt; };
const auto no_node = [](const engine::PrepareOrder&) { return engine::Unreachable{"no node"}; };

}  // namespace

TEST_CASE("what is not signed yet is cancelled wherever it stands, and gives its place back") {
    struct Place {
        std::string label;
        std::function<void(World&)> arrange;
        domain::Milliseconds wait;
        Status status;
        bool proofs_too;
    };
    const std::vector<Place> places{
        {"in the queue of the checks",
         [](World& world) {
             world.engine.options.readiness.public_decrypt.max_concurrency = 0;
             world.engine.options.readiness.user_decrypt.max_concurrency = 0;
         },
         1s, Status::queued, false},
        {"being checked", [](World& world) { world.gateway.check_delay = 10s; }, 1s, Status::queued,
         false},
        {"being checked, for ever", [](World& world) { world.gateway.on_check = no_check; }, 1s,
         Status::queued, false},
        {"not ready yet", [](World& world) { world.gateway.on_check = never_ready; }, 1s,
         Status::queued, false},
        {"in the queue of the rate", [](World& world) { world.engine.options.sends_max = 0; }, 1s,
         Status::processing, true},
        {"being prepared", [](World& world) { world.gateway.prepare_delay = 10s; }, 1s,
         Status::processing, true},
        {"being prepared, for ever", [](World& world) { world.gateway.on_prepare = no_plan; }, 1s,
         Status::processing, true},
        {"no node", [](World& world) { world.gateway.on_prepare = no_node; }, 1s,
         Status::processing, true},
    };
    for (const Place& place : places) {
        for (const Kind kind : domain::kinds) {
            if (kind == Kind::share || (kind == Kind::input_proof && !place.proofs_too)) continue;
            CAPTURE(place.label);
            CAPTURE(to_string(kind));
            World world;
            place.arrange(world);
            const domain::Request request = support::request_of(kind, 1);
            const RequestId id = world.submit(request);
            world.run_for(place.wait);
            REQUIRE(world.status(id) == place.status);
            CHECK(done(instruct(world, Cancel{id})) == id);
            CHECK(world.status(id) == Status::failure);
            CHECK(world.failure(id) ==
                  domain::Failure{domain::Reason::internal_error, "Cancelled by the operator", {}});
            CHECK(world.engine.logger.count("request_ended job_id=" + to_string(id)) == 1);
            // What was under way comes back and changes nothing.
            world.run_for(1h);
            CHECK(world.gateway.sends.empty());
            CHECK(world.status(id) == Status::failure);
            if (place.label.find("for ever") == std::string::npos) {
                CHECK(world.engine.process().gates.permits() == 0);
            }
            // The same may be asked again at once.
            CHECK(world.submit(request) != id);
        }
    }
}

TEST_CASE("what is held is cancelled like what waits, and does not come back") {
    for (const Kind kind : domain::kinds) {
        if (kind == Kind::share) continue;
        CAPTURE(to_string(kind));
        World world;
        world.engine.options.sends_max = 0;
        const RequestId id = world.submit(support::request_of(kind, 1));
        world.run_for(1s);
        world.engine.crash();
        {
            store::Store store(world.engine.store_options);
            store::Store::Transaction transaction(store);
            store.hold(id.sequence, world.clock.wall());
            transaction.commit();
        }
        world.engine.options.sends_max = 100;
        world.engine.start();
        world.run_for(1min);
        REQUIRE(world.gateway.sends.empty());
        CHECK(done(instruct(world, Cancel{id})) == id);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.engine.process().store.holds().empty());
        world.restart();
        world.run_for(1h);
        CHECK(world.gateway.sends.empty());
        CHECK(world.status(id) == Status::failure);
    }
}

TEST_CASE("what is signed, ended or unknown is not cancelled") {
    World world;
    const RequestId received = world.submit(support::input_proof(1));
    world.run_for(1s);
    REQUIRE(world.status(received) == Status::receipt_received);
    world.gateway.on_send = no_receipt;
    const RequestId sent = world.submit(support::input_proof(2));
    world.run_for(1s);
    REQUIRE(world.status(sent) == Status::tx_in_flight);
    for (const RequestId& id : {received, sent}) {
        CHECK(reason_of(instruct(world, Cancel{id})).starts_with("a transaction is signed"));
    }
    CHECK(is<UnknownRequest>(instruct(world, Cancel{{sent.sequence, sent.random + 1}})));
    CHECK(is<UnknownRequest>(instruct(world, Cancel{{sent.sequence + 1, sent.random}})));
    // After a restart it waits for its turn like one that was never sent.
    world.engine.options.sends_max = 0;
    world.restart();
    REQUIRE(world.status(sent) == Status::processing);
    CHECK(reason_of(instruct(world, Cancel{sent})).starts_with("a transaction is signed"));
    support::answer_well(world.gateway, received, Kind::input_proof);
    world.run_for(1s);
    REQUIRE(world.status(received) == Status::completed);
    CHECK(reason_of(instruct(world, Cancel{received})) == "it has ended: completed");
}

TEST_CASE("a share is cancelled only when that is said; then it is wiped and counts as failed") {
    for (const bool in_work : {false, true}) {
        CAPTURE(in_work);
        World world;
        world.gateway.on_prepare = no_plan;
        const RequestId id =
            world.submit(support::vote_share(1, in_work ? 0 : world.in_seconds(3'600)));
        world.run_for(1s);
        REQUIRE(world.status(id) == (in_work ? Status::processing : Status::queued));
        CHECK(reason_of(instruct(world, Cancel{id})).find("say --yes") != std::string::npos);
        CHECK(world.number("select count(*) from payload") == 1);
        CHECK(done(instruct(world, Cancel{id, true})) == id);
        CHECK(world.status(id) == Status::failure);
        CHECK(world.number("select count(*) from payload") == 0);
        CHECK(world.number("select failed from round") == 1);
        CHECK(reason_of(instruct(world, Retry{id, true})) == "a vote share is never sent again");
    }
}

TEST_CASE("what failed or timed out is asked anew under another id, and each names the other") {
    for (const Kind kind : domain::kinds) {
        if (kind == Kind::share) continue;
        CAPTURE(to_string(kind));
        World world;
        world.gateway.on_prepare = reverts;
        const RequestId old = world.submit(support::request_of(kind, 1));
        world.run_for(1s);
        REQUIRE(world.status(old) == Status::failure);
        world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
        const RequestId anew = done(instruct(world, Retry{old}));
        CHECK(anew != old);
        CHECK(world.engine.logger.count("request_retried job_id=" + to_string(anew) +
                                        " retry_of=" + to_string(old)) == 1);
        world.run_for(1s);
        support::answer_well(world.gateway, anew, kind);
        world.run_for(1s);
        CHECK(world.status(old) == Status::failure);
        CHECK(world.failure(old).text == "reverted");
        const auto links = [&](const RequestId& of, const RequestId& to, const char* stage) {
            return world.number(
                "select count(*) from history where id = " + std::to_string(of.sequence) +
                " and stage = '" + stage + "' and note = '" + to_string(to) + "'");
        };
        CHECK(links(old, anew, "retried_as") == 1);
        CHECK(links(anew, old, "retry_of") == 1);
        CHECK(world.number("select count(*) from history where cause = 'operator'") == 2);
    }
}

TEST_CASE("an active or answered duplicate is named instead") {
    World world;
    world.gateway.on_prepare = reverts;
    const RequestId old = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.on_prepare = no_plan;
    const RequestId other = world.submit(support::input_proof(1));
    const auto known = instruct(world, Retry{old});
    REQUIRE(is<AskedAlready>(known));
    CHECK(std::get<AskedAlready>(known).id == other);
    // Two at once: the second one finds the first.
    World twice;
    twice.gateway.on_prepare = reverts;
    const RequestId failed = twice.submit(support::input_proof(1));
    twice.run_for(1s);
    std::optional<InstructionOutcome> first;
    std::optional<InstructionOutcome> second;
    tell(twice, Retry{failed}, first);
    tell(twice, Retry{failed}, second);
    static_cast<void>(twice.engine.turn());
    REQUIRE(is<AskedAlready>(second.value()));
    CHECK(std::get<AskedAlready>(*second).id == done(first.value()));
}

TEST_CASE("what may have been paid for is asked again only when that is said") {
    World world;
    const RequestId late = world.submit(support::input_proof(1));
    world.run_for(2h);
    REQUIRE(world.status(late) == Status::timed_out);
    CHECK(reason_of(instruct(world, Retry{late})).find("say --pay-again") != std::string::npos);
    CHECK(done(instruct(world, Retry{late, true})) != late);
    // Never ready: nothing was signed.
    world.gateway.on_check = never_ready;
    const RequestId early = world.submit(support::public_decrypt(1));
    world.run_for(2h);
    REQUIRE(domain::is_terminal(world.status(early)));
    CHECK(done(instruct(world, Retry{early})) != early);
}

TEST_CASE("what has not ended, is completed, unknown or full is not asked again") {
    World world;
    const RequestId waiting = world.submit(support::input_proof(1));
    CHECK(reason_of(instruct(world, Retry{waiting})).starts_with("it has not ended"));
    world.run_for(1s);
    support::answer_well(world.gateway, waiting, Kind::input_proof);
    world.run_for(1s);
    CHECK(reason_of(instruct(world, Retry{waiting, true})) == "it is completed");
    CHECK(is<UnknownRequest>(instruct(world, Retry{{waiting.sequence, waiting.random + 1}})));

    World full;
    full.gateway.on_prepare = reverts;
    const RequestId failed = full.submit(support::input_proof(1));
    full.run_for(1s);
    full.engine.options.sending.input_proof.capacity = 1;
    full.engine.options.sending.input_proof.safety_margin = 0;
    full.engine.options.sends_max = 0;
    full.restart();
    static_cast<void>(full.submit(support::input_proof(2)));
    CHECK(reason_of(instruct(full, Retry{failed})) == "its queue is full; try again later");
}

TEST_CASE("a step that is rolled back did nothing, and says so") {
    support::FaultVfs vfs{support::FaultVfs::Memory::none};
    World world;
    world.engine.store_options.vfs = vfs.name();
    world.gateway.on_prepare = reverts;
    const RequestId failed = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.on_prepare = no_plan;
    const RequestId waiting = world.submit(support::input_proof(2));
    world.run_for(1s);
    std::optional<InstructionOutcome> cancelled;
    std::optional<InstructionOutcome> retried;
    tell(world, Cancel{waiting}, cancelled);
    tell(world, Retry{failed}, retried);
    vfs.fail({support::FaultVfs::Operation::write, 1, SQLITE_IOERR_WRITE, true});
    static_cast<void>(world.engine.turn());
    CHECK(is<NotWritten>(cancelled.value()));
    CHECK(is<NotWritten>(retried.value()));
    // While nothing can be written, the answer comes at once.
    std::optional<InstructionOutcome> later;
    tell(world, Cancel{waiting}, later);
    CHECK(is<NotWritten>(later.value()));
    vfs.heal();
    world.run_for(1min);
    CHECK(world.status(waiting) == Status::processing);
    CHECK(world.number("select count(*) from request") == 2);
    CHECK(done(instruct(world, Cancel{waiting})) == waiting);
}
