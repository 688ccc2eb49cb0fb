#include "api/metrics/metrics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "api/metrics_world.hpp"
#include "engine/recovery.hpp"
#include "store/errors.hpp"
#include "support/virtual_time.hpp"

using api_test::Exposition;
using api_test::Labels;
using api_test::MetricsWorld;
using api_test::with_shares;
using domain::Family;
using domain::Kind;
using domain::Reason;
using domain::Status;
using namespace std::chrono_literals;

namespace {

const api::Route& route(std::string_view method, std::string_view path) {
    const auto match = api::find_route(method, path);
    REQUIRE((match && match->method_fits));
    return *match->route;
}

net::HttpRequest with_sdk(std::string_view name, std::string_view version) {
    net::HttpRequest request;
    request.headers = {{"Zama-SDK-Name", name}, {"Zama-SDK-Version", version}};
    return request;
}

store::Change change(Kind kind, std::optional<Status> from, std::optional<Status> to,
                     domain::Milliseconds spent = {}) {
    return {1, kind, from, to, spent, {}, {}};
}

void step(api::metrics::Metrics& metrics, std::vector<store::Change> changes) {
    engine::StepFacts facts;
    facts.changes = std::move(changes);
    metrics.stepped(facts);
}

std::set<std::string> names_of(const Labels& labels) {
    std::set<std::string> names;
    for (const auto& [name, _] : labels) names.insert(name);
    return names;
}

const std::string job = "01975f4e-2d3c-7b4a-8123-456789abcdef";

}  // namespace

TEST_CASE("every metric of the reference has its name, kind, labels and buckets") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    const api::Route& post = route("POST", "/v2/input-proof");
    world.metrics.arrived(post, {});
    world.metrics.answered(post, 202, 1ms);
    world.metrics.add(store::RowCounts{});
    const Exposition page = world.read();

    const std::vector<double> none;
    const std::vector<double> http{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};
    struct Row {
        std::string name;
        std::string kind;
        std::set<std::string> labels;
        std::vector<double> buckets;
    };
    const std::vector<Row> rows{
        {"relayer_http_requests_total",
         "counter",
         {"endpoint", "method", "version", "relayer_sdk_name", "relayer_sdk_version"},
         none},
        {"relayer_http_responses_total",
         "counter",
         {"endpoint", "method", "version", "status"},
         none},
        {"relayer_http_request_duration_seconds",
         "histogram",
         {"endpoint", "method", "version", "status"},
         http},
        {"relayer_queue_size_count", "gauge", {"queue_type"}, none},
        {"relayer_retry_after_raw_eta_seconds",
         "histogram",
         {"req_type"},
         {1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 2400}},
        {"relayer_user_decrypt_signature_precheck_total", "counter", {"outcome"}, none},
        {"relayer_db_query_duration_seconds",
         "histogram",
         {"table"},
         {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}},
        {"relayer_db_errors_total", "counter", {"table"}, none},
        {"relayer_request_count", "gauge", {"req_type", "status"}, none},
        {"relayer_request_status_duration_seconds",
         "histogram",
         {"req_type", "previous_status"},
         {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600, 1800, 3600}},
        {"relayer_transaction_count", "counter", {"transaction_type", "transaction_status"}, none},
        {"relayer_transaction_pending_gauge", "gauge", {"transaction_type"}, none},
        {"relayer_transaction_duration_secs",
         "histogram",
         {"transaction_type", "status"},
         {0.01, 0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 5, 10}},
        {"relayer_transaction_errors_total",
         "counter",
         {"error_type", "revert_category", "request_type"},
         none},
    };
    std::set<std::string> known;
    for (const Row& row : rows) {
        CAPTURE(row.name);
        known.insert(row.name);
        REQUIRE(page.types.contains(row.name));
        CHECK(page.types.at(row.name) == row.kind);
        const bool histogram = row.kind == "histogram";
        const std::vector<Labels> series = page.all(histogram ? row.name + "_count" : row.name);
        REQUIRE_FALSE(series.empty());
        for (const Labels& labels : series) {
            CHECK(names_of(labels) == row.labels);
            if (!histogram) continue;
            std::set<double> bounds;
            for (Labels bucket : page.all(row.name + "_bucket")) {
                const std::string bound = bucket.at("le");
                bucket.erase("le");
                if (bucket == labels && bound != "+Inf") bounds.insert(std::stod(bound));
            }
            CHECK(std::vector<double>(bounds.begin(), bounds.end()) == row.buckets);
        }
    }
    for (const auto& [name, kind] : page.types) {
        CAPTURE(name);
        CHECK((known.contains(name) || name.starts_with("posthouse_") ||
               name.starts_with("process_")));
        const bool total = name.ends_with("_total") || name == "relayer_transaction_count";
        CHECK((kind == "counter") == total);
    }
}

