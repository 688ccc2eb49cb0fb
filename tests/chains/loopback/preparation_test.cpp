#include <doctest/doctest.h>

#include "chains/loopback/harness.hpp"
#include "chains/loopback/transaction.hpp"

using domain::Milliseconds;
using namespace engine;

TEST_CASE("preparing takes its latency, a proof that of proofs") {
    chains::loopback::Options options;
    options.prepare = chains::loopback::fixed(Milliseconds{50});
    options.proof = chains::loopback::fixed(Milliseconds{70});
    Harness harness{options};
    harness.gateway->prepare(
        {{support::request_id(1), std::make_shared<domain::Request>(support::vote_share(1))},
         {support::request_id(2), std::make_shared<domain::Request>(support::input_proof(2))}});
    harness.run_for(Milliseconds{50});
    REQUIRE(harness.events.preparations.size() == 1);
    CHECK(harness.events.preparations[0].id == support::request_id(2));
    harness.run_for(Milliseconds{19});
    CHECK(harness.events.preparations.size() == 1);
    harness.run_for(Milliseconds{1});
    REQUIRE(harness.events.preparations.size() == 2);
    CHECK(harness.events.preparations[1].id == support::request_id(1));
}

TEST_CASE("an estimation revert carries its selector, for good and only for relayer kinds") {
    auto options = instant();
    options.estimation_reverts = 1000;
    Harness harness{options};
    for (std::uint32_t number = 0; number < 5; ++number) {
        CAPTURE(number);
        const auto outcome =
            harness.prepare(support::request_id(number), support::any_request(number));
        REQUIRE(is<Rejected>(outcome));
        const domain::Failure& failure = std::get<Rejected>(outcome).failure;
        CHECK(failure.reason == domain::Reason::reverted);
        REQUIRE(failure.selector);
        const std::uint32_t selector = *failure.selector;
        const std::array digits{
            static_cast<std::uint8_t>(selector >> 24U), static_cast<std::uint8_t>(selector >> 16U),
            static_cast<std::uint8_t>(selector >> 8U), static_cast<std::uint8_t>(selector)};
        CHECK(failure.text ==
              "Transaction simulation failed: Execution reverted: 0x" + domain::to_hex(digits));
        const auto again = harness.prepare(support::request_id(99), support::any_request(number));
        CHECK(std::get<Rejected>(again).failure == failure);
    }
    CHECK(is<Plan>(harness.prepare(support::request_id(5), support::vote_share(5))));
}

TEST_CASE("a failed proof is a rejection that another try may not meet") {
    auto options = instant();
    options.failed_proofs = 500;
    Harness harness{options};
    int failed = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const auto outcome = harness.prepare(support::request_id(1), support::vote_share(1));
        failed += is<Rejected>(outcome);
        CHECK((is<Rejected>(outcome) || is<Plan>(outcome)));
        CHECK(is<Plan>(harness.prepare(support::request_id(2), support::public_decrypt(1))));
    }
    CHECK(failed > 60);
    CHECK(failed < 140);
}

TEST_CASE("unreachable moments of preparing pass by") {
    auto options = instant();
    options.unreachable_prepares = 500;
    Harness harness{options};
    int unreachable = 0;
    for (int turn = 0; turn < 200; ++turn) {
        const auto outcome = harness.prepare(support::request_id(1), support::public_decrypt(1));
        unreachable += is<Unreachable>(outcome);
        CHECK((is<Unreachable>(outcome) || is<Plan>(outcome)));
    }
    CHECK(unreachable > 60);
    CHECK(unreachable < 140);
}

TEST_CASE("sealing twice gives two transactions with rising nonces") {
    Harness harness{instant()};
    const auto plan =
        std::get<Plan>(harness.prepare(support::request_id(1), support::public_decrypt(1)));
    const Sealed first =
        harness.gateway->seal(support::request_id(1), domain::Kind::public_decrypt, plan);
    const Sealed second =
        harness.gateway->seal(support::request_id(1), domain::Kind::public_decrypt, plan);
    CHECK(second.nonce == first.nonce + 1);
    CHECK(first.hash == domain::sha256(first.bytes));
    CHECK(first.hash != second.hash);

    const auto read = chains::loopback::decode_transaction(first.bytes);
    REQUIRE(read);
    CHECK(read->nonce == first.nonce);
    CHECK(read->draft.id == support::request_id(1));
}

TEST_CASE("nonces rise above the ledger after a restart, and no hash comes twice") {
    Harness harness{instant()};
    const auto included = harness.order(support::request_id(1), support::public_decrypt(1));
    const auto never_sent = harness.order(support::request_id(2), support::public_decrypt(2));
    CHECK(is<Receipt>(harness.send(included)));
    harness.crash();
    harness.start(0);
    const auto fresh = harness.order(support::request_id(2), support::public_decrypt(2));
    CHECK(fresh.sealed[0].nonce > included.sealed[0].nonce);
    CHECK(fresh.sealed[0].hash != never_sent.sealed[0].hash);
}
