#include <algorithm>
#include <cstdint>
#include <utility>

#include "chains/votes/prover/prover_protocol.hpp"

namespace chains::votes::prover {
namespace {

constexpr std::uint8_t version = 1;
constexpr std::size_t witness_bytes =
    merkle_path_bytes + std::size_t{16} * 32 + std::size_t{3} * 32 + std::size_t{3} * 4 + 32;
constexpr std::size_t root_bytes = 32;

void append(std::string& text, domain::ByteView bytes) {
    text.append(bytes.begin(), bytes.end());
}

void append(std::string& text, std::uint32_t number) {
    for (unsigned shift = 32; shift > 0;) {
        shift -= 8;
        text += static_cast<char>(number >> shift & 0xffU);
    }
}

// Takes the bytes of a frame one field after the other.
class Fields {
public:
    explicit Fields(std::string_view bytes) : rest_(bytes) {}

    [[nodiscard]] std::size_t left() const { return rest_.size(); }

    std::string_view take(std::size_t count) {
        const std::string_view taken = rest_.substr(0, count);
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::uint32_t number() {
        std::uint32_t value = 0;
        for (const char byte : take(4)) value = value << 8U | static_cast<std::uint8_t>(byte);
        return value;
    }

    domain::Bytes32 bytes32() {
        domain::Bytes32 bytes{};
        std::ranges::copy(take(bytes.size()), bytes.begin());
        return bytes;
    }

private:
    std::string_view rest_;
};

ProverAnswer read_proof(Fields fields) {
    Proof proof;
    if (fields.left() < proof.nullifier.size() + 1 + root_bytes)
        return Malformed{"answer too short"};
    proof.nullifier = fields.bytes32();
    const auto has_root = static_cast<std::uint8_t>(fields.take(1).front());
    if (has_root > 1) return Malformed{"neither with nor without a tree_root"};
    const domain::Bytes32 root = fields.bytes32();
    if (has_root == 1) proof.tree_root = root;
    const std::string_view bytes = fields.take(fields.left());
    proof.bytes.assign(bytes.begin(), bytes.end());
    return checked(std::move(proof));
}

}  // namespace

Secret binary_request(const Witness& witness) {
    std::string text;
    text.reserve(binary_witness_begin + witness_bytes);
    append(text, static_cast<std::uint32_t>(1 + witness_bytes));
    text += static_cast<char>(version);
    append(text, witness.merkle_path);
    for (const domain::Bytes32& commitment : witness.share_comms) append(text, commitment);
    append(text, witness.primary_blind);
    append(text, witness.c1);
    append(text, witness.c2);
    append(text, witness.share_index);
    append(text, witness.proposal_id);
    append(text, witness.vote_decision);
    append(text, witness.round_id);
    return Secret(std::move(text));
}

ProverAnswer read_binary_answer(std::string_view frame) {
    if (frame.empty()) return Malformed{"no answer"};
    Fields fields(frame);
    if (fields.left() < binary_length_bytes) return Malformed{"answer too short"};
    const std::uint32_t length = fields.number();
    if (length != fields.left()) return Malformed{"answer is not as long as it says"};
    if (fields.left() < 5) return Malformed{"answer too short"};
    if (static_cast<std::uint8_t>(fields.take(1).front()) != version) {
        return Malformed{"answer of another version"};
    }
    const auto status = static_cast<std::int32_t>(fields.number());
    if (status != 0) return ProverError{status, std::string(fields.take(fields.left()))};
    return read_proof(fields);
}

}  // namespace chains::votes::prover
