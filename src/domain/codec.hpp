#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "domain/bytes.hpp"

// The stored form of requests, results and journal entries, for the sources that encode them only.
// A type takes part by an overload of members() that ties its members in order of declaration, and
// by nothing else: size, writing and reading all follow that one list.
//
//   integer        big-endian, its own width          bool      one byte, 0 or 1
//   array          its elements                       struct    its members
//   vector, string u32 count, then the elements
namespace domain::codec {

inline constexpr std::uint8_t version = 1;

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

template <class T>
concept Integer = std::unsigned_integral<T> && !std::same_as<T, bool>;

template <class T>
struct is_list : std::false_type {};
template <class T>
struct is_list<std::vector<T>> : std::true_type {};
template <>
struct is_list<std::string> : std::true_type {};

template <class T>
concept List = is_list<T>::value;

template <class T>
struct is_array : std::false_type {};
template <class T, std::size_t n>
struct is_array<std::array<T, n>> : std::true_type {};

template <class T>
concept Array = is_array<T>::value;

template <class T>
concept OneByte = sizeof(T) == 1 && std::is_trivially_copyable_v<T>;

using Count = std::uint32_t;

template <class T>
[[nodiscard]] std::size_t size_of(const T& value) {
    if constexpr (std::integral<T>) {
        return sizeof(T);
    } else if constexpr (List<T> || Array<T>) {
        std::size_t size = List<T> ? sizeof(Count) : 0;
        if constexpr (OneByte<typename T::value_type>) return size + value.size();
        for (const auto& element : value) size += size_of(element);
        return size;
    } else {
        return std::apply([](const auto&... member) { return (size_of(member) + ... + 0); },
                          members(value));
    }
}

class Writer {
public:
    explicit Writer(std::size_t size) : size_(size) { bytes_.reserve(size); }

    template <class T>
    void put(const T& value) {
        if constexpr (std::same_as<T, bool>) {
            bytes_.push_back(value ? 1 : 0);
        } else if constexpr (Integer<T>) {
            for (std::size_t byte = sizeof(T); byte-- > 0;) {
                bytes_.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
            }
        } else if constexpr (List<T> || Array<T>) {
            if constexpr (List<T>) {
                assert(value.size() <= std::numeric_limits<Count>::max());
                put(static_cast<Count>(value.size()));
            }
            if constexpr (OneByte<typename T::value_type>) {
                bytes_.insert(bytes_.end(), value.begin(), value.end());
            } else {
                for (const auto& element : value) put(element);
            }
        } else {
            std::apply([this](const auto&... member) { (put(member), ...); }, members(value));
        }
    }

    [[nodiscard]] Bytes take() {
        assert(bytes_.size() == size_);  // size_of() and put() know the same members
        return std::move(bytes_);
    }

private:
    std::size_t size_;
    Bytes bytes_;
};

class Reader {
public:
    explicit Reader(ByteView bytes) : rest_(bytes) {}

    // False, with `value` unspecified, as soon as the bytes cannot be what a Writer makes.
    template <class T>
    [[nodiscard]] bool get(T& value) {
        if constexpr (std::same_as<T, bool>) {
            std::uint8_t byte = 0;
            if (!get(byte) || byte > 1) return false;
            value = byte == 1;
            return true;
        } else if constexpr (Integer<T>) {
            if (rest_.size() < sizeof(T)) return false;
            value = 0;
            for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
                value = static_cast<T>(static_cast<std::uint64_t>(value) << 8 | rest_[byte]);
            }
            rest_ = rest_.subspan(sizeof(T));
            return true;
        } else if constexpr (List<T>) {
            Count count = 0;
            // Checked before anything is allocated: no element is smaller than a default one.
            if (!get(count) || count > rest_.size() / size_of(typename T::value_type{})) {
                return false;
            }
            value.resize(count);
            return get_elements(value);
        } else if constexpr (Array<T>) {
            return get_elements(value);
        } else {
            return std::apply([this](auto&... member) { return (get(member) && ...); },
                              members(value));
        }
    }

    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    template <class T>
    [[nodiscard]] bool get_elements(T& value) {
        if constexpr (OneByte<typename T::value_type>) {
            if (rest_.size() < value.size()) return false;
            std::copy_n(rest_.begin(), value.size(), value.begin());
            rest_ = rest_.subspan(value.size());
            return true;
        } else {
            return std::ranges::all_of(value, [this](auto& element) { return get(element); });
        }
    }

    ByteView rest_;
};

// Version, tag, value.
template <class T>
[[nodiscard]] Bytes encode_tagged(std::uint8_t tag, const T& value) {
    Writer writer{sizeof(version) + sizeof(tag) + size_of(value)};
    writer.put(version);
    writer.put(tag);
    writer.put(value);
    return writer.take();
}

template <class T>
[[nodiscard]] std::optional<T> decode_tagged(std::uint8_t tag, ByteView bytes) {
    Reader reader{bytes};
    std::uint8_t read_version = 0;
    std::uint8_t read_tag = 0;
    T value{};
    const bool whole = reader.get(read_version) && read_version == version &&
                       reader.get(read_tag) && read_tag == tag && reader.get(value) &&
                       reader.at_end();
    if (!whole) return std::nullopt;
    return value;
}

// A variant is stored under `first_tag` plus the index of its alternative.
template <class Variant>
[[nodiscard]] Bytes encode_variant(std::uint8_t first_tag, const Variant& variant) {
    const auto tag = static_cast<std::uint8_t>(first_tag + variant.index());
    return std::visit([tag](const auto& value) { return encode_tagged(tag, value); }, variant);
}

template <class Variant>
[[nodiscard]] std::optional<Variant> decode_variant(std::uint8_t first_tag, ByteView bytes) {
    if (bytes.size() < 2 || bytes[1] < first_tag) return std::nullopt;
    const std::size_t index = bytes[1] - std::size_t{first_tag};
    std::optional<Variant> decoded;
    const auto try_one = [&]<std::size_t i>(std::integral_constant<std::size_t, i>) {
        if (i != index) return;
        auto value = decode_tagged<std::variant_alternative_t<i, Variant>>(bytes[1], bytes);
        if (value) decoded.emplace(std::in_place_index<i>, std::move(*value));
    };
    [&]<std::size_t... i>(std::index_sequence<i...>) {
        (try_one(std::integral_constant<std::size_t, i>{}), ...);
    }
    (std::make_index_sequence<std::variant_size_v<Variant>>{});
    return decoded;
}

}  // namespace domain::codec
