#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "base/base64.hpp"
#include "chains/jsonrpc/node.hpp"
#include "chains/votes/reveal.hpp"

// MsgRevealShare as JSON (share-helper 5.3).
namespace support {
namespace {

using base::from_base64;
using chains::jsonrpc::Json;
using chains::votes::Reveal;

constexpr const char* golden = R"({
  "share_nullifier": "wajTS2wzL8FACyUyyA4uZCLrcW1dEM3PraThe7m/TQc=",
  "enc_share": "HzERNO/h+Y1angSbQtfHPD+dglq+MxnhbiHPpl+jaDf8f+nBLXSkJGwT+SALUgnqjkyWwHAsGxOpfsnN9GeiFA==",
  "proposal_id": 3, "vote_decision": 1, "proof": "dO16GcVWQ0qHAtquLnV2F1vyOj8k7btD",
  "vote_round_id": "NvU9HcLO8S1jlTGcPdK243CodHCT4pt9CevdUqDmAD0=",
  "vote_comm_tree_anchor_height": 90233
})";

domain::Bytes32 bytes32(const char* text) {
    domain::Bytes32 bytes{};
    REQUIRE(from_base64(text, bytes));
    return bytes;
}

Reveal golden_reveal() {
    Reveal reveal;
    reveal.share_nullifier = bytes32("wajTS2wzL8FACyUyyA4uZCLrcW1dEM3PraThe7m/TQc=");
    // As the wallet's request has them (1.1).
    reveal.c1 = bytes32("HzERNO/h+Y1angSbQtfHPD+dglq+MxnhbiHPpl+jaDc=");
    reveal.c2 = bytes32("/H/pwS10pCRsE/kgC1IJ6o5MlsBwLBsTqX7JzfRnohQ=");
    reveal.proposal_id = 3;
    reveal.vote_decision = 1;
    reveal.proof.resize(24);
    REQUIRE(from_base64("dO16GcVWQ0qHAtquLnV2F1vyOj8k7btD", reveal.proof));
    REQUIRE(domain::from_hex("36f53d1dc2cef12d6395319c3dd2b6e370a8747093e29b7d09ebdd52a0e6003d",
                             reveal.round_id));
    reveal.anchor_height = 90'233;
    return reveal;
}

TEST_CASE("the message is the one of share-helper 5.3, value for value") {
    CHECK(Json::parse(to_json(golden_reveal())) == Json::parse(golden));
}

TEST_CASE("field 89: a message says which share it is of; what is no message says nothing") {
    const Reveal reveal = golden_reveal();
    const auto name = [](const std::string& text) {
        return chains::votes::name_in(
            {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
    };
    CHECK(name(to_json(reveal)) ==
          chains::votes::RevealName{reveal.round_id, reveal.share_nullifier});
    for (const char* const other :
         {"", "{", "[]", "{}", R"({"vote_round_id":"NvU9"})",
          R"({"vote_round_id":"NvU9HcLO8S1jlTGcPdK243CodHCT4pt9CevdUqDmAD0="})"}) {
        CAPTURE(other);
        CHECK(!name(other));
    }
}

TEST_CASE("P7: what is written decodes to fields of the right size, vote_round_id to 32 bytes") {
    const Reveal reveal = golden_reveal();
    const Json written = Json::parse(to_json(reveal));
    CHECK(written.size() == 7);
    CHECK(bytes32(written.at("vote_round_id").get<std::string>().c_str()) == reveal.round_id);
    CHECK(bytes32(written.at("share_nullifier").get<std::string>().c_str()) ==
          reveal.share_nullifier);
    std::array<std::uint8_t, 64> both{};
    REQUIRE(from_base64(written.at("enc_share").get<std::string>(), both));
    CHECK(std::ranges::equal(reveal.c1, std::span(both).first(32)));
    CHECK(std::ranges::equal(reveal.c2, std::span(both).last(32)));
    domain::Bytes proof(reveal.proof.size());
    REQUIRE(from_base64(written.at("proof").get<std::string>(), proof));
    CHECK(proof == reveal.proof);
    for (const char* const name :
         {"proposal_id", "vote_decision", "vote_comm_tree_anchor_height"}) {
        CAPTURE(name);
        CHECK(written.at(name).is_number_unsigned());
    }
}

TEST_CASE("numbers keep all their digits, and a proof all its bytes") {
    Reveal reveal = golden_reveal();
    reveal.anchor_height = ~std::uint64_t{0};
    reveal.proof.assign(chains::votes::prover::proof_bytes_max, 0xff);
    const Json written = Json::parse(to_json(reveal));
    CHECK(written.at("vote_comm_tree_anchor_height") == ~std::uint64_t{0});
    domain::Bytes proof(chains::votes::prover::proof_bytes_max);
    CHECK(from_base64(written.at("proof").get<std::string>(), proof));
    CHECK(proof == reveal.proof);
}

TEST_CASE("base64 is read when it is canonical and of the right size") {
    const auto reads = [](std::string_view text, std::size_t size) {
        domain::Bytes bytes(size);
        return from_base64(text, bytes);
    };
    CHECK(reads("", 0));
    CHECK(reads("TQ==", 1));
    CHECK(reads("TWE=", 2));
    CHECK(reads("TWFu", 3));
    CHECK(!reads("TWFu", 2));
    CHECK(!reads("TWE=", 3));
    CHECK(!reads("TWE=", 1));
    CHECK(!reads("TWF=", 2));  // spare bits
    CHECK(!reads("TWE", 2));
    CHECK(!reads("TW-_", 3));
    CHECK(!reads("T=E=", 2));
    CHECK(!reads(" WFu", 3));
    CHECK(!reads("TWF\n", 3));
    CHECK(!reads("====", 1));
}

}  // namespace
}  // namespace support
