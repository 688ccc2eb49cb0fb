#include "base/base64.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <doctest/doctest.h>

namespace {

TEST_CASE("canonical base64 is read, everything else is refused") {
    struct Row {
        const char* text;
        std::optional<std::string> bytes;
    };
    const Row rows[] = {
        {"", ""},
        {"Zg==", "f"},
        {"Zm8=", "fo"},
        {"Zm9v", "foo"},
        {"Zm9vYmFy", "foobar"},
        {"++//", "\xFB\xEF\xFF"},
        {"Z", {}},
        {"Zg", {}},
        {"Zg=", {}},
        {"Zh==", {}},
        {"Zm9=", {}},
        {"Z===", {}},
        {"====", {}},
        {"Zg==Zg==", {}},
        {"Zm8\n", {}},
        {"Zm 9", {}},
        {"--__", {}},
        {"Zm9v=", {}},
        {"Zm9v====", {}},
        {"Zm\xC3\xA9", {}},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        std::array<std::uint8_t, 16> out{};
        const auto size = base::read_base64(row.text, out);
        CHECK(size.has_value() == row.bytes.has_value());
        if (size && row.bytes) {
            CHECK(std::string(out.begin(), out.begin() + static_cast<long>(*size)) == *row.bytes);
        }
    }
}

TEST_CASE("a text longer than the room tells its size and writes no further") {
    std::array<std::uint8_t, 4> out{1, 2, 3, 4};
    CHECK(base::read_base64("AAAAAAAA", std::span(out).first(3)) == 6);
    CHECK(out == std::array<std::uint8_t, 4>{0, 0, 0, 4});
}

TEST_CASE("what is written is read back") {
    CHECK(base::to_base64("").empty());
    CHECK(base::to_base64("f") == "Zg==");
    CHECK(base::to_base64("fo") == "Zm8=");
    CHECK(base::to_base64("foo") == "Zm9v");
    CHECK(base::to_base64("\xFB\xEF\xFF") == "++//");
    std::string bytes;
    for (int value = 255; value >= 0; --value) {
        bytes += static_cast<char>(value);
        std::array<std::uint8_t, 256> out{};
        REQUIRE(base::from_base64(base::to_base64(bytes), std::span(out).first(bytes.size())));
        CHECK(std::string(out.begin(), out.begin() + static_cast<long>(bytes.size())) == bytes);
    }
}

TEST_CASE("a text of another size leaves the room as it was") {
    std::array<std::uint8_t, 2> out{1, 2};
    CHECK_FALSE(base::from_base64("Zg==", out));
    CHECK_FALSE(base::from_base64("Zm9v", out));
    CHECK_FALSE(base::from_base64("Zm9=", out));
    CHECK(out == std::array<std::uint8_t, 2>{1, 2});
    CHECK(base::from_base64("Zm8=", out));
}

}  // namespace