TEST_CASE("buckets are those of the options") {
    support::VirtualClock clock;
    api::metrics::MetricsOptions options;
    options.estimate_seconds = {7, 70};
    MetricsWorld world(clock, options);
    world.metrics.estimated(Family::user_decrypt, 7'000);
    world.metrics.estimated(Family::user_decrypt, 7'001);
    world.metrics.estimated(Family::user_decrypt, 700'000);
    const Exposition page = world.read();
    const auto bucket = [&](const std::string& bound) {
        return page.value("relayer_retry_after_raw_eta_seconds_bucket",
                          {{"req_type", "user_decrypt"}, {"le", bound}});
    };
    CHECK(bucket("7") == 1);
    CHECK(bucket("70") == 2);
    CHECK(bucket("+Inf") == 3);
}

TEST_CASE("each route is counted under its endpoint, method and version") {
    struct Row {
        std::string method;
        std::string path;
        Labels labels;
    };
    const std::vector<Row> rows{
        {"POST",
         "/v2/input-proof",
         {{"endpoint", "/input-proof"}, {"method", "POST"}, {"version", "v2"}}},
        {"GET",
         "/v2/input-proof/" + job,
         {{"endpoint", "/input-proof"}, {"method", "GET"}, {"version", "v2"}}},
        {"HEAD",
         "/v2/public-decrypt/" + job,
         {{"endpoint", "/public-decrypt"}, {"method", "GET"}, {"version", "v2"}}},
        {"POST",
         "/v2/user-decrypt",
         {{"endpoint", "/user-decrypt"}, {"method", "POST"}, {"version", "v2"}}},
        {"GET",
         "/v2/delegated-user-decrypt/" + job,
         {{"endpoint", "/delegated-user-decrypt"}, {"method", "GET"}, {"version", "v2"}}},
        {"POST",
         "/v3/user-decrypt",
         {{"endpoint", "/user-decrypt"}, {"method", "POST"}, {"version", "v3"}}},
        {"GET",
         "/v3/user-decrypt/" + job,
         {{"endpoint", "/user-decrypt"}, {"method", "GET"}, {"version", "v3"}}},
    };
    support::VirtualClock clock;
    for (const Row& row : rows) {
        CAPTURE(row.method);
        CAPTURE(row.path);
        MetricsWorld world(clock);
        world.metrics.arrived(route(row.method, row.path), {});
        world.metrics.answered(route(row.method, row.path), 404, 30ms);
        world.metrics.answered(route(row.method, row.path), 404, 20s);
        const Exposition page = world.read();
        Labels sdk = row.labels;
        sdk["relayer_sdk_name"] = "unknown";
        sdk["relayer_sdk_version"] = "unknown";
        CHECK(page.value("relayer_http_requests_total", sdk) == 1);
        Labels labels = row.labels;
        labels["status"] = "404";
        CHECK(page.value("relayer_http_responses_total", labels) == 2);
        CHECK(page.value("relayer_http_request_duration_seconds_sum", labels) ==
              doctest::Approx(20.03));
        labels["le"] = "0.05";
        CHECK(page.value("relayer_http_request_duration_seconds_bucket", labels) == 1);
        CHECK(page.all("relayer_http_requests_total").size() == 1);
        CHECK(page.all("relayer_http_responses_total").size() == 1);
    }
    MetricsWorld world(clock);
    for (const std::string path : {"/liveness", "/healthz", "/version"}) {
        world.metrics.arrived(route("GET", path), {});
        world.metrics.answered(route("GET", path), 200, 1ms);
    }
    world.metrics.arrived(route("POST", "/shielded-vote/v1/shares"), {});
    CHECK(world.read().sum("relayer_http_requests_total") == 0);
}

TEST_CASE("what clients say about themselves is passed on from a short list only") {
    struct Row {
        std::string name;
        std::string version;
        std::string expected_name;
        std::string expected_version;
    };
    const std::string sdk = "@zama-fhe/relayer-sdk";
    const std::vector<Row> rows{
        {sdk, "0.4.0-alpha.4", sdk, "0.4"},
        {sdk, "0.5.12", sdk, "0.5"},
        {sdk, "0.4", sdk, "0.4"},
        {sdk, "0.40.1", sdk, "unknown"},
        {sdk, "0.6.0", sdk, "unknown"},
        {sdk, "0", sdk, "unknown"},
        {sdk, "", sdk, "unknown"},
        {sdk, "0.4-beta", sdk, "unknown"},
        {sdk, "00.4.0", sdk, "unknown"},
        {"@zama-fhe/relayer-sdk ", "0.5.0", "unknown", "0.5"},
        {"@ZAMA-FHE/relayer-sdk", "0.5.0", "unknown", "0.5"},
        {"", "", "unknown", "unknown"},
        {"x\"} 1\nevil{a=\"", "0.4\"} 1\nevil.1", "unknown", "unknown"},
        {std::string(10'000, 'a'), std::string(10'000, '.'), "unknown", "unknown"},
        {std::string("\0\xff\xfe", 3), std::string("\0.\0", 3), "unknown", "unknown"},
    };
    support::VirtualClock clock;
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CAPTURE(row.version);
        MetricsWorld world(clock);
        world.metrics.arrived(route("POST", "/v2/input-proof"), with_sdk(row.name, row.version));
        const Exposition page = world.read();
        const std::vector<Labels> all = page.all("relayer_http_requests_total");
        REQUIRE(all.size() == 1);
        CHECK(all[0].at("relayer_sdk_name") == row.expected_name);
        CHECK(all[0].at("relayer_sdk_version") == row.expected_version);
        CHECK(page.text.find("evil") == std::string::npos);
    }
}

TEST_CASE("a query knows its table, and failed ones are counted as errors too") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    world.metrics.looked_up(Family::public_decrypt, 2ms, false);
    world.metrics.looked_up(Family::user_decrypt, 2ms, true);
    const Exposition page = world.read();
    const auto count = [&](const std::string& name, const std::string& table) {
        return page.value(name, {{"table", table}});
    };
    CHECK(count("relayer_db_query_duration_seconds_count", "public_decrypt_req") == 1);
    CHECK(count("relayer_db_query_duration_seconds_count", "user_decrypt_req") == 1);
    CHECK(count("relayer_db_query_duration_seconds_count", "input_proof_req") == 0);
    CHECK(count("relayer_db_errors_total", "public_decrypt_req") == 0);
    CHECK(count("relayer_db_errors_total", "user_decrypt_req") == 1);
}

TEST_CASE("signature checks start at zero and are counted by outcome") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    const std::string name = "relayer_user_decrypt_signature_precheck_total";
    CHECK(world.read().all(name).size() == 3);
    CHECK(world.read().sum(name) == 0);
    world.metrics.signature_checked(api::SignatureOutcome::accepted);
    world.metrics.signature_checked(api::SignatureOutcome::rejected);
    world.metrics.signature_checked(api::SignatureOutcome::rejected);
    world.metrics.signature_checked(api::SignatureOutcome::host_call_failed);
    CHECK(world.read().value(name, {{"outcome", "accepted"}}) == 1);
    CHECK(world.read().value(name, {{"outcome", "rejected"}}) == 2);
    CHECK(world.read().value(name, {{"outcome", "host_call_failed"}}) == 1);
}

