// Full gates, as a client sees them (relayer-api 4.4, 5.6).

#include <chrono>
#include <string>
#include <vector>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using domain::Family;
using whole::Box;
using whole::Route;

enum class Gate { readiness, sending };

// Capacity 10 with margin 2: eight wait, the ninth is refused. Nothing moves.
void narrow(Box& box, Family family, Gate gate) {
    auto& options = box.world.engine.options;
    options.api_retry_after_seconds = box.options.api_retry_after_seconds = 7;
    if (gate == Gate::readiness) {
        auto& narrowed = family == Family::public_decrypt ? options.readiness.public_decrypt
                                                          : options.readiness.user_decrypt;
        narrowed = {1, 10, 2};
        box.world.gateway.on_check = [](const engine::CheckOrder&) { return std::nullopt; };
        return;
    }
    auto& sending = options.sending;
    auto& narrowed = family == Family::input_proof      ? sending.input_proof
                     : family == Family::public_decrypt ? sending.public_decrypt
                                                        : sending.user_decrypt;
    narrowed = {1, 1, 10, 2};
    options.sends_max = 0;
}

struct Row {
    const char* label;
    Route route;
    Gate gate;
    std::uint64_t passed;  // beyond those that wait
};

const Row rows[] = {
    {"input proof, sending", whole::input_proof, Gate::sending, 0},
    {"public decrypt, readiness", whole::public_decrypt, Gate::readiness, 1},
    {"public decrypt, sending", whole::public_decrypt, Gate::sending, 0},
    {"user decrypt, readiness", whole::user_decrypt, Gate::readiness, 1},
    {"user decrypt, sending", whole::user_decrypt, Gate::sending, 0},
    {"delegated decrypt, readiness", whole::delegated_decrypt, Gate::readiness, 1},
    {"delegated decrypt, sending", whole::delegated_decrypt, Gate::sending, 0},
    {"unified decrypt, readiness", whole::unified_decrypt, Gate::readiness, 1},
    {"unified decrypt, sending", whole::unified_decrypt, Gate::sending, 0},
};

TEST_CASE("4.4: the ninth of eight places gets 429 and no row; duplicates and others do not") {
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Box box;
        const Family family = domain::family_of(row.route.kind);
        narrow(box, family, row.gate);
        std::uint64_t number = 0;
        for (; number < 8 + row.passed; ++number) {
            REQUIRE(box.post(row.route.path, row.route.body(number)).status == 202);
            box.run_for(1s);
        }
        const std::int64_t before = box.rows();
        for (int i = 0; i < 3; ++i) {
            const Answer bounced = box.post(row.route.path, row.route.body(number + 1));
            CHECK(bounced.status == 429);
            CHECK(bounced.label() == "rate_limited");
            CHECK(bounced.message() ==
                  "Server is experiencing high processing load: relayer is currently processing "
                  "too many requests");
            CHECK(bounced.header("Retry-After") == "7");
            CHECK(bounced.text("/requestId").size() == 36);
        }
        CHECK(box.rows() == before);
        for (std::uint64_t known = 0; known < number; ++known) {
            CHECK(box.post(row.route.path, row.route.body(known)).status == 202);
        }
        // Families do not fill each other's gates; the three user decrypts share one pair.
        for (const Route& other : whole::routes) {
            CAPTURE(other.path);
            const bool shared = domain::family_of(other.kind) == family;
            CHECK(box.post(other.path, other.body(99)).status == (shared ? 429 : 202));
        }
        CHECK(box.world.number("select count(*) from request where status = 'failure'") == 0);
    }
}

TEST_CASE("4.4: a repeat of what failed is bounced like a new request") {
    Box box;
    box.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
        return engine::Rejected{{domain::Reason::reverted, "reverted", {}}};
    };
    const Route& route = whole::input_proof;
    const std::string job = box.post(route.path, route.body(100)).job_id();
    CHECK(box.follow(route.path, job).status == 500);
    box.crash();
    narrow(box, Family::input_proof, Gate::sending);
    box.restart();
    for (std::uint64_t number = 0; number < 8; ++number) {
        REQUIRE(box.post(route.path, route.body(number)).status == 202);
    }
    CHECK(box.post(route.path, route.body(100)).status == 429);
    CHECK(box.poll(route.path, job).status == 500);
}

TEST_CASE("4.4: a bounced client that waits gets in when there is room") {
    Box box;
    const Route& route = whole::input_proof;
    auto& options = box.world.engine.options;
    options.sending.input_proof = {1, 1, 10, 2};
    box.answer_everything();
    int bounced = 0;
    std::vector<std::string> jobs;
    for (std::uint64_t number = 0; number < 30; ++number) {
        Answer answer = box.post(route.path, route.body(number));
        while (answer.status == 429) {
            ++bounced;
            box.run_for(std::chrono::seconds{std::stoi(answer.header("Retry-After"))});
            answer = box.post(route.path, route.body(number));
        }
        REQUIRE(answer.status == 202);
        jobs.push_back(answer.job_id());
    }
    CHECK(bounced > 0);
    for (const std::string& job : jobs) CHECK(box.follow(route.path, job).status == 200);
    CHECK(box.world.gateway.sends.size() == 30);
}

}  // namespace
