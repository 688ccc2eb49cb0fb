// What operators are answered when they steer requests.

#include "api/admin/job_commands.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/doubles.hpp"
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

const domain::RequestId failed_id{1'780'272'000'000LL << 12, 5};
const domain::RequestId share_id{failed_id.sequence + 1, 5};
const domain::RequestId unified_id{failed_id.sequence + 2, 5};
const domain::RequestId endless_id{failed_id.sequence + 3, 5};
const domain::RequestId anew_id{failed_id.sequence + 9, 7};

class ScriptedEngine : public engine::Instructed {
public:
    void instruct(engine::Instruction instruction) override {
        told.push_back(instruction.what);
        instruction.reply(outcome);
    }
    std::vector<engine::Instruction::What> told;
    engine::InstructionOutcome outcome = engine::Done{anew_id};
};

class ScriptedContracts : public engine::ContractSignatures {
public:
    engine::SignatureAnswer ask(std::uint64_t, const domain::Address&, const domain::Bytes32&,
                                domain::ByteView) override {
        ++asked;
        return answer;
    }
    engine::SignatureAnswer answer = engine::SignatureValid{};
    int asked = 0;
};

struct CommandWorld {
    CommandWorld() {
        options.directory = directory.path();
        store::Store store(options);
        store::Store::Transaction transaction(store);
        add(store, failed_id, support::input_proof(1));
        add(store, share_id, support::vote_share(1));
        add(store, unified_id, support::unified_user_decrypt(1));
        domain::UnifiedUserDecrypt endless = support::unified_user_decrypt(2);
        endless.duration_seconds = std::numeric_limits<std::uint64_t>::max();
        add(store, endless_id, endless);
        transaction.commit();
    }

    void add(store::Store& store, const domain::RequestId& id, const domain::Request& request) {
        store::Row row;
        row.id = id;
        row.kind = domain::kind_of(request);
        row.status = domain::first_status(row.kind);
        row.since = clock.wall();
        row.schedule.lane = row.kind == Kind::share ? store::Lane::schedule : store::Lane::gate;
        row.schedule.wake = clock.wall();
        if (row.kind == Kind::share) {
            row.round = store.round(support::numbered<domain::Bytes32>(1), clock.wall() + 1h);
        }
        const domain::Bytes payload = domain::encode(request);
        store.insert({row, domain::identify(request), payload});
    }

    net::HttpResponse post(const std::string& verb, const std::string& id,
                           const std::string& body = "{}") {
        JobCommands commands(parts());
        net::HttpResponse answer;
        post(commands, verb, id, body, [&](net::HttpResponse given) { answer = std::move(given); });
        return answer;
    }

    static void post(JobCommands& commands, const std::string& verb, const std::string& id,
                     const std::string& body, const net::Respond& respond) {
        const std::string path = "/admin/jobs/" + id + "/" + verb;
        net::HttpRequest request;
        request.method = "POST";
        request.path = path;
        request.body = body;
        for (const AdminRoute& route : commands.routes()) {
            if (route.path.ends_with("/" + verb)) route.answer(request, respond);
        }
    }

    [[nodiscard]] JobCommands::Parts parts() {
        return {engine, reader, contracts, lookups, clock, domain::Address{}, with_shares};
    }

    support::TempDirectory directory;
    support::VirtualClock clock;
    store::Options options;
    ScriptedEngine engine;
    ScriptedContracts contracts;
    api_test::ScriptedExecutor lookups;
    store::JobReader reader{options_with(directory)};
    bool with_shares = false;

private:
    static store::Options options_with(const support::TempDirectory& directory) {
        store::Options options;
        options.directory = directory.path();
        return options;
    }
};

TEST_CASE("each outcome has its answer") {
    struct Row {
        std::string label;
        engine::InstructionOutcome outcome;
        int status;
        Json body;
    };
    const std::string id = to_string(failed_id);
    const std::string other = to_string(anew_id);
    for (const Row& row : {
             Row{"new",
                 engine::Done{anew_id},
                 200,
                 {{"job_id", other}, {"message", "Asked anew"}, {"retry_of", id}}},
             Row{"known",
                 engine::AskedAlready{anew_id},
                 409,
                 {{"error", "Not retried: the same is asked already, as " + other},
                  {"job_id", other}}},
             Row{"not done",
                 engine::NotDone{"it is completed"},
                 409,
                 {{"error", "Not retried: it is completed"}}},
             Row{"unknown", engine::UnknownRequest{}, 404, {{"error", "No such job"}}},
             Row{"not written",
                 engine::NotWritten{},
                 503,
                 {{"error", "Not retried: the database takes no writes"}}},
         }) {
        CAPTURE(row.label);
        CommandWorld world;
        world.engine.outcome = row.outcome;
        const net::HttpResponse answer = world.post("retry", id);
        CHECK(answer.status == row.status);
        CHECK(Json::parse(answer.body) == row.body);
    }
    CommandWorld world;
    world.engine.outcome = engine::Done{failed_id};
    CHECK(Json::parse(world.post("cancel", id).body) ==
          Json{{"job_id", id}, {"message", "Cancelled"}});
    world.engine.outcome = engine::NotDone{"no"};
    CHECK(Json::parse(world.post("cancel", id).body) == Json{{"error", "Not cancelled: no"}});
}