TEST_CASE("counts of requests are a count plus changes, in either order, and absent before") {
    support::VirtualClock clock;
    store::RowCounts counts;
    counts.at(Kind::delegated_user_decrypt, Status::completed) = 7;
    counts.at(Kind::user_decrypt, Status::completed) = 5;
    counts.at(Kind::share, Status::queued) = 2;
    counts.at(Kind::input_proof, Status::tx_in_flight) = 1;
    const std::vector<store::Change> changes{
        change(Kind::unified_user_decrypt, {}, Status::queued),
        change(Kind::share, Status::queued, Status::processing),
        change(Kind::input_proof, Status::tx_in_flight, Status::receipt_received),
        change(Kind::user_decrypt, Status::completed, {}),  // purged
    };
    const std::string name = "relayer_request_count";
    for (const bool counts_first : {true, false}) {
        CAPTURE(counts_first);
        MetricsWorld world(clock, with_shares);
        if (counts_first) world.metrics.add(counts);
        step(world.metrics, changes);
        if (!counts_first) {
            CHECK_FALSE(world.read().types.contains(name));
            world.metrics.add(counts);
        }
        const Exposition page = world.read();
        const auto rows = [&](const std::string& type, const std::string& status) {
            return page.value(name, {{"req_type", type}, {"status", status}});
        };
        CHECK(page.all(name).size() == 28);
        CHECK(rows("user_decrypt", "completed") == 11);
        CHECK(rows("user_decrypt", "queued") == 1);
        CHECK(rows("vote_share", "queued") == 1);
        CHECK(rows("vote_share", "processing") == 1);
        CHECK(rows("input_proof", "tx_in_flight") == 0);
        CHECK(rows("input_proof", "receipt_received") == 1);
        CHECK(page.sum(name) == 15);
        CHECK(page.sum("relayer_transaction_pending_gauge") == 0);
        CHECK(page.sum("relayer_request_status_duration_seconds_count") == 2);
    }
}

