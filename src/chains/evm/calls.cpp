#include "chains/evm/calls.hpp"

#include "chains/evm/abi.hpp"
#include "chains/evm/selectors.hpp"

namespace chains::evm {
namespace {

bool is_string_list(const abi::Decoder& tuple, std::size_t at) {
    const auto strings = tuple.list(at, 1);
    if (!strings) return false;
    for (std::size_t index = 0; index < strings->count; ++index) {
        if (!strings->elements.bytes(index)) return false;
    }
    return true;
}

// (uint8,bytes)
bool is_key_digest(const abi::Decoder& tuple) {
    const auto type = tuple.number(0);
    return type && *type <= 0xff && tuple.bytes(1);
}

}  // namespace

domain::Bytes getter(Getter which) {
    return abi::Tuple{}.call(static_cast<std::uint32_t>(which));
}

domain::Bytes getter(Getter which, const domain::Bytes32& argument) {
    return abi::Tuple{}.add(argument).call(static_cast<std::uint32_t>(which));
}

domain::Bytes balance_of(const domain::Address& owner) {
    return abi::Tuple{}.add(owner).call(selector::balance_of);
}

domain::Bytes allowance(const domain::Address& owner, const domain::Address& spender) {
    return abi::Tuple{}.add(owner).add(spender).call(selector::allowance);
}

domain::Bytes approve_call(const domain::Address& spender, const domain::Bytes32& amount) {
    return abi::Tuple{}.add(spender).add(amount).call(selector::approve);
}

domain::Bytes is_valid_signature(const domain::Bytes32& digest, domain::ByteView signature) {
    return abi::Tuple{}.add(digest).add_bytes(signature).call(selector::is_valid_signature);
}

std::optional<bool> decode_bool(domain::ByteView result) {
    if (result.size() < abi::word_bytes) return std::nullopt;
    return result[abi::word_bytes - 1] != 0;
}

std::optional<domain::Bytes32> decode_word(domain::ByteView result, std::size_t word) {
    return abi::Decoder{result}.word(word);
}

std::optional<std::uint64_t> decode_number(domain::ByteView result, std::size_t word) {
    return abi::Decoder{result}.number(word);
}

std::optional<std::vector<domain::Bytes>> decode_bytes_array(domain::ByteView result) {
    return abi::Decoder{result}.bytes_list(0);
}

bool decodes_as_key_materials(domain::ByteView result) {
    const abi::Decoder materials{result};
    const auto digests = materials.list(1, 1);
    if (!digests || !is_string_list(materials, 0)) return false;
    for (std::size_t index = 0; index < digests->count; ++index) {
        const auto digest = digests->elements.tuple(index);
        if (!digest || !is_key_digest(*digest)) return false;
    }
    return true;
}

bool decodes_as_crs_materials(domain::ByteView result) {
    const abi::Decoder materials{result};
    return is_string_list(materials, 0) && materials.bytes(1);
}

}  // namespace chains::evm
