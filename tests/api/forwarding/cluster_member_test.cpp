#include "api/cluster_member.hpp"

#include <doctest/doctest.h>

#include "api/forwarding/nodes.hpp"

namespace {

using forwarding_test::Answer;
using forwarding_test::FollowingNode;
using forwarding_test::Json;
using forwarding_test::owner_at;

TEST_CASE("a node that follows and reaches its database is healthy, and says where it stands") {
    FollowingNode node("b");
    node.view.owned_by(owner_at("a", "http://127.0.0.1:1"));
    node.view.change([&](cluster::NodeState& state) {
        state.behind = 4;
        state.last_entry = node.around.clock.wall() - std::chrono::seconds{9};
    });
    const Answer answer = node.get("/healthz");
    CHECK(answer.status == 200);
    CHECK_FALSE(answer.has("Retry-After"));
    CHECK(answer.json == Json{{"status", "healthy"},
                              {"dependencies", {{"journal", "ok"}, {"book", "ok"}}},
                              {"cluster",
                               {{"role", "follower"},
                                {"book", "main"},
                                {"node", "b"},
                                {"epoch", 7},
                                {"owner", "a"},
                                {"entries_behind", 4},
                                {"last_entry_age_seconds", 9},
                                {"obstacle", nullptr}}}});
}

TEST_CASE("what a node does not know is null") {
    FollowingNode node("b");
    const Answer answer = node.get("/healthz");
    CHECK(answer.status == 200);
    for (const char* const member : {"epoch", "owner", "last_entry_age_seconds", "obstacle"}) {
        CAPTURE(member);
        REQUIRE(answer.json["cluster"].contains(member));
        CHECK(answer.json["cluster"][member].is_null());
    }
}

TEST_CASE("a node without its database, or with an obstacle, is unhealthy") {
    FollowingNode node("b");
    node.view.change([](cluster::NodeState& state) {
        state.reaches_database = false;
        state.database_problem = "connection refused";
    });
    const Answer cut_off = node.get("/healthz");
    CHECK(cut_off.status == 503);
    CHECK(cut_off.header("Retry-After") == "5");
    CHECK(cut_off.json["dependencies"] == Json{{"journal", "fail"}, {"book", "ok"}});

    node.view.change([](cluster::NodeState& state) {
        state.reaches_database = true;
        state.obstacle = cluster::Obstacle::went_back;
    });
    const Answer stopped = node.get("/healthz");
    CHECK(stopped.status == 503);
    CHECK(stopped.text("/status") == "unhealthy");
    CHECK(stopped.json["dependencies"] == Json{{"journal", "ok"}, {"book", "fail"}});
    CHECK(stopped.text("/cluster/obstacle") == "database_went_back");

    node.view.change(
        [](cluster::NodeState& state) { state.obstacle = cluster::Obstacle::not_taken; });
    const Answer kept_out = node.get("/healthz");
    CHECK(kept_out.status == 503);
    CHECK(kept_out.text("/cluster/obstacle") == "book_not_taken");
}

TEST_CASE("an entry of a clock that is ahead is not older than now") {
    const domain::Timestamp now = domain::from_unix_ms(1'780'272'000'000);
    cluster::NodeState state;
    state.last_entry = now + std::chrono::seconds{30};
    CHECK(api::cluster_member(state, now)["last_entry_age_seconds"] == 0);
}

}  // namespace