TEST_CASE("failed transactions are told apart by what the chain said") {
    struct Row {
        Status from;
        Reason reason;
        std::optional<std::uint32_t> selector;
        std::string error_type;
        std::string category;
        std::string request_type;
    };
    const std::vector<Row> rows{
        {Status::processing, Reason::reverted, 0xe450d38c, "reverted", "insufficient_balance",
         "public_decrypt"},
        {Status::tx_in_flight, Reason::reverted, 0xfb8f41b2, "reverted", "insufficient_allowance",
         "public_decrypt"},
        {Status::processing, Reason::reverted, 0xd93c0665, "reverted", "contract_paused",
         "public_decrypt"},
        {Status::processing, Reason::reverted, 0x2a873d27, "reverted", "invalid_signature",
         "public_decrypt"},
        {Status::processing, Reason::reverted, 0xf645eedf, "reverted", "invalid_signature",
         "public_decrypt"},
        {Status::processing, Reason::reverted, 0xfce698f7, "reverted", "invalid_signature",
         "public_decrypt"},
        {Status::processing, Reason::reverted, 0xd78bce0c, "reverted", "invalid_signature",
         "public_decrypt"},
        {Status::tx_in_flight, Reason::reverted, 0x12345678, "reverted", "unknown",
         "public_decrypt"},
        {Status::tx_in_flight, Reason::reverted, {}, "reverted", "unknown", "public_decrypt"},
        {Status::processing, Reason::reverted, 0x0666cbdf, "reverted_acl_selector", "unknown",
         "public_decrypt"},
        {Status::processing, Reason::send_failed, {}, "max_retries_exceeded", "", "unknown"},
        {Status::processing, Reason::no_contract_code, {}, "invalid_address", "", "unknown"},
        {Status::processing, Reason::rpc_error, {}, "rpc_error", "", "unknown"},
        {Status::tx_in_flight, Reason::internal_error, {}, "unknown_error", "", "unknown"},
        {Status::processing, Reason::recovered_too_often, {}, "unknown_error", "", "unknown"},
    };
    support::VirtualClock clock;
    for (const Row& row : rows) {
        CAPTURE(to_string(row.reason));
        CAPTURE(row.selector.value_or(0));
        MetricsWorld world(clock);
        store::Change failed = change(Kind::public_decrypt, row.from, Status::failure, 3s);
        failed.reason = row.reason;
        failed.selector = row.selector;
        store::Change of_share = failed;
        of_share.kind = Kind::share;
        step(world.metrics, {failed, of_share});
        const Exposition page = world.read();
        CHECK(page.value("relayer_transaction_errors_total",
                         {{"error_type", row.error_type},
                          {"revert_category", row.category},
                          {"request_type", row.request_type}}) == 1);
        CHECK(page.sum("relayer_transaction_errors_total") == 1);
        CHECK(
            page.value("relayer_transaction_count", {{"transaction_type", "public_decrypt_request"},
                                                     {"transaction_status", "failed"}}) == 1);
        CHECK(page.sum("relayer_transaction_count") == 1);
        const bool was_sent = row.from == Status::tx_in_flight;
        CHECK(page.value("relayer_transaction_duration_secs_sum",
                         {{"transaction_type", "public_decrypt_request"}, {"status", "failed"}}) ==
              (was_sent ? 3 : 0));
    }
}

