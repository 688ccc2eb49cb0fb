#include "chains/loopback/answers.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <numeric>

#include "domain/kind.hpp"

namespace chains::loopback {
namespace {

constexpr std::size_t signature_size = 65;
constexpr std::size_t payload_size = 128;
constexpr std::size_t value_size = 8;  // as a euint64
constexpr std::uint8_t fhe_type_euint64 = 5;

// Sets apart what is filled from one digest.
enum Label : std::uint64_t {
    handle_label = 1'000,
    value_label = 2'000,
    signature_label = 3'000,
    payload_label = 4'000,
    share_signature_label = 5'000,
};

constexpr Pieces piece(std::uint32_t index) {
    assert(index >= 1 && index <= kms_nodes_max);
    return Pieces{1} << (index - 1);
}

// As many nodes are dead as the share says, whichever the dice choose.
Pieces choose_living(const Options& options, const SeededRandom& random) {
    std::vector<std::uint32_t> nodes(options.kms_nodes);
    std::iota(nodes.begin(), nodes.end(), 1U);
    std::ranges::sort(nodes, {}, [&random](std::uint32_t node) {
        const std::array about{static_cast<std::uint8_t>(node)};
        return random.number(Purpose::missing_node, about);
    });
    const std::size_t missing = std::size_t{options.kms_nodes} * options.missing_kms_nodes / 1000;
    Pieces living = 0;
    for (std::size_t at = missing; at < nodes.size(); ++at) living |= piece(nodes[at]);
    return living;
}

domain::Bytes signature(domain::ByteView about, std::uint64_t label) {
    domain::Bytes bytes = filler(about, label, signature_size);
    bytes.back() = static_cast<std::uint8_t>(27 + (bytes.back() & 1U));
    return bytes;
}

// The layout of evm-gateway 9.3.
domain::Bytes32 handle(const Draft& draft, std::uint32_t index) {
    domain::Bytes32 bytes{};
    const domain::Bytes digest = filler(draft.content, handle_label, 21);
    std::ranges::copy(digest, bytes.begin());
    bytes[21] = static_cast<std::uint8_t>(index);
    for (std::size_t at = 0; at < 8; ++at) {
        bytes[22 + at] = static_cast<std::uint8_t>(draft.chain_id >> (8 * (7 - at)));
    }
    bytes[30] = fhe_type_euint64;
    return bytes;
}

}  // namespace

Answers::Answers(const Options& options, const SeededRandom& random)
    : options_(options), random_(random), living_nodes_(choose_living(options, random)) {}

std::vector<Pieces> Answers::pieces_of(domain::Kind kind) const {
    if (domain::family_of(kind) != domain::Family::user_decrypt) return {piece(1)};
    std::vector<Pieces> pieces;
    for (std::uint32_t node = 1; node <= kms_nodes_max; ++node) {
        if ((living_nodes_ & piece(node)) != 0) pieces.push_back(piece(node));
    }
    return pieces;
}

void Answers::make(const PlacedAnswer& placed, std::vector<engine::Answer>& out) const {
    const auto transaction = decode_transaction(placed.bytes);
    if (!transaction) return;  // the ledger was changed by somebody else: nobody answers
    const Draft& draft = transaction->draft;
    const domain::Bytes32 reference =
        placed.foreign ? foreign_reference_of(placed.hash) : reference_of(placed.hash);
    if (domain::family_of(draft.kind) != domain::Family::user_decrypt) {
        out.push_back({reference, body(draft)});
        return;
    }
    for (std::uint32_t node = 1; node <= kms_nodes_max; ++node) {
        if ((placed.pieces & piece(node)) != 0) out.push_back({reference, kms_share(draft, node)});
    }
}

engine::AnswerBody Answers::body(const Draft& draft) const {
    if (draft.kind == domain::Kind::public_decrypt) return public_value(draft);
    if (random_.is_among(Purpose::proof_rejection, draft.content, options_.proof_rejections)) {
        return engine::ProofRejected{};
    }
    return accepted_proof(draft);
}

domain::ProofAccepted Answers::accepted_proof(const Draft& draft) const {
    domain::ProofAccepted accepted;
    for (std::uint32_t index = 0; index < draft.handles; ++index) {
        accepted.handles.push_back(handle(draft, index));
    }
    accepted.signatures = signatures(draft);
    return accepted;
}

domain::PublicDecrypted Answers::public_value(const Draft& draft) const {
    domain::PublicDecrypted decrypted;
    for (std::uint32_t index = 0; index < draft.handles; ++index) {
        decrypted.value.resize(decrypted.value.size() + 32 - value_size);
        const domain::Bytes value = filler(draft.content, value_label + index, value_size);
        decrypted.value.insert(decrypted.value.end(), value.begin(), value.end());
    }
    decrypted.signatures = signatures(draft);
    decrypted.extra_data = draft.extra_data;
    return decrypted;
}

domain::KmsShare Answers::kms_share(const Draft& draft, std::uint32_t index) const {
    return {index, filler(draft.content, payload_label + index, payload_size),
            signature(draft.content, share_signature_label + index), draft.extra_data};
}

std::vector<domain::Bytes> Answers::signatures(const Draft& draft) const {
    std::vector<domain::Bytes> list;
    for (std::uint32_t index = 0; index < options_.signatures; ++index) {
        list.push_back(signature(draft.content, signature_label + index));
    }
    return list;
}

}  // namespace chains::loopback
