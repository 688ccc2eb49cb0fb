#include <chrono>
#include <set>

#include "support/world.hpp"

using domain::Kind;
using domain::Status;
using engine::Accepted;
using engine::PrepareOrder;
using engine::QueueFull;
using engine::Unavailable;
using support::accepted;
using namespace std::chrono_literals;

TEST_CASE("field 31: the same content is the same request until it ended badly") {
    for (const Kind kind : support::relayer_kinds) {
        CAPTURE(to_string(kind));
        const domain::Request request = support::request_of(kind, 1);

        support::World active;
        active.engine.options.response_timeout = {1h, 1h, 1h};
        const auto id = active.submit(request);
        for (int stage = 0; stage < 40; ++stage) {
            const Accepted again = accepted(active.engine.try_submit(request));
            REQUIRE(again.duplicate);
            REQUIRE(again.id == id);
            active.run_for(1ms);
        }
        REQUIRE(active.status(id) == Status::receipt_received);
        support::answer_well(active.gateway, id, kind);
        active.run_for(1ms);
        REQUIRE(active.status(id) == Status::completed);
        const Accepted of_completed = accepted(active.engine.try_submit(request));
        CHECK(of_completed.duplicate);
        CHECK(of_completed.id == id);
        CHECK(of_completed.retry_after_seconds == 1);
        active.restart();
        CHECK(accepted(active.engine.try_submit(request)).id == id);
        CHECK(active.number("select count(*) from request") == 1);

        support::World failing;
        failing.gateway.on_prepare = [](const PrepareOrder&) {
            return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
        };
        const auto failed = failing.submit(request);
        failing.run_for(1s);
        REQUIRE(failing.status(failed) == Status::failure);
        const Accepted of_failed = accepted(failing.engine.try_submit(request));
        CHECK_FALSE(of_failed.duplicate);
        CHECK(of_failed.id != failed);
        CHECK(failing.status(failed) == Status::failure);

        support::World slow;
        const auto timed_out = slow.submit(request);
        slow.run_for(31min);
        REQUIRE(slow.status(timed_out) == Status::timed_out);
        const Accepted of_timed_out = accepted(slow.engine.try_submit(request));
        CHECK_FALSE(of_timed_out.duplicate);
        CHECK(of_timed_out.id != timed_out);
    }
}

TEST_CASE("field 31: fifty POSTs of one content in one step make one row and fifty equal answers") {
    support::World world;
    std::set<domain::RequestId> ids;
    int fresh = 0;
    for (int post = 0; post < 50; ++post) {
        world.engine.post(support::input_proof(1), [&](engine::AcceptOutcome outcome) {
            const Accepted given = accepted(outcome);
            ids.insert(given.id);
            fresh += given.duplicate ? 0 : 1;
        });
    }
    world.engine.turn();
    CHECK(ids.size() == 1);
    CHECK(fresh == 1);
    CHECK(world.number("select count(*) from request") == 1);
}

TEST_CASE("a signature or a validity window is no new content, everything else is") {
    support::World world;
    auto request = support::user_decrypt(1);
    const auto id = world.submit(request);
    auto resigned = request;
    resigned.signature[3] ^= 1;
    resigned.start_timestamp += 60;
    resigned.duration_days = 30;
    CHECK(accepted(world.engine.try_submit(resigned)).id == id);
    auto other = request;
    other.public_key[0] ^= 1;
    CHECK_FALSE(accepted(world.engine.try_submit(other)).duplicate);
}

