#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config/key.hpp"

// Keys of a real chain that come more than once.
namespace config {

inline constexpr std::int64_t attempts_max = 1'000'000;
inline constexpr std::int64_t chain_id_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t hour_ms = 3'600'000;
inline constexpr std::size_t fallbacks_max = 8;

// The node at the front of a list whose rest stands in another key, read before or after it.
template <typename Access>
Key first_node(std::string name, Access access, std::string sample, std::string doc) {
    const auto first = [access](auto& s, std::size_t index) -> auto& {
        auto& nodes = member(access, s, index);
        if constexpr (!std::is_const_v<std::remove_reference_t<decltype(nodes)>>) {
            if (nodes.empty()) nodes.emplace_back();
        }
        return nodes.front();
    };
    return hidden(without_default(
        key(std::move(name), url({"http", "https"}), first, std::move(doc)), std::move(sample)));
}

template <typename Access>
Key other_nodes(std::string name, Access access, const std::string& doc) {
    const auto type = urls({"http", "https"}, fallbacks_max);
    Key out = unused(std::move(name), type, "[]", Effect::needs_chain,
                     doc + " While the first can not be reached, the next one is asked.");
    out.read = [type, access](Settings& s, std::size_t index,
                              const Node& node) -> std::optional<Problem> {
        auto reading = type.read(node);
        if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
        auto& nodes = member(access, s, index);
        auto& others = std::get<std::vector<std::string>>(reading);
        if (nodes.empty() && others.empty()) return std::nullopt;
        nodes.resize(1);
        nodes.insert(nodes.end(), others.begin(), others.end());
        return std::nullopt;
    };
    return hidden(std::move(out));
}

template <typename Access>
Key contract(std::string name, Access access, std::string doc) {
    return without_default(key(std::move(name), address(), access, std::move(doc)),
                           "\"0x0000000000000000000000000000000000000001\"");
}

template <typename Access>
Key span_ms(std::string name, std::int64_t min, std::int64_t max, Access access, std::string doc) {
    return key(std::move(name), count_of(domain::Milliseconds{1}, min, max), access, std::move(doc),
               "milliseconds");
}

template <typename Access>
std::vector<Key> retry_keys(const std::string& table, const std::string& what, Access access) {
    return {
        key(
            table + "max_attempts", whole_number(1, attempts_max),
            [access](auto& s) -> auto& { return access(s).attempts_max; },
            "Tries of a " + what + ".", "tries"),
        span_ms(
            table + "retry_interval_ms", 0,
            hour_ms, [access](auto& s) -> auto& { return access(s).pause; },
            "Pause between two tries."),
    };
}

}  // namespace config
