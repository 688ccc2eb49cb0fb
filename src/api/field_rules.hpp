#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/api_error.hpp"
#include "domain/bytes.hpp"

namespace api {

// What is wrong with a text, in the words clients match on (relayer-api 1.5); nothing: it is fine.
using Issue = std::optional<std::string_view>;

// The rules of relayer-api 1.5. Each turns a text into its value; after an issue `out` is
// unspecified.
[[nodiscard]] Issue read_address(std::string_view text, domain::Address& out);           // ADDR
[[nodiscard]] Issue read_chain_id(std::string_view text, std::uint64_t& out);            // CHAIN
[[nodiscard]] Issue read_prefixed_hex(std::string_view text, domain::Bytes& out);        // 0XHEX
[[nodiscard]] Issue read_bare_hex(std::string_view text, domain::Bytes& out);            // HEX
[[nodiscard]] Issue read_handle(std::string_view text, domain::Bytes32& out);            // HANDLE
[[nodiscard]] Issue read_u32(std::string_view text, std::uint32_t& out);                 // U32
[[nodiscard]] Issue read_u64(std::string_view text, std::uint64_t& out);                 // U64
[[nodiscard]] Issue read_proof_extra_data(std::string_view text, domain::Bytes& out);    // XD-IP
[[nodiscard]] Issue read_decrypt_extra_data(std::string_view text, domain::Bytes& out);  // XD

// TS: decimal or 0x hexadecimal Unix seconds, not later than `now_seconds`.
[[nodiscard]] Issue read_start(std::string_view text, std::uint64_t now_seconds,
                               std::uint64_t& out);

[[nodiscard]] Issue require_size(std::size_t size, std::size_t at_least);  // NONEMPTY(n)
[[nodiscard]] Issue require_130(std::string_view text);                    // LEN130

// Collects the issues of one request.
class FieldIssues {
public:
    void note(std::string_view field, Issue issue) {
        if (issue) details_.push_back({std::string(field), std::string(*issue)});
    }

    [[nodiscard]] bool empty() const { return details_.empty(); }
    [[nodiscard]] ApiError api_error() const { return validation_failed(details_); }

private:
    std::vector<Detail> details_;
};

}  // namespace api
