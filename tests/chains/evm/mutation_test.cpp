#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "chains/evm/calls.hpp"
#include "chains/evm/encodings.hpp"
#include "chains/evm/events.hpp"
#include "chains/evm/golden.hpp"
#include "chains/evm/receipt.hpp"
#include "chains/evm/revert.hpp"
#include "chains/evm/rlp.hpp"
#include "chains/evm/topics.hpp"
#include "chains/evm/transaction.hpp"

using namespace chains::evm;
using golden::hex;

namespace {

// Reads bytes and says how many it copied out of them, nothing when it refused them.
using Decoder = std::function<std::optional<std::size_t>(const domain::Bytes&)>;

std::size_t size_of(const std::vector<domain::Bytes>& list) {
    std::size_t size = list.capacity() * sizeof(domain::Bytes);
    for (const domain::Bytes& one : list) size += one.capacity();
    return size;
}

struct AnswerSize {
    std::size_t operator()(const domain::ProofAccepted& body) const {
        return body.handles.capacity() * 32 + size_of(body.signatures);
    }
    std::size_t operator()(const engine::ProofRejected&) const { return 0; }
    std::size_t operator()(const engine::ThresholdReached&) const { return 0; }
    std::size_t operator()(const domain::PublicDecrypted& body) const {
        return body.value.capacity() + size_of(body.signatures) + body.extra_data.capacity();
    }
    std::size_t operator()(const domain::KmsShare& body) const {
        return body.payload.capacity() + body.signature.capacity() + body.extra_data.capacity();
    }
};

Decoder answer(const domain::Bytes32& topic) {
    return [topic](const domain::Bytes& bytes) -> std::optional<std::size_t> {
        Log log;
        log.topics = {topic, domain::Bytes32{}};
        log.data = bytes;
        const auto read = decode_answer(log);
        if (!read) return std::nullopt;
        return std::visit(AnswerSize{}, read->body);
    };
}

std::optional<std::size_t> kms_storage(const domain::Bytes& bytes) {
    Log log;
    log.topics = {topic::new_kms_context};
    log.data = bytes;
    const auto read = decode_kms_storage(log);
    if (!read) return std::nullopt;
    return read->url.size() + read->prefix.size();
}

std::optional<std::size_t> bytes_array(const domain::Bytes& bytes) {
    const auto read = decode_bytes_array(bytes);
    if (!read) return std::nullopt;
    return size_of(*read);
}

std::optional<std::size_t> rlp_items(const domain::Bytes& bytes) {
    const auto read = rlp::items(bytes);
    if (!read) return std::nullopt;
    // Views, not copies; they lie side by side.
    std::size_t size = 0;
    for (const auto item : *read) size += item.size();
    return size;
}

template <bool (*decodes)(domain::ByteView)>
std::optional<std::size_t> nothing_copied(const domain::Bytes& bytes) {
    return decodes(bytes) ? std::optional<std::size_t>{0} : std::nullopt;
}

template <std::optional<Transaction> (*decode)(domain::ByteView),
          domain::Bytes (*encode_again)(const Transaction&)>
std::optional<std::size_t> transaction(const domain::Bytes& bytes) {
    const auto read = decode(bytes);
    if (!read) return std::nullopt;
    // Whatever is read is canonical: it has one encoding.
    if (encode_again != nullptr) CHECK(encode_again(*read) == bytes);
    return read->data.capacity();
}

std::optional<std::size_t> revert(const domain::Bytes& bytes) {
    const chains::jsonrpc::NodeError error{3, std::string{bytes.begin(), bytes.end()}, bytes};
    const std::string text = reverted(error).text;
    CHECK(text.size() <= 600);
    for (const char c : text) CHECK(static_cast<unsigned char>(c) >= 0x20);
    return 0;
}

std::optional<std::size_t> receipt(const domain::Bytes& bytes) {
    const auto json = chains::jsonrpc::Json::parse(bytes, nullptr, false);
    if (json.is_discarded()) return std::nullopt;
    const auto read = decode_receipt(json);
    if (!read) return std::nullopt;
    std::size_t size = 0;
    for (const Log& log : read->logs) size += log.data.capacity() + log.topics.size() * 32;
    return size;
}

struct Row {
    std::string_view label;
    domain::Bytes valid;
    Decoder decode;
    bool refuses_cuts = true;
};

std::vector<Row> rows() {
    Transaction unsent{8009, 3, false, 5, 100, 90'000, golden::contract, domain::Bytes(70, 0xab)};
    const auto signer = private_key_signer(std::string(64, '4'));
    const domain::Bytes sent = sign(unsent, *signer);
    const domain::Bytes stored = encode(unsent);
    unsent.legacy = true;
    unsent.priority_fee = 0;
    const domain::Bytes legacy_sent = sign(unsent, *signer);
    const domain::Bytes legacy_stored = encode(unsent);

    const std::string word(64, 'a');
    const std::string json =
        R"({"transactionHash":"0x)" + word + R"(","status":"0x1","blockNumber":"0x10",)" +
        R"("blockHash":"0x)" + word + R"(","logs":[{"address":"0x)" + word.substr(24) +
        R"(","topics":["0x)" + word + R"("],"data":"0xcafe","blockNumber":"0x10","blockHash":"0x)" +
        word + R"(","logIndex":"0x0","removed":false}]})";

    return {
        {"proof accepted", hex(encodings::proof_accepted), answer(topic::verify_proof_response)},
        {"public decryption", hex(encodings::public_decrypted),
         answer(topic::public_decryption_response)},
        {"share", hex(encodings::kms_share), answer(topic::user_decryption_response)},
        {"kms storage", hex(encodings::kms_context), kms_storage, false},
        {"bytes array", hex(encodings::bytes_array), bytes_array},
        {"key materials", hex(encodings::key_materials), nothing_copied<decodes_as_key_materials>},
        {"crs materials", hex(encodings::crs_materials), nothing_copied<decodes_as_crs_materials>},
        {"rlp", domain::Bytes(sent.begin() + 1, sent.end()), rlp_items},
        {"signed", sent, transaction<decode_transaction, nullptr>},
        {"signed, legacy", legacy_sent, transaction<decode_transaction, nullptr>},
        {"unsigned", stored, transaction<decode_unsigned, encode>},
        {"unsigned, legacy", legacy_stored, transaction<decode_unsigned, encode>},
        {"revert", hex("08c379a0" + std::string{encodings::error_text}), revert, false},
        {"receipt", domain::Bytes(json.begin(), json.end()), receipt},
    };
}

