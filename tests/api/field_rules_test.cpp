#include "api/field_rules.hpp"

#include <cstdint>
#include <string>

#include <doctest/doctest.h>

namespace {

using api::Issue;

constexpr std::uint64_t now_seconds = 1'780'272'000;
const std::string extra_data_issue =
    "Must be 0x00, or a versioned format: 0x01 + 32-byte contextId (0x07-tagged first byte), or "
    "0x02 + 32-byte contextId (0x07-tagged) + 32-byte epochId (0x08-tagged)";

struct RuleRow {
    std::string text;
    std::string issue;  // empty: none
};

template <std::size_t size, typename Rule>
void check_rows(const RuleRow (&rows)[size], Rule rule) {
    for (const RuleRow& row : rows) {
        CAPTURE(row.text);
        const Issue issue = rule(row.text);
        CHECK(std::string(issue.value_or("")) == row.issue);
    }
}

std::string digits(std::size_t count, char digit = 'a') {
    return std::string(count, digit);
}

TEST_CASE("ADDR") {
    const RuleRow rows[] = {
        {"0x" + digits(40), ""},
        {"0x" + digits(40, 'F'), ""},
        {"", "Must start with 0x"},
        {digits(40), "Must start with 0x"},
        {"0X" + digits(40), "Must start with 0x"},
        {"0xfds", "Must be 42 characters long"},
        {"0x" + digits(43), "Must be 42 characters long"},
        {"0x" + digits(40, 'g'), "Contains invalid hex characters"},
        {"0x" + digits(39) + "\xC3\xA9", "Contains invalid hex characters"},
        {"0x" + digits(38) + "\xC3\xA9", "Must be 42 characters long"},
    };
    check_rows(rows, [](const std::string& text) {
        domain::Address address{};
        return api::read_address(text, address);
    });
}

TEST_CASE("CHAIN") {
    const std::string issue = "Must be decimal number or 0x hex string";
    const RuleRow rows[] = {
        {"8009", ""},      {"0x1f49", ""},
        {"0", ""},         {"0x1F49", ""},
        {"008009", ""},    {"18446744073709551615", ""},
        {"", issue},       {"0xffffffffffffffff", ""},
        {"0x", issue},     {"18446744073709551616", issue},
        {"-1", issue},     {"0x10000000000000000", issue},
        {"+1", issue},     {"0X1f49", issue},
        {"8009.0", issue}, {"abc123", issue},
        {"1e3", issue},    {"0xzzz", issue},
        {" 8009", issue},  {"8009 ", issue},
        {"0x-1", issue},   {"0x0x1", issue},
    };
    check_rows(rows, [](const std::string& text) {
        std::uint64_t chain = 0;
        return api::read_chain_id(text, chain);
    });
    std::uint64_t chain = 0;
    REQUIRE_FALSE(api::read_chain_id("0x1f49", chain));
    CHECK(chain == 8009);
}

TEST_CASE("HANDLE") {
    const RuleRow rows[] = {
        {"0x" + digits(64), ""},
        {"", "Must start with 0x"},
        {digits(64), "Must start with 0x"},
        {"0x", "Must be 64 characters long"},
        {"0x" + digits(62), "Must be 64 characters long"},
        {"0x" + digits(66), "Must be 64 characters long"},
        {"0x" + digits(63), "Invalid hex string"},
        {"0x" + digits(64, 'g'), "Invalid hex string"},
        {"0xabcdefg", "Invalid hex string"},
    };
    check_rows(rows, [](const std::string& text) {
        domain::Bytes32 handle{};
        return api::read_handle(text, handle);
    });
}

TEST_CASE("HEX and 0XHEX") {
    const RuleRow bare[] = {
        {"abcdef", ""},
        {"ABCDEF", ""},
        {"", ""},
        {"0xabcdef", "Must not start with 0x"},
        {"abcdef1", "Invalid hex string"},
        {"abcdefg", "Invalid hex string"},
        {"0Xab", "Invalid hex string"},
    };
    check_rows(bare, [](const std::string& text) {
        domain::Bytes bytes;
        return api::read_bare_hex(text, bytes);
    });
    const RuleRow prefixed[] = {
        {"0x", ""},
        {"0xAb", ""},
        {"", "Must start with 0x"},
        {"ab", "Must start with 0x"},
        {"0xa", "Invalid hex string"},
        {"0xzz", "Invalid hex string"},
    };
    check_rows(prefixed, [](const std::string& text) {
        domain::Bytes bytes;
        return api::read_prefixed_hex(text, bytes);
    });
}

TEST_CASE("U32 and U64") {
    const std::string u32 = "Value must be a valid u32 number";
    const RuleRow small[] = {{"0", ""},   {"4294967295", ""}, {"4294967296", u32}, {"", u32},
                             {"-1", u32}, {"7.0", u32},       {"0x7", u32},        {"week", u32}};
    check_rows(small, [](const std::string& text) {
        std::uint32_t number = 0;
        return api::read_u32(text, number);
    });
    const std::string u64 = "Value must be a valid u64 number";
    const RuleRow large[] = {
        {"18446744073709551615", ""}, {"18446744073709551616", u64}, {"x", u64}};
    check_rows(large, [](const std::string& text) {
        std::uint64_t number = 0;
        return api::read_u64(text, number);
    });
}

TEST_CASE("TS") {
    const std::string no_number = "Value must be a valid U256 number";
    const std::string future = "Timestamp must not be in the future";
    const std::string u256_max =
        "115792089237316195423570985008687907853269984665640564039457584007913129639935";
    const std::string u256_over =
        "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    const RuleRow rows[] = {
        {"0", ""},
        {"1780272000", ""},
        {"0x6a1caa00", ""},
        {"0x0", ""},
        {std::string(500, '0') + "7", ""},
        {"1780272001", future},
        {"18446744073709551616", future},
        {u256_max, future},
        {"0x" + digits(64, 'f'), future},
        {u256_over, no_number},
        {"0x1" + digits(64, '0'), no_number},
        {digits(79, '1'), no_number},
        {"", no_number},
        {"0x", no_number},
        {"0X10", no_number},
        {"-1", no_number},
        {"+1", no_number},
        {"1_000", no_number},
        {"1.5", no_number},
        {"soon", no_number},
    };
    check_rows(rows, [](const std::string& text) {
        std::uint64_t start = 0;
        return api::read_start(text, now_seconds, start);
    });
}