TEST_CASE("what ends without a transaction, or after it, is no failed transaction") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    step(world.metrics, {change(Kind::public_decrypt, Status::queued, Status::failure),
                         change(Kind::input_proof, Status::receipt_received, Status::failure),
                         change(Kind::user_decrypt, Status::receipt_received, Status::timed_out),
                         change(Kind::user_decrypt, Status::receipt_received, Status::completed)});
    const Exposition page = world.read();
    CHECK(page.sum("relayer_transaction_count") == 0);
    CHECK(page.sum("relayer_transaction_errors_total") == 0);
    CHECK(page.sum("relayer_request_status_duration_seconds_count") == 4);
}

TEST_CASE("trouble on the way is one transport error per try") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    engine::StepFacts facts;
    facts.unreachable = {Family::input_proof, Family::input_proof, Family::share};
    world.metrics.stepped(facts);
    const Exposition page = world.read();
    CHECK(page.value("relayer_transaction_errors_total", {{"error_type", "transport_error"},
                                                          {"revert_category", ""},
                                                          {"request_type", "unknown"}}) == 2);
    const std::string name = "posthouse_gateway_unreachable_total";
    CHECK(page.value(name, {{"req_type", "input_proof"}}) == 2);
    CHECK(page.value(name, {{"req_type", "vote_share"}}) == 1);
    CHECK(page.value(name, {{"req_type", "user_decrypt"}}) == 0);
}

TEST_CASE("commits are measured when they had something to write") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    engine::StepFacts facts;
    facts.commit = 4ms;
    facts.wal_bytes = 8'192;
    world.metrics.stepped(facts);
    CHECK(world.read().value("posthouse_commit_duration_seconds_count") == 0);
    facts.events = 3;
    facts.woken = {{store::Lane::schedule, 250ms}, {store::Lane::timer, -5ms}};
    world.metrics.stepped(facts);
    world.metrics.storage_failed();
    const Exposition page = world.read();
    CHECK(page.value("posthouse_commit_duration_seconds_count") == 1);
    CHECK(page.value("posthouse_commit_duration_seconds_sum") == doctest::Approx(0.004));
    CHECK(page.value("posthouse_commit_batch_size_sum") == 3);
    CHECK(page.value("posthouse_wal_bytes") == 8'192);
    CHECK(page.value("posthouse_storage_errors_total") == 1);
    const std::string late = "posthouse_wake_lateness_seconds";
    CHECK(page.value(late + "_sum", {{"lane", "schedule"}}) == doctest::Approx(0.25));
    CHECK(page.value(late + "_count", {{"lane", "timer"}}) == 1);
    CHECK(page.value(late + "_sum", {{"lane", "timer"}}) == 0);
    CHECK(page.value(late + "_count", {{"lane", "gate"}}) == 0);
}

