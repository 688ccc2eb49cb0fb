// What operators are told about the way of a request.

#include <chrono>
#include <string>

#include "store/job_reader.hpp"
#include "support/answers.hpp"
#include "support/world.hpp"

using domain::Kind;
using domain::RequestId;
using domain::Status;
using support::World;
using namespace std::chrono_literals;

namespace {

std::string history(World& world, const RequestId& id) {
    store::JobReader reader(world.engine.store_options);
    std::string text;
    const store::JobDetails details = reader.find(id).value();
    for (const store::HistoryEntry& entry : details.history) {
        if (entry.stage == "trouble") continue;
        text += (text.empty() ? "" : " ") + entry.stage + ":" + entry.cause;
    }
    return text;
}

std::string trouble(World& world, const RequestId& id) {
    store::JobReader reader(world.engine.store_options);
    const store::JobDetails details = reader.find(id).value();
    for (const store::HistoryEntry& entry : details.history) {
        if (entry.stage != "trouble") continue;
        return entry.cause + " " + std::to_string(entry.times) + " " + entry.note;
    }
    return "none";
}

}  // namespace

TEST_CASE("each stage is kept, with why it came, in the commit that made it true") {
    for (const Kind kind : domain::kinds) {
        if (kind == Kind::share) continue;
        CAPTURE(to_string(kind));
        World world;
        const RequestId id = world.submit(support::request_of(kind, 1));
        CHECK(history(world, id).empty());  // the first stage is that of the row
        world.run_for(1s);
        support::answer_well(world.gateway, id, kind);
        world.run_for(1s);
        const std::string first = kind == Kind::input_proof ? "" : "processing:claimed ";
        CHECK(history(world, id) ==
              first + "tx_in_flight:sealed receipt_received:receipt completed:answered");
        CHECK(trouble(world, id) == "none");
        CHECK(world.engine.logger.count("request_ended job_id=" + to_string(id) + " kind=" +
                                        std::string(to_string(kind)) + " status=completed") == 1);
        CHECK(world.engine.logger.count("request_stage job_id=" + to_string(id)) ==
              (kind == Kind::input_proof ? 2 : 3));
        CHECK(world.engine.logger.count(" hash=0x") == 2);
    }
}

TEST_CASE("an end is a line of level info and names who asked, a stage is one of level debug") {
    World world;
    world.engine.process().processor.name_clients(
        [](std::int64_t client) { return "key " + std::to_string(client); });
    engine::SubmitOptions options;
    options.client = 7;
    std::optional<engine::AcceptOutcome> outcome;
    world.engine.process().service.submit(support::input_proof(1), options,
                                          [&](const auto& told) { outcome = told; });
    world.run_for(1s);
    support::answer_well(world.gateway, support::accepted(outcome.value()).id, Kind::input_proof);
    world.run_for(1s);
    std::size_t ends = 0;
    std::size_t stages = 0;
    for (const auto& line : world.engine.logger.lines()) {
        if (line.text.starts_with("request_ended ")) {
            ++ends;
            CHECK(line.level == ports::LogLevel::info);
            CHECK(line.text.find(" client=\"key 7\"") != std::string::npos);
        } else if (line.text.starts_with("request_stage ")) {
            ++stages;
            CHECK(line.level == ports::LogLevel::debug);
        }
    }
    CHECK(ends == 1);
    CHECK(stages == 2);
}

TEST_CASE("a restart and an end that is bad are in the history") {
    World world;
    world.gateway.on_send = [](const engine::SendOrder&) { return std::nullopt; };
    const RequestId id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.restart();
    world.gateway.on_send = [](const engine::SendOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
    };
    world.run_for(1min);
    CHECK(history(world, id) ==
          "tx_in_flight:sealed processing:recovered tx_in_flight:sealed failure:transaction");
}

