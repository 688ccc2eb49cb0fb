#include "api/user_signature.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "api/decode.hpp"
#include "api/harness.hpp"
#include "api/samples.hpp"

namespace {

using api_test::Answer;
using api_test::Client;
using api_test::Harness;
using api_test::Json;

constexpr const char* file = "user-decrypt-v3.json";
constexpr const char* path = "/v3/user-decrypt";

domain::UnifiedUserDecrypt signed_request() {
    const auto decoded = api::decode_unified_user_decrypt(api_test::sample(file), 1'780'272'000);
    return std::get<domain::UnifiedUserDecrypt>(std::get<domain::Request>(decoded));
}

domain::Bytes32 digest_of(const domain::UnifiedUserDecrypt& request) {
    return api::user_decrypt_digest(request, 8009, api::Options().decryption_address);
}

// Only a contract can say of its signature.
std::string asking_body() {
    return api_test::sample_with(file, "signature", "0x" + std::string(200, 'a'));
}

TEST_CASE("the user's signature of the sample is recovered to the user") {
    const domain::UnifiedUserDecrypt request = signed_request();
    const auto signer = api::recover_signer(digest_of(request), request.signature);
    REQUIRE(signer);
    CHECK(domain::to_hex(*signer) == "16a5e7cbeda81177afd7e789dcbf4893faa37751");
}

TEST_CASE("every signed member changes the digest, the handles do not") {
    const domain::UnifiedUserDecrypt request = signed_request();
    const domain::Bytes32 digest = digest_of(request);
    const auto changed = [&](auto change) {
        domain::UnifiedUserDecrypt other = request;
        change(other);
        return digest_of(other) != digest;
    };
    CHECK(changed([](auto& other) { other.user_address[0] ^= 1; }));
    CHECK(changed([](auto& other) { other.public_key.push_back(0); }));
    CHECK(changed([](auto& other) { other.allowed_contracts.clear(); }));
    CHECK(changed([](auto& other) { ++other.start_timestamp; }));
    CHECK(changed([](auto& other) { ++other.duration_seconds; }));
    CHECK(changed([](auto& other) { other.extra_data.back() ^= 1; }));
    CHECK_FALSE(changed([](auto& other) { other.handles.pop_back(); }));
    CHECK(api::user_decrypt_digest(request, 8010, api::Options().decryption_address) != digest);
    CHECK(api::user_decrypt_digest(request, 8009, domain::Address{}) != digest);
}

TEST_CASE("recovery takes every v that ecrecover knows and nothing malformed") {
    const domain::UnifiedUserDecrypt request = signed_request();
    const domain::Bytes32 digest = digest_of(request);
    const auto signer = api::recover_signer(digest, request.signature);

    const auto with_v = [&](std::uint8_t v) {
        domain::Bytes signature = request.signature;
        signature.back() = v;
        return api::recover_signer(digest, signature);
    };
    const auto parity = static_cast<std::uint8_t>(request.signature.back() - 27);
    CHECK(with_v(parity) == signer);
    CHECK(with_v(static_cast<std::uint8_t>(1 - parity)) != signer);
    for (const int v : {2, 3, 26, 29, 255}) CHECK_FALSE(with_v(static_cast<std::uint8_t>(v)));

    domain::Bytes zero(65, 0);
    CHECK_FALSE(api::recover_signer(digest, zero));
    domain::Bytes huge(64, 0xFF);
    huge.push_back(27);
    CHECK_FALSE(api::recover_signer(digest, huge));
    CHECK_FALSE(api::recover_signer(digest, domain::Bytes(64, 1)));
    CHECK_FALSE(api::recover_signer(digest, domain::Bytes(66, 1)));
    CHECK_FALSE(api::recover_signer(digest, {}));
}

TEST_CASE("a signature with high s counts, as for ecrecover") {
    const domain::UnifiedUserDecrypt request = signed_request();
    const domain::Bytes order =
        domain::from_hex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141")
            .value();
    domain::Bytes mirrored = request.signature;
    int borrow = 0;
    for (std::size_t i = 32; i-- > 0;) {
        int digit = order[i] - request.signature[32 + i] - borrow;
        borrow = digit < 0 ? 1 : 0;
        mirrored[32 + i] = static_cast<std::uint8_t>(digit + 256 * borrow);
    }
    mirrored[64] = request.signature[64] == 27 ? 28 : 27;
    CHECK(api::recover_signer(digest_of(request), mirrored) == request.user_address);
}

TEST_CASE("a signature that is not the user's goes to the contract at his address") {
    const std::string body = asking_body();
    Harness harness;
    SUBCASE("which stands behind it") {
        harness.contracts.answer = engine::SignatureValid{};
        CHECK(harness.post(path, body).status == 202);
    }
    SUBCASE("which does not") {
        const Answer answer = harness.post(path, body);
        CHECK(answer.status == 400);
        CHECK(answer.message() == "Validation failed for 1 field(s)");
        CHECK(answer.json["error"]["details"] ==
              Json{{{"field", "signature"}, {"issue", "Signature is invalid"}}});
    }
    SUBCASE("which can not be asked") {
        harness.contracts.answer = engine::Unreachable{"https://user:secret@node/key is down"};
        const Answer answer = harness.post(path, body);
        CHECK(answer.status == 500);
        CHECK(answer.label() == "internal_server_error");
        CHECK(answer.message() == "Internal server error");
        CHECK(harness.logger.count("signature_check_failed") == 1);
        CHECK(harness.logger.count("secret") == 0);
    }
    CHECK(harness.contracts.asked_chains == std::vector<std::uint64_t>{8009});
}

TEST_CASE("an empty signature is asked about, a good one is not") {
    for (const char* signature : {"", "0x"}) {
        Harness harness;
        CHECK(harness.post(path, api_test::sample_with(file, "signature", signature)).status ==
              400);
        CHECK(harness.contracts.asked_chains.size() == 1);
    }
    Harness harness;
    CHECK(harness.post(path, api_test::sample(file)).status == 202);
    CHECK(harness.contracts.asked_chains.empty());
}

// Until the one worker of the harness has handed over what was sent.
void wait_for_pending(const Harness& harness, std::size_t count) {
    while (harness.contract_lookups.pending() < count) std::this_thread::yield();
}

TEST_CASE("a host node that hangs keeps nobody waiting but those whose contract is asked") {
    Harness harness;
    harness.contracts.answer = engine::SignatureValid{};
    harness.contract_lookups.hold();
    Client wallet(harness.server.port());
    wallet.send({"POST", path, asking_body()});
    wait_for_pending(harness, 1);
    CHECK(harness.get("/liveness").status == 200);
    CHECK(harness.post(path, api_test::sample(file)).status == 202);
    CHECK_FALSE(wallet.is_answered(0));
    CHECK(harness.contracts.asked_chains.empty());
    harness.contract_lookups.release();
    CHECK(wallet.take().status == 202);
    CHECK(harness.contracts.asked_chains == std::vector<std::uint64_t>{8009});
    CHECK(harness.submitter.requests.size() == 2);
}

TEST_CASE("more signatures than there is room for, and those whose turn comes late, are a 500") {
    Harness harness;
    harness.contract_lookups.hold();
    std::vector<std::unique_ptr<Client>> wallets;
    constexpr std::size_t room = 256;
    for (std::size_t i = 0; i < room; ++i) {
        wallets.push_back(std::make_unique<Client>(harness.server.port()));
        wallets.back()->send({"POST", path, asking_body()});
    }
    wait_for_pending(harness, room);
    const Answer refused = harness.post(path, asking_body());
    CHECK(refused.status == 500);
    CHECK(refused.label() == "internal_server_error");
    CHECK(harness.logger.count("too many signatures wait") == 1);

    harness.clock.advance(std::chrono::milliseconds(10'001));
    harness.contract_lookups.release();
    for (const auto& wallet : wallets) CHECK(wallet->take().status == 500);
    CHECK(harness.contracts.asked_chains.empty());
    CHECK(harness.post(path, asking_body()).status == 400);
}

TEST_CASE("an exception behind a contract's answer is a 500 with a report") {
    Harness harness;
    harness.contracts.answer = engine::SignatureValid{};
    harness.submitter.defect = "sqlite: out of luck";
    CHECK(harness.post(path, asking_body()).status == 500);
    CHECK(harness.logger.count("out of luck") == 1);
}

TEST_CASE("handles of two chains make a signature invalid, whoever would vouch for it") {
    api::Options options;
    options.host_chain_ids = {8009, 9001};
    Harness harness(options);
    harness.contracts.answer = engine::SignatureValid{};
    std::string other =
        Json::parse(api_test::sample(file))["attestedPayload"]["handles"][1]["ctHandle"];
    other.replace(2 + 44, 16, "0000000000002329");
    const Answer answer = harness.post(
        path, api_test::sample_with(file, "attestedPayload.handles.1.ctHandle", other));
    CHECK(answer.status == 400);
    CHECK(answer.message() == "Validation failed for 1 field(s)");
    CHECK(harness.contracts.asked_chains.empty());
}

}  // namespace
