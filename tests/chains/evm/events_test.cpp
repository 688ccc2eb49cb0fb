#include "chains/evm/events.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/encodings.hpp"
#include "chains/evm/golden.hpp"
#include "chains/evm/topics.hpp"
#include "domain/keccak.hpp"

using namespace chains::evm;
using golden::hex;

namespace {

domain::Bytes32 id(std::uint8_t family, std::uint8_t number) {
    domain::Bytes32 bytes{};
    bytes.front() = family;
    bytes.back() = number;
    return bytes;
}

Log log_of(const domain::Bytes32& topic, const domain::Bytes32& reference,
           domain::Bytes data = {}) {
    Log log;
    log.address = golden::contract;
    log.topics = {topic, reference};
    log.data = std::move(data);
    return log;
}

std::string digits_of(std::string_view encoding) {
    return std::string{encoding};
}

template <typename Body>
Body body_of(const Log& log) {
    const auto answer = decode_answer(log);
    REQUIRE(answer);
    CHECK(answer->reference == log.topics[1]);
    REQUIRE(std::holds_alternative<Body>(answer->body));
    return std::get<Body>(answer->body);
}

}  // namespace

TEST_CASE("a request's id is in the first log of its family and its contract") {
    struct Row {
        domain::Family family;
        std::vector<domain::Bytes32> topics;
    };
    const Row rows[] = {
        {domain::Family::input_proof, {topic::verify_proof_request}},
        {domain::Family::public_decrypt,
         {topic::public_decryption_request_old, topic::public_decryption_request}},
        {domain::Family::user_decrypt,
         {topic::user_decryption_request_old, topic::user_decryption_request,
          topic::unified_user_decryption_request_old, topic::unified_user_decryption_request}},
    };
    for (const Row& row : rows) {
        for (const auto& topic : row.topics) {
            for (const Row& asked : rows) {
                const std::vector<Log> logs{log_of(topic, id(1, 1)), log_of(topic, id(1, 2))};
                const auto found = request_id_in(logs, asked.family, golden::contract);
                CHECK(found.has_value() == (asked.family == row.family));
                if (found) CHECK(*found == id(1, 1));
                CHECK_FALSE(request_id_in(logs, asked.family, golden::user));
            }
            CHECK_FALSE(request_id_in(std::vector{log_of(topic, id(1, 1))}, domain::Family::share,
                                      golden::contract));
        }
    }
}

TEST_CASE("other logs before a request's are passed over") {
    Log transfer = log_of(domain::keccak256("Transfer(address,address,uint256)"), id(0, 9));
    Log elsewhere = log_of(topic::public_decryption_request, id(1, 8));
    elsewhere.address = golden::user;
    Log anonymous = log_of(topic::public_decryption_request, id(1, 7));
    anonymous.topics.clear();
    Log without_id = log_of(topic::public_decryption_request, id(1, 6));
    without_id.topics.resize(1);
    const std::vector<Log> logs{transfer, elsewhere, anonymous, without_id,
                                log_of(topic::public_decryption_request, id(1, 5))};
    CHECK(request_id_in(logs, domain::Family::public_decrypt, golden::contract) == id(1, 5));
    CHECK_FALSE(request_id_in({}, domain::Family::public_decrypt, golden::contract));

    Log proof = log_of(topic::verify_proof_request, id(0, 1));
    proof.topics.push_back(id(0, 2));  // the chain id is indexed too
    CHECK(request_id_in(std::vector{proof}, domain::Family::input_proof, golden::contract) ==
          id(0, 1));
}

TEST_CASE("an accepted proof") {
    const auto accepted = body_of<domain::ProofAccepted>(
        log_of(topic::verify_proof_response, id(0, 1), hex(encodings::proof_accepted)));
    REQUIRE(accepted.handles.size() == 2);
    CHECK(accepted.handles[0][0] == 0x55);
    CHECK(accepted.handles[1][31] == 0x66);
    CHECK(accepted.signatures == std::vector<domain::Bytes>{hex("0102"), domain::Bytes(65, 0x77)});
}

TEST_CASE("a rejected proof") {
    body_of<engine::ProofRejected>(log_of(topic::reject_proof_response, id(0, 1)));
    CHECK_FALSE(decode_answer(log_of(topic::reject_proof_response, id(0, 1), hex("00"))));
}

