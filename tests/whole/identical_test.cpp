// Many clients that post the same at the same moment (relayer-api 2.3; field report 55). The long
// run is tests/drills/identical.py.

#include <chrono>
#include <deque>
#include <map>
#include <set>
#include <string>

#include "box.hpp"
#include "routes.hpp"

namespace {

using namespace std::chrono_literals;
using api_test::Answer;
using whole::Box;
using whole::Route;

constexpr int rounds = 50;
constexpr int clients_count = 64;

TEST_CASE("64 identical POSTs at once: one job id, one row, one inclusion (field report 55)") {
    Box box;
    box.answer_everything();
    const int port = box.port();
    std::deque<api_test::Client> clients;
    for (int i = 0; i < clients_count; ++i) clients.emplace_back(port);

    std::map<std::string, int> included;
    const auto answers = box.world.gateway.on_send;
    box.world.gateway.on_send = [&](const engine::SendOrder& order) {
        ++included[domain::to_string(order.id)];
        return answers(order);
    };
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const Route& route = whole::routes[round % 5];
        const std::string body = route.body(static_cast<std::uint64_t>(round));
        for (auto& client : clients) client.send({"POST", route.path, body});
        std::set<std::string> jobs;
        for (auto& client : clients) {
            while (!client.is_answered(1)) box.step();
            const Answer answer = client.take();
            CHECK(answer.status == 202);
            jobs.insert(answer.job_id());
        }
        REQUIRE(jobs.size() == 1);
        CHECK(box.rows() == round + 1);
        CHECK(box.follow(route.path, *jobs.begin()).status == 200);
        CHECK(included[*jobs.begin()] == 1);
    }
    CHECK(included.size() == rounds);
    CHECK(box.world.number("select count(*) from attempt") == rounds);
}

}  // namespace