TEST_CASE("full gates bounce new requests of their family, never a duplicate (4.4)") {
    struct Row {
        const char* label;
        Kind kind;
        bool readiness;
    };
    for (const Row& row : {Row{"proofs, sending", Kind::input_proof, false},
                           Row{"public, readiness", Kind::public_decrypt, true},
                           Row{"user, readiness", Kind::user_decrypt, true},
                           Row{"public, sending", Kind::public_decrypt, false},
                           Row{"user, sending", Kind::unified_user_decrypt, false}}) {
        CAPTURE(row.label);
        support::World world;
        auto& options = world.engine.options;
        options.api_retry_after_seconds = 7;
        for (auto* gate : {&options.readiness.public_decrypt, &options.readiness.user_decrypt}) {
            *gate = row.readiness ? engine::ReadinessGateOptions{1, 10, 2}
                                  : engine::ReadinessGateOptions{250, 1'000, 0};
        }
        for (auto* gate : {&options.sending.input_proof, &options.sending.public_decrypt,
                           &options.sending.user_decrypt}) {
            *gate = row.readiness ? engine::SendGateOptions{20, 1, 1'000, 0}
                                  : engine::SendGateOptions{1, 1, 10, 2};
        }
        world.gateway.check_delay = row.readiness ? 1h : 0ms;
        std::vector<domain::RequestId> ids;
        // One is at work, eight wait.
        for (std::uint64_t number = 1; number <= 9; ++number) {
            ids.push_back(
                accepted(world.engine.try_submit(support::request_of(row.kind, number))).id);
        }
        if (!row.readiness) world.run_for(1ms);
        const auto bounced = world.engine.try_submit(support::request_of(row.kind, 100));
        REQUIRE(is<QueueFull>(bounced));
        CHECK(std::get<QueueFull>(bounced).retry_after_seconds == 7);
        CHECK(world.number("select count(*) from request") == 9);
        for (std::uint64_t number = 1; number <= 9; ++number) {
            CHECK(accepted(world.engine.try_submit(support::request_of(row.kind, number))).id ==
                  ids[number - 1]);
        }
        for (const Kind other : support::relayer_kinds) {
            if (domain::family_of(other) == domain::family_of(row.kind)) continue;
            CHECK(is<Accepted>(world.engine.try_submit(support::request_of(other, 100))));
        }
        CHECK(is<Accepted>(world.engine.try_submit(support::vote_share(100))));
        if (row.readiness) continue;
        world.run_for(3s);  // some leave, there is room again
        CHECK(is<Accepted>(world.engine.try_submit(support::request_of(row.kind, 100))));
    }
}

TEST_CASE("a full inbox is told at once and nothing is stored") {
    support::World world;
    world.engine.options.inbox_capacity = 3;
    int taken = 0;
    int unavailable = 0;
    const auto count = [&](engine::AcceptOutcome outcome) {
        if (is<Accepted>(outcome)) ++taken;
        if (const auto* no = std::get_if<Unavailable>(&outcome)) {
            ++unavailable;
            CHECK(no->retry_after_seconds >= 1);
        }
    };
    for (std::uint64_t number = 1; number <= 5; ++number) {
        world.engine.post(support::input_proof(number), count);
    }
    CHECK(taken == 0);
    CHECK(unavailable == 2);
    world.engine.turn();
    CHECK(taken == 3);
    CHECK(world.number("select count(*) from request") == 3);
    world.engine.post(support::input_proof(6), count);
    world.engine.turn();
    CHECK(taken == 4);
}

TEST_CASE("a reply leaves only after the commit that holds its row") {
    support::World world;
    bool there = false;
    world.engine.post(support::input_proof(1), [&](engine::AcceptOutcome outcome) {
        const auto id = accepted(outcome).id;
        there = world.number("select count(*) from request where id = " +
                             std::to_string(id.sequence)) == 1;
    });
    CHECK_FALSE(there);
    world.engine.turn();
    CHECK(there);
}

TEST_CASE("ids of accepted requests rise over restarts and clock steps") {
    support::World world;
    domain::RequestId last{};
    for (std::uint64_t number = 1; number <= 20; ++number) {
        const auto id = world.submit(support::input_proof(number));
        CHECK(id.sequence > last.sequence);
        last = id;
        if (number % 4 == 0) world.restart();
        if (number % 5 == 0) world.clock.step_wall(-1h);
        world.run_for(10ms);
    }
}

TEST_CASE("find tells an unknown id, a wrong random part, and each stage of a request") {
    support::World world;
    auto& service = world.engine.process().service;
    CHECK(is<engine::NotFound>(service.find({1, 1})));
    const auto id = world.submit(support::public_decrypt(1));
    CHECK(is<engine::NotFound>(service.find({id.sequence, id.random ^ 1})));
    const auto pending = service.find(id);
    REQUIRE(is<engine::Pending>(pending));
    CHECK(std::get<engine::Pending>(pending).kind == Kind::public_decrypt);
    world.run_for(1s);
    world.gateway.answer(id, support::public_decrypted());
    world.run_for(1s);
    const auto done = service.find(id);
    REQUIRE(is<engine::Completed>(done));
    CHECK(std::get<engine::Completed>(done).result == domain::Result{support::public_decrypted()});

    world.gateway.on_prepare = [](const PrepareOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted", 7}};
    };
    const auto bad = world.submit(support::input_proof(1));
    world.run_for(1s);
    const auto ended = service.find(bad);
    REQUIRE(is<engine::Ended>(ended));
    CHECK(std::get<engine::Ended>(ended).status == Status::failure);
    CHECK(std::get<engine::Ended>(ended).failure ==
          domain::Failure{domain::Reason::reverted, "reverted", 7});

    world.crash();
    world.tamper("delete from result");
    world.engine.start();
    const auto lost = world.engine.process().service.find(id);
    REQUIRE(is<engine::Completed>(lost));
    CHECK_FALSE(std::get<engine::Completed>(lost).result);
}

TEST_CASE("health tells the gateway's trouble") {
    support::World world;
    const auto gateway_ok = [&] {
        for (const auto& dependency : world.engine.process().service.dependencies()) {
            if (dependency.name == "gateway_http") return dependency.ok;
        }
        return false;
    };
    CHECK(gateway_ok());
    world.gateway.healthy = false;
    CHECK_FALSE(gateway_ok());
}
