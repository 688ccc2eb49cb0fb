#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "chains/loopback/harness.hpp"

using domain::Milliseconds;
using namespace engine;

namespace {

// Sends a request at once; returns the reference the chain gave it.
domain::Bytes32 include(Harness& harness, std::int64_t number, const domain::Request& request) {
    const SendOrder order = harness.order(support::request_id(number), request);
    harness.gateway->send({order});
    harness.executor.run_due();
    if (harness.events.sends.empty()) return {};
    const auto* receipt = std::get_if<Receipt>(&harness.events.sends.back().outcome);
    return receipt == nullptr ? domain::Bytes32{} : receipt->reference.value_or(domain::Bytes32{});
}

template <typename Body>
const Body& only_answer(const Harness& harness) {
    REQUIRE(harness.events.answers.size() == 1);
    REQUIRE(is<Body>(harness.events.answers[0].body));
    return std::get<Body>(harness.events.answers[0].body);
}

}  // namespace

TEST_CASE("an accepted proof gets handles of its chain and signatures") {
    auto options = instant();
    options.proof_handles = 4;
    options.signatures = 5;
    Harness harness{options};
    const domain::Bytes32 reference = include(harness, 1, support::input_proof(1));
    const auto& accepted = only_answer<domain::ProofAccepted>(harness);
    CHECK(harness.events.answers[0].reference == reference);
    REQUIRE(accepted.handles.size() == 4);
    for (std::size_t index = 0; index < 4; ++index) {
        const domain::Bytes32& handle = accepted.handles[index];
        CHECK(handle[21] == index);
        CHECK(domain::to_hex(domain::ByteView{handle}.subspan(22, 8)) == "0000000000001f49");
        CHECK(handle[31] == 0);
        CHECK(std::equal(handle.begin(), handle.begin() + 21, accepted.handles[0].begin()));
    }
    REQUIRE(accepted.signatures.size() == 5);
    for (const domain::Bytes& signature : accepted.signatures) {
        CHECK(signature.size() == 65);
        CHECK((signature.back() == 27 || signature.back() == 28));
    }
}

TEST_CASE("handles follow from the ciphertext") {
    std::set<domain::Bytes32> handles;
    for (const std::uint64_t ciphertext : {1U, 1U, 2U}) {
        Harness harness{instant()};
        (void)include(harness, 1, support::input_proof(ciphertext));
        handles.insert(only_answer<domain::ProofAccepted>(harness).handles[0]);
    }
    CHECK(handles.size() == 2);
}

TEST_CASE("a share of the proofs is found to be wrong") {
    auto options = instant();
    options.proof_rejections = 400;
    Harness harness{options};
    for (std::int64_t number = 0; number < 100; ++number) {
        (void)include(harness, number, support::input_proof(static_cast<std::uint64_t>(number)));
    }
    const auto rejected = std::ranges::count_if(harness.events.answers, [](const Answer& answer) {
        return is<ProofRejected>(answer.body);
    });
    CHECK(harness.events.answers.size() == 100);
    CHECK(rejected > 20);
    CHECK(rejected < 60);
}

TEST_CASE("a public decryption gets a value per handle and its extra data back") {
    Harness harness{instant()};
    (void)include(
        harness, 1,
        domain::PublicDecrypt{{support::handle(1), support::handle(2)}, {0x01, 0x02, 0x03}});
    const auto& decrypted = only_answer<domain::PublicDecrypted>(harness);
    CHECK(decrypted.value.size() == 64);
    CHECK(decrypted.signatures.size() == 3);
    CHECK(decrypted.extra_data == domain::Bytes{0x01, 0x02, 0x03});
}

TEST_CASE("every KMS node answers a user decryption with its own share") {
    auto options = instant();
    options.kms_nodes = 7;
    for (const domain::Request& request : {domain::Request{support::user_decrypt(1)},
                                           domain::Request{support::delegated_user_decrypt(1)},
                                           domain::Request{support::unified_user_decrypt(1)}}) {
        Harness harness{options};
        const domain::Bytes32 reference = include(harness, 1, request);
        REQUIRE(harness.events.answers.size() == 7);
        std::set<domain::Bytes> payloads;
        for (std::uint32_t index = 1; index <= 7; ++index) {
            const Answer& answer = harness.events.answers[index - 1];
            CHECK(answer.reference == reference);
            const auto& share = std::get<domain::KmsShare>(answer.body);
            CHECK(share.index == index);
            CHECK(share.signature.size() == 65);
            CHECK(share.extra_data == domain::Bytes{0x00});
            payloads.insert(share.payload);
        }
        CHECK(payloads.size() == 7);
    }
}

