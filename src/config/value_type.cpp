#include "config/value_type.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <sstream>

#include "config/amounts.hpp"
#include "config/quantities.hpp"

namespace config {
namespace {

constexpr std::uint32_t permille = 1'000;

Problem wrong(std::string what) {
    return {std::move(what), {}, {}};
}

Problem wrong_kind(const Node& node, std::string_view wanted) {
    return wrong("must be " + std::string{wanted} + ", is " + describe(node));
}

// For values that are never shown.
Problem wrong_secret(const Node& node, std::string_view wanted) {
    return wrong("must be " + std::string{wanted} + ", is " + std::string{kind_of(node)});
}

const std::string* text_of(const Node& node) {
    if (const auto* raw = std::get_if<Raw>(&node.value)) return &raw->text;
    return std::get_if<std::string>(&node.value);
}

template <typename Number>
std::optional<Number> number_from(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<std::int64_t> whole_of(const Node& node) {
    if (const auto* raw = std::get_if<Raw>(&node.value)) {
        return number_from<std::int64_t>(raw->text);
    }
    if (const auto* number = std::get_if<std::int64_t>(&node.value)) return *number;
    return std::nullopt;
}

std::optional<double> decimal_of(const Node& node) {
    std::optional<double> value;
    if (const auto* raw = std::get_if<Raw>(&node.value)) {
        value = number_from<double>(raw->text);
    } else if (const auto* decimal = std::get_if<double>(&node.value)) {
        value = *decimal;
    } else if (const auto* number = std::get_if<std::int64_t>(&node.value)) {
        value = static_cast<double>(*number);
    }
    if (value && !std::isfinite(*value)) return std::nullopt;
    return value;
}

// The digits a decimal was written with: up to 15 of them survive in a double, more may not.
std::optional<std::string> written_decimal(double value) {
    constexpr std::ptrdiff_t exact_digits_max = 15;
    std::array<char, 512> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                            std::chars_format::fixed);
    if (error != std::errc{} || !std::isfinite(value)) return std::nullopt;
    std::string out(digits.data(), end);
    const std::size_t first = std::min(out.find_first_of("123456789"), out.size());
    if (std::count_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                      [](char c) { return c != '.'; }) > exact_digits_max) {
        return std::nullopt;
    }
    return out;
}

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

std::string range_text(std::int64_t min, std::int64_t max) {
    return std::to_string(min) + " to " + std::to_string(max);
}

std::string show_decimal(double value) {
    std::array<char, 32> digits{};
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    assert(error == std::errc{});
    std::string out(digits.data(), end);
    if (out.find_first_of(".e") == std::string::npos) out += ".0";
    return out;
}

// Hexadecimal digits with or without 0x, exactly as many as `out` takes.
bool hex_into(std::string_view text, std::span<std::uint8_t> out, bool prefix_needed) {
    const bool prefixed = text.starts_with("0x") || text.starts_with("0X");
    if (prefix_needed && !prefixed) return false;
    if (prefixed) text.remove_prefix(2);
    return text.size() == out.size() * 2 && domain::from_hex(text, out);
}

template <typename Bytes>
ValueType<Bytes> fixed_bytes(std::string allowed) {
    return {std::move(allowed),
            [](const Node& node) -> Reading<Bytes> {
                Bytes bytes{};
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_kind(node, "text");
                if (!hex_into(*text, bytes, true)) {
                    return wrong(in_quotes(*text) + " is not 0x and " +
                                 std::to_string(bytes.size() * 2) + " hexadecimal digits");
                }
                return bytes;
            },
            [](const Bytes& bytes) { return "\"0x" + domain::to_hex(bytes) + "\""; }};
}

bool is_host_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_';
}

std::optional<int> port_of(std::string_view text) {
    const auto port = number_from<int>(text);
    if (!port || *port < 0 || *port > 65'535 || text.size() > 5) return std::nullopt;
    return port;
}

std::optional<Endpoint> parse_endpoint(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos || colon == 0) return std::nullopt;
    const auto port = port_of(text.substr(colon + 1));
    std::string_view host = text.substr(0, colon);
    if (!port || host.size() > 253) return std::nullopt;
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
        const bool address =
            host.find(':') != std::string_view::npos &&
            host.find_first_not_of("0123456789abcdefABCDEF:.") == std::string_view::npos;
        if (!address) return std::nullopt;
    } else if (!std::ranges::all_of(host, is_host_character)) {
        return std::nullopt;
    }
    return Endpoint{std::string{host}, *port};
}

