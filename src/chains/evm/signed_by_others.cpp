#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "chains/evm/rlp.hpp"
#include "chains/evm/transaction.hpp"

// What was signed somewhere else, compared with what was asked for.
namespace chains::evm {
namespace {

using Items = std::vector<domain::ByteView>;

constexpr std::uint8_t type_2 = 0x02;       // EIP-2718
constexpr unsigned replay_protected = 35;   // EIP-155
constexpr std::size_t signature_items = 3;  // y parity or v, r, s

// In the order in which they are signed.
constexpr std::array fields_of_type_2{"chain id", "nonce",     "priority fee",
                                      "max fee",  "gas limit", "receiver",
                                      "value",    "data",      "access list"};
constexpr std::array fields_of_legacy{"nonce",    "gas price", "gas limit",
                                      "receiver", "value",     "data"};

// Of a signed or unsigned transaction of its type.
std::optional<Items> items_of(domain::ByteView bytes, bool legacy) {
    if (bytes.empty() || (bytes[0] == type_2) == legacy) return std::nullopt;
    return rlp::items(legacy ? bytes : bytes.subspan(1));
}

bool take(domain::ByteView item, domain::Bytes32& out) {
    const auto digits = rlp::content(item);
    if (!digits || digits->size() > out.size()) return false;
    std::ranges::copy(*digits, out.end() - static_cast<std::ptrdiff_t>(digits->size()));
    return true;
}

struct Marked {
    Signature signature;
    std::optional<jsonrpc::Wei> chain_id;  // legacy: from v
};

std::optional<Marked> signature_in(const Items& items, bool legacy) {
    const std::size_t first = items.size() - signature_items;
    Marked marked;
    const auto mark = rlp::number_in(items[first]);
    if (!mark || !take(items[first + 1], marked.signature.r) ||
        !take(items[first + 2], marked.signature.s)) {
        return std::nullopt;
    }
    if (legacy) {
        if (*mark < replay_protected) return std::nullopt;
        marked.chain_id = (*mark - replay_protected) / 2;
        marked.signature.y_parity = static_cast<std::uint8_t>((*mark - replay_protected) % 2);
    } else {
        if (*mark > 1) return std::nullopt;
        marked.signature.y_parity = static_cast<std::uint8_t>(*mark);
    }
    return marked;
}

template <std::size_t count>
std::optional<std::string> first_other(const Items& asked, const Items& got,
                                       const std::array<const char*, count>& names) {
    for (std::size_t i = 0; i < count; ++i) {
        if (!std::ranges::equal(asked[i], got[i])) {
            return std::string("the ") + names[i] + " is another";
        }
    }
    return std::nullopt;
}

}  // namespace

std::optional<std::string> difference(const Transaction& asked, domain::ByteView signed_bytes,
                                      const domain::Address& account) {
    const domain::Bytes unsigned_bytes = encode(asked);
    const auto expected = items_of(unsigned_bytes, asked.legacy);
    const auto got = items_of(signed_bytes, asked.legacy);
    const std::size_t fields = asked.legacy ? fields_of_legacy.size() : fields_of_type_2.size();
    if (!got || got->size() != fields + signature_items) {
        return "it is no signed transaction of the type that was asked for";
    }
    auto other = asked.legacy ? first_other(*expected, *got, fields_of_legacy)
                              : first_other(*expected, *got, fields_of_type_2);
    if (other) return other;
    const auto marked = signature_in(*got, asked.legacy);
    if (!marked) return "the signature has no form";
    if (marked->chain_id && *marked->chain_id != asked.chain_id) return "the chain id is another";
    const auto signer = recovered_account(signing_hash(asked), marked->signature);
    if (!signer) return "the signature is none of any key, or its s is not low";
    if (*signer != account) return "it is signed with another key";
    // Nothing is left that could differ but bytes that are not canonical.
    if (!std::ranges::equal(with_signature(asked, marked->signature), signed_bytes)) {
        return "it is not encoded as it should be";
    }
    return std::nullopt;
}

std::optional<domain::Address> sender_of(domain::ByteView signed_bytes) {
    const auto transaction = decode_transaction(signed_bytes);
    if (!transaction) return std::nullopt;
    const auto items = items_of(signed_bytes, transaction->legacy);
    const auto marked = items ? signature_in(*items, transaction->legacy) : std::nullopt;
    if (!marked) return std::nullopt;
    return recovered_account(signing_hash(*transaction), marked->signature);
}

}  // namespace chains::evm
