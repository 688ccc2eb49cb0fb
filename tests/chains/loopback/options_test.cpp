#include "chains/loopback/options.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "chains/loopback/harness.hpp"

using chains::loopback::Options;
using domain::Milliseconds;

TEST_CASE("the defaults of the loopback gateway suit a laptop and break nothing") {
    const Options options;
    CHECK_FALSE(chains::loopback::problem_of(options));
    CHECK(options.readiness == chains::loopback::fixed(Milliseconds{200}));
    CHECK(options.prepare == chains::loopback::fixed(Milliseconds{50}));
    CHECK(options.confirmation == chains::loopback::fixed(Milliseconds{250}));
    CHECK(options.response == chains::loopback::fixed(Milliseconds{500}));
    CHECK(options.host_chains == std::vector<std::uint64_t>{8009});
    CHECK(options.kms_nodes == 13);
}

TEST_CASE("a loopback option out of range is named with its value and range") {
    struct Row {
        const char* label;
        std::function<void(Options&)> set;
        const char* expected;
    };
    const Row rows[] = {
        {"no ledger", [](auto& o) { o.ledger.clear(); }, "ledger is empty, must name a file"},
        {"no host chain", [](auto& o) { o.host_chains.clear(); },
         "host_chains is empty, must name at least one chain"},
        {"latency falls",
         [](auto& o) {
             o.response = {Milliseconds{9}, Milliseconds{3}};
         },
         "response is [9, 3] ms, must rise within 0 to 86400000"},
        {"negative latency", [](auto& o) { o.readiness.min = Milliseconds{-1}; },
         "readiness is [-1, 200] ms, must rise within 0 to 86400000"},
        {"latency beyond a day", [](auto& o) { o.proof.max = Milliseconds{86'400'001}; },
         "proof is [200, 86400001] ms, must rise within 0 to 86400000"},
        {"share", [](auto& o) { o.lost_replies = 1001; },
         "lost_replies is 1001, must be 0 to 1000"},
        {"storage", [](auto& o) { o.storage_url = "ftp://kms"; },
         "storage_url is no http:// or https:// URL"},
        {"no prefix", [](auto& o) { o.storage_prefix.clear(); },
         "storage_prefix is empty, must name a folder"},
        {"no handle", [](auto& o) { o.proof_handles = 0; }, "proof_handles is 0, must be 1 to 255"},
        {"signatures", [](auto& o) { o.signatures = 256; }, "signatures is 256, must be 1 to 255"},
        {"no node", [](auto& o) { o.kms_nodes = 0; }, "kms_nodes is 0, must be 1 to 60"},
        {"nodes", [](auto& o) { o.kms_nodes = 61; }, "kms_nodes is 61, must be 1 to 60"},
        {"outage before the start",
         [](auto& o) {
             o.outages = {{Milliseconds{-5}, Milliseconds{1}}};
         },
         "outages: start is -5 ms, must not be negative"},
        {"empty outage",
         [](auto& o) {
             o.outages = {{Milliseconds{5}, Milliseconds{0}}};
         },
         "outages: duration is 0 ms, must be at least 1"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        Options options;
        row.set(options);
        CHECK(chains::loopback::problem_of(options).value_or("") == row.expected);
    }
}

TEST_CASE("each fault share is checked") {
    using Member = chains::loopback::Permille Options::*;
    const Member members[] = {
        &Options::unreachable_checks,
        &Options::acl_refusals,
        &Options::late_readiness,
        &Options::unreachable_prepares,
        &Options::estimation_reverts,
        &Options::failed_proofs,
        &Options::unreachable_sends,
        &Options::lost_replies,
        &Options::reverts,
        &Options::shares_already_revealed,
        &Options::proof_rejections,
        &Options::missing_kms_nodes,
        &Options::early_answers,
        &Options::duplicate_answers,
        &Options::foreign_answers,
    };
    for (const Member member : members) {
        Options options;
        options.*member = 1000;
        CHECK_FALSE(chains::loopback::problem_of(options));
        options.*member = 1001;
        CHECK(chains::loopback::problem_of(options));
    }
}

TEST_CASE("a gateway refuses options that have a problem") {
    Harness harness;
    Options options = harness.options;
    options.kms_nodes = 99;
    CHECK_THROWS_WITH_AS(
        chains::loopback::Gateway(options, harness.clock, harness.executor, harness.logger),
        "loopback gateway: kms_nodes is 99, must be 1 to 60", std::invalid_argument);
}

TEST_CASE("names of the synchronous modes") {
    for (const char* name : {"full", "normal", "off"}) {
        const auto mode = chains::loopback::ledger_synchronous_from(name);
        REQUIRE(mode);
        CHECK(chains::loopback::to_string(*mode) == name);
    }
    CHECK_FALSE(chains::loopback::ledger_synchronous_from("FULL"));
    CHECK_FALSE(chains::loopback::ledger_synchronous_from(""));
}
