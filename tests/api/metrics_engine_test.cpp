#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <string>

#include "api/metrics_world.hpp"
#include "store/row_counter.hpp"
#include "support/world.hpp"

using api_test::Exposition;
using api_test::Labels;
using domain::Family;
using domain::Kind;
using domain::Status;
using namespace std::chrono_literals;

namespace {

// The engine in virtual time with metrics that look into it, as in the program.
struct Observed {
    Observed() { begin(); }

    // What a new process would do.
    void restart() {
        world.crash();
        metrics.reset();
        world.engine.observers = {};
        begin();
    }

    [[nodiscard]] Exposition read() { return metrics->read(); }

    support::World world;
    std::optional<api_test::MetricsWorld> metrics;

private:
    void begin() {
        metrics.emplace(world.clock, api::metrics::MetricsOptions{.shares = true});
        world.engine.observers.add(metrics->metrics);
        world.engine.start();
        store::RowCounter counter(world.engine.store_options);
        metrics->metrics.add(counter.count().value());
        metrics->backlog = [this] { return world.engine.process().service.backlog(); };
    }
};

double rows_of(const Exposition& page, const std::string& type, const std::string& status) {
    return page.value("relayer_request_count", {{"req_type", type}, {"status", status}});
}

double age(const Exposition& page, const std::string& type, const std::string& status) {
    return page.value("posthouse_oldest_age_seconds", {{"req_type", type}, {"status", status}});
}

// Of the relayer's families by index, and of shares.
constexpr std::array<const char*, 4> req_types{"input_proof", "public_decrypt", "user_decrypt",
                                               "vote_share"};

}  // namespace

// Field report 74.
TEST_CASE("a gateway that stands still for 90 s shows in the ages although the queues are empty") {
    Observed observed;
    support::World& world = observed.world;
    world.gateway.on_send = [](const engine::SendOrder&) -> std::optional<engine::SendOutcome> {
        return std::nullopt;
    };
    std::vector<domain::RequestId> jobs;
    for (std::uint64_t i = 1; i <= 3; ++i) jobs.push_back(world.submit(support::input_proof(i)));
    world.run_for(1s);
    const Exposition before = observed.read();
    world.run_for(89s);

    const Exposition page = observed.read();
    CHECK(age(page, "input_proof", "tx_in_flight") == doctest::Approx(90).epsilon(0.01));
    CHECK(rows_of(page, "input_proof", "tx_in_flight") == 3);
    CHECK(page.value("relayer_transaction_pending_gauge",
                     {{"transaction_type", "input_request"}}) == 3);
    CHECK(page.sum("relayer_queue_size_count") == 0);
    // Nothing was processed since: no counter of outcomes moved.
    for (const std::string name :
         {"relayer_transaction_count", "relayer_request_status_duration_seconds_count"}) {
        CHECK(page.sum(name) == before.sum(name));
    }
    CHECK(page.sum("relayer_transaction_count") == 0);
    CHECK(page.series.size() == before.series.size());
    for (const domain::RequestId& id : jobs) {
        CHECK(page.text.find(to_string(id)) == std::string::npos);
    }
}

TEST_CASE("a queue that is not served shows its oldest in the lane gate") {
    Observed observed;
    support::World& world = observed.world;
    world.gateway.on_check = [](const engine::CheckOrder&) -> std::optional<engine::CheckOutcome> {
        return std::nullopt;
    };
    world.engine.options.readiness.public_decrypt.max_concurrency = 1;
    observed.restart();
    for (std::uint64_t i = 1; i <= 3; ++i) {
        static_cast<void>(world.submit(support::public_decrypt(i)));
    }
    world.run_for(90s);
    const Exposition page = observed.read();
    CHECK(page.value("posthouse_oldest_due_age_seconds", {{"lane", "gate"}}) ==
          doctest::Approx(90).epsilon(0.01));
    CHECK(age(page, "public_decrypt", "queued") == doctest::Approx(90).epsilon(0.01));
    CHECK(page.value("posthouse_oldest_due_age_seconds", {{"lane", "timer"}}) == 0);
}

