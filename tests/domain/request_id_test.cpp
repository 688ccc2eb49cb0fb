#include "domain/request_id.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "support/chance.hpp"

using namespace domain;

namespace {

constexpr std::int64_t sequence_max = (std::int64_t{1} << 60) - 1;
constexpr std::int64_t random_max = (std::int64_t{1} << 62) - 1;

std::string upper(std::string text) {
    std::ranges::transform(text, text.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

std::string bare(std::string text) {
    std::erase(text, '-');
    return text;
}

}  // namespace

TEST_CASE("an id is laid out as UUID version 7") {
    struct Row {
        RequestId id;
        std::string_view text;
    };
    const std::array rows{
        Row{{0, 0}, "00000000-0000-7000-8000-000000000000"},
        Row{{sequence_max, random_max}, "ffffffff-ffff-7fff-bfff-ffffffffffff"},
        Row{{sequence_max, 0}, "ffffffff-ffff-7fff-8000-000000000000"},
        Row{{0, random_max}, "00000000-0000-7000-bfff-ffffffffffff"},
        Row{{1, 1}, "00000000-0000-7001-8000-000000000001"},
        Row{{0x1000, 0}, "00000000-0001-7000-8000-000000000000"},
        // The example of RFC 9562, appendix A.6.
        Row{{0x017f22e279b0cc3, 0x18c4dc0c0c07398f}, "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(to_string(row.id) == row.text);
        const ParsedId parsed = parse_request_id(row.text);
        CHECK(parsed.form == UuidForm::ours);
        CHECK(parsed.id == row.id);
    }
}

TEST_CASE("all spellings of an id name the same id") {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        CAPTURE(seed);
        support::Chance chance{seed};
        const RequestId id{
            .sequence =
                static_cast<std::int64_t>(chance.up_to(static_cast<std::uint64_t>(sequence_max))),
            .random =
                static_cast<std::int64_t>(chance.up_to(static_cast<std::uint64_t>(random_max)))};
        const std::string text = to_string(id);
        const std::vector<std::string> spellings{
            text,
            upper(text),
            bare(text),
            upper(bare(text)),
            "{" + text + "}",
            "{" + upper(text) + "}",
            "urn:uuid:" + text,
            "URN:UUID:" + upper(text),
            "Urn:uUid:" + text,
        };
        for (const std::string& spelling : spellings) {
            CAPTURE(spelling);
            const ParsedId parsed = parse_request_id(spelling);
            CHECK(parsed.form == UuidForm::ours);
            CHECK(parsed.id == id);
        }
    }
}

TEST_CASE("the text of ids rises with their sequence") {
    const std::array<std::int64_t, 7> sequences{0,      1,      0xfff,           0x1000,
                                                0x1001, 0xffff, sequence_max - 1};
    for (const std::int64_t sequence : sequences) {
        CAPTURE(sequence);
        CHECK(to_string({sequence, random_max}) < to_string({sequence + 1, 0}));
    }
}

TEST_CASE("only version 7 of the standard variant can be ours") {
    const std::string digits = "0123456789abcdef";
    for (const char version : digits) {
        for (const char variant : digits) {
            std::string text = "017f22e2-79b0-0cc3-08c4-dc0c0c07398f";
            text[14] = version;
            text[19] = variant;
            CAPTURE(text);
            const bool ours =
                version == '7' && std::string_view{"89ab"}.find(variant) != std::string_view::npos;
            CHECK(parse_request_id(text).form == (ours ? UuidForm::ours : UuidForm::foreign));
        }
    }
    CHECK(parse_request_id("00000000-0000-0000-0000-000000000000").form == UuidForm::foreign);
    CHECK(parse_request_id("ffffffff-ffff-ffff-ffff-ffffffffffff").form == UuidForm::foreign);
}

TEST_CASE("what is no UUID is invalid") {
    const std::string good = "017f22e2-79b0-7cc3-98c4-dc0c0c07398f";
    const std::vector<std::string> bad{
        "",
        "not-a-uuid",
        good.substr(1),
        good + "0",
        " " + good,
        good + " ",
        good + std::string(1, '\0'),
        bare(good).substr(1),
        bare(good) + "0",
        "{" + good,
        "{" + good + "0",
        "0" + good + "}",
        good + "}",
        "{{" + good + "}}",
        "(" + good + ")",
        "{" + bare(good) + "}",
        "urn:uuid:" + bare(good),
        "urn:uuid:{" + good + "}",
        "urn:uuid:",
        "uuid:" + good,
        "urn:uuid" + good,
        "urn-uuid:" + good,
        "0x" + bare(good),
        "017f22e279-b0-7cc3-98c4-dc0c0c07398f",
        "017f22e2-79b0-7cc398c4--dc0c0c07398f",
        "017f22e2_79b0_7cc3_98c4_dc0c0c07398f",
        "------------------------------------",
        std::string(100'000, '0'),
    };
    for (const std::string& text : bad) {
        CAPTURE(text);
        CHECK(parse_request_id(text).form == UuidForm::invalid);
    }
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string text = good;
        text[at] = 'g';
        CAPTURE(text);
        CHECK(parse_request_id(text).form == UuidForm::invalid);
    }
}
