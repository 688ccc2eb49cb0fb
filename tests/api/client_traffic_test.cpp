// What each client posts is told by its name: in the status, in the metrics, nowhere of shares.

#include "api/client_traffic.hpp"

#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/harness.hpp"
#include "api/metrics_world.hpp"
#include "api/samples.hpp"
#include "support/temp_directory.hpp"
#include "support/virtual_time.hpp"

namespace {

using api::ClientActivity;
using api::ClientTraffic;
using api::Submission;
using api::SubmissionCounts;
using namespace std::chrono_literals;

const std::string fast_key = "fast-0123456789abcdef";
const std::string rare_key = "rare-0123456789abcdef";

std::string name_of(std::int64_t client) {
    for (const char* name : {"fast", "rare"}) {
        if (client == static_cast<std::int64_t>(api::access::client_named(name).id)) return name;
    }
    return {};
}

std::map<std::string, SubmissionCounts> by_name(const ClientTraffic& traffic) {
    std::map<std::string, SubmissionCounts> counts;
    for (const ClientActivity& one : api::client_activity(&traffic, {}, name_of)) {
        counts[one.name] = one.since_start;
    }
    return counts;
}

struct World {
    World() {
        const std::string file = (directory.path() / "keys").string();
        std::ofstream(file) << "fast " << fast_key << "\nrare " << rare_key << " 0.01 2\n";
        REQUIRE(::chmod(file.c_str(), 0600) == 0);
        options.access.client_keys_file = file;
        harness.emplace(options);
    }

    int post(const std::string& key, const std::string& body) {
        return harness
            ->send({"POST",
                    api_test::proof_path,
                    body,
                    {{"x-api-key", key}, {"Content-Type", "application/json"}}})
            .status;
    }

    support::TempDirectory directory;
    api::Options options;
    std::optional<api_test::Harness> harness;
};

}  // namespace

TEST_CASE("each answer to a POST counts once, for whose key it came with") {
    World world;
    const std::string good = api_test::sample("input-proof-1-value.json");
    CHECK(world.post(fast_key, good) == 202);
    CHECK(world.post(fast_key, good) == 202);
    CHECK(world.post(fast_key, "{}") == 400);
    CHECK(world.post("nobody-0123456789abc", good) == 401);
    CHECK(world.post(rare_key, good) == 202);
    CHECK(world.post(rare_key, good) == 202);
    CHECK(world.post(rare_key, good) == 429);
    world.harness->submitter.forced = engine::QueueFull{};
    CHECK(world.post(fast_key, good) == 429);
    world.harness->submitter.forced.reset();
    world.harness->submitter.defect = "broken";
    CHECK(world.post(fast_key, good) == 500);
    world.harness->submitter.defect.reset();
    // Neither polls nor shares.
    CHECK(world.harness->send({"GET", api_test::proof_path + "/x", {}, {{"x-api-key", fast_key}}})
              .status == 400);
    CHECK(world.harness
              ->send({"POST",
                      api_test::share_path,
                      api_test::sample("vote-share.json"),
                      {{"X-Helper-Token", fast_key}}})
              .status == 200);

    // accepted, invalid, unauthorized, too often, busy, failed
    const std::map<std::string, SubmissionCounts> expected{
        {"fast", {2, 1, 0, 0, 1, 1}}, {"rare", {2, 0, 0, 1, 0, 0}}, {"-", {0, 0, 1, 0, 0, 0}}};
    CHECK(by_name(world.harness->traffic) == expected);
}

TEST_CASE("the last hour forgets, the count since the start does not") {
    support::VirtualClock clock;
    ClientTraffic traffic(clock);
    traffic.count(1, Submission::accepted);
    clock.advance(30min);
    traffic.count(1, Submission::accepted);
    traffic.count(1, Submission::busy);
    const auto last_hour = [&] { return traffic.all().at(0).last_hour; };
    CHECK(last_hour() == SubmissionCounts{2, 0, 0, 0, 1, 0});
    clock.advance(30min);
    CHECK(last_hour() == SubmissionCounts{1, 0, 0, 0, 1, 0});
    clock.advance(30min);
    CHECK(last_hour() == SubmissionCounts{});
    CHECK(traffic.all().at(0).since_start == SubmissionCounts{2, 0, 0, 0, 1, 0});
    // A slot that comes round again holds nothing of an hour before.
    traffic.count(1, Submission::failed);
    CHECK(last_hour() == SubmissionCounts{0, 0, 0, 0, 0, 1});
}

TEST_CASE("who does most comes first, and ids without a name are one") {
    support::VirtualClock clock;
    ClientTraffic traffic(clock);
    const auto fast = static_cast<std::int64_t>(api::access::client_named("fast").id);
    const auto rare = static_cast<std::int64_t>(api::access::client_named("rare").id);
    for (int i = 0; i < 9; ++i) traffic.count(rare, Submission::too_often);
    traffic.count(11, Submission::accepted);
    traffic.count(12, Submission::accepted);
    const auto all = api::client_activity(&traffic, {{fast, 5}, {12, 1}, {0, 1}}, name_of);
    std::vector<std::pair<std::string, std::uint64_t>> order;
    order.reserve(all.size());
    for (const ClientActivity& one : all) order.emplace_back(one.name, one.in_work);
    CHECK(order == std::vector<std::pair<std::string, std::uint64_t>>{
                       {"rare", 0}, {"fast", 5}, {"?", 1}, {"-", 1}});
    CHECK(all.at(2).since_start == SubmissionCounts{2, 0, 0, 0, 0, 0});

    const auto without = api::client_activity(nullptr, {{fast, 5}}, name_of);
    REQUIRE(without.size() == 1);
    CHECK(without.at(0).in_work == 5);
}

TEST_CASE("keys that come and go take no count from anybody") {
    support::VirtualClock clock;
    std::map<std::int64_t, std::string> keys{{1, "web"}, {2, "old"}};
    const auto name = [&keys](std::int64_t client) {
        const auto found = keys.find(client);
        return found == keys.end() ? std::string() : found->second;
    };
    ClientTraffic traffic(clock, name);
    traffic.count(1, Submission::accepted);
    traffic.count(2, Submission::accepted);
    const auto posts = [&] {
        std::map<std::string, std::uint64_t> counts;
        for (const ClientActivity& one : api::client_activity(&traffic, {{2, 1}, {3, 1}}, name)) {
            counts[one.name] = one.since_start.at(0);
        }
        return counts;
    };
    const std::map<std::string, std::uint64_t> before{{"web", 1}, {"old", 1}, {"?", 0}};
    CHECK(posts() == before);
    keys.clear();
    CHECK(posts() == before);
    keys = {{1, "web"}};
    CHECK(posts() == before);
}

TEST_CASE("a scrape has a line for each client and outcome") {
    support::VirtualClock clock;
    api_test::MetricsWorld world(clock);
    world.clients = {{"fast", 4, {7, 0, 0, 2, 0, 0}, {}}, {"-", 0, {0, 0, 3, 0, 0, 0}, {}}};
    const api_test::Exposition page = world.read();
    CHECK(page.value("posthouse_client_requests_in_work", {{"client", "fast"}}) == 4);
    CHECK(page.value("posthouse_client_posts_total",
                     {{"client", "fast"}, {"outcome", "too_often"}}) == 2);
    CHECK(page.value("posthouse_client_posts_total",
                     {{"client", "-"}, {"outcome", "unauthorized"}}) == 3);
    CHECK(page.all("posthouse_client_posts_total").size() == 12);
}