TEST_CASE("T-147 extraData in its three formats (1.5.1)") {
    const std::string context = "07" + digits(62, '1');
    const std::string epoch = "08" + digits(62, '2');
    const RuleRow decrypts[] = {
        {"0x00", ""},
        {"0x01" + context, ""},
        {"0x02" + context + epoch, ""},
        {"0x01" + std::string("07") + digits(62, 'F'), ""},
        {"", extra_data_issue},
        {"0x", extra_data_issue},
        {"00", extra_data_issue},
        {"0X00", extra_data_issue},
        {"0x0", extra_data_issue},
        {"0x0000", extra_data_issue},
        {"0x01", extra_data_issue},
        {"0x01" + epoch, extra_data_issue},
        {"0x01" + context + "ff", extra_data_issue},
        {"0x01" + context.substr(1), extra_data_issue},
        {"0x01" + context.substr(2), extra_data_issue},
        {"0x02" + context, extra_data_issue},
        {"0x02" + context + context, extra_data_issue},
        {"0x02" + context + epoch + "00", extra_data_issue},
        {"0x03" + context, extra_data_issue},
        {"invalid", extra_data_issue},
    };
    check_rows(decrypts, [](const std::string& text) {
        domain::Bytes bytes;
        return api::read_decrypt_extra_data(text, bytes);
    });
    const RuleRow proofs[] = {
        {"0x00", ""}, {"0x01" + context, extra_data_issue}, {"0X00", extra_data_issue}};
    check_rows(proofs, [](const std::string& text) {
        domain::Bytes bytes;
        return api::read_proof_extra_data(text, bytes);
    });
}

}  // namespace