// SCHEME://something printable with a host in it; what stands behind is the chain library's matter.
bool is_url(std::string_view text, const std::vector<std::string>& schemes) {
    for (const std::string& scheme : schemes) {
        const std::string start = scheme + "://";
        if (!lower_case(std::string{text.substr(0, start.size())}).starts_with(start)) continue;
        std::string_view rest = text.substr(start.size());
        std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
        const std::size_t at = authority.rfind('@');
        if (at != std::string_view::npos) authority.remove_prefix(at + 1);
        const bool clean = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
        return clean && !authority.empty() && !authority.starts_with(':');
    }
    return false;
}

Reading<std::int64_t> whole_in(const Node& node, std::int64_t min, std::int64_t max) {
    const auto number = whole_of(node);
    if (!number) return wrong_kind(node, "a whole number");
    if (*number < min || *number > max) {
        return wrong(std::to_string(*number) + " is out of range");
    }
    return *number;
}

constexpr std::int64_t backoff_seconds_max = 86'400;

Reading<domain::BackoffInterval> backoff_row(const Node& node) {
    constexpr std::array names{std::string_view{"elapsed_threshold_secs"},
                               std::string_view{"retry_interval_secs"}};
    constexpr std::array<std::int64_t, 2> mins{0, 1};
    std::array<const Node*, 2> parts{};
    const auto elements = elements_of(node);
    const auto* table = std::get_if<Node::Table>(&node.value);
    if (elements && elements->size() == 2) {
        std::ranges::copy(*elements, parts.begin());
    } else if (table != nullptr && table->size() == 2 && table->contains(std::string{names[0]}) &&
               table->contains(std::string{names[1]})) {
        for (std::size_t i = 0; i < 2; ++i) parts[i] = &table->at(std::string{names[i]});
    } else {
        return wrong("must be [threshold, interval] or have exactly the members " +
                     std::string{names[0]} + " and " + std::string{names[1]});
    }
    domain::BackoffInterval row;
    const std::array targets{&row.elapsed_threshold_seconds, &row.retry_interval_seconds};
    for (std::size_t i = 0; i < 2; ++i) {
        const auto reading = whole_in(*parts[i], mins[i], backoff_seconds_max);
        if (const auto* problem = std::get_if<Problem>(&reading)) {
            return Problem{problem->what, "." + std::string{names[i]}, parts[i]->origin};
        }
        *targets[i] = static_cast<std::uint32_t>(std::get<std::int64_t>(reading));
    }
    return row;
}

Reading<domain::Milliseconds> duration_in(const Node& node, domain::Milliseconds min,
                                          domain::Milliseconds max, domain::Milliseconds step) {
    const std::string* text = text_of(node);
    if (text == nullptr) {
        return wrong_kind(node, "text with a unit, such as \"30s\"");
    }
    const auto time = parse_duration(*text);
    if (!time)
        return wrong(in_quotes(*text) +
                     " is no duration; write one as \"250ms\", \"30s\", \"1h 30m\" or \"7d\"");
    if (*time < min || *time > max) return wrong(in_quotes(*text) + " is out of range");
    if (*time % step != domain::Milliseconds{0}) {
        return wrong(in_quotes(*text) + " is no multiple of " + format_duration(step));
    }
    return *time;
}

constexpr domain::Milliseconds latency_max = std::chrono::hours{24};

std::string place_of(std::size_t index) {
    return "[" + std::to_string(index) + "]";
}

Problem at_element(Problem problem, std::size_t index, const Node& element) {
    problem.place = place_of(index) + problem.place;
    if (problem.origin.empty()) problem.origin = element.origin;
    return problem;
}

}  // namespace

std::string toml_text(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + "\"";
}

ValueType<std::monostate> anything() {
    return {"anything", [](const Node&) -> Reading<std::monostate> { return std::monostate{}; },
            [](const std::monostate&) { return toml_text(""); }};
}

ValueType<bool> boolean() {
    return {"true or false",
            [](const Node& node) -> Reading<bool> {
                if (const auto* value = std::get_if<bool>(&node.value)) return *value;
                if (const auto* raw = std::get_if<Raw>(&node.value)) {
                    const std::string word = lower_case(raw->text);
                    if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
                    if (word == "false" || word == "0" || word == "no" || word == "off") {
                        return false;
                    }
                }
                return wrong_kind(node, "true or false");
            },
            [](const bool& value) { return value ? "true" : "false"; }};
}

ValueType<std::int64_t> whole_number(std::int64_t min, std::int64_t max) {
    return {
        range_text(min, max),
        [min, max](const Node& node) -> Reading<std::int64_t> { return whole_in(node, min, max); },
        [](const std::int64_t& value) { return std::to_string(value); }};
}

