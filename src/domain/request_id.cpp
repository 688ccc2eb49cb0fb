#include "domain/request_id.hpp"

#include <array>
#include <cassert>
#include <cstddef>

#include "domain/bytes.hpp"

namespace domain {
namespace {

using Uuid = std::array<std::uint8_t, 16>;

constexpr std::uint64_t sequence_max = (std::uint64_t{1} << 60) - 1;
constexpr std::uint64_t random_max = (std::uint64_t{1} << 62) - 1;
constexpr std::uint64_t version_bits = 7;  // four of them, above the counter
constexpr std::uint64_t variant_bits = 2;  // binary 10, above the random part

constexpr std::string_view urn_prefix = "urn:uuid:";
constexpr std::size_t hyphenated_size = 36;
constexpr std::size_t bare_size = 32;
constexpr std::array<std::size_t, 4> hyphens{8, 13, 18, 23};

void put(std::uint64_t value, std::size_t at, Uuid& uuid) {
    assert(at + 8 <= uuid.size());
    for (std::size_t i = 0; i < 8; ++i) {
        uuid[at + i] = static_cast<std::uint8_t>(value >> (56 - 8 * i));
    }
}

std::uint64_t get(const Uuid& uuid, std::size_t at) {
    assert(at + 8 <= uuid.size());
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i) value = value << 8 | uuid[at + i];
    return value;
}

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

bool has_urn_prefix(std::string_view text) {
    if (text.size() < urn_prefix.size()) return false;
    for (std::size_t i = 0; i < urn_prefix.size(); ++i) {
        if (lower(text[i]) != urn_prefix[i]) return false;
    }
    return true;
}

bool read_hyphenated(std::string_view text, Uuid& uuid) {
    if (text.size() != hyphenated_size) return false;
    std::array<char, bare_size> digits{};
    std::size_t count = 0;
    std::size_t next_hyphen = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (next_hyphen < hyphens.size() && i == hyphens[next_hyphen]) {
            if (text[i] != '-') return false;
            ++next_hyphen;
        } else {
            digits[count++] = text[i];
        }
    }
    return from_hex(std::string_view{digits.data(), digits.size()}, uuid);
}

// Braces and the urn prefix stand around the hyphenated spelling only.
bool read_uuid(std::string_view text, Uuid& uuid) {
    if (text.size() == bare_size) return from_hex(text, uuid);
    if (text.size() == hyphenated_size + 2 && text.front() == '{' && text.back() == '}') {
        return read_hyphenated(text.substr(1, hyphenated_size), uuid);
    }
    if (has_urn_prefix(text)) return read_hyphenated(text.substr(urn_prefix.size()), uuid);
    return read_hyphenated(text, uuid);
}

}  // namespace

bool is_valid(const RequestId& id) {
    return static_cast<std::uint64_t>(id.sequence) <= sequence_max &&
           static_cast<std::uint64_t>(id.random) <= random_max;
}

std::string to_string(const RequestId& id) {
    assert(is_valid(id));
    const auto sequence = static_cast<std::uint64_t>(id.sequence);
    const auto random = static_cast<std::uint64_t>(id.random);

    Uuid uuid{};
    put((sequence >> 12) << 16 | version_bits << 12 | (sequence & 0xfff), 0, uuid);
    put(variant_bits << 62 | random, 8, uuid);

    std::string text = to_hex(uuid);
    for (const std::size_t at : hyphens) text.insert(at, 1, '-');
    assert(text.size() == hyphenated_size);
    return text;
}

ParsedId parse_request_id(std::string_view text) {
    Uuid uuid{};
    if (!read_uuid(text, uuid)) return {.form = UuidForm::invalid, .id = {}};

    const std::uint64_t high = get(uuid, 0);
    const std::uint64_t low = get(uuid, 8);
    if ((high >> 12 & 0xf) != version_bits || low >> 62 != variant_bits) {
        return {.form = UuidForm::foreign, .id = {}};
    }
    return {.form = UuidForm::ours,
            .id = {.sequence = static_cast<std::int64_t>((high >> 16) << 12 | (high & 0xfff)),
                   .random = static_cast<std::int64_t>(low & random_max)}};
}

}  // namespace domain
