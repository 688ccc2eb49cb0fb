#include "cluster/node_proof.hpp"

#include <doctest/doctest.h>

#include <string_view>

namespace {

domain::Bytes32 shared_key(std::uint8_t byte) {
    domain::Bytes32 key{};
    key.fill(byte);
    return key;
}

cluster::Challenge some_challenge() {
    return {.nonce = shared_key(7), .verifier = "a", .prover = "b", .purpose = "forward"};
}

}  // namespace

TEST_CASE("a node with the key answers a challenge, one without it does not") {
    const cluster::Keys keys(shared_key(1));
    const domain::Bytes32 proof = cluster::prove(keys, some_challenge());
    CHECK(cluster::is_proof(keys, some_challenge(), proof));
    CHECK_FALSE(cluster::is_proof(cluster::Keys(shared_key(2)), some_challenge(), proof));
    CHECK_FALSE(cluster::is_proof(keys, some_challenge(), {proof.data(), proof.size() - 1}));
    CHECK_FALSE(cluster::is_proof(keys, some_challenge(), {}));
}

TEST_CASE("an answer answers nothing else") {
    const cluster::Keys keys(shared_key(1));
    const domain::Bytes32 proof = cluster::prove(keys, some_challenge());
    struct Row {
        std::string_view label;
        cluster::Challenge challenge;
    };
    for (const Row& row : {
             Row{"another nonce", {shared_key(8), "a", "b", "forward"}},
             Row{"sent back", {shared_key(7), "b", "a", "forward"}},
             Row{"for somebody else", {shared_key(7), "c", "b", "forward"}},
             Row{"another purpose", {shared_key(7), "a", "b", "step-down"}},
             Row{"names cut elsewhere", {shared_key(7), "ab", "", "forward"}},
         }) {
        CAPTURE(row.label);
        CHECK_FALSE(cluster::is_proof(keys, row.challenge, proof));
    }
}

TEST_CASE("while keys are exchanged either is believed") {
    const cluster::Keys before(shared_key(1), shared_key(2));
    const cluster::Keys after(shared_key(2), shared_key(1));
    CHECK(cluster::is_proof(before, some_challenge(), cluster::prove(after, some_challenge())));
    CHECK(cluster::is_proof(after, some_challenge(), cluster::prove(before, some_challenge())));
}
