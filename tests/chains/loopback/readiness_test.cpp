#include <doctest/doctest.h>

#include <map>
#include <string>

#include "chains/loopback/harness.hpp"
#include "domain/access_list.hpp"
#include "domain/keccak.hpp"

using domain::Milliseconds;
using namespace engine;

namespace {

const domain::Failure& failure_of(const CheckOutcome& outcome) {
    return std::get<Rejected>(outcome).failure;
}

}  // namespace

TEST_CASE("decrypts of a known host chain are ready after the latency of readiness") {
    Harness harness;
    harness.gateway->check(
        {{support::request_id(1), std::make_shared<domain::Request>(support::public_decrypt(1))},
         {support::request_id(2), std::make_shared<domain::Request>(support::user_decrypt(2))}});
    harness.run_for(Milliseconds{199});
    CHECK(harness.events.checks.empty());
    harness.run_for(Milliseconds{1});
    REQUIRE(harness.events.checks.size() == 2);
    CHECK(harness.events.calls == 1);
    CHECK(is<Ready>(harness.events.checks[0].outcome));
    CHECK(is<Ready>(harness.events.checks[1].outcome));
}

TEST_CASE("a handle of an unknown host chain is refused by name") {
    auto options = instant();
    options.host_chains = {8009, 9000};
    Harness harness{options};
    domain::PublicDecrypt request{{support::handle(1), support::handle(2, 9000)}, {}};
    CHECK(is<Ready>(harness.check(support::request_id(1), request)));

    request.handles.push_back(support::handle(3, 9001));
    const auto outcome = harness.check(support::request_id(1), request);
    REQUIRE(is<Rejected>(outcome));
    CHECK(failure_of(outcome).reason == domain::Reason::host_acl_failed);
    CHECK(failure_of(outcome).text ==
          "Host ACL check failed: No ACL binding configured for host chain 9001");
}

TEST_CASE("an access list refusal names handle and check") {
    auto options = instant();
    options.acl_refusals = 1000;
    Harness harness{options};
    const std::string head = "Not allowed on host ACL: ACL check failed for 1 handle(s): handle=0x";
    const std::string handle = domain::to_hex(support::handle(1));
    const std::string user = domain::checksummed(support::address(0xbb));

    struct Row {
        domain::Request request;
        std::string check;
    };
    domain::UnifiedUserDecrypt own = support::unified_user_decrypt(1);
    own.handles[0].owner_address = own.user_address;
    const Row rows[] = {
        {domain::PublicDecrypt{{support::handle(1)}, {}}, "isAllowedForDecryption"},
        {support::delegated_user_decrypt(1), "isHandleDelegatedForUserDecryption"},
        {own, "isAllowed(user " + user + ")"},
        {support::unified_user_decrypt(1), "isHandleDelegatedForUserDecryption(owner " +
                                               domain::checksummed(support::address(0xee)) +
                                               ", user " + user + ")"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.check);
        const auto outcome = harness.check(support::request_id(1), row.request);
        REQUIRE(is<Rejected>(outcome));
        CHECK(failure_of(outcome).reason == domain::Reason::host_acl_refused);
        CHECK(failure_of(outcome).text == head + handle + " check=" + row.check);
    }
}

TEST_CASE("a direct user decryption asks for user and contract") {
    const auto questions = domain::acl_questions(support::user_decrypt(1));
    REQUIRE(questions.size() == 2);
    CHECK(questions[0].check.starts_with("isAllowed(user 0x"));
    CHECK(questions[1].check.starts_with("isAllowed(contract 0x"));
}

TEST_CASE("addresses are spelt in the mixed case of EIP-55") {
    for (const char* text : {"0x55693bBDc7a8910c4056aa5ba460A640e7dA2A21",
                             "0x16A5E7cBEDA81177aFD7e789DCBf4893fAa37751",
                             "0x8314C0d2957aFAb5BE33261be1E460C2DF0Ec5Dd"}) {
        domain::Address address{};
        REQUIRE(domain::from_hex(std::string_view{text}.substr(2), address));
        CHECK(domain::checksummed(address) == text);
    }
}

TEST_CASE("the same requests are refused by the same seed") {
    auto options = instant();
    options.acl_refusals = 300;
    std::map<std::uint64_t, std::string> refused;
    for (const std::uint64_t seed : {5U, 5U, 6U}) {
        options.seed = seed;
        Harness harness{options};
        std::string picture;
        for (std::uint32_t number = 0; number < 300; ++number) {
            const auto outcome =
                harness.check(support::request_id(number), support::public_decrypt(number));
            picture += is<Rejected>(outcome) ? 'x' : '.';
            CHECK(harness.check(support::request_id(number), support::public_decrypt(number))
                      .index() == outcome.index());
        }
        const auto hits = std::count(picture.begin(), picture.end(), 'x');
        CHECK(hits > 50);
        CHECK(hits < 130);
        const auto [known, fresh] = refused.emplace(seed, picture);
        if (!fresh) CHECK(known->second == picture);
    }
    CHECK(refused[5] != refused[6]);
}

TEST_CASE("a late request is not ready for as many tries as configured") {
    auto options = instant();
    options.late_readiness = 1000;
    options.not_ready_tries = 2;
    Harness harness{options};
    for (const std::int64_t id : {1, 2}) {
        const auto request = support::public_decrypt(7);
        CHECK(is<NotReady>(harness.check(support::request_id(id), request)));
        CHECK(is<NotReady>(harness.check(support::request_id(id), request)));
        CHECK(is<Ready>(harness.check(support::request_id(id), request)));
    }
}

TEST_CASE("unreachable moments of checks pass by") {
    auto options = instant();
    options.unreachable_checks = 500;
    Harness harness{options};
    int unreachable = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const auto outcome = harness.check(support::request_id(1), support::public_decrypt(1));
        unreachable += is<Unreachable>(outcome);
        CHECK((is<Unreachable>(outcome) || is<Ready>(outcome)));
    }
    CHECK(unreachable > 60);
    CHECK(unreachable < 140);
}

TEST_CASE("latencies of a range differ between the orders of one call") {
    chains::loopback::Options options;
    options.readiness = {Milliseconds{10}, Milliseconds{30}};
    Harness harness{options};
    std::vector<CheckOrder> orders;
    for (int number = 0; number < 200; ++number) {
        orders.push_back({support::request_id(number),
                          std::make_shared<domain::Request>(support::public_decrypt(1))});
    }
    harness.gateway->check(orders);
    harness.run_for(Milliseconds{9});
    CHECK(harness.events.checks.empty());
    harness.run_for(Milliseconds{10});
    CHECK(harness.events.checks.size() > 20);
    CHECK(harness.events.checks.size() < 180);
    harness.run_for(Milliseconds{11});
    CHECK(harness.events.checks.size() == 200);
    CHECK(harness.events.calls <= 21);
}
