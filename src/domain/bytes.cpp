#include "domain/bytes.hpp"

#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>

namespace domain {
namespace {

using DigitPair = std::array<char, 2>;

constexpr std::array<DigitPair, 256> make_digit_pairs() {
    constexpr std::string_view digits = "0123456789abcdef";
    std::array<DigitPair, 256> pairs{};
    for (std::size_t byte = 0; byte < pairs.size(); ++byte) {
        pairs[byte] = {digits[byte >> 4], digits[byte & 0xf]};
    }
    return pairs;
}

// Above every digit value and every byte, so that it survives being or-ed with them.
constexpr std::uint32_t not_a_digit = 0x1000;

constexpr std::array<std::uint16_t, 256> make_digit_values() {
    std::array<std::uint16_t, 256> values{};
    values.fill(not_a_digit);
    for (std::uint8_t value = 0; value < 10; ++value) values['0' + value] = value;
    for (std::uint8_t value = 10; value < 16; ++value) {
        values['a' + value - 10] = value;
        values['A' + value - 10] = value;
    }
    return values;
}

constexpr auto digit_pairs = make_digit_pairs();
constexpr auto digit_values = make_digit_values();

// Sixteen digits at a time, as one vector register; the rest goes through the table.
constexpr std::size_t lanes = 16;
using Digits __attribute__((vector_size(lanes))) = std::uint8_t;
using Pairs __attribute__((vector_size(lanes))) = std::uint16_t;
using Decoded __attribute__((vector_size(lanes / 2))) = std::uint8_t;

// The eight bytes that the sixteen digits spell. Adds to `bad` where one is no digit.
Decoded decode_digits(const char* in, Digits& bad) {
    Digits text;
    std::memcpy(&text, in, lanes);
    const Digits number = text - '0';
    const Digits letter = (text | 0x20) - 'a';
    const auto is_number = reinterpret_cast<Digits>(number < 10);
    const auto is_letter = reinterpret_cast<Digits>(letter < 6);
    bad |= ~(is_number | is_letter);

    const Digits values = (number & is_number) | ((letter + 10) & is_letter);
    const auto pairs = reinterpret_cast<Pairs>(values);
    const auto first = std::endian::native == std::endian::little ? pairs & 0xff : pairs >> 8;
    const auto second = std::endian::native == std::endian::little ? pairs >> 8 : pairs & 0xff;
    return __builtin_convertvector(first << 4 | second, Decoded);
}

bool any(const Digits& mask) {
    std::array<std::uint64_t, lanes / sizeof(std::uint64_t)> words{};
    std::memcpy(words.data(), &mask, lanes);
    return (words[0] | words[1]) != 0;
}

struct DigestFree {
    void operator()(EVP_MD* digest) const { EVP_MD_free(digest); }
};

struct ContextFree {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

void require(bool done) {
    if (!done) throw std::runtime_error("OpenSSL cannot compute SHA-256");
}

// Fetching costs more than hashing a short message, hence once per process.
const EVP_MD* digest() {
    static const std::unique_ptr<EVP_MD, DigestFree> fetched{
        EVP_MD_fetch(nullptr, "SHA256", nullptr)};
    require(fetched != nullptr);
    return fetched.get();
}

EVP_MD_CTX* fresh_context() {
    thread_local const std::unique_ptr<EVP_MD_CTX, ContextFree> context{EVP_MD_CTX_new()};
    require(context != nullptr && EVP_DigestInit_ex2(context.get(), digest(), nullptr) == 1);
    return context.get();
}

}  // namespace

void append_big_endian(Bytes& bytes, std::uint64_t number, std::size_t size) {
    for (std::size_t i = size; i-- > 0;) {
        bytes.push_back(static_cast<std::uint8_t>(number >> (8 * i)));
    }
}

std::string to_hex(ByteView bytes) {
    std::string digits(bytes.size() * 2, '\0');
    char* out = digits.data();
    for (const std::uint8_t byte : bytes) {
        std::memcpy(out, digit_pairs[byte].data(), 2);
        out += 2;
    }
    return digits;
}

std::optional<Bytes> from_hex(std::string_view digits) {
    if (digits.size() % 2 != 0) return std::nullopt;
    Bytes bytes(digits.size() / 2);
    if (!from_hex(digits, bytes)) return std::nullopt;
    return bytes;
}

bool from_hex(std::string_view digits, std::span<std::uint8_t> out) {
    if (digits.size() % 2 != 0 || digits.size() / 2 != out.size()) return false;
    // One test at the end instead of one per digit: bodies of 38 KB pass here.
    const char* in = digits.data();
    Digits bad{};
    for (; out.size() >= lanes / 2; out = out.subspan(lanes / 2), in += lanes) {
        const Decoded decoded = decode_digits(in, bad);
        std::memcpy(out.data(), &decoded, lanes / 2);
    }
    std::uint32_t seen = 0;
    for (std::uint8_t& byte : out) {
        const std::uint32_t high = digit_values[static_cast<std::uint8_t>(in[0])];
        const std::uint32_t low = digit_values[static_cast<std::uint8_t>(in[1])];
        seen |= high | low;
        byte = static_cast<std::uint8_t>(high << 4 | low);
        in += 2;
    }
    return (seen & not_a_digit) == 0 && !any(bad);
}

Bytes32 sha256(ByteView bytes) {
    return sha256(std::span{&bytes, 1});
}

Bytes32 sha256(std::span<const ByteView> parts) {
    EVP_MD_CTX* const context = fresh_context();
    for (const ByteView part : parts) {
        require(EVP_DigestUpdate(context, part.data(), part.size()) == 1);
    }
    Bytes32 hash{};
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(context, hash.data(), &size) == 1 && size == hash.size());
    return hash;
}

}  // namespace domain