// A few changes of the kinds that hurt decoders.
domain::Bytes mutated(domain::Bytes bytes, std::mt19937_64& random) {
    constexpr std::uint8_t favourites[] = {0x00, 0x01, 0x1f, 0x20, 0x21, 0x7f, 0x80, 0xb7,
                                           0xb8, 0xbf, 0xc0, 0xf7, 0xf8, 0xff, '"',  '0'};
    const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
    for (std::size_t change = 0; change <= below(4); ++change) {
        if (bytes.empty()) break;
        const std::size_t at = below(bytes.size());
        const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
        switch (below(7)) {
            case 0:
                *place = static_cast<std::uint8_t>(random());
                break;
            case 1:
                *place = favourites[below(std::size(favourites))];
                break;
            case 2:
                *place ^= static_cast<std::uint8_t>(1U << below(8));
                break;
            case 3: {  // the last byte of a word is where offsets and lengths are
                const std::size_t word = at / 32 * 32 + 31;
                if (word < bytes.size()) {
                    bytes[word] = static_cast<std::uint8_t>(32 * below(8) + below(2));
                }
                break;
            }
            case 4:
                bytes.erase(place);
                break;
            case 5:
                bytes.insert(place, static_cast<std::uint8_t>(random()));
                break;
            default: {  // one word over another
                const std::size_t from = below(bytes.size() / 32) * 32;
                const std::size_t to = below(bytes.size() / 32) * 32;
                if (bytes.size() < 32) break;
                std::copy_n(domain::Bytes(bytes).begin() + static_cast<std::ptrdiff_t>(from), 32,
                            bytes.begin() + static_cast<std::ptrdiff_t>(to));
            }
        }
    }
    return bytes;
}

// Three members may each be as large as the whole when they overlap; a vector may double.
std::size_t copied_max(const domain::Bytes& bytes) {
    return 6 * bytes.size() + 64;
}

}  // namespace

TEST_CASE("valid inputs are read, and no truncation of them but of padding") {
    for (const Row& row : rows()) {
        CAPTURE(row.label);
        CHECK(row.decode(row.valid));
        for (std::size_t size = 0; size < row.valid.size(); ++size) {
            CAPTURE(size);
            const auto end = row.valid.begin() + static_cast<std::ptrdiff_t>(size);
            const bool accepted = row.decode(domain::Bytes(row.valid.begin(), end)).has_value();
            if (row.refuses_cuts) CHECK_FALSE(accepted);
        }
    }
}

TEST_CASE("mutated inputs are read or refused, in little memory") {
    for (const Row& row : rows()) {
        CAPTURE(row.label);
        std::mt19937_64 random{20'250'101};
        std::size_t accepted = 0;
        for (int round = 0; round < 20'000; ++round) {
            const domain::Bytes bytes = mutated(row.valid, random);
            const auto copied = row.decode(bytes);
            if (!copied) continue;
            ++accepted;
            if (*copied > copied_max(bytes)) {
                CAPTURE(round);
                CHECK(*copied <= copied_max(bytes));
            }
        }
        // The changes are small enough to get past the first test of a decoder.
        CHECK(accepted > 0);
    }
}
