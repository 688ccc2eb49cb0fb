#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "chains/jsonrpc/parse.hpp"
#include "chains/votes/prover/prover_protocol.hpp"

namespace chains::votes::prover {
namespace {

using jsonrpc::Json;

// Above the longest request, so that no copy of a witness stays behind in a buffer outgrown.
constexpr std::size_t request_bytes_max = 4'096;

void append_hex(std::string& text, domain::ByteView bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += '"';
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4U];
        text += digits[byte & 15U];
    }
    text += '"';
}

void append_bytes(std::string& text, std::string_view name, domain::ByteView bytes) {
    text.append(",\"").append(name).append("\":");
    append_hex(text, bytes);
}

void append_number(std::string& text, std::string_view name, std::uint32_t number) {
    text.append(",\"").append(name).append("\":").append(std::to_string(number));
}

const Json* member(const Json& object, const char* name) {
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

bool read_bytes32(const Json& value, domain::Bytes32& bytes) {
    return value.is_string() &&
           domain::from_hex(value.get_ref<const std::string&>(), std::span(bytes));
}

ProverAnswer read_error(const Json& error) {
    const Json* const code = error.is_object() ? member(error, "code") : nullptr;
    if (code == nullptr || !code->is_number_integer()) return Malformed{"error without a code"};
    const Json* const message = member(error, "message");
    const bool has_text = message != nullptr && message->is_string();
    return ProverError{code->get<std::int64_t>(),
                       has_text ? message->get<std::string>() : std::string()};
}

ProverAnswer read_proof(const Json& answer) {
    const Json* const bytes = member(answer, "proof");
    if (bytes == nullptr || !bytes->is_string()) return Malformed{"answer without a proof"};
    auto read = domain::from_hex(bytes->get_ref<const std::string&>());
    if (!read) return Malformed{"proof is no hex"};
    Proof proof;
    proof.bytes = std::move(*read);
    const Json* const nullifier = member(answer, "share_nullifier");
    if (nullifier == nullptr || !read_bytes32(*nullifier, proof.nullifier)) {
        return Malformed{"share_nullifier is not 32 bytes of hex"};
    }
    if (const Json* const root = member(answer, "tree_root")) {
        if (!read_bytes32(*root, proof.tree_root.emplace())) {
            return Malformed{"tree_root is not 32 bytes of hex"};
        }
    }
    return checked(std::move(proof));
}

bool is_blank(std::string_view text) {
    return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

}  // namespace

Secret json_request(const Witness& witness) {
    std::string text;
    text.reserve(request_bytes_max);
    text += "{\"version\":1";
    append_bytes(text, "merkle_path", witness.merkle_path);
    text += ",\"share_comms\":";
    char before = '[';
    for (const domain::Bytes32& commitment : witness.share_comms) {
        text += std::exchange(before, ',');
        append_hex(text, commitment);
    }
    text += ']';
    append_bytes(text, "primary_blind", witness.primary_blind);
    append_bytes(text, "c1", witness.c1);
    append_bytes(text, "c2", witness.c2);
    append_number(text, "share_index", witness.share_index);
    append_number(text, "proposal_id", witness.proposal_id);
    append_number(text, "vote_decision", witness.vote_decision);
    append_bytes(text, "round_id", witness.round_id);
    text += "}\n";
    return Secret(std::move(text));
}

ProverAnswer read_json_answer(std::string_view text) {
    if (is_blank(text)) return Malformed{"no answer"};
    const std::optional<Json> answer = jsonrpc::parse(std::string(text));
    if (!answer || !answer->is_object()) return Malformed{"answer is no JSON object"};
    if (const Json* const error = member(*answer, "error")) return read_error(*error);
    return read_proof(*answer);
}

bool is_whole(std::string_view bytes, ProverFormat format) {
    if (format == ProverFormat::json) return bytes.find('\n') != std::string_view::npos;
    if (bytes.size() < binary_length_bytes) return false;
    std::uint64_t length = 0;
    for (const char byte : bytes.substr(0, binary_length_bytes)) {
        length = length << 8U | static_cast<std::uint8_t>(byte);
    }
    return bytes.size() - binary_length_bytes >= length || length > answer_bytes_max;
}

}  // namespace chains::votes::prover