TEST_CASE("shares that wait for their second have no age; late ones do") {
    Observed observed;
    support::World& world = observed.world;
    static_cast<void>(world.submit(support::vote_share(1, world.in_seconds(600))));
    world.run_for(300s);
    const auto due = [&] {
        return observed.read().value("posthouse_oldest_due_age_seconds", {{"lane", "schedule"}});
    };
    CHECK(due() == 0);
    CHECK(age(observed.read(), "vote_share", "queued") == 0);
    world.clock.advance(360s);  // nobody turns the engine
    CHECK(due() == 60);
    world.run_for(1s);
    CHECK(due() == 0);
    CHECK(rows_of(observed.read(), "vote_share", "completed") == 1);
    CHECK(observed.read().value("posthouse_wake_lateness_seconds_sum", {{"lane", "schedule"}}) ==
          doctest::Approx(60));
}

TEST_CASE("a share is overdue while it is in work and while it pauses, until it is revealed") {
    struct Row {
        const char* label;
        std::optional<engine::PrepareOutcome> outcome;  // nothing: no answer comes
    };
    for (const Row& row :
         {Row{"in work", std::nullopt}, Row{"pauses", engine::Unreachable{"down"}}}) {
        CAPTURE(row.label);
        Observed observed;
        support::World& world = observed.world;
        world.gateway.on_prepare = [&](const engine::PrepareOrder&) { return row.outcome; };
        const auto id = world.submit(support::vote_share(1, world.in_seconds(10)));
        const auto due = [&] {
            return observed.read().value("posthouse_oldest_due_age_seconds",
                                         {{"lane", "schedule"}});
        };
        world.run_for(10s);
        CHECK(due() == 0);
        world.run_for(200s);
        CHECK(due() == 200);
        observed.restart();
        world.run_for(100s);
        CHECK(due() == 300);
        world.gateway.on_prepare = [](const engine::PrepareOrder&) { return engine::Plan{}; };
        world.run_for(15min);
        CHECK(world.status(id) == Status::completed);
        CHECK(due() == 0);
    }
}

