#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

// The one function of a fuzz target, called by libFuzzer or by replay.cpp. It takes any bytes, and
// throws fuzz::Broken when something that must hold for all of them does not.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

struct Broken : std::logic_error {
    using std::logic_error::logic_error;
};

inline void require(bool holds, const char* promise) {
    if (!holds) throw Broken(promise);
}

[[nodiscard]] inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Cuts the first byte off and answers one of 0 … `choices` - 1; '0' is the first choice, so that
// seeds can be written by hand.
[[nodiscard]] inline unsigned take_choice(std::string_view& input, unsigned choices) {
    const auto byte = static_cast<unsigned char>(input.front());
    input.remove_prefix(1);
    return static_cast<unsigned char>(byte - '0') % choices;
}

}  // namespace fuzz
