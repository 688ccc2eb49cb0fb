#include "domain/kind.hpp"

#include <doctest/doctest.h>

#include <string_view>

using namespace domain;

TEST_CASE("kinds have names, families and a way back from their names") {
    struct Row {
        Kind kind;
        std::string_view name;
        Family family;
        std::string_view family_name;
        bool decrypt;
    };
    const std::array rows{
        Row{Kind::input_proof, "input_proof", Family::input_proof, "input_proof", false},
        Row{Kind::public_decrypt, "public_decrypt", Family::public_decrypt, "public_decrypt", true},
        Row{Kind::user_decrypt, "user_decrypt", Family::user_decrypt, "user_decrypt", true},
        Row{Kind::delegated_user_decrypt, "delegated_user_decrypt", Family::user_decrypt,
            "user_decrypt", true},
        Row{Kind::unified_user_decrypt, "unified_user_decrypt", Family::user_decrypt,
            "user_decrypt", true},
        Row{Kind::share, "share", Family::share, "share", false},
    };
    REQUIRE(rows.size() == kinds.size());
    for (const Row& row : rows) {
        CAPTURE(row.name);
        CHECK(to_string(row.kind) == row.name);
        CHECK(kind_from(row.name) == row.kind);
        CHECK(family_of(row.kind) == row.family);
        CHECK(to_string(row.family) == row.family_name);
        CHECK(is_decrypt(row.kind) == row.decrypt);
    }
}

TEST_CASE("what is no kind's name names no kind") {
    for (const std::string_view text : {"", "Share", "share ", " share", "shares", "input-proof"}) {
        CAPTURE(text);
        CHECK_FALSE(kind_from(text).has_value());
    }
}
