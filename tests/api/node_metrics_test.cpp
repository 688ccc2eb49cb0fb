#include "api/metrics/node_metrics.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

using cluster::NodeState;
using cluster::Role;
using namespace std::chrono_literals;

namespace {

constexpr domain::Timestamp node_now{1'780'272'000'000ms};

NodeState state_of_follower() {
    NodeState state;
    state.book = "main";
    state.node = "b";
    state.owner = cluster::Owner{.epoch = 7, .node = "a", .url = {}};
    state.seq = 120;
    state.behind = 3;
    state.last_entry = node_now - 2'500ms;
    state.reaches_database = true;
    state.takeovers = 2;
    return state;
}

bool has_series(const std::string& text, const std::string& line) {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

std::string exposition_of(const NodeState& state) {
    return api::metrics::follower_exposition(state, node_now, {});
}

}  // namespace

TEST_CASE("a follower says how far it is, and nothing of a journal it does not write") {
    const std::string text = exposition_of(state_of_follower());
    CHECK(has_series(text, "posthouse_cluster_role{role=\"follower\"} 1"));
    CHECK(has_series(text, "posthouse_cluster_role{role=\"owner\"} 0"));
    CHECK(has_series(text, "posthouse_cluster_epoch 7"));
    CHECK(has_series(text, "posthouse_cluster_entry 120"));
    CHECK(has_series(text, "posthouse_cluster_entries_behind 3"));
    CHECK(has_series(text, "posthouse_cluster_last_entry_age_seconds 2.5"));
    CHECK(has_series(text, "posthouse_cluster_database_reached 1"));
    CHECK(has_series(text, "posthouse_cluster_obstacle{why=\"none\"} 1"));
    CHECK(has_series(text, "posthouse_cluster_takeovers_total 2"));
    CHECK(has_series(text, "posthouse_cluster_journal_on_one_disk 0"));
    CHECK(text.find("posthouse_cluster_journal_entries") == std::string::npos);
    CHECK(text.find("posthouse_cluster_journal_latency") == std::string::npos);
}

TEST_CASE("what keeps a follower from following is in its metrics") {
    NodeState state = state_of_follower();
    state.obstacle = cluster::Obstacle::went_back;
    state.reaches_database = false;
    state.last_entry.reset();
    const std::string text = exposition_of(state);
    CHECK(has_series(text, "posthouse_cluster_obstacle{why=\"database_went_back\"} 1"));
    CHECK(has_series(text, "posthouse_cluster_database_reached 0"));
    CHECK(text.find("last_entry_age") == std::string::npos);
}

TEST_CASE("what keeps a follower from owning a book that nobody owns is in its metrics") {
    NodeState state = state_of_follower();
    state.obstacle = cluster::Obstacle::not_taken;
    state.journal.one_disk = "a reason for people";
    const std::string text = exposition_of(state);
    CHECK(has_series(text, "posthouse_cluster_obstacle{why=\"book_not_taken\"} 1"));
    CHECK(has_series(text, "posthouse_cluster_journal_on_one_disk 1"));
}

TEST_CASE("an owner says what its journal costs") {
    NodeState state = state_of_follower();
    state.role = Role::owner;
    state.journal.entries = 10;
    state.journal.bytes = 4'096;
    state.journal.settled = 1;
    state.journal.last_latency = 4ms;
    state.journal.one_disk = "a reason for people";
    const std::string text = exposition_of(state);
    CHECK(has_series(text, "posthouse_cluster_role{role=\"owner\"} 1"));
    CHECK(has_series(text, "posthouse_cluster_journal_entries_total 10"));
    CHECK(has_series(text, "posthouse_cluster_journal_bytes_total 4096"));
    CHECK(has_series(text, "posthouse_cluster_journal_settled_total 1"));
    CHECK(has_series(text, "posthouse_cluster_journal_latency_seconds 0.004"));
    CHECK(has_series(text, "posthouse_cluster_journal_on_one_disk 1"));
    CHECK(text.find("a reason for people") == std::string::npos);
}
