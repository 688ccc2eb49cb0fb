#include "commands/drill/bodies.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string>
#include <variant>

#include "api/decode.hpp"
#include "api/vote_share.hpp"
#include "chains/loopback/transaction.hpp"
#include "domain/handle.hpp"
#include "domain/identity.hpp"

using namespace commands::drill;
using domain::Kind;

namespace {

constexpr std::uint64_t now_seconds = 1'750'000'000;

// As the API reads it.
domain::Request read(const Wish& wish, std::uint64_t seed = 1) {
    const std::string body = body_of(seed, wish);
    CAPTURE(body);
    if (wish.kind == Kind::share) {
        const auto share = api::decode_vote_share(body);
        REQUIRE(std::holds_alternative<domain::VoteShare>(share));
        return std::get<domain::VoteShare>(share);
    }
    api::Decoded decoded = wish.kind == Kind::input_proof      ? api::decode_input_proof(body, 0)
                           : wish.kind == Kind::public_decrypt ? api::decode_public_decrypt(body, 0)
                           : wish.kind == Kind::user_decrypt
                               ? api::decode_user_decrypt(body, now_seconds)
                               : api::decode_delegated_user_decrypt(body, now_seconds);
    REQUIRE(std::holds_alternative<domain::Request>(decoded));
    return std::get<domain::Request>(decoded);
}

}  // namespace

TEST_CASE("bodies are valid, of their kind, and no two are the same request") {
    std::set<domain::Bytes32> keys;
    std::uint64_t number = 0;
    for (const Kind kind : {Kind::input_proof, Kind::public_decrypt, Kind::user_decrypt,
                            Kind::delegated_user_decrypt, Kind::share}) {
        for (const std::uint64_t seed : {1U, 2U}) {
            for (int i = 0; i < 20; ++i) {
                const Wish wish{kind, ++number, 0};
                const domain::Request request = read(wish, seed);
                CHECK(domain::kind_of(request) == kind);
                CHECK(keys.insert(domain::identify(request).key).second);
                CHECK(body_of(seed, wish) == body_of(seed, wish));
            }
        }
    }
    CHECK(keys.size() == 200);
}

TEST_CASE("a share is due when it was wished, and known to the chain by its nullifier") {
    const Wish wish{Kind::share, 17, 1'800'000'000};
    const auto share = std::get<domain::VoteShare>(read(wish));
    CHECK(share.submit_at == wish.submit_at);
    CHECK(chains::loopback::content_of(share) == nullifier_of(1, wish));
    CHECK(nullifier_of(2, wish) != nullifier_of(1, wish));
}

TEST_CASE("an input proof is as large as is asked for") {
    const Wish large{.kind = Kind::input_proof, .number = 1, .ciphertext_bytes = 5'000};
    const Wish small{.kind = Kind::input_proof, .number = 1, .ciphertext_bytes = 1'000};
    CHECK(body_of(1, large).size() - body_of(1, small).size() == 8'000);
}

TEST_CASE("handles and input proofs are of the host chain that is asked for") {
    for (const std::uint64_t chain :
         {std::uint64_t{8'009}, std::uint64_t{11'155'111}, std::uint64_t{0x0102030405060708}}) {
        CAPTURE(chain);
        const auto proof = std::get<domain::InputProof>(
            read({.kind = Kind::input_proof, .number = 1, .host_chain = chain}));
        CHECK(proof.contract_chain_id == chain);
        const auto decrypt = std::get<domain::PublicDecrypt>(
            read({.kind = Kind::public_decrypt, .number = 1, .host_chain = chain}));
        CHECK(domain::host_chain_of(decrypt.handles.at(0)) == chain);
    }
}
