#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/settings.hpp"
#include "config/value_type.hpp"

namespace config {

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20U;
inline constexpr std::int64_t number_max = 1'000'000'000;  // of what has no limit of its own
inline constexpr std::chrono::milliseconds ten_years = std::chrono::hours{24 * 3'650};

// What a key that was set brings about.
enum class Effect {
    full,
    needs_chain,       // only with gateway.type evm
    needs_vote_chain,  // only with a chain of vote shares, helper.chain_url
    needs_postgresql,  // belongs to the database of the reference
    makes_node,        // of the table cluster, which is not there by default
    superseded,        // this engine has no use for it
    obsolete,          // accepted in silence
};

// One key: everything that is known about it. Element keys such as `host_chains[].url` are read for
// the element at `index`, others ignore it.
struct Key {
    std::string name;
    std::string allowed;
    std::string unit;  // of a number; empty: none, or the value carries it
    std::string doc;
    Effect effect = Effect::full;
    bool secret = false;
    bool required = false;         // an element without it is an error
    bool required_by_evm = false;  // missing with gateway.type evm is an error
    std::string sample;            // TOML, for keys without a default to show

    std::function<std::optional<Problem>(Settings&, std::size_t index, const Node&)> read;
    // The value as TOML; empty for keys without effect and for keys of a chain without a default.
    std::function<std::string(const Settings&, std::size_t index)> show;
};

// A list of tables, such as `host_chains`; its keys are named `host_chains[].…`.
struct TableList {
    std::string name;
    std::size_t entries_min = 0;
    std::size_t entries_max = 0;
    std::string doc;
    Effect effect = Effect::full;
    std::function<void(Settings&, std::size_t entries)> resize;
    std::function<std::size_t(const Settings&)> size;
};

template <typename Value>
inline constexpr bool is_optional = false;
template <typename Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

// Member types differ from what is read by width and by unit only, are paths, or may be absent.
template <typename To, typename From>
To convert(const From& from) {
    constexpr bool as_it_is = std::is_class_v<From> && std::is_convertible_v<From, To>;
    if constexpr (std::is_same_v<To, From> || as_it_is) {
        return from;
    } else if constexpr (is_optional<To>) {
        return convert<typename To::value_type>(from);
    } else if constexpr (is_optional<From>) {
        assert(from);
        return convert<To>(*from);
    } else if constexpr (std::is_integral_v<From>) {
        assert(std::in_range<To>(from));
        return static_cast<To>(from);
    } else {
        return std::chrono::duration_cast<To>(from);
    }
}

template <typename Access>
decltype(auto) member(Access& access, auto& settings, std::size_t index) {
    if constexpr (std::is_invocable_v<Access&, Settings&, std::size_t>) {
        return access(settings, index);
    } else {
        return access(settings);
    }
}

// A key by its texts alone.
[[nodiscard]] inline Key described(std::string name, std::string allowed, std::string doc,
                                   std::string unit = {}) {
    Key out;
    out.name = std::move(name);
    out.allowed = std::move(allowed);
    out.doc = std::move(doc);
    out.unit = std::move(unit);
    return out;
}

// What gives a reference to a member of Settings, as in SETTING(http.port), or to that of a list's
// element, as in ELEMENT(loopback.rounds, id).
#define SETTING(member) ([](auto& s) -> auto& { return s.member; })
#define ELEMENT(list, member) \
    ([](auto& s, std::size_t index) -> auto& { return s.list[index].member; })

// A key bound to one member: `access` gives a reference to it.
template <typename Value, typename Access>
Key key(std::string name, ValueType<Value> type, Access access, std::string doc,
        std::string unit = {}) {
    Key out = described(std::move(name), type.allowed, std::move(doc), std::move(unit));
    out.read = [read = type.read, access](Settings& settings, std::size_t index,
                                          const Node& node) -> std::optional<Problem> {
        const Reading<Value> reading = read(node);
        if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
        auto&& target = member(access, settings, index);
        target = convert<std::remove_cvref_t<decltype(target)>>(std::get<Value>(reading));
        return std::nullopt;
    };
    out.show = [show = type.show, access](const Settings& settings, std::size_t index) {
        return show(convert<Value>(member(access, settings, index)));
    };
    return out;
}

// A key that is checked and then has no effect.
template <typename Value>
Key unused(std::string name, ValueType<Value> type, std::string sample, Effect effect,
           std::string doc, std::string unit = {}) {
    Key out = described(std::move(name), type.allowed, std::move(doc), std::move(unit));
    out.effect = effect;
    out.sample = std::move(sample);
    out.read = [read = type.read](Settings&, std::size_t,
                                  const Node& node) -> std::optional<Problem> {
        const Reading<Value> reading = read(node);
        if (const auto* problem = std::get_if<Problem>(&reading)) return *problem;
        return std::nullopt;
    };
    return out;
}

// `copy` puts what was read where it is needed too.
template <typename Copy>
Key copied(Key key, Copy copy) {
    key.read = [read = std::move(key.read), copy](Settings& settings, std::size_t index,
                                                  const Node& node) {
        auto problem = read(settings, index, node);
        copy(settings, index);
        return problem;
    };
    return key;
}

[[nodiscard]] inline Key hidden(Key key) {
    key.secret = true;
    return key;
}

// `sample` stands in the example.
[[nodiscard]] inline Key without_default(Key key, std::string sample) {
    key.show = nullptr;
    key.sample = std::move(sample);
    return key;
}

[[nodiscard]] inline Key needed_by_evm(Key key) {
    key.required_by_evm = true;
    return key;
}

[[nodiscard]] inline Key needed(Key key, std::string sample) {
    key.required = true;
    key.sample = std::move(sample);
    return key;
}

// Keys that would have every effect get this one.
[[nodiscard]] inline std::vector<Key> with_effect(Effect effect, std::vector<Key> keys) {
    for (Key& key : keys) {
        if (key.effect == Effect::full) key.effect = effect;
    }
    return keys;
}

}  // namespace config
