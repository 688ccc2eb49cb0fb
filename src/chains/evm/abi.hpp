#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "domain/bytes.hpp"

// Contract ABI (Solidity documentation, "Contract ABI Specification"): everything is made of words
// of 32 bytes; a tuple is its heads, then the tails that its heads point to.
namespace chains::evm::abi {

inline constexpr std::size_t word_bytes = 32;

// Puts a tuple together, member by member. A static tuple inside it is its members one by one.
class Tuple {
public:
    Tuple& add(const domain::Bytes32& word);
    Tuple& add(const domain::Address& address);
    Tuple& add(std::uint64_t number);
    Tuple& add_bytes(domain::ByteView bytes);
    Tuple& add_tuple(const Tuple& dynamic);
    // An array: its elements are added to `elements` like members.
    Tuple& add_list(std::size_t count, const Tuple& elements);

    [[nodiscard]] domain::Bytes encoded() const;
    // Calldata of a function whose arguments these are.
    [[nodiscard]] domain::Bytes call(std::uint32_t selector) const;

private:
    void add_offset();
    void append_to(domain::Bytes& out) const;

    domain::Bytes heads_;
    domain::Bytes tails_;
    // Heads that point to a tail; until the heads are complete they count from the first tail.
    std::vector<std::size_t> offsets_;
};

// Reads a tuple that anybody may have written, without owning it. `at` counts words of the head.
// Nothing when a member is not there whole, with its padding, whatever that holds. What is copied
// is never larger than the tuple, even where members overlap.
class Decoder {
public:
    struct List;

    explicit Decoder(domain::ByteView tuple) : tuple_(tuple) {}

    [[nodiscard]] std::optional<domain::Bytes32> word(std::size_t at) const;
    [[nodiscard]] std::optional<std::uint64_t> number(std::size_t at) const;  // fits 64 bits
    [[nodiscard]] std::optional<domain::ByteView> bytes(std::size_t at) const;
    [[nodiscard]] std::optional<Decoder> tuple(std::size_t at) const;  // a dynamic one
    // `element_words`: of the head of one element.
    [[nodiscard]] std::optional<List> list(std::size_t at, std::size_t element_words) const;

    [[nodiscard]] std::optional<std::vector<domain::Bytes32>> words(std::size_t at) const;
    [[nodiscard]] std::optional<std::vector<domain::Bytes>> bytes_list(std::size_t at) const;

private:
    [[nodiscard]] std::optional<domain::ByteView> tail(std::size_t at) const;

    domain::ByteView tuple_;
};

struct Decoder::List {
    std::size_t count = 0;
    Decoder elements;
};

}  // namespace chains::evm::abi
