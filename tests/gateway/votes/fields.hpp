#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <string_view>

#include "domain/bytes.hpp"
#include "gateway/votes/tree/pallas.hpp"

namespace gateway::votes {

inline domain::Bytes32 bytes32(std::string_view digits) {
    domain::Bytes32 bytes{};
    REQUIRE(domain::from_hex(digits, bytes));
    return bytes;
}

inline PallasField element(const domain::Bytes32& bytes) {
    const std::optional<PallasField> decoded = PallasField::decode(bytes);
    REQUIRE(decoded.has_value());
    return *decoded;
}

inline PallasField element(std::string_view digits) {
    return element(bytes32(digits));
}

inline domain::Bytes32 number(std::uint64_t value) {
    return PallasField::from(value).encode();
}

}  // namespace gateway::votes
