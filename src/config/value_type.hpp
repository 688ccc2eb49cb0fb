#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "chains/jsonrpc/wei.hpp"
#include "chains/loopback/options.hpp"
#include "config/node.hpp"
#include "domain/bytes.hpp"
#include "domain/retry_after.hpp"
#include "domain/time.hpp"

namespace config {

// Why a value is refused. `place` is appended to the key (`[2].retry_interval_secs`); an origin
// names the part of the value that is wrong, none means all of it.
struct Problem {
    std::string what;
    std::string place;
    std::string origin;
};

template <typename Value>
using Reading = std::variant<Value, Problem>;

// What a key takes: how it is described, read and written as TOML.
template <typename Value>
struct ValueType {
    std::string allowed;
    std::function<Reading<Value>(const Node&)> read;
    std::function<std::string(const Value&)> show;
};

struct Endpoint {
    std::string host;
    int port = 0;
};

// Any value at all.
ValueType<std::monostate> anything();
ValueType<bool> boolean();
ValueType<std::int64_t> whole_number(std::int64_t min, std::int64_t max);
// A whole number that counts `unit`.
ValueType<domain::Milliseconds> count_of(domain::Milliseconds unit, std::int64_t min,
                                         std::int64_t max);
// Text with a unit; `step` divides it.
ValueType<domain::Milliseconds> duration(domain::Milliseconds min, domain::Milliseconds max,
                                         domain::Milliseconds step = domain::Milliseconds{1});
// A fraction from 0 to 1 with at most three decimals, kept as permille.
ValueType<std::uint32_t> fraction();
ValueType<std::string> text(std::string_view allowed, std::size_t bytes_min, std::size_t bytes_max);
// Text that is never shown: a secret, or the name of its file, where somebody may put it by
// mistake.
ValueType<std::string> secret(std::string_view allowed, std::size_t bytes_min = 0);
// Same, with a look at a text of the right length: what is wrong with it, or nothing.
using Objection = std::string_view (*)(std::string_view);
ValueType<std::string> secret_without(std::string_view allowed, Objection objection);
// Same, for the whole value of a header, which arrives without blanks at its ends.
ValueType<std::string> header_secret();
// 32 bytes in hexadecimal, never shown.
ValueType<std::string> private_key();
// Never shown, since it may hold a password. `schemes` such as `http` and `https`.
ValueType<std::string> url(std::vector<std::string> schemes);
// Likewise, a list; may be empty.
ValueType<std::vector<std::string>> urls(std::vector<std::string> schemes, std::size_t entries_max);
// A list of texts that are no secret, each at most `bytes_max` bytes and not empty; may be empty.
ValueType<std::vector<std::string>> texts(std::size_t entries_max, std::size_t bytes_max);
// An amount in units of 10^decimals wei, 0 to 10^9 units, read exactly.
ValueType<chains::jsonrpc::Wei> amount(std::uint32_t decimals);
ValueType<domain::Address> address();
ValueType<domain::Bytes32> bytes32();
ValueType<domain::Timestamp> time_of_calendar();
ValueType<Endpoint> endpoint();
ValueType<std::vector<double>> histogram_buckets();
ValueType<std::vector<domain::BackoffInterval>> backoff_intervals();
ValueType<chains::loopback::Latency> latency();

namespace detail {
ValueType<std::size_t> choice_of(std::vector<std::string> names);
}

template <typename Enum>
ValueType<Enum> choice(std::vector<std::pair<std::string, Enum>> choices) {
    std::vector<std::string> names;
    names.reserve(choices.size());
    for (const auto& [name, value] : choices) names.push_back(name);
    const ValueType<std::size_t> index = detail::choice_of(names);
    return {index.allowed,
            [index, choices](const Node& node) -> Reading<Enum> {
                const auto reading = index.read(node);
                if (const auto* place = std::get_if<std::size_t>(&reading)) {
                    return choices[*place].second;
                }
                return std::get<Problem>(reading);
            },
            [index, choices](const Enum& value) {
                std::size_t place = 0;
                while (choices[place].second != value) ++place;
                return index.show(place);
            }};
}

// As a TOML string.
[[nodiscard]] std::string toml_text(std::string_view text);

}  // namespace config
