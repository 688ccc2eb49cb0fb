// What operators see of requests, as JSON and on a terminal.

#include "api/admin/job_answers.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "api/access/client_keys.hpp"
#include "api/admin/job_query.hpp"
#include "api/admin/job_waiting.hpp"
#include "api/admin/recent_rates.hpp"
#include "api/admin/screens.hpp"
#include "api/admin/status_answer.hpp"
#include "api/admin/times.hpp"
#include "store/store.hpp"
#include "support/requests.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace api::admin {
namespace {

using namespace std::chrono_literals;
using domain::Kind;
using domain::Status;
using Json = nlohmann::json;
using store::Lane;

TEST_CASE("times and spans are those of people") {
    CHECK(utc_text(domain::from_unix_ms(0)) == "1970-01-01T00:00:00.000Z");
    CHECK(utc_text(domain::from_unix_ms(1'780'272'000'007)) == "2026-06-01T00:00:00.007Z");
    CHECK(utc_text(domain::from_unix_ms(1'709'251'199'999)) == "2024-02-29T23:59:59.999Z");
    struct Row {
        domain::Milliseconds span;
        std::string text;
    };
    for (const Row& row :
         {Row{0ms, "0 ms"}, Row{999ms, "999 ms"}, Row{1s, "1 s"}, Row{119'999ms, "119 s"},
          Row{2min, "2 min"}, Row{119min, "119 min"}, Row{2h, "2 h 00 min"},
          Row{47h + 59min, "47 h 59 min"}, Row{48h, "2 d 00 h"}, Row{30 * 24h + 5h, "30 d 05 h"}}) {
        CHECK(span_text(row.span) == row.text);
    }
}

TEST_CASE("a query is read, and what is wrong with it is named") {
    const domain::Timestamp now = domain::from_unix_ms(1'000'000);
    const auto read = read_job_query(
        "kind=input_proof&status=failure&client=we%62&older=60&label=reverted&limit=7&"
        "before=019a0000-0000-7000-8000-000000000001",
        now);
    const auto& filter = std::get<store::JobFilter>(read);
    CHECK(filter.kind == Kind::input_proof);
    CHECK(filter.status == Status::failure);
    CHECK_FALSE(filter.unfinished);
    CHECK(filter.client == static_cast<std::int64_t>(access::client_named("web").id));
    CHECK(filter.accepted_before == now - 60s);
    CHECK(filter.reason == domain::Reason::reverted);
    CHECK(filter.limit == 7);
    CHECK(filter.below == (0x019a'0000'0000LL << 12));
    CHECK(std::get<store::JobFilter>(read_job_query("status=unfinished", now)).unfinished);
    CHECK(std::get<store::JobFilter>(read_job_query("&&", now)).limit == 50);
    CHECK(std::get<store::JobFilter>(read_job_query("client=-", now)).client == 0);

    struct Row {
        std::string query;
        std::string error;
    };
    for (const Row& row : {
             Row{"kind=proof",
                 "kind: no such kind; allowed: input_proof, public_decrypt, "
                 "user_decrypt, delegated_user_decrypt, unified_user_decrypt, share"},
             Row{"status=stuck",
                 "status: no such status; allowed: unfinished, queued, processing, "
                 "tx_in_flight, receipt_received, completed, timed_out, failure"},
             Row{"status=", "status: no such status"},
             Row{"label=gone", "label: no such reason"},
             Row{"older=10m", "older: no time; allowed: whole seconds"},
             Row{"older=-1", "older: no time"},
             Row{"older=999999999999", "older: no time"},
             Row{"limit=0", "limit: out of range; allowed: 1 to 1000"},
             Row{"limit=1001", "limit: out of range"},
             Row{"limit=1&limit=1", "limit: twice; allowed: once"},
             Row{"before=1", "before: no job id"},
             Row{"sort=age",
                 "sort: no such filter; allowed: kind, status, client, older, label, "
                 "limit, before"},
         }) {
        CAPTURE(row.query);
        const auto refused = read_job_query(row.query, now);
        REQUIRE(std::holds_alternative<AdminError>(refused));
        CHECK(std::get<AdminError>(refused).text.starts_with(row.error));
    }
}

store::Row row_of(Kind kind, Status status, Lane lane) {
    store::Row row;
    row.id = {1'780'272'000'000LL << 12, 5};
    row.kind = kind;
    row.status = status;
    row.since = domain::from_unix_ms(1'780'272'000'000);
    row.schedule.lane = lane;
    row.schedule.wake = domain::from_unix_ms(1'780'272'060'000);
    return row;
}

TEST_CASE("each place a request can stand in is explained") {
    domain::QueuePosition position;
    position.ahead = 3;
    position.readiness_concurrency = 8;
    position.tx_per_second = 20;
    struct Case {
        std::string label;
        Kind kind;
        Status status;
        Lane lane;
        store::Schedule schedule;  // counts only
        std::string what;
        bool has_end;
    };
    const auto counts = [](std::uint32_t claims, std::uint32_t attempts, std::uint32_t faults,
                           bool refused = false) {
        store::Schedule schedule;
        schedule.claims = claims;
        schedule.attempts = attempts;
        schedule.faults = faults;
        if (refused) schedule.refused_since = domain::from_unix_ms(1);
        return schedule;
    };
    const Kind decrypt = Kind::public_decrypt;
    for (const Case& one : {
             Case{"permit", decrypt, Status::queued, Lane::gate, counts(0, 0, 0),
                  "a place among the readiness checks: 3 are before it, 8 run at a time", false},
             Case{"check", decrypt, Status::queued, Lane::timer, counts(1, 0, 0),
                  "the answer to its readiness check", true},
             Case{"not ready", decrypt, Status::queued, Lane::timer, counts(0, 2, 0),
                  "its next readiness check: not ready yet, asked 2 times", true},
             Case{"chain away", decrypt, Status::queued, Lane::timer, counts(0, 2, 1),
                  "its next readiness check: the chain could not be asked, once in a row", true},
             Case{"rate", Kind::input_proof, Status::processing, Lane::gate, counts(0, 0, 0),
                  "a token of the transaction rate: 3 are before it, 20 per second", false},
             Case{"estimate", Kind::input_proof, Status::processing, Lane::timer, counts(1, 0, 0),
                  "gas and fees to be estimated", true},
             Case{"no estimate", Kind::input_proof, Status::processing, Lane::timer,
                  counts(0, 0, 4), "the next try to prepare its transaction, which failed 4 times",
                  true},
             Case{"restarted", Kind::input_proof, Status::processing, Lane::gate, counts(0, 1, 0),
                  "its turn to be looked up and sent again: 3 are before it, 20 per second", false},
             Case{"sent", decrypt, Status::tx_in_flight, Lane::timer, counts(1, 1, 0),
                  "the receipt of its transaction", true},
             Case{"resting", decrypt, Status::tx_in_flight, Lane::timer, counts(0, 1, 2),
                  "its transaction to be looked up and sent again: 2 times without a receipt",
                  true},
             Case{"refused", decrypt, Status::tx_in_flight, Lane::timer, counts(0, 1, 2, true),
                  "its transaction to be looked up and sent again: the nodes refuse it", true},
             Case{"share", Kind::share, Status::queued, Lane::schedule, counts(0, 0, 0), "its time",
                  true},
             Case{"share again", Kind::share, Status::queued, Lane::schedule, counts(0, 1, 0),
                  "its next try", true},
             Case{"share proof", Kind::share, Status::processing, Lane::timer, counts(1, 0, 0),
                  "its proof", true},
         }) {
        CAPTURE(one.label);
        store::Row row = row_of(one.kind, one.status, one.lane);
        row.schedule.claims = one.schedule.claims;
        row.schedule.attempts = one.schedule.attempts;
        row.schedule.faults = one.schedule.faults;
        row.schedule.refused_since = one.schedule.refused_since;
        const auto waiting = waiting_of(row, position);
        REQUIRE(waiting);
        CHECK(waiting->what == one.what);
        CHECK(waiting->until.has_value() == one.has_end);
        // Without a process nobody knows the place.
        CHECK(one.what.starts_with(waiting_of(row, std::nullopt)->what));
    }
    for (const Status status : {Status::completed, Status::timed_out, Status::failure}) {
        CHECK_FALSE(waiting_of(row_of(decrypt, status, Lane::ended_public_decrypt), position));
    }
}

// A database with a finished decryption, a failed input proof of client `web`, a waiting one and a
// share.
struct World {
    World() {
        store::Store store(options);
        store::Store::Transaction transaction(store);
        store::Row done = row_of(Kind::public_decrypt, Status::queued, Lane::gate);
        store.insert({done, identity(1), {}});
        move(store, done, Status::processing, domain::Cause::claimed);
        move(store, done, Status::tx_in_flight, domain::Cause::sealed);
        store.add_attempt(done.id.sequence, {9, domain::Bytes32{0xab}, {1, 2}, {}}, clock.wall());
        done.schedule.lane = Lane::timer;
        CHECK(store.receive(done, domain::Bytes32{0xcd}, done.schedule, clock.wall()));
        done.status = Status::receipt_received;
        CHECK(store.complete(done, domain::ByteView{done_body}, clock.wall()));
        store::Row failed = row_of(Kind::input_proof, Status::processing, Lane::gate);
        failed.id.sequence += 1;
        failed.client = static_cast<std::int64_t>(access::client_named("web").id);
        store.insert({failed, identity(2), {}});
        CHECK(store.fail(failed, {Status::processing, Status::failure, domain::Cause::transaction},
                         {domain::Reason::reverted, "says \x1b[31mno", 7}, clock.wall()));
        store::Row waiting = failed;
        waiting.id.sequence += 1;
        waiting.client = 3;
        store.insert({waiting, identity(3), {}});
        store::Row share = row_of(Kind::share, Status::queued, Lane::schedule);
        share.id.sequence += 3;
        share.round = store.round(domain::Bytes32{1}, clock.wall());
        store.insert({share, identity(4), {}});
        transaction.commit();
    }

    static store::Options options_in(const support::TempDirectory& directory) {
        store::Options options;
        options.directory = directory.path();
        return options;
    }
    static domain::Identity identity(std::uint8_t number) {
        return {domain::Bytes32{number}, domain::Bytes32{number}};
    }
    void move(store::Store& store, store::Row& row, Status to, domain::Cause cause) const {
        CHECK(store.move(row, {row.status, to, cause}, row.schedule, clock.wall()));
        row.status = to;
    }
    static std::string id(int number) {
        return domain::to_string(domain::RequestId{(1'780'272'000'000LL << 12) + number, 5});
    }
    JobSources sources() {
        return {.clock = clock, .with_shares = with_shares, .client_name = [](std::int64_t client) {
                    return client == 3 ? std::string() : std::string("web");
                }};
    }
    Json list(const std::string& query = {}) {
        return Json::parse(JobAnswers(reader, sources()).list(query).body);
    }
    net::HttpResponse find(const std::string& id) { return JobAnswers(reader, sources()).find(id); }

    // What is told of the transaction of the finished one when its block charged this.
    Json sent_with(const store::Charge& charge) {
        {
            store::Store store(options);
            store::Store::Transaction transaction(store);
            store.include({domain::parse_request_id(id(0)).id.sequence,
                           domain::Bytes32{0xab},
                           domain::Block{77, domain::Bytes32{7}},
                           {},
                           false},
                          charge);
            transaction.commit();
        }
        return Json::parse(find(id(0)).body).at("transactions").at(0);
    }

    support::TempDirectory directory;
    support::VirtualClock clock;
    store::Options options = options_in(directory);
    bool with_shares = false;
    domain::Bytes done_body{1, 2, 3};
    store::JobReader reader{options};
};

TEST_CASE("a list and a job tell who asked, what it waits for and why it ended") {
    World world;
    const Json list = world.list();
    REQUIRE(list.at("jobs").size() == 3);
    CHECK(list.at("looked_at") == 3);
    CHECK_FALSE(list.contains("next"));
    const Json& waiting = list.at("jobs").at(0);
    CHECK(waiting.at("job_id") == World::id(2));
    CHECK(waiting.at("client") == "?");
    CHECK(waiting.at("waits_for") == "a token of the transaction rate");
    const Json& failed = list.at("jobs").at(1);
    CHECK(failed.at("client") == "web");
    CHECK(failed.at("error").at("reason") == "reverted");
    CHECK(failed.at("error").at("selector") == 7);
    CHECK_FALSE(failed.contains("waits_for"));
    CHECK_FALSE(list.at("jobs").at(2).contains("client"));

    const Json page = world.list("limit=1");
    CHECK(world.list("limit=1&before=" + page.at("next").get<std::string>()).at("jobs").at(0) ==
          failed);

    const Json done = Json::parse(world.find(World::id(0)).body);
    CHECK(done.at("status") == "completed");
    CHECK(done.at("transactions").size() == 1);
    CHECK(done.at("transactions").at(0).at("nonce") == 9);
    CHECK(done.at("transactions").at(0).at("fate") == "included");
    CHECK(done.at("transactions").at(0).at("hash").get<std::string>().starts_with("0xab00"));
    CHECK(done.at("reference").get<std::string>().starts_with("0xcd00"));
    CHECK(done.at("result_bytes") == 3);
    std::string stages;
    for (const Json& stage : done.at("history")) {
        stages +=
            stage.at("stage").get<std::string>() + ":" + stage.at("cause").get<std::string>() + " ";
    }
    CHECK(stages ==
          "queued:accepted processing:claimed tx_in_flight:sealed receipt_received:receipt "
          "completed:answered ");
    CHECK(job_screen(world.find(World::id(0)).body).find("tx_in_flight, sealed") !=
          std::string::npos);
}

TEST_CASE("what a request met on its way is told, in JSON and on the screen") {
    struct Row {
        std::string words;
        domain::Status status;
    };
    for (const Row& row :
         {Row{"the node refuses the transaction: nonce too high", Status::tx_in_flight},
          {"fees are at their cap, gateway.tx_engine.fees.max_fee_cap_gwei", Status::tx_in_flight},
          {"connection refused while asking for the nonce", Status::processing}}) {
        CAPTURE(row.words);
        World world;
        store::Row waiting = row_of(Kind::input_proof, Status::processing, Lane::gate);
        waiting.id.sequence += 9;
        {
            store::Store store(world.options);
            store::Store::Transaction transaction(store);
            store.insert({waiting, World::identity(9), {}});
            waiting.schedule.unreached_since = world.clock.wall();
            waiting.schedule.refused_since = world.clock.wall();
            CHECK(store.move(waiting,
                             {Status::processing, Status::tx_in_flight, domain::Cause::sealed},
                             waiting.schedule, world.clock.wall()));
            for (int i = 0; i < 3; ++i) {
                store.note_trouble(waiting.id.sequence,
                                   {"trouble", world.clock.wall(),
                                    std::string(domain::to_string(row.status)), row.words, 1});
            }
            transaction.commit();
        }
        const std::string body = world.find(domain::to_string(waiting.id)).body;
        const Json job = Json::parse(body);
        const Json& trouble = job.at("last_trouble");
        CHECK(trouble.at("text") == row.words);
        CHECK(trouble.at("while") == domain::to_string(row.status));
        CHECK(trouble.at("times") == 3);
        CHECK(job.at("unreached_since") == trouble.at("at"));
        CHECK(job.at("refused_since") == trouble.at("at"));
        const std::string screen = job_screen(body);
        CHECK(screen.find("last trouble   " + row.words + " (3 times, last ") != std::string::npos);
        CHECK(screen.find("no node since") != std::string::npos);
        CHECK(screen.find("refused since") != std::string::npos);
    }
}

namespace {

// Of no process.
StatusSources sources_of(World& world, store::Reader& reader) {
    return {world.clock,
            "1",
            "relayer",
            false,
            world.directory.path(),
            [&reader] { return reader.backlog(); },
            [](std::int64_t) { return std::string("web"); }};
}

}  // namespace

TEST_CASE("what is held is an alert, as long as it is held") {
    World world;
    store::Reader reader(world.options, 1);
    RecentRates rates(world.clock, false);
    api::ClientTraffic clients(world.clock);
    StatusSources sources = sources_of(world, reader);
    sources.with_shares = true;
    sources.client_name = [](std::int64_t) { return std::string(); };
    sources.live.emplace(LiveSources{
        [] { return engine::Gates::Depths{}; }, [] { return engine::Tuning{}; },
        [] { return std::vector<engine::Dependency>{}; },
        [] { return std::optional<std::string>(); }, [] { return engine::ChainReadings{}; },
        [] { return std::vector<domain::Family>{}; }, [] { return std::string_view("info"); },
        rates, clients, world.clock.monotonic()});
    const auto alerts = [&] {
        return Json::parse(status_answer(sources).body).at("alerts").dump();
    };
    CHECK(alerts() == "[]");
    const std::int64_t waiting = domain::parse_request_id(World::id(2)).id.sequence;
    const auto change = [&](const auto& what) {
        store::Store store(world.options);
        store::Store::Transaction transaction(store);
        what(store);
        transaction.commit();
    };
    change([&](store::Store& store) { store.hold(waiting, world.clock.wall()); });
    CHECK(alerts().find("1 requests are held") != std::string::npos);
    CHECK(status_screen(status_answer(sources).body).find("HELD") != std::string::npos);
    CHECK(Json::parse(world.find(World::id(2)).body).at("held") == true);
    change([&](store::Store& store) { store.release_hold(waiting); });
    CHECK(alerts() == "[]");
    CHECK_FALSE(Json::parse(world.find(World::id(2)).body).contains("held"));

    // A share past its second, where that may be told.
    world.clock.advance(24h);
    CHECK(alerts().find("a vote share is ") != std::string::npos);
    sources.with_shares = false;
    CHECK(alerts() == "[]");
}

TEST_CASE("ids are taken in every spelling that clients may use, and others are refused") {
    World world;
    std::string bare = World::id(0);
    std::erase(bare, '-');
    for (const std::string& id : {World::id(0), bare, "%7B" + World::id(0) + "%7D"}) {
        CHECK(world.find(id).status == 200);
    }
    CHECK(world.find("7").status == 400);
    CHECK(world.find("").status == 400);
    CHECK(world.find(World::id(4)).status == 404);
    CHECK(world.find("00000000-0000-4000-8000-000000000000").status == 404);
}

TEST_CASE("shares are in no answer unless their times may be told") {
    World world;
    CHECK(world.list().at("jobs").size() == 3);
    CHECK(world.list("kind=share").at("jobs").empty());
    CHECK(world.list("status=unfinished").at("jobs").size() == 1);
    CHECK(world.find(World::id(3)).status == 404);
    // Nothing tells it from an id that was never given out.
    CHECK(world.find(World::id(3)).body == world.find(World::id(4)).body);
    world.with_shares = true;
    CHECK(world.list().at("jobs").size() == 4);
    CHECK(world.find(World::id(3)).status == 200);
}

TEST_CASE("screens hold what the answers hold, and nothing that moves a terminal") {
    World world;
    const std::string jobs = jobs_screen(world.list().dump());
    CHECK(jobs.find(World::id(1)) != std::string::npos);
    CHECK(jobs.find("reverted: says  [31mno") != std::string::npos);
    CHECK(jobs.find('\x1b') == std::string::npos);
    CHECK(jobs_screen(R"({"jobs":[],"looked_at":0})") == "no such jobs\n");
    CHECK(jobs_screen(R"({"jobs":[],"looked_at":20000,"next":"x"})").find("--before x\n") !=
          std::string::npos);
    const std::string job = job_screen(world.find(World::id(0)).body);
    CHECK(job.find("transaction") != std::string::npos);
    CHECK(job.find(" nonce 9, ") != std::string::npos);
    CHECK(error_screen(R"({"error":"No such job"})") == "No such job");
    CHECK(error_screen("plain\n") == "plain ");
    CHECK(error_screen("") == "the process does not say why; is it of another version?");
    CHECK_THROWS_AS(static_cast<void>(jobs_screen("[]")), std::runtime_error);
}

TEST_CASE("the status of a node that follows says of which book, and what is wrong with that") {
    World world;
    store::Reader reader(world.options, 1);
    cluster::NodeState node;
    node.book = "main";
    node.node = "b";
    node.owner = cluster::Owner{.epoch = 7, .node = "a", .url = {}};
    node.behind = 4;
    StatusSources sources = sources_of(world, reader);
    sources.client_name = [](std::int64_t) { return std::string(); };
    CHECK_FALSE(Json::parse(status_answer(sources).body).contains("cluster"));
    sources.node = [&] { return node; };
    node.reaches_database = true;
    const Json well = Json::parse(status_answer(sources).body);
    CHECK(well.at("cluster").at("role") == "follower");
    CHECK(well.at("cluster").at("entries_behind") == 4);
    CHECK(well.at("alerts").empty());
    const std::string screen = status_screen(well.dump());
    for (const std::string part :
         {"follows; this is what its file says",
          "node b of the book main, epoch 7, follows a, 4 entries behind"}) {
        CAPTURE(part);
        CHECK(screen.find(part) != std::string::npos);
    }
    node.reaches_database = false;
    node.database_problem = "connection refused";
    node.reason = "the journal begins after entry 9";
    node.journal.one_disk = "the database acknowledges on one disk only";
    CHECK(Json::parse(status_answer(sources).body).at("alerts").size() == 3);
}

TEST_CASE("the status counts what is in work; without a process it says so") {
    World world;
    store::Reader reader(world.options, 1);
    StatusSources sources = sources_of(world, reader);
    const Json silent = Json::parse(status_answer(sources).body);
    CHECK(silent.at("running") == false);
    REQUIRE(silent.at("in_work").size() == 1);
    CHECK(silent.at("in_work").at(0).at("count") == 1);
    CHECK(silent.at("in_work").at(0).at("kind") == "input_proof");
    CHECK(silent.at("disk").at("database_bytes") > 4'096);
    CHECK(silent.at("disk").at("free_bytes") > 0);
    const std::string screen = status_screen(silent.dump());
    for (const std::string part : {"none runs", "1 input_proof processing, the oldest for ", "role",
                                   "relayer", "disk", "database ", ", free "}) {
        CAPTURE(part);
        CHECK(screen.find(part) != std::string::npos);
    }

    RecentRates rates(world.clock, false);
    api::ClientTraffic clients(world.clock);
    for (int i = 0; i < 3; ++i) clients.count(7, api::Submission::too_often);
    clients.count(0, api::Submission::accepted);
    sources.live.emplace(LiveSources{
        [] {
            return engine::Gates::Depths{{1, 2}, {3, 4, 5}};
        },
        [] {
            return engine::Tuning{{}, {20, 21, 22}};
        },
        [] {
            return std::vector<engine::Dependency>{{"database", true}, {"gateway_http", false}};
        },
        [] { return std::optional<std::string>("no node answers"); },
        [] {
            return engine::ChainReadings{1.5, 7, 3};
        },
        [] { return std::vector<domain::Family>{domain::Family::share}; },
        [] { return std::string_view("debug"); }, rates, clients, world.clock.monotonic()});
    const std::string live = status_screen(status_answer(sources).body);
    for (const std::string part :
         {"public_decrypt 1, user_decrypt 2", "input_proof 3 (20 per second)",
          "3 blocks behind the head", "signer has 1.5 coins", "7 of its transactions",
          "share: nothing of it begins", "log level", "gateway_http is not well", "no node answers",
          "accepted 0, completed 0", "web: 1 in work; posts of the last hour: 3 too often",
          "-: 0 in work; posts of the last hour: 1 accepted"}) {
        CAPTURE(part);
        CHECK(live.find(part) != std::string::npos);
    }
    CHECK(live.find("database is not well") == std::string::npos);
}

TEST_CASE("while a block is known it says which transaction was included") {
    World world;
    store::Row row = row_of(Kind::public_decrypt, Status::queued, Lane::gate);
    row.id.sequence += 5;
    {
        store::Store store(world.options);
        store::Store::Transaction transaction(store);
        store.insert({row, World::identity(5), {}});
        world.move(store, row, Status::processing, domain::Cause::claimed);
        world.move(store, row, Status::tx_in_flight, domain::Cause::sealed);
        for (const std::uint8_t number : {std::uint8_t{1}, std::uint8_t{2}}) {
            const store::Attempt attempt{number, domain::Bytes32{number}, {1, 2}, {}};
            store.add_attempt(row.id.sequence, attempt, world.clock.wall());
        }
        row.schedule.lane = Lane::timer;
        CHECK(store.receive(row, domain::Bytes32{0xce}, row.schedule, world.clock.wall()));
        store::Inclusion inclusion;
        inclusion.sequence = row.id.sequence;
        inclusion.hash = domain::Bytes32{2};
        inclusion.block = domain::Block{77, domain::Bytes32{7}};
        store.include(inclusion, {21'000, 1'500'000'007});
        transaction.commit();
    }
    const Json job = Json::parse(world.find(domain::to_string(row.id)).body);
    const Json& sent = job.at("transactions");
    CHECK(sent.at(0).at("fate") == "without effect");
    CHECK_FALSE(sent.at(0).contains("block"));
    CHECK(sent.at(1).at("fate") == "included");
    CHECK(sent.at(1).at("block") == 77);
    CHECK(sent.at(1).at("gas_used") == 21'000);
    CHECK(sent.at(1).at("gas_price_wei") == 1'500'000'007);
    CHECK(sent.at(1).at("fee") == "0.000031500000147");
    const std::string screen = job_screen(job.dump());
    CHECK(screen.find("in block 77, paid 0.000031500000147") != std::string::npos);
}

TEST_CASE("what was paid is told exactly, as far as it is known") {
    struct Row {
        store::Charge charge;
        std::string fee;  // empty: not told
    };
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    for (const Row& row : {Row{{}, ""},
                           {{21'000, {}}, ""},
                           {{{}, 7}, ""},
                           {{0, 7}, "0"},
                           {{1, 1}, "0.000000000000000001"},
                           {{1'000'000'000, 1'000'000'000}, "1"},
                           {{2'500'000'000, 1'000'000'000}, "2.5"},
                           {{most, most}, "85070591730234615847.396907784232501249"}}) {
        World world;
        CAPTURE(row.fee);
        const Json sent = world.sent_with(row.charge);
        CHECK(sent.value("fee", std::string()) == row.fee);
        CHECK(sent.contains("gas_used") == row.charge.gas.has_value());
        CHECK(sent.contains("gas_price_wei") == row.charge.gas_price.has_value());
    }
}

TEST_CASE("rates are those of the last minute and hour, without shares") {
    support::VirtualClock clock;
    RecentRates rates(clock, false);
    engine::StepFacts facts;
    const auto change = [&](Kind kind, std::optional<Status> from, std::optional<Status> to) {
        store::Change one;
        one.kind = kind;
        one.from = from;
        one.to = to;
        facts.changes.push_back(one);
    };
    change(Kind::input_proof, std::nullopt, Status::processing);
    change(Kind::input_proof, Status::receipt_received, Status::completed);
    change(Kind::public_decrypt, Status::queued, Status::failure);
    change(Kind::public_decrypt, Status::queued, Status::timed_out);
    change(Kind::public_decrypt, Status::completed, std::nullopt);  // purged
    change(Kind::share, std::nullopt, Status::queued);
    change(Kind::share, Status::queued, Status::failure);
    rates.stepped(facts);
    const auto check = [](const RecentRates::Counts& counts, std::uint64_t each) {
        CHECK(counts.accepted == each);
        CHECK(counts.completed == each);
        CHECK(counts.failed == each);
        CHECK(counts.timed_out == each);
    };
    check(rates.last_minute(), 1);
    clock.advance(30s);
    rates.stepped(facts);
    check(rates.last_minute(), 2);
    clock.advance(40s);
    check(rates.last_minute(), 1);
    check(rates.last_hour(), 2);
    const std::vector<RecentRates::Counts> minutes = rates.minutes();
    REQUIRE(minutes.size() == 60);
    check(minutes[57], 0);
    check(minutes[58], 1);
    check(minutes[59], 1);
    clock.advance(1h);
    check(rates.last_hour(), 0);
    rates.stepped(facts);
    check(rates.last_hour(), 1);
}

}  // namespace
}  // namespace api::admin
