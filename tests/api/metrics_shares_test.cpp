// What metrics say of vote shares: nothing, unless an option lets them.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "api/metrics_world.hpp"
#include "engine/recovery.hpp"
#include "support/virtual_time.hpp"

namespace {

using api_test::Exposition;
using api_test::Labels;
using api_test::MetricsWorld;
using api_test::with_shares;
using domain::Family;
using domain::Kind;
using domain::Status;
using Proving = engine::VoteObserver::Proving;
using namespace std::chrono_literals;

store::Change share(std::optional<Status> from, std::optional<Status> to) {
    return {1, Kind::share, from, to, 3s, {}, {}};
}

// Everything that metrics can be told of a share in its life.
void live(MetricsWorld& world) {
    engine::recovery::Report report;
    report.shares = 5;
    report.changes = {share(Status::processing, Status::queued)};
    world.metrics.recovered(report);
    engine::StepFacts facts;
    facts.changes = {share({}, Status::queued),
                     share(Status::queued, Status::processing),
                     share(Status::processing, Status::queued),
                     share(Status::tx_in_flight, Status::receipt_received),
                     share(Status::receipt_received, Status::completed),
                     share(Status::tx_in_flight, Status::failure),
                     share(Status::queued, Status::timed_out),
                     share(Status::completed, {})};
    facts.woken = {{store::Lane::schedule, 250ms}};
    facts.unreachable = {Family::share};
    facts.share_attempts_failed = 2;
    facts.events = 4;
    facts.commit = 3ms;
    world.metrics.stepped(facts);
    store::RowCounts counts;
    counts.at(Kind::share, Status::queued) = 9;
    counts.at(Kind::share, Status::timed_out) = 9;
    world.metrics.add(counts);
    world.metrics.estimated(Family::share, 5);
    world.metrics.looked_up(Family::share, 2ms, true);
    world.metrics.proved(Proving::proved, 7s);
    world.metrics.proved(Proving::failed, 1s);
    world.metrics.proved(Proving::unreachable, 1s);
    world.metrics.replied(200, 0);
    world.metrics.replied(422, 5);
    const domain::Timestamp then = domain::from_unix_ms(1'780'271'000'000);
    store::Backlog backlog;
    backlog.earliest_scheduled = then;
    backlog.oldest.at(Kind::share, Status::processing) = then;
    world.backlog = [backlog] { return backlog; };
}

TEST_CASE("without the option no series changes when a share lives, and none is about shares") {
    support::VirtualClock clock;
    MetricsWorld quiet(clock);
    quiet.metrics.recovered({});
    quiet.metrics.add(store::RowCounts{});
    MetricsWorld world(clock);
    live(world);
    const Exposition page = world.read();
    CHECK(page.series == quiet.read().series);
    for (const auto& [name, kind] : page.types) {
        CAPTURE(name);
        CHECK(name.find("share") == std::string::npos);
    }
    for (const auto& [key, value] : page.series) {
        for (const auto& [label, text] : key.second) {
            CAPTURE(text);
            CHECK(text.find("share") == std::string::npos);
            CHECK(text != "schedule");
        }
    }
}

TEST_CASE("with the option shares are counted like everything else") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    live(world);
    const Exposition page = world.read();
    const Labels of_shares{{"req_type", "vote_share"}};
    CHECK(page.value("relayer_request_count",
                     {{"req_type", "vote_share"}, {"status", "timed_out"}}) == 10);
    CHECK(page.value("relayer_request_status_duration_seconds_count",
                     {{"req_type", "vote_share"}, {"previous_status", "queued"}}) == 2);
    CHECK(page.value("posthouse_wake_lateness_seconds_count", {{"lane", "schedule"}}) == 1);
    CHECK(page.value("posthouse_recovered_requests", {{"state", "shares"}}) == 5);
    CHECK(page.value("posthouse_gateway_unreachable_total", of_shares) == 1);
    CHECK(page.value("posthouse_oldest_due_age_seconds", {{"lane", "schedule"}}) == 1'000);
    CHECK(page.value("posthouse_oldest_age_seconds",
                     {{"req_type", "vote_share"}, {"status", "processing"}}) == 1'000);
    CHECK(page.value("posthouse_commit_batch_size_sum") == 4);
}

TEST_CASE("proofs are timed by what came of them, failed tries are counted") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    live(world);
    const Exposition page = world.read();
    const std::string proofs = "posthouse_share_proof_duration_seconds";
    CHECK(page.types.at(proofs) == "histogram");
    CHECK(page.value(proofs + "_sum", {{"outcome", "proved"}}) == 7);
    CHECK(page.value(proofs + "_count", {{"outcome", "failed"}}) == 1);
    CHECK(page.value(proofs + "_count", {{"outcome", "unreachable"}}) == 1);
    CHECK(page.value(proofs + "_bucket", {{"outcome", "proved"}, {"le", "5"}}) == 0);
    CHECK(page.value(proofs + "_bucket", {{"outcome", "proved"}, {"le", "7.5"}}) == 1);
    // What goes back because nobody could be asked, or after a crash, cost no attempt.
    CHECK(page.value("posthouse_share_attempts_failed_total") == 2);
}

TEST_CASE("replies of the chain are counted under few labels, whatever it says") {
    struct Row {
        int http_status;
        std::optional<std::int64_t> code;
        std::string status_label;
        std::string code_label;
    };
    const std::vector<Row> rows{
        {200, 0, "200", "0"},       {200, 2, "200", "2"},      {422, 9, "422", "9"},
        {422, {}, "422", "none"},   {200, 10, "200", "other"}, {200, -1, "200", "other"},
        {0, {}, "none", "none"},    {201, {}, "2xx", "none"},  {302, {}, "3xx", "none"},
        {404, {}, "4xx", "none"},   {500, 3, "5xx", "3"},      {199, {}, "other", "none"},
        {600, {}, "other", "none"}, {-7, {}, "other", "none"}, {599, INT64_MIN, "5xx", "other"},
    };
    support::VirtualClock clock;
    const std::string name = "posthouse_share_chain_replies_total";
    for (const Row& row : rows) {
        CAPTURE(row.http_status);
        MetricsWorld world(clock, with_shares);
        world.metrics.replied(row.http_status, row.code);
        const Exposition page = world.read();
        CHECK(page.value(name, {{"http_status", row.status_label}, {"code", row.code_label}}) == 1);
        CHECK(page.all(name).size() == 1);
    }
    MetricsWorld world(clock, with_shares);
    for (int status = -10; status < 700; ++status) {
        for (std::int64_t code = -3; code < 20; ++code) world.metrics.replied(status, code);
        world.metrics.replied(status, {});
    }
    CHECK(world.read().all(name).size() == 8 * 12);
}

TEST_CASE("rounds that closed too early are counted with and without the option") {
    support::VirtualClock clock;
    for (const bool shares : {false, true}) {
        MetricsWorld world(clock, {.shares = shares});
        const std::string name = "posthouse_rounds_closed_unsubmitted_total";
        CHECK(world.read().value(name) == 0);
        engine::StepFacts facts;
        facts.round_alerts = 2;
        world.metrics.stepped(facts);
        CHECK(world.read().value(name) == 2);
    }
}

TEST_CASE("without the option commits of other requests are still measured") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    engine::StepFacts facts;
    facts.events = 2;
    facts.changes = {share({}, Status::queued)};
    world.metrics.stepped(facts);
    CHECK(world.read().value("posthouse_commit_duration_seconds_count") == 0);
    facts.changes.push_back({2, Kind::input_proof, {}, Status::processing, {}, {}, {}});
    world.metrics.stepped(facts);
    CHECK(world.read().value("posthouse_commit_duration_seconds_count") == 1);
}

}  // namespace