ValueType<domain::Milliseconds> count_of(domain::Milliseconds unit, std::int64_t min,
                                         std::int64_t max) {
    assert(max <= domain::Milliseconds::max() / unit);
    return {range_text(min, max),
            [unit, min, max](const Node& node) -> Reading<domain::Milliseconds> {
                const auto reading = whole_in(node, min, max);
                if (const auto* number = std::get_if<std::int64_t>(&reading)) {
                    return unit * *number;
                }
                return std::get<Problem>(reading);
            },
            [unit](const domain::Milliseconds& time) { return std::to_string(time / unit); }};
}

ValueType<domain::Milliseconds> duration(domain::Milliseconds min, domain::Milliseconds max,
                                         domain::Milliseconds step) {
    std::string allowed = format_duration(min) + " to " + format_duration(max);
    if (step > domain::Milliseconds{1}) allowed += " in steps of " + format_duration(step);
    return {std::move(allowed),
            [min, max, step](const Node& node) { return duration_in(node, min, max, step); },
            [](const domain::Milliseconds& time) { return toml_text(format_duration(time)); }};
}

ValueType<std::uint32_t> fraction() {
    return {"0 to 1 with at most three decimals",
            [](const Node& node) -> Reading<std::uint32_t> {
                const auto value = decimal_of(node);
                if (!value) return wrong_kind(node, "a number");
                if (*value < 0 || *value > 1) {
                    return wrong(show_decimal(*value) + " is out of range");
                }
                const double scaled = *value * permille;
                if (std::abs(scaled - std::round(scaled)) > 1e-6) {
                    return wrong(show_decimal(*value) + " has more than three decimals");
                }
                return static_cast<std::uint32_t>(std::lround(scaled));
            },
            [](const std::uint32_t& value) {
                return show_decimal(static_cast<double>(value) / permille);
            }};
}

ValueType<std::string> text(std::string_view allowed, std::size_t bytes_min,
                            std::size_t bytes_max) {
    return {std::string{allowed},
            [bytes_min, bytes_max](const Node& node) -> Reading<std::string> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_kind(node, "text");
                if (text->size() < bytes_min) return wrong("must not be empty");
                if (text->size() > bytes_max) {
                    return wrong(in_quotes(*text) + " is longer than " + std::to_string(bytes_max) +
                                 " bytes");
                }
                if (std::ranges::any_of(*text, [](char c) {
                        return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
                    })) {
                    return wrong(in_quotes(*text) + " holds control characters");
                }
                return *text;
            },
            toml_text};
}

ValueType<std::string> secret(std::string_view allowed) {
    return {std::string{allowed},
            [](const Node& node) -> Reading<std::string> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_secret(node, "text");
                constexpr std::size_t bytes_max = 4'096;
                if (text->size() > bytes_max) return wrong("is longer than 4096 bytes");
                if (std::ranges::any_of(*text, [](char c) {
                        return static_cast<unsigned char>(c) < 0x20 || c == '\x7f';
                    })) {
                    return wrong("holds control characters");
                }
                return *text;
            },
            toml_text};
}

ValueType<std::string> private_key() {
    return {"64 hexadecimal digits, with or without 0x",
            [](const Node& node) -> Reading<std::string> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_secret(node, "text");
                domain::Bytes32 bytes{};
                if (!hex_into(*text, bytes, false)) return wrong("is no private key");
                return *text;
            },
            toml_text};
}

ValueType<std::string> url(std::vector<std::string> schemes) {
    std::string allowed;
    for (const std::string& scheme : schemes) {
        allowed += (allowed.empty() ? "" : " or ") + scheme + "://HOST…";
    }
    return {std::move(allowed),
            [schemes = std::move(schemes)](const Node& node) -> Reading<std::string> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_secret(node, "text");
                if (!is_url(*text, schemes)) return wrong("is no URL of an allowed kind");
                return *text;
            },
            toml_text};
}

