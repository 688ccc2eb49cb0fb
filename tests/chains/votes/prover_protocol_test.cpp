#include "chains/votes/prover/prover_protocol.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "chains/votes/prover_world.hpp"

namespace {

using namespace chains;
using namespace chains::votes;
using namespace chains::votes::prover;
using namespace chains::votes;
using Json = nlohmann::json;

std::string why(const ProverAnswer& answer) {
    if (const auto* const garbled = std::get_if<Malformed>(&answer)) return garbled->why;
    if (const auto* const error = std::get_if<ProverError>(&answer)) return describe(*error);
    return "proof of " + std::to_string(std::get<Proof>(answer).bytes.size());
}

std::string hex(std::size_t bytes) {
    return std::string(2 * bytes, 'a');
}

std::string big_endian(std::uint32_t value) {
    return {static_cast<char>(value >> 24U), static_cast<char>(value >> 16U),
            static_cast<char>(value >> 8U), static_cast<char>(value)};
}

std::string framed(const std::string& body) {
    return big_endian(static_cast<std::uint32_t>(body.size())) + body;
}

}  // namespace

TEST_CASE("the JSON request is one line with every field in hex") {
    const Witness witness = support::witness();
    const Secret request = json_request(witness);
    CHECK(request.view().find('\n') == request.view().size() - 1);
    const Json json = Json::parse(request.view());
    CHECK(json.size() == 10);
    CHECK(json.at("version") == 1);
    CHECK(json.at("merkle_path") == domain::to_hex(witness.merkle_path));
    REQUIRE(json.at("share_comms").size() == 16);
    for (std::size_t place = 0; place < 16; ++place) {
        CHECK(json.at("share_comms").at(place) == domain::to_hex(witness.share_comms[place]));
    }
    CHECK(json.at("primary_blind") == domain::to_hex(witness.primary_blind));
    CHECK(json.at("c1") == domain::to_hex(witness.c1));
    CHECK(json.at("c2") == domain::to_hex(witness.c2));
    CHECK(json.at("share_index") == 3);
    CHECK(json.at("proposal_id") == 14);
    CHECK(json.at("vote_decision") == 7);
    CHECK(json.at("round_id") == domain::to_hex(witness.round_id));
}