TEST_CASE("the last trouble is told while it waits, without URLs and bounded") {
    World world;
    world.gateway.on_check = [](const engine::CheckOrder&) {
        return engine::Unreachable{"https://node.example/v2/s3cret says\n" + std::string(900, 'x')};
    };
    world.gateway.on_prepare = [](const engine::PrepareOrder&) {
        return engine::Unreachable{"fees are at their cap"};
    };
    world.gateway.on_send = [](const engine::SendOrder&) {
        return engine::Unreachable{"nonce too low"};
    };
    const RequestId decrypt = world.submit(support::public_decrypt(1));
    const RequestId proof = world.submit(support::input_proof(1));
    CHECK(trouble(world, decrypt) == "none");
    world.run_for(90s);
    const std::string told = trouble(world, decrypt);
    CHECK(told.starts_with("queued "));
    CHECK(told.find("s3cret") == std::string::npos);
    CHECK(told.find('\n') == std::string::npos);
    CHECK(told.size() < 400);
    const std::string capped = trouble(world, proof);
    CHECK(capped.starts_with("processing "));
    CHECK(capped.ends_with(" fees are at their cap"));
    CHECK_FALSE(capped.starts_with("processing 1 "));
    world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
    world.run_for(3min);
    CHECK(trouble(world, proof).starts_with("tx_in_flight "));
    CHECK(trouble(world, proof).ends_with(" nonce too low"));
}

TEST_CASE("of shares nothing is kept; the last trouble only where their times may be told") {
    for (const bool told : {false, true}) {
        CAPTURE(told);
        World world;
        world.engine.options.shares.expose_timing = told;
        world.restart();
        world.gateway.on_prepare = [](const engine::PrepareOrder&) {
            return engine::Unreachable{"no prover"};
        };
        const RequestId id = world.submit(support::vote_share(1));
        world.run_for(1min);
        const std::string met = trouble(world, id);
        CHECK((told ? met.ends_with(" no prover") : met == "none"));
        bool is_refused = false;
        world.gateway.on_prepare =
            [&](const engine::PrepareOrder&) -> std::optional<engine::PrepareOutcome> {
            if (std::exchange(is_refused, true)) return std::nullopt;
            return engine::Rejected{{domain::Reason::internal_error, "the proof is refused", {}}};
        };
        world.run_for(1min);
        CHECK((told ? trouble(world, id).ends_with(" the proof is refused")
                    : trouble(world, id) == "none"));
        world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
        world.run_for(1h);
        REQUIRE(world.status(id) == Status::completed);
        CHECK(world.number("select count(*) from history where ordinal >= 0") == 0);
        CHECK(world.engine.logger.count("request_ended") == 0);
        CHECK(world.engine.logger.count("request_stage") == 0);
    }
}

TEST_CASE("a history is bounded: the last entry takes the place of those before it") {
    World world;
    const RequestId id = world.submit(support::input_proof(1));
    store::Store& store = world.engine.process().store;
    {
        store::Store::Transaction transaction(store);
        for (int i = 0; i < 100; ++i) {
            store.add_history(id.sequence,
                              {"stage " + std::to_string(i), world.clock.wall(), "test", ""});
            store.note_trouble(id.sequence, {"trouble", world.clock.wall(), "test", "same"});
        }
        transaction.commit();
    }
    store::JobReader reader(world.engine.store_options);
    const auto kept = reader.find(id).value().history;
    REQUIRE(kept.size() == 64);
    CHECK(kept.front().stage == "trouble");
    CHECK(kept.front().times == 100);
    CHECK(kept[1].stage == "stage 0");
    CHECK(kept[62].stage == "stage 61");
    CHECK(kept.back().stage == "stage 99");
    CHECK(kept.back().times == 38);
}

TEST_CASE("a history goes with its request") {
    World world;
    world.engine.options.retention.expiry_enabled = true;
    world.engine.options.retention.input_proof = 1h;
    const RequestId id = world.submit(support::input_proof(1));
    world.run_for(1s);
    support::answer_well(world.gateway, id, Kind::input_proof);
    world.run_for(1s);
    CHECK(world.number("select count(*) from history") > 0);
    world.run_for(2h);
    CHECK(world.number("select count(*) from request") == 0);
    CHECK(world.number("select count(*) from history") == 0);
}
