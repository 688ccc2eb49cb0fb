#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "chains/jsonrpc/node.hpp"
#include "domain/bytes.hpp"
#include "domain/time.hpp"
#include "engine/gateway.hpp"

namespace chains::votes::rest {

// An answer of a REST interface.
struct RestReply {
    int status = 0;
    std::optional<jsonrpc::Json> json;  // the body, where it is some
    std::string error;                  // its member `error`: one line without URLs; empty: none
    domain::Milliseconds hold{0};       // it asked to be left alone for so long
};

[[nodiscard]] bool is_success(const RestReply& reply);  // 2xx

// 404 of the chain itself: JSON with an `error` in words or a `code`. A proxy, or a server that is
// no chain, says 404 of everything.
[[nodiscard]] bool is_not_found(const RestReply& reply);

// Of a reply that is no success: status, error and hold.
[[nodiscard]] engine::Unreachable unreachable(const RestReply& reply);

// A reply is encoded as Go encodes protobuf structs: members that are zero are left out, bytes are
// base64. Nothing when the member is something else.
[[nodiscard]] std::optional<std::uint64_t> number_of(const jsonrpc::Json& object, const char* name);
[[nodiscard]] std::optional<domain::Bytes32> bytes32_of(const jsonrpc::Json& value);
// In base64, or as 64 hexadecimal digits.
[[nodiscard]] std::optional<domain::Bytes32> round_id_of(const jsonrpc::Json& value);

}  // namespace chains::votes::rest
