#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

#include "domain/bytes.hpp"

// No strict prefix and no extension by one byte may decode, nor may another version or tag.
template <class Decode>
void check_strict(const domain::Bytes& encoded, Decode decode) {
    for (std::size_t size = 0; size < encoded.size(); ++size) {
        CAPTURE(size);
        // A copy of exactly this size, so that a read past the end is seen by the sanitizer.
        const domain::Bytes prefix(encoded.begin(),
                                   encoded.begin() + static_cast<std::ptrdiff_t>(size));
        REQUIRE_FALSE(decode(prefix).has_value());
    }

    domain::Bytes extended = encoded;
    extended.push_back(0);
    for (int byte = 0; byte < 256; ++byte) {
        CAPTURE(byte);
        extended.back() = static_cast<std::uint8_t>(byte);
        REQUIRE_FALSE(decode(extended).has_value());
    }

    domain::Bytes versioned = encoded;
    for (int version = 0; version < 256; ++version) {
        CAPTURE(version);
        versioned[0] = static_cast<std::uint8_t>(version);
        REQUIRE(decode(versioned).has_value() == (version == 1));
    }
}
