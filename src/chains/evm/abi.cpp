#include "chains/evm/abi.hpp"

#include <algorithm>
#include <array>

namespace chains::evm::abi {
namespace {

domain::Bytes32 word_of(std::uint64_t number) {
    domain::Bytes32 word{};
    for (std::size_t at = word.size(); number != 0; number >>= 8U) {
        word[--at] = static_cast<std::uint8_t>(number);
    }
    return word;
}

void append(domain::Bytes& out, domain::ByteView bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}

std::size_t padding_after(std::size_t size) {
    return (word_bytes - size % word_bytes) % word_bytes;
}

std::optional<std::uint64_t> number_of(domain::ByteView word) {
    constexpr std::size_t leading = word_bytes - sizeof(std::uint64_t);
    std::uint64_t number = 0;
    for (std::size_t at = 0; at < word_bytes; ++at) {
        if (at < leading && word[at] != 0) return std::nullopt;
        number = number << 8U | word[at];
    }
    return number;
}

}  // namespace

Tuple& Tuple::add(const domain::Bytes32& word) {
    append(heads_, word);
    return *this;
}

Tuple& Tuple::add(const domain::Address& address) {
    heads_.resize(heads_.size() + word_bytes - address.size());
    append(heads_, address);
    return *this;
}

Tuple& Tuple::add(std::uint64_t number) {
    return add(word_of(number));
}

Tuple& Tuple::add_bytes(domain::ByteView bytes) {
    add_offset();
    append(tails_, word_of(bytes.size()));
    append(tails_, bytes);
    tails_.resize(tails_.size() + padding_after(bytes.size()));
    return *this;
}

Tuple& Tuple::add_tuple(const Tuple& dynamic) {
    add_offset();
    dynamic.append_to(tails_);
    return *this;
}

Tuple& Tuple::add_list(std::size_t count, const Tuple& elements) {
    add_offset();
    append(tails_, word_of(count));
    elements.append_to(tails_);
    return *this;
}

void Tuple::add_offset() {
    offsets_.push_back(heads_.size());
    add(tails_.size());
}

void Tuple::append_to(domain::Bytes& out) const {
    const std::size_t begin = out.size();
    append(out, heads_);
    for (const std::size_t at : offsets_) {
        const auto from_tails = *number_of(domain::ByteView{heads_}.subspan(at, word_bytes));
        std::ranges::copy(word_of(from_tails + heads_.size()),
                          out.begin() + static_cast<std::ptrdiff_t>(begin + at));
    }
    append(out, tails_);
}

domain::Bytes Tuple::encoded() const {
    domain::Bytes out;
    out.reserve(heads_.size() + tails_.size());
    append_to(out);
    return out;
}

domain::Bytes Tuple::call(std::uint32_t selector) const {
    const std::array prefix{
        static_cast<std::uint8_t>(selector >> 24U), static_cast<std::uint8_t>(selector >> 16U),
        static_cast<std::uint8_t>(selector >> 8U), static_cast<std::uint8_t>(selector)};
    domain::Bytes out;
    out.reserve(prefix.size() + heads_.size() + tails_.size());
    append(out, prefix);
    append_to(out);
    return out;
}

std::optional<domain::Bytes32> Decoder::word(std::size_t at) const {
    if (at >= tuple_.size() / word_bytes) return std::nullopt;
    domain::Bytes32 word;
    std::ranges::copy(tuple_.subspan(at * word_bytes, word_bytes), word.begin());
    return word;
}

std::optional<std::uint64_t> Decoder::number(std::size_t at) const {
    const auto read = word(at);
    return read ? number_of(*read) : std::nullopt;
}

std::optional<domain::ByteView> Decoder::tail(std::size_t at) const {
    const auto offset = number(at);
    if (!offset || *offset > tuple_.size()) return std::nullopt;
    return tuple_.subspan(*offset);
}

std::optional<domain::ByteView> Decoder::bytes(std::size_t at) const {
    const auto from = tail(at);
    if (!from) return std::nullopt;
    const auto size = Decoder{*from}.number(0);
    if (!size) return std::nullopt;
    const domain::ByteView content = from->subspan(word_bytes);
    if (*size > content.size() || padding_after(*size) > content.size() - *size) {
        return std::nullopt;
    }
    return content.first(*size);
}

std::optional<Decoder> Decoder::tuple(std::size_t at) const {
    const auto from = tail(at);
    if (!from) return std::nullopt;
    return Decoder{*from};
}

std::optional<Decoder::List> Decoder::list(std::size_t at, std::size_t element_words) const {
    const auto from = tail(at);
    if (!from) return std::nullopt;
    const auto count = Decoder{*from}.number(0);
    if (!count) return std::nullopt;
    const domain::ByteView elements = from->subspan(word_bytes);
    if (*count > elements.size() / (element_words * word_bytes)) return std::nullopt;
    return List{*count, Decoder{elements}};
}

std::optional<std::vector<domain::Bytes32>> Decoder::words(std::size_t at) const {
    const auto found = list(at, 1);
    if (!found) return std::nullopt;
    std::vector<domain::Bytes32> words;
    words.reserve(found->count);
    for (std::size_t index = 0; index < found->count; ++index) {
        words.push_back(*found->elements.word(index));
    }
    return words;
}

std::optional<std::vector<domain::Bytes>> Decoder::bytes_list(std::size_t at) const {
    const auto found = list(at, 1);
    if (!found) return std::nullopt;
    // Elements that do not overlap need no more than this; a thousand that are the same would.
    std::size_t left = tuple_.size();
    std::vector<domain::Bytes> all;
    for (std::size_t index = 0; index < found->count; ++index) {
        const auto one = found->elements.bytes(index);
        if (!one || 2 * word_bytes > left || one->size() > left - 2 * word_bytes) {
            return std::nullopt;
        }
        left -= 2 * word_bytes + one->size();
        all.emplace_back(one->begin(), one->end());
    }
    return all;
}

}  // namespace chains::evm::abi
