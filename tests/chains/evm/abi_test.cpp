#include "chains/evm/abi.hpp"

#include <doctest/doctest.h>

#include "chains/evm/encodings.hpp"
#include "chains/evm/golden.hpp"

using chains::evm::abi::Decoder;
using chains::evm::abi::Tuple;
using golden::hex;

namespace {

domain::Bytes32 word(std::uint8_t fill) {
    domain::Bytes32 bytes;
    bytes.fill(fill);
    return bytes;
}

domain::Bytes32 number_word(std::uint64_t number) {
    domain::Bytes32 bytes{};
    for (std::size_t at = 32; number != 0; number >>= 8U) {
        bytes[--at] = static_cast<std::uint8_t>(number);
    }
    return bytes;
}

}  // namespace

TEST_CASE("tuples, arrays and bytes are laid out as other encoders do") {
    Tuple handles;
    handles.add(word(0x55)).add(word(0x66));
    Tuple signatures;
    signatures.add_bytes(hex("0102")).add_bytes(domain::Bytes(65, 0x77));
    CHECK(Tuple{}.add_list(2, handles).add_list(2, signatures).encoded() ==
          hex(encodings::proof_accepted));

    Tuple strings;
    strings.add_bytes(domain::Bytes{'h', 't', 't', 'p', 's', ':', '/', '/', 'a'});
    strings.add_bytes(domain::Bytes{'b', 'c'});
    Tuple digests;
    digests.add_tuple(Tuple{}.add(1).add_bytes(hex("aabb")));
    digests.add_tuple(Tuple{}.add(0).add_bytes({}));
    CHECK(Tuple{}.add_list(2, strings).add_list(2, digests).encoded() ==
          hex(encodings::key_materials));
}

TEST_CASE("bytes are padded to whole words") {
    for (std::size_t size = 0; size <= 65; ++size) {
        CAPTURE(size);
        const domain::Bytes content(size, 0xee);
        const domain::Bytes encoded = Tuple{}.add_bytes(content).encoded();
        CHECK(encoded.size() == 64 + (size + 31) / 32 * 32);
        const auto read = Decoder{encoded}.bytes(0);
        REQUIRE(read);
        CHECK(domain::Bytes(read->begin(), read->end()) == content);
    }
}

TEST_CASE("a call is its selector and its arguments") {
    CHECK(Tuple{}.call(0x01020304) == hex("01020304"));
    CHECK(Tuple{}.add(golden::user).call(0xffeeddcc) ==
          hex("ffeeddcc 000000000000000000000000 2222222222222222222222222222222222222222"));
}

TEST_CASE("numbers beyond 64 bits are none") {
    CHECK(Decoder{number_word(~std::uint64_t{0})}.number(0) == ~std::uint64_t{0});
    domain::Bytes32 larger{};
    larger[23] = 1;
    CHECK_FALSE(Decoder{larger}.number(0));
    CHECK(Decoder{larger}.word(0) == larger);
    CHECK_FALSE(Decoder{larger}.word(1));
    CHECK_FALSE(Decoder{domain::ByteView{larger}.first(31)}.word(0));
}

TEST_CASE("offsets and lengths that point outside are refused") {
    const std::uint64_t hostile[] = {33,
                                     64,
                                     65,
                                     1'000'000,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     ~std::uint64_t{0} - 31,
                                     ~std::uint64_t{0}};
    for (const std::uint64_t number : hostile) {
        CAPTURE(number);
        const domain::Bytes offset = Tuple{}.add(number).add(0).encoded();
        CHECK_FALSE(Decoder{offset}.bytes(0));
        CHECK_FALSE(Decoder{offset}.bytes_list(0));
        CHECK_FALSE(Decoder{offset}.words(0));
        CHECK_FALSE(Decoder{offset}.list(0, 1));

        const domain::Bytes length = Tuple{}.add(32).add(number).add(0).encoded();
        CHECK_FALSE(Decoder{length}.bytes(0));
        CHECK_FALSE(Decoder{length}.bytes_list(0));
        CHECK_FALSE(Decoder{length}.words(0));
        CHECK_FALSE(Decoder{length}.list(0, 1));
    }
}

TEST_CASE("an array needs room for the heads of all its elements") {
    const domain::Bytes three = Tuple{}.add(32).add(3).add(0).add(0).add(0).encoded();
    CHECK(Decoder{three}.list(0, 1));
    CHECK_FALSE(Decoder{three}.list(0, 2));
    REQUIRE(Decoder{three}.words(0));
    CHECK(Decoder{three}.words(0)->size() == 3);
}

TEST_CASE("elements that share their bytes are not copied again and again") {
    constexpr std::size_t count = 1'000;
    Tuple elements;
    for (std::size_t index = 0; index < count; ++index) elements.add(count * 32);
    elements.add(100'000);  // the length that all of them point to
    for (std::size_t index = 0; index < 100'000 / 32; ++index) elements.add(0);
    const domain::Bytes bomb = Tuple{}.add_list(count, elements).encoded();
    CHECK(Decoder{bomb}.list(0, 1)->elements.bytes(count - 1)->size() == 100'000);
    CHECK_FALSE(Decoder{bomb}.bytes_list(0));
}
