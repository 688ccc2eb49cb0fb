#include "chains/evm/revert.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

#include "base/utf8.hpp"
#include "chains/evm/encodings.hpp"
#include "chains/evm/golden.hpp"

using namespace chains::evm;
using chains::jsonrpc::NodeError;
using golden::hex;

namespace {

NodeError error(std::int64_t code, std::string message,
                std::optional<std::string> data = std::nullopt) {
    NodeError made{code, std::move(message), std::nullopt};
    if (data) made.data = hex(*data);
    return made;
}

}  // namespace

TEST_CASE("reverts are recognised however a node spells them") {
    CHECK(is_revert(error(3, "execution reverted")));
    CHECK(is_revert(error(3, "something else")));
    CHECK(is_revert(error(-32000, "execution reverted")));
    CHECK(is_revert(error(-32000, "Execution Reverted: 0xd93c0665")));
    CHECK(is_revert(error(-32015, "VM execution error: Reverted 0xd93c0665")));
    CHECK(is_revert(error(-32603, "revert: out of something")));
    CHECK_FALSE(is_revert(error(-32000, "nonce too low")));
    CHECK_FALSE(is_revert(error(-32005, "rate limit exceeded")));
    CHECK_FALSE(is_revert(error(0, "")));
}

TEST_CASE("the selector comes from the data, else from the message") {
    struct Row {
        std::string_view label;
        NodeError error;
        std::optional<std::uint32_t> selector;
    };
    const Row rows[] = {
        {"data of geth", error(3, "execution reverted", "d93c0665"), 0xd93c0665},
        {"data with arguments", error(3, "execution reverted", "0666cbdf" + std::string(64, 'a')),
         0x0666cbdf},
        {"message of anvil", error(3, "execution reverted: custom error 0xd93c0665"), 0xd93c0665},
        {"data wins", error(3, "reverted: 0x11111111", "d93c0665"), 0xd93c0665},
        {"data too short", error(3, "reverted: 0x11111111", "d93c06"), 0x11111111},
        {"empty data", error(3, "execution reverted", ""), std::nullopt},
        {"upper case", error(-32000, "Execution reverted: 0XD93C0665"), 0xd93c0665},
        {"a short number first", error(3, "code 0x3: reverted 0xd93c0665"), 0xd93c0665},
        {"0x within 0x", error(3, "0x0xd93c0665"), 0xd93c0665},
        {"seven digits", error(3, "reverted 0xd93c066"), std::nullopt},
        {"no prefix", error(3, "reverted d93c0665"), std::nullopt},
        {"more digits", error(3, "reverted 0x0666cbdf0011"), 0x0666cbdf},
        {"nothing", error(3, ""), std::nullopt},
    };
    for (const Row& row : rows) {
        CAPTURE(row.label);
        CHECK(selector_of(row.error) == row.selector);
    }
}

TEST_CASE("reverts are described by selector and name") {
    struct Row {
        NodeError error;
        std::string description;
    };
    const std::string error_text = "08c379a0" + std::string{encodings::error_text};
    const std::string panic = "4e487b71" + std::string(62, '0');
    const Row rows[] = {
        {error(3, "execution reverted", "d93c0665"), "0xd93c0665 (EnforcedPause)"},
        {error(3, "execution reverted: custom error 0xd93c0665"), "0xd93c0665 (EnforcedPause)"},
        {error(3, std::string{"custom error 0x2a873d27: \0\0\x20", 28}, "2a873d27"),
         "0x2a873d27 (InvalidUserSignature)"},
        {error(3, "execution reverted", "00000001ff"), "0x00000001"},
        {error(3, "execution reverted: no coins", error_text), "0x08c379a0 (Error: no coins)"},
        {error(3, "execution reverted", "08c379a0"), "0x08c379a0 (Error)"},
        {error(3, "execution reverted", error_text.substr(0, 100)), "0x08c379a0 (Error)"},
        {error(3, "execution reverted", panic + "11"), "0x4e487b71 (Panic: 0x11)"},
        {error(3, "execution reverted", panic), "0x4e487b71 (Panic)"},
        {error(3, "execution reverted", "4e487b71" + std::string(64, 'f')), "0x4e487b71 (Panic)"},
        {error(3, "execution reverted"), "execution reverted"},
        {error(3, std::string{"execution\0 re\x07verted", 20}), "execution reverted"},
        {error(3, "see https://key:secret@node.example/v3/abc for more"), "see https://… for more"},
        {error(3, ""), "no reason given"},
        {error(3, std::string(3, '\0')), "no reason given"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.description);
        CHECK(describe(row.error) == row.description);
    }
}

TEST_CASE("what clients are told") {
    const domain::Failure failure = reverted(error(3, "execution reverted", "d93c0665"));
    CHECK(failure.reason == domain::Reason::reverted);
    CHECK(failure.selector == 0xd93c0665);
    CHECK(failure.text ==
          "Transaction simulation failed: Execution reverted: 0xd93c0665 (EnforcedPause)");
    CHECK_FALSE(reverted(error(3, "execution reverted")).selector);
}

TEST_CASE("text of a contract is cleaned like any other") {
    // Error(string) with 96 bytes: a URL, a control character, a broken sequence.
    std::string text = "ask http://node.example/?key=secret\n\x01\xff\xc3\xa9";
    text.resize(96, 'x');
    const std::string data = "08c379a0" + std::string(62, '0') + "20" + std::string(62, '0') +
                             "60" + domain::to_hex(domain::Bytes(text.begin(), text.end()));
    const std::string description = describe(error(3, "execution reverted", data));
    CHECK(description.starts_with("0x08c379a0 (Error: ask http://… \xef\xbf\xbd\xc3\xa9xxx"));
    CHECK(description.find("secret") == std::string::npos);
}

TEST_CASE("descriptions have at most 500 bytes of whole characters") {
    std::string accents;
    while (accents.size() < 5'000) accents += "\xc3\xa9";
    for (std::size_t shift = 0; shift < 2; ++shift) {
        const std::string message = describe(error(3, std::string(shift, 'a') + accents));
        CHECK(message.size() <= 500);
        CHECK(message.size() > 490);
        CHECK(base::is_utf8(message));
    }
    const std::string length = "00001388";  // 5000
    std::string data = "08c379a0" + std::string(62, '0') + "20" + std::string(56, '0') + length +
                       domain::to_hex(domain::Bytes(accents.begin(), accents.end()));
    data += std::string(2 * (32 - 5'000 % 32), '0');
    const std::string description = describe(error(3, "reverted", data));
    CHECK(description.starts_with("0x08c379a0 (Error: \xc3\xa9"));
    CHECK(description.ends_with(")"));
    CHECK(description.size() <= 500);
    CHECK(base::is_utf8(description));
}
