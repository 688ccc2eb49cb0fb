#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"

// What contracts return, put together by hand (Solidity ABI specification).
namespace replies {

using chains::jsonrpc::Json;
using domain::Bytes;

inline Bytes word(std::uint64_t number) {
    Bytes bytes(32, 0);
    for (std::size_t at = 0; at < 8; ++at) {
        bytes[31 - at] = static_cast<std::uint8_t>(number >> (8 * at));
    }
    return bytes;
}

inline domain::Bytes32 word32(std::uint64_t number) {
    domain::Bytes32 bytes{};
    for (std::size_t at = 0; at < 8; ++at) {
        bytes[31 - at] = static_cast<std::uint8_t>(number >> (8 * at));
    }
    return bytes;
}

inline Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

struct Part {
    Bytes bytes;
    bool dynamic = false;
};

inline Part number(std::uint64_t value) {
    return {word(value)};
}

inline Part tail(const Bytes& bytes) {
    Bytes encoded = word(bytes.size()) + bytes;
    encoded.resize((encoded.size() + 31) / 32 * 32);
    return {std::move(encoded), true};
}

inline Part text(std::string_view characters) {
    return tail(Bytes(characters.begin(), characters.end()));
}

// Heads, then tails.
inline Bytes tuple(const std::vector<Part>& parts) {
    std::size_t heads = 0;
    for (const Part& part : parts) heads += part.dynamic ? 32 : part.bytes.size();
    Bytes head;
    Bytes tails;
    for (const Part& part : parts) {
        head = std::move(head) + (part.dynamic ? word(heads + tails.size()) : part.bytes);
        if (part.dynamic) tails = std::move(tails) + part.bytes;
    }
    return std::move(head) + tails;
}

inline Part array(const std::vector<Part>& items) {
    return {word(items.size()) + tuple(items), true};
}

inline Json hex(const Bytes& bytes) {
    return "0x" + domain::to_hex(bytes);
}

inline Json number_reply(std::uint64_t value) {
    return hex(word(value));
}

// Of multicall(bytes[]).
inline Json bytes_array(const std::vector<Bytes>& items) {
    std::vector<Part> parts;
    for (const Bytes& item : items) parts.push_back(tail(item));
    return hex(tuple({array(parts)}));
}

// The calldata of an eth_call.
inline Bytes input_of(const Json& params) {
    return domain::from_hex(params.at(0).at("input").get<std::string>().substr(2)).value();
}

}  // namespace replies