TEST_CASE("recovery tells what it found; its moves are observed but already in the count") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    engine::recovery::Report report;
    report.in_flight = 2;
    report.shares = 5;
    report.changes = {change(Kind::input_proof, Status::tx_in_flight, Status::processing, 40s)};
    world.metrics.recovered(report);
    world.metrics.add(store::RowCounts{});
    const Exposition page = world.read();
    CHECK(page.value("posthouse_recovered_requests", {{"state", "in_flight"}}) == 2);
    CHECK(page.value("posthouse_recovered_requests", {{"state", "shares"}}) == 5);
    CHECK(page.value("posthouse_recovered_requests", {{"state", "quarantined"}}) == 0);
    CHECK(page.value("relayer_request_status_duration_seconds_sum",
                     {{"req_type", "input_proof"}, {"previous_status", "tx_in_flight"}}) == 40);
    CHECK(page.sum("relayer_request_count") == 0);
}

TEST_CASE("queues, connections, polls and the process are looked at when somebody asks") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    CHECK(world.read().all("relayer_queue_size_count").size() == 5);
    CHECK(world.read().sum("relayer_queue_size_count") == 0);
    world.depths.sending = {1, 2, 3};  // input proof, public, user
    world.depths.readiness = {4, 5};   // public, user
    world.inbox_size = 6;
    world.http = {.connections = 7,
                  .connections_refused = 8,
                  .requests_read = 10,
                  .requests_unreadable = 9,
                  .handshakes_failed = 2,
                  .bytes_buffered = 11};
    const Exposition page = world.read();
    const auto queue = [&](const std::string& type) {
        return page.value("relayer_queue_size_count", {{"queue_type", type}});
    };
    CHECK(queue("input_proof_tx_throttler") == 1);
    CHECK(queue("public_decrypt_tx_throttler") == 2);
    CHECK(queue("user_decrypt_tx_throttler") == 3);
    CHECK(queue("public_decrypt_readiness_throttler") == 4);
    CHECK(queue("user_decrypt_readiness_throttler") == 5);
    CHECK(page.value("posthouse_inbox_depth") == 6);
    CHECK(page.value("posthouse_http_connections") == 7);
    CHECK(page.value("posthouse_http_connections_refused_total") == 8);
    CHECK(page.value("posthouse_http_requests_unreadable_total") == 9);
    CHECK(page.value("posthouse_http_requests_read_total") == 10);
    CHECK(page.value("posthouse_tls_handshakes_failed_total") == 2);
    CHECK(page.value("posthouse_http_buffered_bytes") == 11);
    CHECK(page.value("posthouse_long_polls_waiting") == 3);
    CHECK(page.value("posthouse_long_polls_turned_away_total") == 4);
    CHECK(page.value("process_resident_memory_bytes") == 1'000);
    CHECK(page.value("process_open_fds") == 12);
    CHECK(page.value("process_start_time_seconds") == 1'780'000'000);
    CHECK(page.value("posthouse_build_info", {{"version", "1.2.3"}, {"build", "abcdef-clean"}}) ==
          1);
}

TEST_CASE("a chain that says nothing about itself has no series") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    for (const std::string name :
         {"posthouse_signer_balance_ether", "posthouse_signer_nonce_distance",
          "posthouse_chain_head_lag_blocks", "posthouse_chain_sends_per_second_max"}) {
        CHECK_FALSE(world.read().types.contains(name));
    }
    world.chain = {0.25, 3, std::nullopt};
    world.chain.most_sent_in_a_second = {7, 8, 9};
    const Exposition page = world.read();
    CHECK(page.value("posthouse_signer_balance_ether") == 0.25);
    CHECK(page.value("posthouse_signer_nonce_distance") == 3);
    CHECK_FALSE(page.types.contains("posthouse_chain_head_lag_blocks"));
    const auto most = [&](const std::string& type) {
        return page.value("posthouse_chain_sends_per_second_max", {{"req_type", type}});
    };
    CHECK(most("input_proof") == 7);
    CHECK(most("public_decrypt") == 8);
    CHECK(most("user_decrypt") == 9);
}