namespace {

// At most `entries_max` of `one`; `no_list` says what is wrong with a value that is none.
ValueType<std::vector<std::string>> list_of(const ValueType<std::string>& one,
                                            std::size_t entries_max,
                                            std::function<Problem(const Node&)> no_list) {
    return {"a list of at most " + std::to_string(entries_max) + ", each " + one.allowed,
            [one, entries_max,
             no_list = std::move(no_list)](const Node& node) -> Reading<std::vector<std::string>> {
                const auto elements = elements_of(node);
                if (!elements) return no_list(node);
                if (elements->size() > entries_max) {
                    return wrong("has " + std::to_string(elements->size()) + " entries");
                }
                std::vector<std::string> all;
                for (std::size_t i = 0; i < elements->size(); ++i) {
                    const auto reading = one.read(*(*elements)[i]);
                    if (const auto* problem = std::get_if<Problem>(&reading)) {
                        return at_element(*problem, i, *(*elements)[i]);
                    }
                    all.push_back(std::get<std::string>(reading));
                }
                return all;
            },
            [](const std::vector<std::string>& all) {
                std::string out;
                for (const std::string& url : all) {
                    out += (out.empty() ? "" : ", ") + toml_text(url);
                }
                return "[" + out + "]";
            }};
}

}  // namespace

ValueType<std::vector<std::string>> urls(std::vector<std::string> schemes,
                                         std::size_t entries_max) {
    return list_of(url(std::move(schemes)), entries_max,
                   [](const Node& node) { return wrong_secret(node, "a list"); });
}

ValueType<std::vector<std::string>> texts(std::size_t entries_max, std::size_t bytes_max) {
    return list_of(text("text, 1 to " + std::to_string(bytes_max) + " bytes", 1, bytes_max),
                   entries_max, [](const Node& node) { return wrong_kind(node, "a list"); });
}

ValueType<chains::jsonrpc::Wei> amount(std::uint32_t decimals) {
    return {"0 to 1000000000, at most " + std::to_string(decimals) +
                " decimals; as text when it has more than 15 digits",
            [decimals](const Node& node) -> Reading<chains::jsonrpc::Wei> {
                std::string digits;
                if (const auto* decimal = std::get_if<double>(&node.value)) {
                    auto written = written_decimal(*decimal);
                    if (!written) {
                        return wrong(describe(node) + " is not exact; write the amount as text");
                    }
                    digits = *std::move(written);
                } else if (const auto whole = whole_of(node)) {
                    digits = std::to_string(*whole);
                } else if (const std::string* text = text_of(node)) {
                    digits = *text;
                } else {
                    return wrong_kind(node, "a number or the text of one");
                }
                const auto wei = parse_amount(digits, decimals);
                if (!wei) return wrong(in_quotes(digits) + " is no such amount");
                return *wei;
            },
            [decimals](const chains::jsonrpc::Wei& wei) {
                return toml_text(format_amount(wei, decimals));
            }};
}

ValueType<domain::Address> address() {
    return fixed_bytes<domain::Address>("an address: 0x and 40 hexadecimal digits");
}

ValueType<domain::Bytes32> bytes32() {
    return fixed_bytes<domain::Bytes32>("0x and 64 hexadecimal digits");
}

ValueType<domain::Timestamp> time_of_calendar() {
    return {"a date with time and offset, such as 2100-01-01T00:00:00Z, or Unix seconds",
            [](const Node& node) -> Reading<domain::Timestamp> {
                if (const auto* time = std::get_if<domain::Timestamp>(&node.value)) return *time;
                const auto* number = std::get_if<std::int64_t>(&node.value);
                const std::string* text = text_of(node);
                const auto time = number != nullptr ? parse_time(std::to_string(*number))
                                  : text != nullptr ? parse_time(*text)
                                                    : std::nullopt;
                if (!time) return wrong(describe(node) + " is no moment in time");
                return *time;
            },
            [](const domain::Timestamp& time) { return format_time(time); }};
}

ValueType<Endpoint> endpoint() {
    return {"HOST:PORT, port 0 to 65535 (0: any free one), an IPv6 address in brackets",
            [](const Node& node) -> Reading<Endpoint> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_kind(node, "text");
                auto endpoint = parse_endpoint(*text);
                if (!endpoint) return wrong(in_quotes(*text) + " is no address to listen on");
                return *std::move(endpoint);
            },
            [](const Endpoint& endpoint) {
                const bool ipv6 = endpoint.host.find(':') != std::string::npos;
                const std::string host = ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
                return toml_text(host + ":" + std::to_string(endpoint.port));
            }};
}

