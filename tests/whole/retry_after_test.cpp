// Where Retry-After goes and what it says there (relayer-api 5.5, 5.6); the arithmetic itself is
// tested in domain.

#include <chrono>
#include <string>
#include <vector>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using whole::Box;
using whole::Route;

// The parameters of 5.3.
void use_worked_values(Box& box) {
    auto& options = box.world.engine.options;
    options.readiness.public_decrypt = {50, 11'000, 0};
    options.readiness.user_decrypt = {50, 11'000, 0};
    options.sending.input_proof = {10, 1, 11'000, 0};
    options.sending.public_decrypt = {10, 1, 11'000, 0};
    options.sending.user_decrypt = {10, 1, 11'000, 0};
    options.retry_after.readiness_check = 2'000ms;
    options.retry_after.input_proof_processing = 2'000ms;
    options.retry_after.public_decrypt_processing = 4'000ms;
    options.retry_after.user_decrypt_processing = 4'000ms;
    options.retry_after.tx_confirmation = 100ms;
}

// What the header says; the body must say the same.
int wait_of(const Answer& answer) {
    CAPTURE(answer.body);
    REQUIRE(answer.status == 202);
    CHECK(answer.header("Retry-After") == std::to_string(answer.json.value("eta_seconds", -1)));
    return std::stoi(answer.header("Retry-After"));
}

TEST_CASE("5.5: a new POST stands at the end of the line, its polls move up, a repeat is as far") {
    Box box;
    use_worked_values(box);
    box.world.engine.options.sends_max = 0;  // the line stands still
    const Route& route = whole::input_proof;
    struct Row {
        std::uint64_t ahead;
        int seconds;
    };
    std::vector<std::string> jobs;
    for (const Row& row : {Row{0, 3}, {1, 3}, {10, 4}, {100, 15}}) {
        CAPTURE(row.ahead);
        while (jobs.size() < row.ahead) {
            jobs.push_back(box.post(route.path, route.body(jobs.size())).job_id());
        }
        const Answer posted = box.post(route.path, route.body(jobs.size()));
        CHECK(wait_of(posted) == row.seconds);
        jobs.push_back(posted.job_id());
        CHECK(wait_of(box.poll(route.path, jobs.back())) == row.seconds);
        CHECK(wait_of(box.post(route.path, route.body(row.ahead))) == row.seconds);
        // Those ahead wait as long as before.
        CHECK(wait_of(box.poll(route.path, jobs.front())) == 3);
        CHECK(wait_of(box.post(route.path, route.body(0))) == 3);
    }
}

TEST_CASE("5.5: each stage of a decrypt by its own formula, on POST, poll and repeat alike") {
    for (const Route& route : {whole::public_decrypt, whole::user_decrypt, whole::delegated_decrypt,
                               whole::unified_decrypt}) {
        CAPTURE(route.path);
        Box box;
        use_worked_values(box);
        box.world.gateway.check_delay = 10s;
        box.world.gateway.prepare_delay = 10s;
        box.world.gateway.send_delay = 10s;
        const Answer posted = box.post(route.path, route.body());
        CHECK(wait_of(posted) == 5);  // in line for readiness, nobody ahead
        const std::string job = posted.job_id();
        struct Row {
            const char* state;
            int seconds;
        };
        // Check running: R + P + T. In the sending line or being prepared: P + T. In flight: P.
        for (const Row& row : {Row{"queued", 8}, {"processing", 5}, {"tx_in_flight", 5}}) {
            box.run_for(row.state == std::string("queued") ? 1s : 10s);
            const Answer polled = box.poll(route.path, job);
            CAPTURE(row.state);
            CHECK(polled.text("/state") == row.state);
            CHECK(wait_of(polled) == row.seconds);
            CHECK(wait_of(box.post(route.path, route.body())) == row.seconds);
        }
    }
}

TEST_CASE("T-146 5.5: after the receipt the table of intervals by the seconds that passed") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.world.engine.options.retry_after.copro_kms_backoff_intervals = {
            {0, 4}, {60, 10}, {120, 30}};
        const std::string job = box.post(route.path, route.body()).job_id();
        while (box.poll(route.path, job).text("/state") != "receipt_received") box.run_for(10ms);
        struct Row {
            std::int64_t elapsed;
            int seconds;
        };
        std::int64_t passed = 0;
        for (const Row& row : {Row{0, 4}, {30, 4}, {60, 10}, {90, 10}, {120, 30}, {200, 30}}) {
            CAPTURE(row.elapsed);
            box.run_for(std::chrono::seconds{row.elapsed - passed});
            passed = row.elapsed;
            const Answer polled = box.poll(route.path, job);
            CHECK(wait_of(polled) == row.seconds);
            CHECK(polled.json["elapsed_seconds"] == row.elapsed);
            CHECK(wait_of(box.post(route.path, route.body())) == row.seconds);
        }
    }
}

TEST_CASE("5.5: what ended tells no time, and a repeat of what ended well the shortest") {
    for (const Route& route : whole::routes) {
        CAPTURE(route.path);
        Box box;
        box.world.engine.options.retry_after.min_seconds = 2;
        box.answer_everything();
        const std::string job = box.post(route.path, route.body()).job_id();
        CHECK_FALSE(box.follow(route.path, job).has("Retry-After"));
        CHECK(wait_of(box.post(route.path, route.body())) == 2);

        Box failing;
        failing.world.gateway.on_prepare = [](const engine::PrepareOrder&) {
            return engine::Rejected{{domain::Reason::reverted, "reverted", 0xd93c0665}};
        };
        const std::string failed = failing.post(route.path, route.body()).job_id();
        const Answer ended = failing.follow(route.path, failed);
        CHECK(ended.status == 503);
        CHECK_FALSE(ended.has("Retry-After"));
    }
}

TEST_CASE("5.6: the time on a 429 is the configured one, however long the line") {
    Box box;
    use_worked_values(box);
    box.world.engine.options.sending.input_proof = {1, 1, 1, 1};
    box.options.api_retry_after_seconds = 11;
    const Answer bounced = box.post(whole::input_proof.path, whole::input_proof.body());
    CHECK(bounced.status == 429);
    CHECK(bounced.header("Retry-After") == "11");
    CHECK_FALSE(bounced.json.contains("eta_seconds"));
}

}  // namespace
