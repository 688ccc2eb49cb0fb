#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace domain {

// What a client asked for. Names are stored and logged.
enum class Kind {
    input_proof,
    public_decrypt,
    user_decrypt,
    delegated_user_decrypt,
    unified_user_decrypt,
    share,
};

// Kinds that share gates, deduplication scope and poll routes.
enum class Family { input_proof, public_decrypt, user_decrypt, share };

inline constexpr std::array kinds{Kind::input_proof,          Kind::public_decrypt,
                                  Kind::user_decrypt,         Kind::delegated_user_decrypt,
                                  Kind::unified_user_decrypt, Kind::share};

inline constexpr std::array families{Family::input_proof, Family::public_decrypt,
                                     Family::user_decrypt, Family::share};

[[nodiscard]] constexpr Family family_of(Kind kind) {
    switch (kind) {
        case Kind::input_proof:
            return Family::input_proof;
        case Kind::public_decrypt:
            return Family::public_decrypt;
        case Kind::user_decrypt:
        case Kind::delegated_user_decrypt:
        case Kind::unified_user_decrypt:
            return Family::user_decrypt;
        case Kind::share:
            return Family::share;
    }
    return Family::share;
}

[[nodiscard]] constexpr bool is_decrypt(Kind kind) {
    return family_of(kind) == Family::public_decrypt || family_of(kind) == Family::user_decrypt;
}

[[nodiscard]] std::string_view to_string(Kind kind);
[[nodiscard]] std::string_view to_string(Family family);
[[nodiscard]] std::optional<Kind> kind_from(std::string_view text);

}  // namespace domain