TEST_CASE("of several signers each has series of its own, by its address") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    world.chain.signers = {{"0xA", 0.5, 2, {}}, {"0xB", {}, {}, "it is empty"}};
    const Exposition page = world.read();
    CHECK(page.value("posthouse_signer_balance_ether", {{"account", "0xA"}}) == 0.5);
    CHECK(page.value("posthouse_signer_nonce_distance", {{"account", "0xA"}}) == 2);
    CHECK(page.value("posthouse_signer_healthy", {{"account", "0xA"}}) == 1);
    CHECK(page.value("posthouse_signer_healthy", {{"account", "0xB"}}) == 0);
    world.chain = {0.25, 3, std::nullopt};
    CHECK_FALSE(world.read().types.contains("posthouse_signer_healthy"));
}

TEST_CASE("ages count from what waits longest; what is not due has none") {
    support::VirtualClock clock;
    MetricsWorld world(clock, with_shares);
    const domain::Timestamp now = clock.wall();
    store::Backlog backlog;
    backlog.oldest.at(Kind::user_decrypt, Status::queued) = now - 20s;
    backlog.oldest.at(Kind::unified_user_decrypt, Status::queued) = now - 30s;
    backlog.oldest.at(Kind::share, Status::processing) = now + 5s;  // the clock was set back
    backlog.oldest_at_gate = now - 30s;
    backlog.earliest_scheduled = now + 60s;
    backlog.earliest_timer = now - 1500ms;
    world.backlog = [&] { return backlog; };
    const auto due = [&](const std::string& lane) {
        return world.read().value("posthouse_oldest_due_age_seconds", {{"lane", lane}});
    };
    const auto age = [&](const std::string& type, const std::string& status) {
        return world.read().value("posthouse_oldest_age_seconds",
                                  {{"req_type", type}, {"status", status}});
    };
    CHECK(age("user_decrypt", "queued") == 30);
    CHECK(age("vote_share", "processing") == 0);
    CHECK(age("input_proof", "tx_in_flight") == 0);
    CHECK(due("gate") == 30);
    CHECK(due("schedule") == 0);
    CHECK(due("timer") == 1.5);

    // A leap that the processor does not believe makes nothing due; pauses never follow it.
    clock.step_wall(2h);
    CHECK(due("schedule") == 0);
    CHECK(due("timer") == 1.5);
    clock.advance(2min);
    CHECK(due("schedule") == 60);
    CHECK(due("timer") == 121.5);
    clock.advance(5min);
    CHECK(due("schedule") == 2 * 3'600 + 6 * 60);
}

TEST_CASE("while the database can not be read everything else is still shown") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    world.metrics.storage_failed();
    world.backlog = []() -> store::Backlog {
        throw store::StorageError(store::StorageErrorKind::io, "the disk is gone");
    };
    const Exposition page = world.read();
    CHECK(page.value("posthouse_storage_errors_total") == 1);
    CHECK(page.all("relayer_queue_size_count").size() == 5);
    CHECK_FALSE(page.types.contains("posthouse_oldest_age_seconds"));
}

TEST_CASE("the kernel knows this process") {
    const auto facts = api::metrics::process_facts();
    CHECK(facts.resident_bytes > 100'000);
    CHECK(facts.open_descriptors >= 1);
    CHECK(facts.start_unix_seconds > 1'700'000'000);
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    CHECK(facts.start_unix_seconds <= std::chrono::duration<double>(now).count() + 1);
}

TEST_CASE("each value of the process stands for itself (field 104)") {
    support::VirtualClock clock;
    MetricsWorld world(clock);
    world.process = {1'000, {}, {}};
    const Exposition page = world.read();
    CHECK(page.value("process_resident_memory_bytes") == 1'000);
    CHECK_FALSE(page.types.contains("process_open_fds"));
    CHECK_FALSE(page.types.contains("process_start_time_seconds"));
}
