// Texts that are values: digits, ids, durations, URLs in sentences. The first byte chooses one.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "api/field_rules.hpp"
#include "base/base64.hpp"
#include "base/urls.hpp"
#include "config/quantities.hpp"
#include "domain/bytes.hpp"
#include "domain/failure.hpp"
#include "domain/kind.hpp"
#include "domain/request_id.hpp"
#include "domain/status.hpp"
#include "fuzz/spelling.hpp"
#include "fuzz/target.hpp"
#include "platform/log.hpp"

namespace {

using fuzz::require;

bool is_hex(std::string_view text) {
    return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

bool is_decimal(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

domain::ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The number that digits spell; nothing beyond 64 bits.
std::optional<std::uint64_t> value_of(std::string_view digits, std::uint64_t base) {
    std::uint64_t value = 0;
    for (const char c : fuzz::lower_case(digits)) {
        const auto digit = static_cast<std::uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
        if (__builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return std::nullopt;
        }
    }
    return value;
}

void check_hex(std::string_view text) {
    const auto bytes = domain::from_hex(text);
    require(bytes.has_value() == (text.size() % 2 == 0 && is_hex(text)), "hexadecimal is known");
    if (bytes) require(domain::to_hex(*bytes) == fuzz::lower_case(text), "hexadecimal is exact");
    const auto back = domain::from_hex(domain::to_hex(bytes_of(text)));
    require(back && std::ranges::equal(*back, bytes_of(text)), "bytes survive as hexadecimal");
}

void check_base64(std::string_view text) {
    domain::Bytes bytes(text.size());
    if (const auto size = base::read_base64(text, bytes)) {
        bytes.resize(*size);
        require(fuzz::to_base64(bytes) == text, "base64 is canonical");
        std::array<std::uint8_t, 32> fixed{};
        require(base::read_base64(text, fixed) == size, "room does not change the answer");
        require(std::equal(fixed.begin(),
                           fixed.begin() +
                               std::min<std::ptrdiff_t>(32, static_cast<std::ptrdiff_t>(*size)),
                           bytes.begin()),
                "what fits is written");
    }
    domain::Bytes back(text.size());
    require(base::read_base64(fuzz::to_base64(bytes_of(text)), back) == text.size() &&
                std::ranges::equal(back, bytes_of(text)),
            "bytes survive as base64");
}

void check_issue(const api::Issue& issue) {
    require(!issue || (!issue->empty() && issue->size() < 200), "an issue is a sentence");
}

void check_numbers(std::string_view text) {
    const bool decimal = is_decimal(text);
    const auto decimal_value = decimal ? value_of(text, 10) : std::nullopt;
    std::uint64_t wide = 0;
    const api::Issue no_u64 = api::read_u64(text, wide);
    require(no_u64.has_value() != decimal_value.has_value(), "a u64 is known");
    if (!no_u64) require(wide == decimal_value, "a u64 is exact");

    std::uint32_t narrow = 0;
    const api::Issue no_u32 = api::read_u32(text, narrow);
    const bool fits = decimal_value && *decimal_value <= std::numeric_limits<std::uint32_t>::max();
    require(no_u32.has_value() != fits, "a u32 is known");
    if (!no_u32) require(narrow == decimal_value, "a u32 is exact");

    const bool prefixed = text.starts_with("0x") && text.size() > 2 && is_hex(text.substr(2));
    const auto value = prefixed ? value_of(text.substr(2), 16) : decimal_value;
    std::uint64_t chain = 0;
    const api::Issue no_chain = api::read_chain_id(text, chain);
    require(no_chain.has_value() != value.has_value(), "a chain id is known");
    if (!no_chain) require(chain == value, "a chain id is exact");

    constexpr std::uint64_t now_seconds = 1'780'272'000;
    std::uint64_t start = 0;
    const api::Issue no_start = api::read_start(text, now_seconds, start);
    require(no_start.has_value() != (value && *value <= now_seconds), "a start is known");
    if (!no_start) require(start == value, "a start is exact");
    for (const api::Issue& issue : {no_u64, no_u32, no_chain, no_start}) check_issue(issue);
}

template <typename Out>
void check_prefixed(std::string_view text, api::Issue (*read)(std::string_view, Out&)) {
    Out out{};
    const api::Issue issue = read(text, out);
    check_issue(issue);
    if (!issue) {
        require("0x" + domain::to_hex(out) == fuzz::lower_case(text), "hexadecimal is exact");
    }
}

void check_fields(std::string_view text) {
    check_prefixed<domain::Address>(text, api::read_address);
    check_prefixed<domain::Bytes32>(text, api::read_handle);
    check_prefixed<domain::Bytes>(text, api::read_prefixed_hex);
    check_prefixed<domain::Bytes>(text, api::read_proof_extra_data);
    check_prefixed<domain::Bytes>(text, api::read_decrypt_extra_data);
    domain::Bytes bare;
    const api::Issue issue = api::read_bare_hex(text, bare);
    check_issue(issue);
    if (!issue) require(domain::to_hex(bare) == fuzz::lower_case(text), "bare digits are exact");
    check_issue(api::require_130(text));

    domain::Bytes extra;
    if (api::read_decrypt_extra_data(text, extra)) return;
    require((extra.size() == 1 && extra[0] == 0) || (extra.size() == 33 && extra[0] == 1) ||
                (extra.size() == 65 && extra[0] == 2),
            "extra data has a version and its length");
}

void check_duration(std::string_view text) {
    if (const auto time = config::parse_duration(text)) {
        require(time->count() >= 0, "no duration is negative");
        require(config::parse_duration(config::format_duration(*time)) == time,
                "a duration survives being written");
    }
    std::int64_t ms = 0;
    std::memcpy(&ms, text.data(), std::min(text.size(), sizeof ms));
    ms &= std::numeric_limits<std::int64_t>::max();
    const domain::Milliseconds any{ms};
    require(config::parse_duration(config::format_duration(any)) == any,
            "any duration can be read");
}

void check_time(std::string_view text) {
    const auto time = config::parse_time(text);
    if (!time) return;
    require(config::parse_time(config::format_time(*time)) == time,
            "a time survives being written");
}

// A URL in the middle of anything: what is secret in it must not survive.
void check_redaction(std::string_view text) {
    const std::string redacted = base::redact_urls(text);
    require(base::redact_urls(redacted) == redacted, "what is redacted stays as it is");

    const std::size_t cut = text.empty() ? 0 : static_cast<unsigned char>(text[0]) % text.size();
    const std::string before(text.substr(0, cut));
    const std::string after(text.substr(cut));
    constexpr std::string_view secret = "5ecr3t5ecr3t5ecr3t";
    if (text.find(secret.substr(0, 6)) != std::string_view::npos) return;
    const std::string word = before.substr(before.find_last_of(" \t\r\n\"<>`") + 1);
    for (const std::string& url :
         {before + "http://user:" + std::string(secret) + "@h/" + after,
          before + "ws://h/" + std::string(secret) + "/" + after,
          before + R"(http:\/\/h\/)" + std::string(secret) + "/" + after}) {
        require(base::redact_urls(url).find(secret) == std::string::npos, "no secret survives");
    }
    const bool in_one_word = std::all_of(word.begin(), word.end(), [](char c) {
        return static_cast<unsigned char>(c) > ' ' && c != 0x7f;
    });
    if (!in_one_word) return;
    const std::string behind = "https://h/p?" + word + std::string(secret) + "/" + after;
    require(base::redact_urls(behind).find(secret) == std::string::npos, "no query survives");
}

std::string hyphenated(std::string digits) {
    for (const std::size_t at : {8U, 13U, 18U, 23U}) digits.insert(at, 1, '-');
    return digits;
}

void check_request_id(std::string_view text) {
    const domain::ParsedId parsed = domain::parse_request_id(text);
    if (parsed.form == domain::UuidForm::ours) {
        const std::string spelled = domain::to_string(parsed.id);
        std::string bare = spelled;
        std::erase(bare, '-');
        for (const std::string& other :
             {spelled, bare, "{" + spelled + "}", "urn:uuid:" + spelled, "URN:UUID:" + spelled}) {
            const domain::ParsedId again = domain::parse_request_id(other);
            require(again.form == parsed.form && again.id == parsed.id, "an id has five spellings");
        }
        std::string sent = fuzz::lower_case(text);
        std::erase_if(sent, [](char c) { return c == '-' || c == '{' || c == '}'; });
        require(sent.ends_with(bare), "an id is read to the digit");
    }
    std::array<std::uint8_t, 16> any{};
    std::memcpy(any.data(), text.data(), std::min(text.size(), any.size()));
    const bool ours = (any[6] >> 4U) == 7 && (any[8] >> 6U) == 2;
    const domain::ParsedId from_bytes = domain::parse_request_id(hyphenated(domain::to_hex(any)));
    require(from_bytes.form == (ours ? domain::UuidForm::ours : domain::UuidForm::foreign),
            "only version 7 is ours");
    if (ours) {
        require(domain::to_string(from_bytes.id) == hyphenated(domain::to_hex(any)),
                "an id keeps every bit");
    }
}

void check_names(std::string_view text) {
    if (const auto kind = domain::kind_from(text)) {
        require(domain::to_string(*kind) == text, "a kind keeps its name");
    }
    if (const auto status = domain::status_from(text)) {
        require(domain::to_string(*status) == text, "a status keeps its name");
    }
    if (const auto reason = domain::reason_from(text)) {
        require(domain::to_string(*reason) == text, "a reason keeps its name");
    }
    const std::string shown = platform::printable(text);
    require(platform::printable(shown) == shown, "what is printable stays as it is");
    require(shown.find_first_of("\r\n\t\x1b\x7f") == std::string::npos, "a line is one line");
    require(fuzz::is_utf8(platform::json_escaped(text)), "a JSON log line is UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    constexpr std::array checks{check_hex,       check_base64,     check_numbers,
                                check_fields,    check_duration,   check_time,
                                check_redaction, check_request_id, check_names};
    std::string_view text = fuzz::text_of(data, size);
    checks.at(fuzz::take_choice(text, checks.size()))(text);
    return 0;
}
