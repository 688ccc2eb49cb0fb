#include "config/value_type.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "config/amounts.hpp"
#include "config/quantities.hpp"
#include "net/url.hpp"

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

// Reads text by `parse`; `refuse` says what is wrong with other values.
template <typename Value, typename Parse>
auto from_text(Parse parse, Problem (*refuse)(const Node&, std::string_view) = wrong_kind) {
    return [parse = std::move(parse), refuse](const Node& node) -> Reading<Value> {
        const std::string* text = text_of(node);
        if (text == nullptr) return refuse(node, "text");
        return parse(*text);
    };
}

std::optional<std::int64_t> whole_of(const Node& node) {
    if (const auto* raw = std::get_if<Raw>(&node.value)) {
        return base::number_in<std::int64_t>(raw->text);
    }
    if (const auto* number = std::get_if<std::int64_t>(&node.value)) return *number;
    return std::nullopt;
}

std::optional<double> decimal_of(const Node& node) {
    std::optional<double> value;
    if (const auto* raw = std::get_if<Raw>(&node.value)) {
        value = base::number_in<double>(raw->text);
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
    return {std::move(allowed), from_text<Bytes>([](const std::string& text) -> Reading<Bytes> {
                Bytes bytes{};
                if (!hex_into(text, bytes, true)) {
                    return wrong(in_quotes(text) + " is not 0x and " +
                                 std::to_string(bytes.size() * 2) + " hexadecimal digits");
                }
                return bytes;
            }),
            [](const Bytes& bytes) { return "\"0x" + domain::to_hex(bytes) + "\""; }};
}

bool is_host_character(char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '.' || c == '-' || c == '_';
}

std::optional<int> port_of(std::string_view text) {
    const auto port = base::number_in<int>(text);
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

// SCHEME://something printable with a host in it.
bool is_url(std::string_view text, const std::vector<std::string>& schemes) {
    for (const std::string& scheme : schemes) {
        const std::string start = scheme + "://";
        if (!base::lower_case(text.substr(0, start.size())).starts_with(start)) continue;
        std::string_view rest = text.substr(start.size());
        std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
        const std::size_t at = authority.rfind('@');
        if (at != std::string_view::npos) authority.remove_prefix(at + 1);
        const bool clean = std::ranges::all_of(text, base::is_visible);
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
    if (text == nullptr) return wrong_kind(node, "text with a unit, such as \"30s\"");
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

// By `read(element, those before)`. A problem tells which element has it.
template <typename Value, typename Read>
Reading<std::vector<Value>> read_elements(const std::vector<const Node*>& elements, Read read) {
    std::vector<Value> all;
    for (const Node* element : elements) {
        Reading<Value> reading = read(*element, std::as_const(all));
        if (auto* problem = std::get_if<Problem>(&reading)) {
            problem->place = "[" + std::to_string(all.size()) + "]" + problem->place;
            if (problem->origin.empty()) problem->origin = element->origin;
            return std::move(*problem);
        }
        all.push_back(std::get<Value>(std::move(reading)));
    }
    return all;
}

template <typename List, typename Show>
std::string toml_list(const List& list, Show show) {
    std::string out;
    for (const auto& element : list) out += (out.empty() ? "" : ", ") + show(element);
    return "[" + out + "]";
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
                    const std::string word = base::lower_case(raw->text);
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
            from_text<std::string>(
                [bytes_min, bytes_max](const std::string& text) -> Reading<std::string> {
                    if (text.size() < bytes_min) return wrong("must not be empty");
                    if (text.size() > bytes_max) {
                        return wrong(in_quotes(text) + " is longer than " +
                                     std::to_string(bytes_max) + " bytes");
                    }
                    if (std::ranges::any_of(text, base::is_control)) {
                        return wrong(in_quotes(text) + " holds control characters");
                    }
                    return text;
                }),
            toml_text};
}

ValueType<std::string> secret(std::string_view allowed, std::size_t bytes_min) {
    return {std::string{allowed},
            from_text<std::string>(
                [bytes_min](const std::string& text) -> Reading<std::string> {
                    constexpr std::size_t bytes_max = 4'096;
                    if (text.size() < bytes_min) return wrong("must not be empty");
                    if (text.size() > bytes_max) return wrong("is longer than 4096 bytes");
                    if (std::ranges::any_of(text, base::is_control))
                        return wrong("holds control characters");
                    return text;
                },
                wrong_secret),
            toml_text};
}

ValueType<std::string> secret_without(std::string_view allowed, Objection objection) {
    ValueType<std::string> type = secret(allowed);
    type.read = [read = type.read, objection](const Node& node) -> Reading<std::string> {
        Reading<std::string> reading = read(node);
        const auto* text = std::get_if<std::string>(&reading);
        const std::string_view found = text == nullptr ? "" : objection(*text);
        return found.empty() ? reading : wrong(std::string(found));
    };
    return type;
}

ValueType<std::string> header_secret() {
    return secret_without("text without a blank at either end, at most 4096 bytes; empty: none",
                          [](std::string_view text) -> std::string_view {
                              const bool is_padded = text.starts_with(' ') || text.ends_with(' ');
                              return is_padded ? "begins or ends with a blank" : "";
                          });
}

ValueType<std::string> private_key() {
    return {"64 hexadecimal digits, with or without 0x",
            from_text<std::string>(
                [](const std::string& text) -> Reading<std::string> {
                    domain::Bytes32 bytes{};
                    if (!hex_into(text, bytes, false)) return wrong("is no private key");
                    return text;
                },
                wrong_secret),
            toml_text};
}

ValueType<std::string> url(std::vector<std::string> schemes) {
    std::string allowed;
    for (const std::string& scheme : schemes) {
        allowed += (allowed.empty() ? "" : " or ") + scheme + "://HOST…";
    }
    return {std::move(allowed),
            from_text<std::string>(
                [schemes = std::move(schemes)](const std::string& text) -> Reading<std::string> {
                    if (!is_url(text, schemes)) return wrong("is no URL of an allowed kind");
                    if (is_url(text, {"http", "https", "ws", "wss"}) && !net::parse_url(text)) {
                        return wrong(
                            "can not be used: ports are 1 to 65535, IPv6 addresses stand "
                            "in brackets, and % in a user or password is written %25");
                    }
                    return text;
                },
                wrong_secret),
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
                return read_elements<std::string>(
                    *elements, [&](const Node& element, const auto&) { return one.read(element); });
            },
            [](const std::vector<std::string>& all) { return toml_list(all, toml_text); }};
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
            from_text<Endpoint>([](const std::string& text) -> Reading<Endpoint> {
                auto endpoint = parse_endpoint(text);
                if (!endpoint) return wrong(in_quotes(text) + " is no address to listen on");
                return *std::move(endpoint);
            }),
            [](const Endpoint& endpoint) {
                const bool ipv6 = endpoint.host.find(':') != std::string::npos;
                const std::string host = ipv6 ? "[" + endpoint.host + "]" : endpoint.host;
                return toml_text(host + ":" + std::to_string(endpoint.port));
            }};
}

ValueType<std::vector<double>> histogram_buckets() {
    const auto bucket = [](const Node& node, const std::vector<double>& before) -> Reading<double> {
        const auto bound = decimal_of(node);
        if (!bound) return wrong_kind(node, "a number");
        if (*bound <= 0) return wrong(show_decimal(*bound) + " is not positive");
        if (!before.empty() && *bound <= before.back()) {
            return wrong(show_decimal(*bound) + " does not rise");
        }
        return *bound;
    };
    return {"a list of positive numbers in rising order, not empty",
            [bucket](const Node& node) -> Reading<std::vector<double>> {
                const auto elements = elements_of(node);
                if (!elements) return wrong_kind(node, "a list");
                if (elements->empty()) return wrong("the list is empty");
                return read_elements<double>(*elements, bucket);
            },
            [](const std::vector<double>& buckets) { return toml_list(buckets, show_decimal); }};
}

ValueType<std::vector<domain::BackoffInterval>> backoff_intervals() {
    using Interval = domain::BackoffInterval;
    using Intervals = std::vector<Interval>;
    const auto rising = [](const Node& node, const Intervals& before) -> Reading<Interval> {
        auto reading = backoff_row(node);
        const auto* row = std::get_if<Interval>(&reading);
        if (row != nullptr && !before.empty() &&
            row->elapsed_threshold_seconds <= before.back().elapsed_threshold_seconds) {
            return wrong("the threshold " + std::to_string(row->elapsed_threshold_seconds) +
                         " is not above the one before, " +
                         std::to_string(before.back().elapsed_threshold_seconds));
        }
        return reading;
    };
    const auto show_row = [](const Interval& row) {
        return "[" + std::to_string(row.elapsed_threshold_seconds) + ", " +
               std::to_string(row.retry_interval_seconds) + "]";
    };
    return {
        "a list of [threshold, interval] or {elapsed_threshold_secs, retry_interval_secs}; "
        "thresholds 0 to 86400 and rising, intervals 1 to 86400; may be empty",
        [rising](const Node& node) -> Reading<Intervals> {
            const auto elements = elements_of(node);
            if (!elements) return wrong_kind(node, "a list");
            return read_elements<Interval>(*elements, rising);
        },
        [show_row](const Intervals& rows) { return toml_list(rows, show_row); }};
}

ValueType<chains::loopback::Latency> latency() {
    const auto time = [](const Node& node) {
        return duration_in(node, domain::Milliseconds{0}, latency_max, domain::Milliseconds{1});
    };
    return {"a duration or [shortest, longest], 0ms to 1d",
            [time](const Node& node) -> Reading<chains::loopback::Latency> {
                const auto ends = elements_of(node);
                if (!ends) {
                    const auto reading = time(node);
                    if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
                    return chains::loopback::fixed(std::get<domain::Milliseconds>(reading));
                }
                if (ends->size() != 2) return wrong("must have two durations");
                const auto reading = read_elements<domain::Milliseconds>(
                    *ends, [&](const Node& end, const auto&) { return time(end); });
                if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
                const auto& times = std::get<std::vector<domain::Milliseconds>>(reading);
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
            from_text<std::size_t>([names](const std::string& text) -> Reading<std::size_t> {
                for (std::size_t i = 0; i < names.size(); ++i) {
                    if (names[i] == text) return i;
                }
                return wrong(in_quotes(text) + " is not among the choices");
            }),
            [names](const std::size_t& place) { return toml_text(names[place]); }};
}

}  // namespace detail
}  // namespace config