TEST_CASE("missing KMS nodes never answer, whatever the request") {
    auto options = instant();
    options.missing_kms_nodes = 310;  // 4 of 13
    std::set<std::set<std::uint32_t>> casts;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        options.seed = seed;
        Harness harness{options};
        std::set<std::uint32_t> nodes;
        for (std::int64_t number = 0; number < 10; ++number) {
            (void)include(harness, number,
                          support::user_decrypt(static_cast<std::uint64_t>(number)));
        }
        CHECK(harness.events.answers.size() == 90);
        for (const Answer& answer : harness.events.answers) {
            nodes.insert(std::get<domain::KmsShare>(answer.body).index);
        }
        CHECK(nodes.size() == 9);
        casts.insert(nodes);
    }
    CHECK(casts.size() > 1);

    options.missing_kms_nodes = 1000;
    Harness silent{options};
    (void)include(silent, 1, support::user_decrypt(1));
    CHECK(silent.events.answers.empty());
}

TEST_CASE("shares get no answer: the receipt completes them") {
    Harness harness{instant()};
    (void)include(harness, 1, support::vote_share(1));
    CHECK(harness.events.order == "s");
}

TEST_CASE("an answer comes one response latency after the receipt") {
    Harness harness;
    (void)include(harness, 1, support::public_decrypt(1));
    harness.run_for(Milliseconds{250});
    CHECK(harness.events.order == "s");
    harness.run_for(Milliseconds{499});
    CHECK(harness.events.answers.empty());
    harness.run_for(Milliseconds{1});
    CHECK(harness.events.answers.size() == 1);
}

TEST_CASE("a step of the wall clock does not move answers") {
    for (const Milliseconds step : {Milliseconds{-3'600'000}, Milliseconds{3'600'000}}) {
        Harness harness;
        (void)include(harness, 1, support::public_decrypt(1));
        harness.clock.step_wall(step);
        harness.run_for(Milliseconds{749});
        CHECK(harness.events.answers.empty());
        harness.run_for(Milliseconds{1});
        CHECK(harness.events.answers.size() == 1);
    }
}

TEST_CASE("KMS nodes of different speed answer one by one, in rising positions") {
    chains::loopback::Options options = instant();
    options.response = {Milliseconds{100}, Milliseconds{1'000}};
    Harness harness{options};
    (void)include(harness, 1, support::user_decrypt(1));
    harness.finish();
    CHECK(harness.events.answers.size() == 13);
    CHECK(harness.events.cursors.size() > 5);
    CHECK(std::ranges::adjacent_find(harness.events.cursors, std::greater_equal<>{}) ==
          harness.events.cursors.end());
    CHECK(harness.clock.wall() > domain::Timestamp{} + Milliseconds{100});
}

TEST_CASE("early answers overtake their receipt") {
    chains::loopback::Options options;
    options.early_answers = 1000;
    Harness harness{options};
    (void)include(harness, 1, support::user_decrypt(1));
    CHECK(harness.events.order == "a");
    CHECK(harness.events.answers.size() == 13);
    harness.finish();
    CHECK(harness.events.order == "as");
    CHECK(std::get<Receipt>(harness.events.sends[0].outcome).reference ==
          harness.events.answers[0].reference);

    options = instant();
    options.early_answers = 1000;
    Harness quick{options};
    (void)include(quick, 1, support::public_decrypt(1));
    CHECK(quick.events.order == "as");
}

TEST_CASE("duplicate answers come twice with the same content") {
    chains::loopback::Options options;
    options.duplicate_answers = 1000;
    Harness harness{options};
    (void)include(harness, 1, support::public_decrypt(1));
    harness.finish();
    REQUIRE(harness.events.answers.size() == 2);
    CHECK(harness.events.cursors == std::vector<std::uint64_t>{1, 2});
    CHECK(harness.events.answers[0].reference == harness.events.answers[1].reference);
    CHECK(std::get<domain::PublicDecrypted>(harness.events.answers[0].body) ==
          std::get<domain::PublicDecrypted>(harness.events.answers[1].body));
}

TEST_CASE("foreign answers name references nobody here got") {
    auto options = instant();
    options.foreign_answers = 1000;
    Harness harness{options};
    const domain::Bytes32 reference = include(harness, 1, support::user_decrypt(1));
    CHECK(harness.events.answers.size() == 26);
    std::map<domain::Bytes32, int> counts;
    for (const Answer& answer : harness.events.answers) ++counts[answer.reference];
    CHECK(counts.size() == 2);
    CHECK(counts[reference] == 13);
}

TEST_CASE("large backlogs come in several events") {
    Harness harness{instant()};
    std::vector<SendOrder> orders;
    for (std::int64_t number = 0; number < 2'500; ++number) {
        orders.push_back(
            harness.order(support::request_id(number),
                          support::public_decrypt(static_cast<std::uint64_t>(number))));
    }
    harness.gateway->send(orders);
    harness.finish();
    CHECK(harness.events.answers.size() == 2'500);
    CHECK(harness.events.cursors == std::vector<std::uint64_t>{1'000, 2'000, 2'500});
}