ValueType<std::vector<double>> histogram_buckets() {
    return {
        "a list of positive numbers in rising order, not empty",
        [](const Node& node) -> Reading<std::vector<double>> {
            const auto elements = elements_of(node);
            if (!elements) return wrong_kind(node, "a list");
            if (elements->empty()) return wrong("the list is empty");
            std::vector<double> buckets;
            for (std::size_t i = 0; i < elements->size(); ++i) {
                const Node& element = *(*elements)[i];
                const auto bound = decimal_of(element);
                if (!bound) return at_element(wrong_kind(element, "a number"), i, element);
                if (*bound <= 0) {
                    return at_element(wrong(show_decimal(*bound) + " is not positive"), i, element);
                }
                if (!buckets.empty() && *bound <= buckets.back()) {
                    return at_element(wrong(show_decimal(*bound) + " does not rise"), i, element);
                }
                buckets.push_back(*bound);
            }
            return buckets;
        },
        [](const std::vector<double>& buckets) {
            std::string out;
            for (const double bound : buckets) {
                out += (out.empty() ? "" : ", ") + show_decimal(bound);
            }
            return "[" + out + "]";
        }};
}

ValueType<std::vector<domain::BackoffInterval>> backoff_intervals() {
    return {
        "a list of [threshold, interval] or {elapsed_threshold_secs, retry_interval_secs}; "
        "thresholds 0 to 86400 and rising, intervals 1 to 86400; may be empty",
        [](const Node& node) -> Reading<std::vector<domain::BackoffInterval>> {
            const auto elements = elements_of(node);
            if (!elements) return wrong_kind(node, "a list");
            std::vector<domain::BackoffInterval> rows;
            for (std::size_t i = 0; i < elements->size(); ++i) {
                const Node& element = *(*elements)[i];
                const auto reading = backoff_row(element);
                if (const auto* problem = std::get_if<Problem>(&reading)) {
                    return at_element(*problem, i, element);
                }
                const auto& row = std::get<domain::BackoffInterval>(reading);
                if (!rows.empty() &&
                    row.elapsed_threshold_seconds <= rows.back().elapsed_threshold_seconds) {
                    return at_element(
                        wrong("the threshold " + std::to_string(row.elapsed_threshold_seconds) +
                              " is not above the one before, " +
                              std::to_string(rows.back().elapsed_threshold_seconds)),
                        i, element);
                }
                rows.push_back(row);
            }
            return rows;
        },
        [](const std::vector<domain::BackoffInterval>& rows) {
            std::string out;
            for (const auto& row : rows) {
                out += (out.empty() ? "[" : ", [") + std::to_string(row.elapsed_threshold_seconds) +
                       ", " + std::to_string(row.retry_interval_seconds) + "]";
            }
            return "[" + out + "]";
        }};
}

ValueType<chains::loopback::Latency> latency() {
    return {"a duration or [shortest, longest], 0ms to 1d",
            [](const Node& node) -> Reading<chains::loopback::Latency> {
                const auto ends = elements_of(node);
                if (!ends) {
                    const auto reading = duration_in(node, domain::Milliseconds{0}, latency_max,
                                                     domain::Milliseconds{1});
                    if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
                    return chains::loopback::fixed(std::get<domain::Milliseconds>(reading));
                }
                if (ends->size() != 2) return wrong("must have two durations");
                std::array<domain::Milliseconds, 2> times{};
                for (std::size_t i = 0; i < 2; ++i) {
                    const Node& end = *(*ends)[i];
                    const auto reading = duration_in(end, domain::Milliseconds{0}, latency_max,
                                                     domain::Milliseconds{1});
                    if (const auto* problem = std::get_if<Problem>(&reading)) {
                        return at_element(*problem, i, end);
                    }
                    times[i] = std::get<domain::Milliseconds>(reading);
                }
                if (times[0] > times[1]) {
                    return wrong("the shortest, " + format_duration(times[0]) +
                                 ", is above the longest, " + format_duration(times[1]));
                }
                return chains::loopback::Latency{times[0], times[1]};
            },
            [](const chains::loopback::Latency& latency) {
                std::string min = toml_text(format_duration(latency.min));
                if (latency.min == latency.max) return min;
                return "[" + min + ", " + toml_text(format_duration(latency.max)) + "]";
            }};
}

namespace detail {

ValueType<std::size_t> choice_of(std::vector<std::string> names) {
    std::string allowed;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) allowed += i + 1 == names.size() ? " or " : ", ";
        allowed += names[i];
    }
    return {std::move(allowed),
            [names](const Node& node) -> Reading<std::size_t> {
                const std::string* text = text_of(node);
                if (text == nullptr) return wrong_kind(node, "text");
                for (std::size_t i = 0; i < names.size(); ++i) {
                    if (names[i] == *text) return i;
                }
                return wrong(in_quotes(*text) + " is not among the choices");
            },
            [names](const std::size_t& place) { return toml_text(names[place]); }};
}

}  // namespace detail
}  // namespace config
