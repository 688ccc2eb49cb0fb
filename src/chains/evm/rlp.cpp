#include "chains/evm/rlp.hpp"

#include <cstddef>
#include <cstdint>

namespace chains::evm::rlp {
namespace {

constexpr std::uint8_t text_tag = 0x80;
constexpr std::uint8_t list_tag = 0xc0;
constexpr std::size_t short_max = 55;

domain::Bytes big_endian(jsonrpc::Wei value) {
    std::size_t size = 0;
    for (jsonrpc::Wei rest = value; rest != 0; rest >>= 8U) ++size;
    domain::Bytes bytes(size);
    for (; size > 0; value >>= 8U) bytes[--size] = static_cast<std::uint8_t>(value);
    return bytes;
}

domain::Bytes prefix(std::uint8_t tag, std::size_t size) {
    if (size <= short_max) return {static_cast<std::uint8_t>(tag + size)};
    const domain::Bytes length = big_endian(size);
    domain::Bytes bytes{static_cast<std::uint8_t>(tag + short_max + length.size())};
    bytes.insert(bytes.end(), length.begin(), length.end());
    return bytes;
}

struct Item {
    bool is_list = false;
    domain::ByteView content;
    std::size_t size = 0;  // with its prefix
};

// `length_size` bytes that say how long the content behind them is; 0 when they do so badly.
std::size_t long_length(domain::ByteView bytes, std::size_t length_size) {
    if (bytes.size() < length_size || bytes[0] == 0) return 0;
    std::uint64_t length = 0;
    for (const std::uint8_t byte : bytes.first(length_size)) length = length << 8U | byte;
    return length > short_max ? length : 0;
}

std::optional<Item> first_item(domain::ByteView bytes) {
    if (bytes.empty()) return std::nullopt;
    const std::uint8_t first = bytes[0];
    if (first < text_tag) return Item{false, bytes.first(1), 1};

    const bool is_list = first >= list_tag;
    std::size_t length = first - std::size_t{is_list ? list_tag : text_tag};
    domain::ByteView rest = bytes.subspan(1);
    if (length > short_max) {
        const std::size_t length_size = length - short_max;
        length = long_length(rest, length_size);
        if (length == 0) return std::nullopt;
        rest = rest.subspan(length_size);
    }
    if (length > rest.size()) return std::nullopt;
    const domain::ByteView content = rest.first(length);
    if (!is_list && length == 1 && content[0] < text_tag) return std::nullopt;
    return Item{is_list, content, bytes.size() - rest.size() + length};
}

}  // namespace

domain::Bytes text(domain::ByteView bytes) {
    if (bytes.size() == 1 && bytes[0] < text_tag) return {bytes[0]};
    domain::Bytes encoded = prefix(text_tag, bytes.size());
    encoded.insert(encoded.end(), bytes.begin(), bytes.end());
    return encoded;
}

domain::Bytes number(jsonrpc::Wei value) {
    return text(big_endian(value));
}

domain::Bytes list(const std::vector<domain::Bytes>& encoded) {
    std::size_t size = 0;
    for (const domain::Bytes& item : encoded) size += item.size();
    domain::Bytes bytes = prefix(list_tag, size);
    bytes.reserve(bytes.size() + size);
    for (const domain::Bytes& item : encoded) bytes.insert(bytes.end(), item.begin(), item.end());
    return bytes;
}

std::optional<std::vector<domain::ByteView>> items(domain::ByteView bytes) {
    const auto whole = first_item(bytes);
    if (!whole || !whole->is_list || whole->size != bytes.size()) return std::nullopt;
    std::vector<domain::ByteView> found;
    for (domain::ByteView rest = whole->content; !rest.empty();) {
        const auto item = first_item(rest);
        if (!item) return std::nullopt;
        found.push_back(rest.first(item->size));
        rest = rest.subspan(item->size);
    }
    return found;
}

std::optional<domain::ByteView> content(domain::ByteView bytes) {
    const auto item = first_item(bytes);
    if (!item || item->is_list || item->size != bytes.size()) return std::nullopt;
    return item->content;
}

std::optional<jsonrpc::Wei> number_in(domain::ByteView bytes) {
    const auto digits = content(bytes);
    if (!digits || digits->size() > sizeof(jsonrpc::Wei)) return std::nullopt;
    if (!digits->empty() && digits->front() == 0) return std::nullopt;
    jsonrpc::Wei value = 0;
    for (const std::uint8_t byte : *digits) value = value << 8U | byte;
    return value;
}

}  // namespace chains::evm::rlp
