#include "chains/loopback/transaction.hpp"

#include <algorithm>
#include <concepts>
#include <string_view>
#include <variant>

namespace chains::loopback {
namespace {

constexpr std::uint8_t version = 1;

template <std::integral Integer>
void put(domain::Bytes& out, Integer value) {
    for (std::size_t shift = sizeof value * 8; shift > 0; shift -= 8) {
        out.push_back(static_cast<std::uint8_t>(static_cast<std::uint64_t>(value) >> (shift - 8)));
    }
}

void put(domain::Bytes& out, domain::ByteView bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void put(domain::Bytes& out, std::string_view text) {
    out.insert(out.end(), text.begin(), text.end());
}

// Reads from the front; asking for more than there is clears `complete`.
class Reader {
public:
    explicit Reader(domain::ByteView bytes) : rest_(bytes) {}

    template <typename Integer>
    Integer number() {
        std::uint64_t value = 0;
        for (const std::uint8_t byte : take(sizeof(Integer))) value = value << 8U | byte;
        return static_cast<Integer>(value);
    }

    template <std::size_t size>
    void read(std::array<std::uint8_t, size>& out) {
        const domain::ByteView bytes = take(size);
        std::copy(bytes.begin(), bytes.end(), out.begin());
    }

    domain::ByteView take(std::size_t size) {
        if (size > rest_.size()) {
            complete_ = false;
            rest_ = {};
            return {};
        }
        const domain::ByteView taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return taken;
    }

    [[nodiscard]] bool at_end() const { return complete_ && rest_.empty(); }

private:
    domain::ByteView rest_;
    bool complete_ = true;
};

domain::Bytes32 nullifier_of(const domain::VoteShare& share) {
    domain::Bytes bytes;
    put(bytes, std::string_view{"loopback share nullifier v1"});
    put(bytes, share.round_id);
    put(bytes, share.share_index);
    put(bytes, share.proposal_id);
    put(bytes, share.tree_position);
    return domain::sha256(bytes);
}

domain::Bytes32 labelled(std::string_view label, const domain::Bytes32& hash) {
    domain::Bytes bytes;
    put(bytes, label);
    put(bytes, hash);
    return domain::sha256(bytes);
}

// Members of the draft that depend on the kind.
struct Details {
    Draft& draft;
    std::uint32_t proof_handles;

    void operator()(const domain::InputProof& request) const {
        draft.chain_id = request.contract_chain_id;
        draft.handles = proof_handles;
    }
    void operator()(const domain::PublicDecrypt& request) const {
        draft.handles = static_cast<std::uint32_t>(request.handles.size());
        draft.extra_data = request.extra_data;
    }
    void operator()(const domain::UserDecrypt& request) const {
        draft.handles = static_cast<std::uint32_t>(request.pairs.size());
        draft.extra_data = request.extra_data;
    }
    void operator()(const domain::DelegatedUserDecrypt& request) const {
        draft.handles = static_cast<std::uint32_t>(request.pairs.size());
        draft.extra_data = request.extra_data;
    }
    void operator()(const domain::UnifiedUserDecrypt& request) const {
        draft.handles = static_cast<std::uint32_t>(request.handles.size());
        draft.extra_data = request.extra_data;
    }
    void operator()(const domain::VoteShare&) const {}
};

bool is_kind(std::uint8_t number) {
    return number < domain::kinds.size();
}

}  // namespace

domain::Bytes32 content_of(const domain::Request& request) {
    if (const auto* proof = std::get_if<domain::InputProof>(&request)) {
        return domain::sha256(proof->ciphertext);
    }
    if (const auto* share = std::get_if<domain::VoteShare>(&request)) return nullifier_of(*share);
    return domain::sha256(domain::encode(request));
}

Draft draft_of(const domain::RequestId& id, const domain::Request& request,
               std::uint32_t proof_handles) {
    Draft draft;
    draft.kind = domain::kind_of(request);
    draft.id = id;
    draft.content = content_of(request);
    std::visit(Details{draft, proof_handles}, request);
    return draft;
}

domain::Bytes subject_of(const Draft& draft) {
    domain::Bytes subject;
    if (draft.kind == domain::Kind::share) {
        put(subject, draft.content);
    } else {
        put(subject, draft.id.sequence);
        put(subject, draft.id.random);
    }
    return subject;
}

domain::Bytes encode(const Draft& draft) {
    domain::Bytes bytes;
    bytes.reserve(128 + draft.extra_data.size());
    put(bytes, version);
    put(bytes, static_cast<std::uint8_t>(draft.kind));
    put(bytes, draft.id.sequence);
    put(bytes, draft.id.random);
    put(bytes, draft.content);
    put(bytes, draft.chain_id);
    put(bytes, draft.handles);
    put(bytes, static_cast<std::uint32_t>(draft.extra_data.size()));
    put(bytes, draft.extra_data);
    return bytes;
}

domain::Bytes seal(domain::ByteView draft, std::uint64_t nonce, const Salt& salt) {
    domain::Bytes bytes;
    bytes.reserve(draft.size() + sizeof nonce + salt.size());
    put(bytes, draft);
    put(bytes, nonce);
    put(bytes, salt);
    return bytes;
}

std::optional<Transaction> decode_transaction(domain::ByteView bytes) {
    Reader reader{bytes};
    if (reader.number<std::uint8_t>() != version) return std::nullopt;
    const auto kind = reader.number<std::uint8_t>();
    if (!is_kind(kind)) return std::nullopt;

    Transaction transaction;
    Draft& draft = transaction.draft;
    draft.kind = static_cast<domain::Kind>(kind);
    draft.id.sequence = reader.number<std::int64_t>();
    draft.id.random = reader.number<std::int64_t>();
    reader.read(draft.content);
    draft.chain_id = reader.number<std::uint64_t>();
    draft.handles = reader.number<std::uint32_t>();
    const domain::ByteView extra_data = reader.take(reader.number<std::uint32_t>());
    draft.extra_data.assign(extra_data.begin(), extra_data.end());
    transaction.nonce = reader.number<std::uint64_t>();
    reader.read(transaction.salt);
    if (!reader.at_end()) return std::nullopt;
    return transaction;
}

domain::Bytes32 reference_of(const domain::Bytes32& hash) {
    return labelled("loopback reference v1", hash);
}

domain::Bytes32 foreign_reference_of(const domain::Bytes32& hash) {
    return labelled("loopback foreign reference v1", hash);
}

}  // namespace chains::loopback
