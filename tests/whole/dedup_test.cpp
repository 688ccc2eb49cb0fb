// When a repeat is the same job and when it is a new one (relayer-api 2.3, D-1, D-15; field reports
// 55 and 56, the part about content).

#include <chrono>
#include <functional>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using api_test::Json;
using domain::Reason;
using domain::Status;
using whole::Box;
using whole::Route;

struct Stage {
    Status status;
    bool same;  // whether a repeat finds the job
    std::function<void(Box&)> arrange;
};

const Stage stages[] = {
    {Status::queued, true,
     [](Box& box) {
         box.world.gateway.on_check = [](const engine::CheckOrder&) { return std::nullopt; };
     }},
    {Status::processing, true,
     [](Box& box) {
         box.world.gateway.on_prepare = [](const engine::PrepareOrder&) { return std::nullopt; };
     }},
    {Status::tx_in_flight, true,
     [](Box& box) {
         box.world.gateway.on_send = [](const engine::SendOrder&) { return std::nullopt; };
     }},
    {Status::receipt_received, true, [](Box&) {}},
    {Status::completed, true, [](Box& box) { box.answer_everything(); }},
    {Status::failure, false,
     [](Box& box) {
         box.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
             return engine::Rejected{{Reason::reverted, "reverted", 0xd93c0665}};
         };
     }},
    {Status::timed_out, false,
     [](Box& box) {
         box.world.engine.options.response_timeout = {5s, 5s, 5s};
     }},
};

std::size_t orders(const Box& box) {
    const auto& gateway = box.world.gateway;
    return gateway.checks.size() + gateway.prepares.size() + gateway.sends.size();
}

bool reaches(const Route& route, Status status) {
    return route.readiness || status != Status::queued;
}

TEST_CASE("2.3: a repeat, by what became of the first one (field report 56)") {
    for (const Route& route : whole::routes) {
        for (const Stage& stage : stages) {
            if (!reaches(route, stage.status)) continue;
            CAPTURE(route.path);
            CAPTURE(domain::to_string(stage.status));
            Box box;
            stage.arrange(box);
            const std::string job = box.post(route.path, route.body()).job_id();
            box.run_for(10s);
            REQUIRE(box.status(job) == stage.status);
            const auto since = box.world.row(Box::id_of(job)).since;
            const std::size_t before = orders(box);

            const Answer again = box.post(route.path, route.body());
            CHECK(again.status == 202);
            CHECK(again.text("/status") == "queued");
            CHECK((again.job_id() == job) == stage.same);
            CHECK(box.rows() == (stage.same ? 1 : 2));
            box.run_for(1s);
            CHECK((orders(box) == before) == stage.same);
            // The old row is as it was, and its own id still answers for it.
            CHECK(box.status(job) == stage.status);
            CHECK(box.world.row(Box::id_of(job)).since == since);
            const int old = box.poll(route.path, job).status;
            CHECK(old == (stage.status == Status::completed ? 200 : stage.same ? 202 : 503));

            // Stable across a restart: the newest one is found.
            const std::string newest = again.job_id();
            if (box.status(newest) != stage.status && !stage.same) continue;
            box.restart();
            const bool still = stage.same;
            CHECK((box.post(route.path, route.body()).job_id() == newest) == still);
        }
    }
}

TEST_CASE("D-1: a rejected proof posted again is a new job; the old one still says rejected") {
    Box box;
    box.world.gateway.on_send = [&](const engine::SendOrder& order) {
        box.world.gateway.answer(order.id, engine::ProofRejected{});
        return support::ScriptedGateway::receipt(order);
    };
    const Route& route = whole::input_proof;
    const std::string job = box.post(route.path, route.body()).job_id();
    CHECK(box.follow(route.path, job).json["result"]["accepted"] == false);
    const std::string next = box.post(route.path, route.body()).job_id();
    CHECK(next != job);
    CHECK(box.poll(route.path, job).json["result"]["accepted"] == false);
    CHECK(box.poll(route.path, next).status == 202);
}