TEST_CASE("the public decryption of appendix A") {
    const domain::Bytes data = hex(encodings::public_decrypted);
    CHECK(data.size() == 448);
    const auto answer =
        body_of<domain::PublicDecrypted>(log_of(topic::public_decryption_response, id(1, 1), data));
    domain::Bytes value(32, 0);
    value[31] = 42;
    CHECK(answer == domain::PublicDecrypted{value, {hex("a1a1"), hex("b2b2")}, hex("00")});
}

TEST_CASE("the share of appendix A") {
    const domain::Bytes data = hex(encodings::kms_share);
    CHECK(data.size() == 320);
    const auto share =
        body_of<domain::KmsShare>(log_of(topic::user_decryption_response, id(2, 1), data));
    CHECK(share == domain::KmsShare{0, hex("deadbeef"), hex("cafe"), hex("00")});
}

TEST_CASE("a share's index fits 31 bits") {
    struct Row {
        std::string_view digits;
        std::optional<std::uint32_t> index;
    };
    const Row rows[] = {{"00000001", 1},
                        {"7fffffff", 0x7fffffff},
                        {"80000000", std::nullopt},
                        {"ffffffff", std::nullopt},
                        {"100000000", std::nullopt},
                        {"10000000000000000", std::nullopt}};
    for (const Row& row : rows) {
        CAPTURE(row.digits);
        const std::string digits{row.digits};
        const std::string data = std::string(64 - digits.size(), '0') + digits +
                                 digits_of(encodings::kms_share).substr(64);
        const auto answer =
            decode_answer(log_of(topic::user_decryption_response, id(2, 1), hex(data)));
        CHECK(answer.has_value() == row.index.has_value());
        if (answer && row.index) {
            CHECK(std::get<domain::KmsShare>(answer->body).index == *row.index);
        }
    }
}

TEST_CASE("events that are no answers") {
    for (const char* signature : {"VerifyProofResponseCall(uint256,bytes32[],bytes,address,bytes)",
                                  "RejectProofResponseCall(uint256,bytes)",
                                  "PublicDecryptionResponseCall(uint256,bytes,bytes,address,bytes)",
                                  "UserDecryptionResponseThresholdReached(uint256)"}) {
        CAPTURE(std::string{signature});
        for (const auto data :
             {encodings::kms_share, encodings::public_decrypted, encodings::proof_accepted}) {
            CHECK_FALSE(decode_answer(log_of(domain::keccak256(signature), id(1, 1), hex(data))));
        }
    }
    Log log = log_of(topic::user_decryption_response, id(2, 1), hex(encodings::kms_share));
    log.topics.resize(1);
    CHECK_FALSE(decode_answer(log));
    log.topics.clear();
    CHECK_FALSE(decode_answer(log));
    log.topics.assign(3, topic::user_decryption_response);
    CHECK_FALSE(decode_answer(log));
}

TEST_CASE("answers that are cut are refused") {
    struct Row {
        const domain::Bytes32& topic;
        std::string_view encoding;
    };
    for (const Row& row : {Row{topic::verify_proof_response, encodings::proof_accepted},
                           Row{topic::public_decryption_response, encodings::public_decrypted},
                           Row{topic::user_decryption_response, encodings::kms_share}}) {
        const domain::Bytes whole = hex(row.encoding);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            CAPTURE(size);
            Log log = log_of(row.topic, id(1, 1));
            log.data.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
            CHECK_FALSE(decode_answer(log));
        }
    }
}

TEST_CASE("the first node's storage of a new KMS context") {
    const Log log = log_of(topic::new_kms_context, id(7, 1), hex(encodings::kms_context));
    const auto storage = decode_kms_storage(log);
    REQUIRE(storage);
    CHECK(storage->url == "https://kms.example/store/");
    CHECK(storage->prefix == "PUB-p1");

    CHECK_FALSE(decode_kms_storage(log_of(topic::threshold_reached, id(7, 1), log.data)));
    CHECK_FALSE(decode_kms_storage(log_of(topic::new_kms_context, id(7, 1))));
    Log anonymous = log;
    anonymous.topics.clear();
    CHECK_FALSE(decode_kms_storage(anonymous));

    std::string no_nodes = digits_of(encodings::kms_context).substr(0, 7 * 64);
    no_nodes += std::string(64, '0');
    CHECK_FALSE(decode_kms_storage(log_of(topic::new_kms_context, id(7, 1), hex(no_nodes))));

    std::string bad_text = digits_of(encodings::kms_context);
    const std::string https = "68747470733a2f2f6b6d73";
    bad_text.replace(bad_text.find(https), 2, "ff");
    CHECK_FALSE(decode_kms_storage(log_of(topic::new_kms_context, id(7, 1), hex(bad_text))));
}