TEST_CASE("no buffer is outgrown by the longest JSON request") {
    Witness witness = support::witness();
    witness.share_index = witness.proposal_id = witness.vote_decision = 4'294'967'295;
    CHECK(json_request(witness).view().size() < 4'096);
}

TEST_CASE("the binary request has every field at its documented offset") {
    const Witness witness = support::witness();
    const Secret request = binary_request(witness);
    REQUIRE(request.view().size() == 4 + 1'425);
    const std::string_view body = request.view().substr(4);
    CHECK(request.view().substr(0, 4) == big_endian(1'425));
    CHECK(body[0] == 1);
    const auto at = [body](std::size_t offset, domain::ByteView bytes) {
        return body.substr(offset, bytes.size()) == std::string(bytes.begin(), bytes.end());
    };
    CHECK(at(1, witness.merkle_path));
    for (std::size_t place = 0; place < 16; ++place) {
        CHECK(at(773 + 32 * place, witness.share_comms[place]));
    }
    CHECK(at(1'285, witness.primary_blind));
    CHECK(at(1'317, witness.c1));
    CHECK(at(1'349, witness.c2));
    CHECK(body.substr(1'381, 12) == big_endian(3) + big_endian(14) + big_endian(7));
    CHECK(at(1'393, witness.round_id));
}

TEST_CASE("a JSON answer is a proof, an error or garbled") {
    const std::string nullifier = R"("share_nullifier":")" + hex(32) + '"';
    struct Row {
        std::string text;
        std::string outcome;
    };
    const std::vector<Row> rows{
        {R"({"proof":"0aFF",)" + nullifier + "}\n", "proof of 2"},
        {R"({"proof":")" + hex(8'192) + R"(",)" + nullifier + "}", "proof of 8192"},
        {R"({"proof":"0a","new":[{}],"tree_root":null,"error":null,)" + nullifier + "}",
         "proof of 1"},
        {R"({"proof":"",)" + nullifier + "}", "proof is empty"},
        {R"({"proof":")" + hex(8'193) + R"(",)" + nullifier + "}",
         "proof of 8193 bytes is too long"},
        {R"({"proof":"0ag1",)" + nullifier + "}", "proof is no hex"},
        {R"({"proof":"0x0a",)" + nullifier + "}", "proof is no hex"},
        {R"({"proof":"0a1",)" + nullifier + "}", "proof is no hex"},
        {R"({"proof":7,)" + nullifier + "}", "answer without a proof"},
        {"{" + nullifier + "}", "answer without a proof"},
        {R"({"proof":"0a"})", "share_nullifier is not 32 bytes of hex"},
        {R"({"proof":"0a","share_nullifier":")" + hex(31) + "\"}",
         "share_nullifier is not 32 bytes of hex"},
        {R"({"proof":"0a","share_nullifier":[1]})", "share_nullifier is not 32 bytes of hex"},
        {R"({"proof":"0a","tree_root":"00",)" + nullifier + "}",
         "tree_root is not 32 bytes of hex"},
        {R"({"error":{"code":-3,"message":"of \"c1\"\n"},"proof":"0a",)" + nullifier + "}",
         "prover error -3 (non-canonical field element or bad point): of 'c1'"},
        {R"({"error":{"code":-1}})", "prover error -1 (invalid inputs)"},
        {R"({"error":{"code":-5,"message":7}})", "prover error -5 (proving failed)"},
        {R"({"error":{"code":12,"message":"disk"}})", "prover error 12: disk"},
        {R"({"error":{"code":"-3"}})", "error without a code"},
        {R"({"error":"no"})", "error without a code"},
        {"", "no answer"},
        {" \n", "no answer"},
        {"[]", "answer is no JSON object"},
        {"{", "answer is no JSON object"},
        {R"({"proof":"0a",)" + nullifier + "} {}", "answer is no JSON object"},
        {R"({"proof":"0a","proof":"0b",)" + nullifier + "}", "answer is no JSON object"},
        {std::string(60'000, '['), "answer is no JSON object"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(why(read_json_answer(row.text)) == row.outcome);
    }
}

TEST_CASE("a JSON answer brings the bytes as they are") {
    const auto answer = read_json_answer(R"({"proof":"00ff10","share_nullifier":")" + hex(32) +
                                         R"(","tree_root":")" + std::string(64, 'b') + "\"}");
    const Proof& proof = std::get<Proof>(answer);
    CHECK(proof.bytes == domain::Bytes{0x00, 0xff, 0x10});
    CHECK(domain::to_hex(proof.nullifier) == hex(32));
    REQUIRE(proof.tree_root);
    CHECK(domain::to_hex(*proof.tree_root) == std::string(64, 'b'));
}

TEST_CASE("a binary answer is a proof, an error or garbled") {
    const std::string head("\x01\0\0\0\0", 5);
    const std::string nullifier(32, 'n');
    const std::string no_root(33, '\0');
    struct Row {
        std::string label;
        std::string frame;
        std::string outcome;
    };
    const std::vector<Row> rows{
        {"proof", framed(head + nullifier + no_root + "p"), "proof of 1"},
        {"longest", framed(head + nullifier + no_root + std::string(8'192, 'p')), "proof of 8192"},
        {"too long", framed(head + nullifier + no_root + std::string(8'193, 'p')),
         "proof of 8193 bytes is too long"},
        {"empty", framed(head + nullifier + no_root), "proof is empty"},
        {"short", framed(head + nullifier), "answer too short"},
        {"root", framed(head + nullifier + "\x02" + std::string(32, 'r') + "p"),
         "neither with nor without a tree_root"},
        {"error", framed("\x01\xff\xff\xff\xfbno luck"),
         "prover error -5 (proving failed): no luck"},
        {"bare error", framed("\x01\xff\xff\xff\xff"), "prover error -1 (invalid inputs)"},
        {"version", framed("\x02\xff\xff\xff\xff"), "answer of another version"},
        {"no status", framed("\x01\xff\xff\xff"), "answer too short"},
        {"nothing", "", "no answer"},
        {"no length", "\x01\x01", "answer too short"},
        {"more", framed(head + nullifier + no_root + "p") + "q",
         "answer is not as long as it says"},
        {"less", big_endian(200) + head, "answer is not as long as it says"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(why(read_binary_answer(row.frame)) == row.outcome);
    }
    const auto answer =
        read_binary_answer(framed(head + nullifier + "\x01" + std::string(32, 'r') + "pq"));
    const Proof& proof = std::get<Proof>(answer);
    CHECK(proof.bytes == domain::Bytes{'p', 'q'});
    CHECK(proof.nullifier.front() == 'n');
    REQUIRE(proof.tree_root);
    CHECK(proof.tree_root->back() == 'r');
}

TEST_CASE("an answer is whole with its line's end or its length") {
    struct Row {
        ProverFormat format;
        std::string bytes;
        bool whole;
    };
    const std::vector<Row> rows{
        {ProverFormat::json, "", false},
        {ProverFormat::json, "{}", false},
        {ProverFormat::json, "{}\n", true},
        {ProverFormat::json, "\n", true},
        {ProverFormat::binary, "", false},
        {ProverFormat::binary, big_endian(2), false},
        {ProverFormat::binary, big_endian(2) + "a", false},
        {ProverFormat::binary, big_endian(2) + "ab", true},
        {ProverFormat::binary, big_endian(2) + "abc", true},
        {ProverFormat::binary, big_endian(0), true},
        {ProverFormat::binary, big_endian(65'536), false},
        {ProverFormat::binary, big_endian(65'537), true},  // garbled: more than is read
        {ProverFormat::binary, big_endian(4'294'967'295), true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.bytes);
        CHECK(is_whole(row.bytes, row.format) == row.whole);
    }
}

TEST_CASE("the loopback prover tells shares and witnesses apart") {
    support::ProverWorld world{support::loopback()};
    const auto proved = [&world](const Witness& witness) {
        return std::get<Proof>(world.prover->prove(witness));
    };
    const Witness witness = support::witness();
    const Proof first = proved(witness);
    CHECK(first.bytes.size() == 4'000);
    CHECK_FALSE(first.tree_root);
    CHECK(proved(witness).bytes == first.bytes);
    CHECK(proved(witness).nullifier == first.nullifier);

    Witness later = witness;
    later.merkle_path[5] ^= 1U;
    CHECK(proved(later).nullifier == first.nullifier);
    CHECK(proved(later).bytes != first.bytes);

    std::vector<Witness> others(5, witness);
    others[0].round_id[31] ^= 1U;
    others[1].c1[0] ^= 1U;
    others[2].c2[0] ^= 1U;
    others[3].share_index = 4;
    others[4].proposal_id = 1;
    for (const Witness& other : others) CHECK(proved(other).nullifier != first.nullifier);

    world.prover->stop();
    CHECK(world.prove() == "unreachable: stopped");
}