TEST_CASE("2.2: a new signature and a new window join the job, and the old ones are on chain") {
    struct Row {
        Route route;
        Json set;
    };
    const std::string other(130, 'a');
    const Row rows[] = {
        {whole::user_decrypt,
         {{"signature", other},
          {"requestValidity", {{"startTimestamp", "1700000000"}, {"durationDays", "3"}}}}},
        {whole::delegated_decrypt,
         {{"signature", other}, {"startTimestamp", "1700000000"}, {"durationDays", "3"}}},
        {whole::unified_decrypt,
         {{"signature", "0x" + other},
          {"attestedPayload.requestValidity",
           {{"startTimestamp", "1700000000"}, {"durationSeconds", "999999999"}}}}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.route.path);
        Box box;
        box.contracts.answer = engine::SignatureValid{};
        const std::string job = box.post(row.route.path, row.route.body()).job_id();
        const std::string resigned =
            api_test::body_of({{"base", row.route.file}, {"set", row.set}});
        CHECK(box.post(row.route.path, resigned).job_id() == job);
        CHECK(box.rows() == 1);
        box.run_for(1s);
        REQUIRE(box.world.gateway.prepares.size() == 1);
        const domain::Request& sent = *box.world.gateway.prepares[0].request;
        Box fresh;
        fresh.post(row.route.path, row.route.body());
        fresh.run_for(1s);
        REQUIRE(fresh.world.gateway.prepares.size() == 1);
        CHECK(sent == *fresh.world.gateway.prepares[0].request);
    }
}

TEST_CASE("2.3: the three user decrypts of like values are three jobs") {
    Box box;
    const std::string direct =
        box.post(whole::user_decrypt.path, whole::user_decrypt.body()).job_id();
    const std::string delegated =
        box.post(whole::delegated_decrypt.path, whole::delegated_decrypt.body()).job_id();
    CHECK(direct != delegated);
    CHECK(box.rows() == 2);
}

TEST_CASE("1.3: a duplicate whose chain is no longer configured is refused, the job is there") {
    for (const Route& route : whole::routes) {
        if (!route.readiness) continue;
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        const std::string job = box.post(route.path, route.body()).job_id();
        box.run_for(1s);
        box.crash();
        box.options.host_chain_ids = {1};
        box.restart();
        CHECK(box.post(route.path, route.body()).label() == "host_chain_id_not_supported");
        CHECK(box.poll(route.path, job).status == 200);
    }
}

TEST_CASE("a refused request leaves nothing behind: put right, it is a new job (field report 55)") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        const Json good = Json::parse(route.body());
        Json bad = good;
        if (bad.contains("attestedPayload")) {
            bad["attestedPayload"]["extraData"] = "0x01";
        } else {
            bad["extraData"] = "0x01";
        }
        CHECK(box.post(route.path, bad.dump()).status == 400);
        CHECK(box.post(route.path, good.dump()).status == 202);
        CHECK(box.post(route.path, bad.dump()).status == 400);
        CHECK(box.rows() == 1);
    }
}

TEST_CASE("content is compared before the state: other content, other job (field report 55)") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.answer_everything();
        const std::string job = box.post(route.path, route.body(1)).job_id();
        CHECK(box.post(route.path, route.body(2)).job_id() != job);  // while the first runs
        box.run_for(2s);
        CHECK(box.post(route.path, route.body(3)).job_id() != job);  // and when it has ended
        CHECK(box.rows() == 3);
    }
    // A share's key is its own: other content under it is 409, whatever the state (field report
    // 55).
    Box box;
    box.answer_everything();
    const std::string share = api_test::sample("vote-share.json");
    const std::string other = api_test::sample_with("vote-share.json", "vote_decision", 2);
    const char* const path = "/shielded-vote/v1/shares";
    CHECK(box.post(path, share).json == Json{{"status", "queued"}});
    CHECK(box.post(path, other).status == 409);
    CHECK(box.post(path, share).json == Json{{"status", "duplicate"}});
    box.run_for(5s);
    CHECK(box.world.number("select count(*) from request where status = 'completed'") == 1);
    CHECK(box.post(path, other).status == 409);
    CHECK(box.post(path, share).json == Json{{"status", "duplicate"}});
    box.restart();
    CHECK(box.post(path, other).status == 409);
    CHECK(box.post(path, share).json == Json{{"status", "duplicate"}});
}

}  // namespace
