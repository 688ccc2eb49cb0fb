// Restarts, as a client sees them (relayer-api 7.2, 13.8; sdk-client-contract 1.13).

#include <chrono>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using domain::Status;
using whole::Box;
using whole::Route;

// What the next life of the chain does.
void mend(Box& box) {
    box.world.gateway.on_check = [](const engine::CheckOrder&) { return engine::Ready{}; };
    box.world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
    box.answer_everything();
}

// Stopped in this status, started again against a chain that works: the same job ends well.
void check_recovers(Box& box, const Route& route, Status status) {
    const Answer accepted = box.post(route.path, route.body());
    REQUIRE(accepted.status == 202);
    box.run_for(20s);
    REQUIRE(box.status(accepted.job_id()) == status);
    box.crash();
    mend(box);
    box.restart();
    CHECK(box.poll(route.path, accepted.job_id()).status == 202);
    const Answer again = box.post(route.path, route.body());
    CHECK(again.status == 202);
    CHECK(again.job_id() == accepted.job_id());
    CHECK(box.follow(route.path, accepted.job_id()).status == 200);
    CHECK(box.rows() == 1);
}

TEST_CASE("T-120 stopped while queued, the gateway not answering about readiness") {
    for (const Route& route : whole::routes) {
        if (!route.readiness) continue;  // an input proof is never queued
        CAPTURE(route.path);
        {
            INFO("silent");
            Box box;
            box.world.gateway.on_check = [](const engine::CheckOrder&) { return std::nullopt; };
            check_recovers(box, route, Status::queued);
        }
        {
            INFO("unreachable");
            Box box;
            box.world.gateway.on_check = [](const engine::CheckOrder&) {
                return engine::Unreachable{"down"};
            };
            check_recovers(box, route, Status::queued);
        }
        {
            INFO("not ready");
            Box box;
            box.world.gateway.on_check = [](const engine::CheckOrder&) {
                return engine::NotReady{};
            };
            check_recovers(box, route, Status::queued);
        }
    }
}

TEST_CASE("T-121 stopped while processing, transactions never getting through") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        {
            INFO("estimation unreachable");
            Box box;
            box.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
                return engine::Unreachable{"down"};
            };
            check_recovers(box, route, Status::processing);
            // Readiness is not asked about again.
            CHECK(box.world.gateway.checks.size() == (route.readiness ? 1 : 0));
        }
        {
            INFO("estimation silent");
            Box box;
            box.world.gateway.on_prepare = [](const engine::PrepareOrder&) { return std::nullopt; };
            check_recovers(box, route, Status::processing);
        }
    }
}

TEST_CASE("stopped in flight or with a receipt: the same transaction, the same job") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        {
            INFO("in flight");
            Box box;
            box.world.gateway.on_send = [](const engine::SendOrder&) { return std::nullopt; };
            check_recovers(box, route, Status::tx_in_flight);
            REQUIRE(box.world.gateway.sends.size() == 2);
            CHECK(box.world.gateway.sends[1].order.look_up_first);
            CHECK(box.world.gateway.sends[0].order.sealed[0].bytes ==
                  box.world.gateway.sends[1].order.sealed[0].bytes);
        }
        {
            INFO("with a receipt");
            Box box;
            const std::string job = box.post(route.path, route.body()).job_id();
            box.run_for(20s);
            REQUIRE(box.status(job) == Status::receipt_received);
            box.restart();
            support::answer_well(box.world.gateway, Box::id_of(job), route.kind);
            CHECK(box.follow(route.path, job).status == 200);
            CHECK(box.world.gateway.sends.size() == 1);
        }
    }
}

TEST_CASE("sdk-client-contract 1.13: a repeat after an abrupt restart finds the old job") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        const std::string job = box.post(route.path, route.body()).job_id();
        net::RawClient open(box.port());
        box.crash();
        CHECK_FALSE(open.answer());  // the connection is simply gone
        box.restart();
        CHECK(box.post(route.path, route.body()).job_id() == job);
        REQUIRE(box.follow(route.path, job).status == 200);
        box.restart();
        // Also when it has ended well.
        CHECK(box.post(route.path, route.body()).job_id() == job);
        CHECK(box.poll(route.path, job).status == 200);
        CHECK(box.rows() == 1);
    }
}

TEST_CASE("a POST whose commit never came is forgotten whole, its repeat is new") {
    Box box;
    const Route& route = whole::public_decrypt;
    api_test::Client client(box.port());
    client.send({"POST", route.path, route.body()});
    while (box.world.engine.process().inbox.is_empty()) {
        REQUIRE_FALSE(client.is_answered(1));
    }
    box.restart();
    CHECK(box.rows() == 0);
    CHECK(box.post(route.path, route.body()).status == 202);
    CHECK(box.rows() == 1);
}

}  // namespace
