#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "cluster/database.hpp"
#include "cluster/key.hpp"
#include "net/http_message.hpp"

namespace api::forwarding {

// With it a node tells the owner whose request it passes on: `1 NODE ADDRESS INSTANCE PROOF`, the
// node's name in hexadecimal digits, the client's address as text, the owner's instance and the
// proof in hexadecimal digits. The proof is cluster::prove() for the instance, both nodes, and
// method, target and address: nobody without the key can make one, and none is good for another
// owner, another process or another request.
inline constexpr std::string_view forwarded_field = "Posthouse-Forwarded";
// With it a node tells another one that it is not the owner, or not any more, beside status 503.
inline constexpr std::string_view not_owner_field = "Posthouse-Not-Owner";

struct Forwarded {
    std::string node;              // that passed it on
    std::string address;           // of the client
    cluster::Instance instance{};  // of the owner it was meant for
};

// The field's value, for a request that goes to the node `owner`.
[[nodiscard]] std::string forwarded_value(const cluster::Keys& keys, const Forwarded& forwarded,
                                          std::string_view owner, const net::HttpRequest& request);

struct NotForwarded {};
// The field is there, and nobody with the cluster's key made it for this request and this node.
struct Forged {};
using Sender = std::variant<NotForwarded, Forged, Forwarded>;

// Who sent a request that has reached the node `self`. Whether it was meant for this process is
// for the caller to see.
[[nodiscard]] Sender sender_of(const cluster::Keys& keys, std::string_view self,
                               const net::HttpRequest& request);

}  // namespace api::forwarding