TEST_CASE("a share that names a second long past is late from when it came") {
    Observed observed;
    support::World& world = observed.world;
    world.gateway.on_prepare = [](const engine::PrepareOrder&) {
        return engine::Unreachable{"down"};
    };
    static_cast<void>(world.submit(support::vote_share(1, world.in_seconds(-3'600))));
    world.run_for(100s);
    CHECK(observed.read().value("posthouse_oldest_due_age_seconds", {{"lane", "schedule"}}) == 100);
}

TEST_CASE("a life of each kind moves the counts, and leaves one sample per status") {
    for (const Kind kind : domain::kinds) {
        CAPTURE(to_string(kind));
        Observed observed;
        support::World& world = observed.world;
        const auto family = domain::family_of(kind);
        const std::string type = req_types[static_cast<std::size_t>(family)];
        const auto id = world.submit(support::request_of(kind, 1));
        const Status first = kind == Kind::input_proof ? Status::processing : Status::queued;
        if (kind != Kind::share) {
            CHECK(rows_of(observed.read(), type, std::string(to_string(first))) == 1);
        }
        world.run_for(100ms);
        support::answer_well(world.gateway, id, kind);
        world.run_for(1ms);
        REQUIRE(world.status(id) == Status::completed);

        const Exposition page = observed.read();
        CHECK(rows_of(page, type, "completed") == 1);
        CHECK(page.sum("relayer_request_count") == 1);
        CHECK(page.sum("relayer_transaction_pending_gauge") == 0);
        for (const std::string status :
             {"queued", "processing", "tx_in_flight", "receipt_received"}) {
            const bool has = kind != Kind::input_proof || status != "queued";
            if (!has) continue;
            CAPTURE(status);
            CHECK(page.value("relayer_request_status_duration_seconds_count",
                             {{"req_type", type}, {"previous_status", status}}) == 1);
        }
        const bool counted = kind != Kind::share;
        CHECK(page.sum("relayer_transaction_count") == (counted ? 1 : 0));
        CHECK(page.sum("relayer_transaction_duration_secs_count") == (counted ? 1 : 0));
        CHECK(page.sum("relayer_transaction_duration_secs_sum") ==
              doctest::Approx(counted ? 0.01 : 0));
        CHECK(page.sum("relayer_transaction_errors_total") == 0);
        CHECK(page.sum("posthouse_oldest_age_seconds") == 0);
    }
}

TEST_CASE("time-outs and refusals of the chain are counted as what they are") {
    Observed observed;
    support::World& world = observed.world;
    const auto silent = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.on_send = [](const engine::SendOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted: 0xd93c0665", 0xd93c0665}};
    };
    const auto refused = world.submit(support::public_decrypt(2));
    world.run_for(31min);
    REQUIRE(world.status(silent) == Status::timed_out);
    REQUIRE(world.status(refused) == Status::failure);
    const Exposition page = observed.read();
    CHECK(rows_of(page, "input_proof", "timed_out") == 1);
    CHECK(rows_of(page, "public_decrypt", "failure") == 1);
    CHECK(page.value("relayer_transaction_errors_total", {{"error_type", "reverted"},
                                                          {"revert_category", "contract_paused"},
                                                          {"request_type", "public_decrypt"}}) ==
          1);
    CHECK(page.sum("relayer_transaction_errors_total") == 1);
    CHECK(page.value("relayer_request_status_duration_seconds_sum",
                     {{"req_type", "input_proof"}, {"previous_status", "receipt_received"}}) ==
          doctest::Approx(1'800).epsilon(0.01));
}

TEST_CASE("after a crash the counts come back from the file and the rest starts at zero") {
    Observed observed;
    support::World& world = observed.world;
    const auto done = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.answer(done, support::proof_accepted());
    world.run_for(1s);
    world.gateway.on_send = [](const engine::SendOrder&) -> std::optional<engine::SendOutcome> {
        return std::nullopt;
    };
    static_cast<void>(world.submit(support::input_proof(2)));
    world.run_for(1s);
    REQUIRE(rows_of(observed.read(), "input_proof", "tx_in_flight") == 1);

    observed.restart();
    const Exposition page = observed.read();
    CHECK(rows_of(page, "input_proof", "completed") == 1);
    CHECK(rows_of(page, "input_proof", "tx_in_flight") == 0);
    CHECK(rows_of(page, "input_proof", "processing") == 1);
    CHECK(page.sum("relayer_request_count") == 2);
    CHECK(page.value("posthouse_recovered_requests", {{"state", "in_flight"}}) == 1);
    CHECK(page.value("relayer_request_status_duration_seconds_count",
                     {{"req_type", "input_proof"}, {"previous_status", "tx_in_flight"}}) == 1);
    CHECK(page.sum("relayer_transaction_count") == 0);

    world.run_for(1s);
    CHECK(rows_of(observed.read(), "input_proof", "tx_in_flight") == 1);
}

TEST_CASE("a purge takes its rows out of the counts") {
    Observed observed;
    support::World& world = observed.world;
    world.engine.options.retention.expiry_enabled = true;
    world.engine.options.retention.input_proof = 1min;
    observed.restart();
    const auto id = world.submit(support::input_proof(1));
    world.run_for(1s);
    world.gateway.answer(id, engine::ProofRejected{});
    world.run_for(1s);
    CHECK(rows_of(observed.read(), "input_proof", "failure") == 1);
    world.run_for(5min);
    CHECK(rows_of(observed.read(), "input_proof", "failure") == 0);
    CHECK(observed.read().sum("relayer_request_count") == 0);
}