TEST_CASE("what is to be paid or wiped again must be said, and nothing else can be") {
    CommandWorld world;
    const std::string id = to_string(failed_id);
    static_cast<void>(world.post("retry", id));
    static_cast<void>(world.post("retry", id, R"({"pay_again":true})"));
    static_cast<void>(world.post("cancel", id, R"({"share":true})"));
    REQUIRE(world.engine.told.size() == 3);
    CHECK_FALSE(std::get<engine::Retry>(world.engine.told[0]).pay_again);
    CHECK(std::get<engine::Retry>(world.engine.told[1]).pay_again);
    CHECK(std::get<engine::Cancel>(world.engine.told[2]).share_too);
    for (const std::string body : {"", "[]", "true", "{", R"({"pay_again":1})", R"({"share":true})",
                                   R"({"pay_again":true,"x":1})"}) {
        CAPTURE(body);
        const net::HttpResponse answer = world.post("retry", id, body);
        CHECK(answer.status == 400);
        CHECK(answer.body.find("perhaps with `pay_again`, true or false") != std::string::npos);
    }
    CHECK(world.post("retry", "7").status == 400);
    CHECK(world.post("retry", to_string(anew_id)).status == 404);
    CHECK(world.engine.told.size() == 3);
}

TEST_CASE("nobody can tell a share from an id that was never given out") {
    CommandWorld world;
    for (const std::string verb : {"retry", "cancel"}) {
        CHECK(world.post(verb, to_string(share_id)).status == 404);
        CHECK(world.post(verb, to_string(share_id)).body ==
              world.post(verb, to_string(anew_id)).body);
    }
    CHECK(world.engine.told.empty());
    world.with_shares = true;
    CHECK(world.post("cancel", to_string(share_id), R"({"share":true})").status == 200);
    CHECK(world.engine.told.size() == 1);
}

TEST_CASE("a user's signature is looked at anew before the request is asked again") {
    struct Row {
        std::string label;
        engine::SignatureAnswer answer;
        domain::Milliseconds later;
        int status;
        std::string error;
    };
    for (const Row& row : {
             Row{"valid", engine::SignatureValid{}, 0s, 200, ""},
             Row{"taken back", engine::SignatureInvalid{}, 0s, 409, "is not valid"},
             Row{"no node", engine::Unreachable{"timed out"}, 0s, 503, "timed out"},
             Row{"in its last second", engine::SignatureValid{}, 599s, 200, ""},
             Row{"expired", engine::SignatureValid{}, 600s, 409, "has expired"},
         }) {
        CAPTURE(row.label);
        CommandWorld world;
        world.contracts.answer = row.answer;
        world.clock.advance(row.later);
        const net::HttpResponse answer = world.post("retry", to_string(unified_id));
        CHECK(answer.status == row.status);
        CHECK(answer.body.find(row.error) != std::string::npos);
        const bool has_retry_after = std::ranges::any_of(
            answer.headers, [](const auto& header) { return header.first == "Retry-After"; });
        CHECK(has_retry_after == (row.status == 503));
        CHECK(world.engine.told.size() == (row.status == 200 ? 1 : 0));
        CHECK(world.contracts.asked == (row.error == "has expired" ? 0 : 1));
        // Nobody signed for the others.
        static_cast<void>(world.post("retry", to_string(failed_id)));
        static_cast<void>(world.post("cancel", to_string(unified_id)));
        CHECK(world.contracts.asked <= 1);
    }
}

TEST_CASE("what a user signed for longer than there are seconds has not expired") {
    CommandWorld world;
    world.clock.advance(1h);
    CHECK(world.post("retry", to_string(endless_id)).status == 200);
    CHECK(world.engine.told.size() == 1);
}

TEST_CASE("a host node that hangs holds nobody who retries") {
    CommandWorld world;
    JobCommands commands(world.parts());
    world.lookups.hold();
    std::optional<net::HttpResponse> answer;
    CommandWorld::post(commands, "retry", to_string(unified_id), "{}",
                       [&](net::HttpResponse given) { answer = std::move(given); });
    CHECK_FALSE(answer);
    CHECK(world.post("retry", to_string(failed_id)).status == 200);
    CHECK(world.contracts.asked == 0);
    world.lookups.release();
    REQUIRE(answer);
    CHECK(answer->status == 200);
    CHECK(world.contracts.asked == 1);
}

}  // namespace
}  // namespace api::admin
