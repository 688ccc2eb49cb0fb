#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "domain/bytes.hpp"

namespace support {

// Random content for property tests; everything follows from the seed.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : engine_(seed) {}

    std::uint64_t up_to(std::uint64_t most) {
        return std::uniform_int_distribution<std::uint64_t>{0, most}(engine_);
    }

    std::uint64_t u64() { return engine_(); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(engine_()); }
    bool coin() { return up_to(1) == 1; }

    template <class Container>
    void fill(Container& bytes) {
        for (auto& byte : bytes) {
            byte = static_cast<typename Container::value_type>(up_to(255));
        }
    }

    domain::Bytes bytes(std::size_t most) {
        domain::Bytes bytes(up_to(most));
        fill(bytes);
        return bytes;
    }

    std::string text(std::size_t most) {
        std::string text(up_to(most), '\0');
        fill(text);
        return text;
    }

    template <std::size_t size>
    std::array<std::uint8_t, size> array() {
        std::array<std::uint8_t, size> bytes{};
        fill(bytes);
        return bytes;
    }

    template <class Make>
    auto list(std::size_t most, Make make) {
        std::vector<decltype(make())> list(up_to(most));
        std::ranges::generate(list, make);
        return list;
    }

private:
    std::mt19937_64 engine_;
};

}  // namespace support
