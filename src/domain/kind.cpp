#include "domain/kind.hpp"

#include <algorithm>
#include <cstddef>

namespace domain {
namespace {

constexpr std::array<std::string_view, kinds.size()> kind_names{
    "input_proof",          "public_decrypt", "user_decrypt", "delegated_user_decrypt",
    "unified_user_decrypt", "share"};

constexpr std::array<std::string_view, 4> family_names{"input_proof", "public_decrypt",
                                                       "user_decrypt", "share"};

}  // namespace

std::string_view to_string(Kind kind) {
    return kind_names.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Family family) {
    return family_names.at(static_cast<std::size_t>(family));
}

std::optional<Kind> kind_from(std::string_view text) {
    const auto found = std::ranges::find(kinds, text, [](Kind kind) { return to_string(kind); });
    if (found == kinds.end()) return std::nullopt;
    return *found;
}

}  // namespace domain
