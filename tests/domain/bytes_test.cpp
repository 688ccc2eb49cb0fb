#include "domain/bytes.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/chance.hpp"

using namespace domain;

namespace {

ByteView view(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

}  // namespace

TEST_CASE("hex is written in lower case and read in either") {
    CHECK(to_hex(Bytes{}).empty());
    CHECK(to_hex(Bytes{0x00, 0x09, 0x0a, 0x7f, 0x80, 0xff}) == "00090a7f80ff");
    CHECK(from_hex("") == Bytes{});
    CHECK(from_hex("00090a7F80Ff") == Bytes{0x00, 0x09, 0x0a, 0x7f, 0x80, 0xff});
}

TEST_CASE("every pair of characters is read as hex, or refused, in short and in long texts") {
    const std::string_view digits = "0123456789abcdef";
    const auto digit = [&](int c) {
        const int lower = c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c;
        return digits.find(static_cast<char>(lower));
    };
    for (const std::size_t padding : {0U, 7U, 20U}) {
        for (int high = 0; high < 256; ++high) {
            for (int low = 0; low < 256; ++low) {
                CAPTURE(padding);
                CAPTURE(high);
                CAPTURE(low);
                const std::string text = std::string{static_cast<char>(high)} +
                                         static_cast<char>(low) + std::string(2 * padding, '5');
                const bool valid =
                    digit(high) != std::string_view::npos && digit(low) != std::string_view::npos;
                const auto bytes = from_hex(text);
                REQUIRE(bytes.has_value() == valid);
                if (!valid) continue;
                Bytes expected(1 + padding, 0x55);
                expected[0] = static_cast<std::uint8_t>(digit(high) * 16 + digit(low));
                REQUIRE(*bytes == expected);
            }
        }
    }
}

TEST_CASE("one bad character anywhere spoils the whole text") {
    for (std::size_t size = 2; size <= 70; size += 2) {
        CAPTURE(size);
        const std::string good(size, 'a');
        CHECK(from_hex(good) == Bytes(size / 2, 0xaa));
        for (std::size_t at = 0; at < size; ++at) {
            for (const char c : {'g', '/', ':', '@', '`', '\0', '\x80', '\xb1', '\xe1'}) {
                CAPTURE(at);
                CAPTURE(static_cast<int>(c));
                std::string bad = good;
                bad[at] = c;
                CHECK_FALSE(from_hex(bad).has_value());
            }
        }
    }
    CHECK_FALSE(from_hex("abc").has_value());
    CHECK_FALSE(from_hex("0xab").has_value());
}

TEST_CASE("hex of a fixed size needs exactly that size") {
    Bytes32 out{};
    CHECK(from_hex(std::string(64, 'f'), out));
    CHECK(to_hex(out) == std::string(64, 'f'));
    CHECK_FALSE(from_hex(std::string(62, 'f'), out));
    CHECK_FALSE(from_hex(std::string(63, 'f'), out));
    CHECK_FALSE(from_hex(std::string(65, 'f'), out));
    CHECK_FALSE(from_hex(std::string(66, 'f'), out));
}

TEST_CASE("what is written as hex is read back") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        const Bytes bytes = chance.bytes(2'000);
        CHECK(from_hex(to_hex(bytes)) == bytes);
    }
}

TEST_CASE("SHA-256 gives the published digests") {
    struct Row {
        std::string text;
        std::string_view digest;
    };
    const std::vector<Row> rows{
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {std::string(1'000'000, 'a'),
         "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.digest);
        CHECK(to_hex(sha256(view(row.text))) == row.digest);
    }
}

TEST_CASE("the digest of parts is the digest of the whole, however it is cut") {
    const std::string whole =
        "a message of several parts, longer than one block of sixty-four bytes";
    for (std::size_t first = 0; first <= whole.size(); ++first) {
        for (std::size_t second = first; second <= whole.size(); ++second) {
            const std::string_view text = whole;
            const std::vector<ByteView> parts{view(text.substr(0, first)),
                                              view(text.substr(first, second - first)),
                                              view(text.substr(second))};
            REQUIRE(sha256(parts) == sha256(view(whole)));
        }
    }
    CHECK(sha256(std::span<const ByteView>{}) == sha256(ByteView{}));
}

TEST_CASE("threads hash independently") {
    constexpr std::size_t rounds = 500;
    std::vector<int> wrong(4, 0);
    {
        std::vector<std::jthread> threads;
        threads.reserve(wrong.size());
        for (int& count : wrong) {
            threads.emplace_back([&count, fill = static_cast<char>('a' + threads.size())] {
                const std::string text(3'000, fill);
                const std::vector<ByteView> cut{view(text).first(7), view(text).subspan(7)};
                const Bytes32 expected = sha256(view(text));
                for (std::size_t i = 0; i < rounds; ++i) count += sha256(cut) == expected ? 0 : 1;
            });
        }
    }
    CHECK(wrong == std::vector<int>(4, 0));
}
