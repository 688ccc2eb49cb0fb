#include "chains/evm/transaction.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

#include "chains/evm/rlp.hpp"
#include "domain/keccak.hpp"

namespace chains::evm {
namespace {

constexpr std::uint8_t type_2 = 0x02;       // EIP-2718
constexpr unsigned replay_protected = 35;   // EIP-155: v = 35 + 2 * chain id + parity
constexpr std::size_t type_2_members = 9;   // before the signature
constexpr std::size_t legacy_members = 6;   // before chain id or v
constexpr std::size_t signature_items = 3;  // y parity or v, r, s

using Items = std::vector<domain::ByteView>;

// Everything that is signed, in the order of EIP-1559 or of the yellow paper.
std::vector<domain::Bytes> members(const Transaction& transaction) {
    assert(!transaction.legacy || transaction.priority_fee == 0);
    std::vector<domain::Bytes> members;
    if (!transaction.legacy) members.push_back(rlp::number(transaction.chain_id));
    members.push_back(rlp::number(transaction.nonce));
    if (!transaction.legacy) members.push_back(rlp::number(transaction.priority_fee));
    members.push_back(rlp::number(transaction.max_fee));
    members.push_back(rlp::number(transaction.gas_limit));
    members.push_back(rlp::text(transaction.to));
    members.push_back(rlp::number(0));  // value
    members.push_back(rlp::text(transaction.data));
    if (!transaction.legacy) members.push_back(rlp::list({}));  // access list
    return members;
}

domain::Bytes envelope(const Transaction& transaction, const std::vector<domain::Bytes>& members) {
    domain::Bytes bytes = rlp::list(members);
    if (!transaction.legacy) bytes.insert(bytes.begin(), type_2);
    return bytes;
}

// r and s are numbers of 256 bits.
domain::Bytes big_number(const domain::Bytes32& number) {
    const auto first = std::ranges::find_if(number, [](std::uint8_t byte) { return byte != 0; });
    return rlp::text({first, number.end()});
}

bool is_big_number(domain::ByteView item) {
    const auto digits = rlp::content(item);
    return digits && !digits->empty() && digits->front() != 0 && digits->size() <= 32;
}

bool take(domain::ByteView item, jsonrpc::Wei& out) {
    const auto number = rlp::number_in(item);
    if (number) out = *number;
    return number.has_value();
}

bool take(domain::ByteView item, std::uint64_t& out) {
    const auto number = rlp::number_in(item);
    if (!number || *number > ~std::uint64_t{0}) return false;
    out = static_cast<std::uint64_t>(*number);
    return true;
}

bool take(domain::ByteView item, domain::Address& out) {
    const auto bytes = rlp::content(item);
    if (!bytes || bytes->size() != out.size()) return false;
    std::ranges::copy(*bytes, out.begin());
    return true;
}

bool take(domain::ByteView item, domain::Bytes& out) {
    const auto bytes = rlp::content(item);
    if (bytes) out.assign(bytes->begin(), bytes->end());
    return bytes.has_value();
}

bool is_zero(domain::ByteView item) {
    return rlp::number_in(item) == jsonrpc::Wei{0};
}

bool is_empty_list(domain::ByteView item) {
    const auto inside = rlp::items(item);
    return inside && inside->empty();
}

std::optional<Transaction> read_type_2(const Items& items) {
    Transaction read;
    const bool whole = take(items[0], read.chain_id) && take(items[1], read.nonce) &&
                       take(items[2], read.priority_fee) && take(items[3], read.max_fee) &&
                       take(items[4], read.gas_limit) && take(items[5], read.to) &&
                       is_zero(items[6]) && take(items[7], read.data) && is_empty_list(items[8]);
    if (!whole) return std::nullopt;
    return read;
}

// But for the chain id.
std::optional<Transaction> read_legacy(const Items& items) {
    Transaction read;
    read.legacy = true;
    const bool whole = take(items[0], read.nonce) && take(items[1], read.max_fee) &&
                       take(items[2], read.gas_limit) && take(items[3], read.to) &&
                       is_zero(items[4]) && take(items[5], read.data);
    if (!whole) return std::nullopt;
    return read;
}

std::optional<Items> items_of(domain::ByteView bytes, std::size_t count) {
    auto items = rlp::items(bytes);
    if (items && items->size() != count) items.reset();
    return items;
}

std::optional<Transaction> decode_signed_type_2(domain::ByteView list) {
    const auto items = items_of(list, type_2_members + signature_items);
    if (!items) return std::nullopt;
    const auto parity = rlp::number_in((*items)[type_2_members]);
    if (!parity || *parity > 1) return std::nullopt;
    if (!is_big_number((*items)[type_2_members + 1])) return std::nullopt;
    if (!is_big_number((*items)[type_2_members + 2])) return std::nullopt;
    return read_type_2(*items);
}

std::optional<Transaction> decode_signed_legacy(domain::ByteView list) {
    const auto items = items_of(list, legacy_members + signature_items);
    if (!items) return std::nullopt;
    const auto v = rlp::number_in((*items)[legacy_members]);
    if (!v || *v < replay_protected) return std::nullopt;
    const jsonrpc::Wei chain_id = (*v - replay_protected) / 2;
    if (chain_id > ~std::uint64_t{0}) return std::nullopt;
    if (!is_big_number((*items)[legacy_members + 1])) return std::nullopt;
    if (!is_big_number((*items)[legacy_members + 2])) return std::nullopt;
    auto read = read_legacy(*items);
    if (read) read->chain_id = static_cast<std::uint64_t>(chain_id);
    return read;
}

}  // namespace

domain::Bytes32 signing_hash(const Transaction& transaction) {
    return domain::keccak256(encode(transaction));
}

domain::Bytes sign(const Transaction& transaction, const LocalSigner& signer) {
    return with_signature(transaction, signer.sign(signing_hash(transaction)));
}

domain::Bytes with_signature(const Transaction& transaction, const Signature& signature) {
    std::vector<domain::Bytes> all = members(transaction);
    all.push_back(rlp::number(transaction.legacy ? jsonrpc::Wei{transaction.chain_id} * 2 +
                                                       replay_protected + signature.y_parity
                                                 : jsonrpc::Wei{signature.y_parity}));
    all.push_back(big_number(signature.r));
    all.push_back(big_number(signature.s));
    return envelope(transaction, all);
}

std::optional<Transaction> decode_transaction(domain::ByteView signed_bytes) {
    if (signed_bytes.empty()) return std::nullopt;
    if (signed_bytes[0] == type_2) return decode_signed_type_2(signed_bytes.subspan(1));
    return decode_signed_legacy(signed_bytes);
}

// What a signature is about, byte for byte.
domain::Bytes encode(const Transaction& transaction) {
    std::vector<domain::Bytes> all = members(transaction);
    if (transaction.legacy) {
        all.push_back(rlp::number(transaction.chain_id));
        all.push_back(rlp::number(0));
        all.push_back(rlp::number(0));
    }
    return envelope(transaction, all);
}

std::optional<Transaction> decode_unsigned(domain::ByteView bytes) {
    if (bytes.empty()) return std::nullopt;
    if (bytes[0] == type_2) {
        const auto items = items_of(bytes.subspan(1), type_2_members);
        return items ? read_type_2(*items) : std::nullopt;
    }
    const auto items = items_of(bytes, legacy_members + signature_items);
    if (!items || !is_zero((*items)[7]) || !is_zero((*items)[8])) return std::nullopt;
    auto read = read_legacy(*items);
    if (read && !take((*items)[legacy_members], read->chain_id)) read.reset();
    return read;
}

}  // namespace chains::evm
