#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string_view>

#include "chains/votes/tree/pallas.hpp"
#include "domain/bytes.hpp"

namespace chains::votes {

inline domain::Bytes32 bytes32(std::string_view digits) {
    domain::Bytes32 bytes{};
    REQUIRE(domain::from_hex(digits, bytes));
    return bytes;
}

inline tree::PallasField element(const domain::Bytes32& bytes) {
    const std::optional<tree::PallasField> decoded = tree::PallasField::decode(bytes);
    REQUIRE(decoded.has_value());
    return *decoded;
}

inline tree::PallasField element(std::string_view digits) {
    return element(bytes32(digits));
}

inline domain::Bytes32 number(std::uint64_t value) {
    return tree::PallasField::from(value).encode();
}

}  // namespace chains::votes
