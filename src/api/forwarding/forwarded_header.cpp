#include "api/forwarding/forwarded_header.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "cluster/node_proof.hpp"
#include "domain/bytes.hpp"

namespace api::forwarding {

namespace {

constexpr std::string_view version = "1";
// Instead of an address that nobody knows: an empty part is none.
constexpr std::string_view unknown_address = "unknown";

domain::ByteView bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

cluster::Challenge challenge_of(const Forwarded& forwarded, std::string_view owner,
                                const net::HttpRequest& request) {
    cluster::Challenge challenge{
        .verifier = std::string(owner), .prover = forwarded.node, .purpose = "forwarded request"};
    std::ranges::copy(forwarded.instance, challenge.nonce.begin());
    // None of them holds a line feed.
    for (const std::string_view part : {request.method, request.target}) {
        challenge.purpose.append("\n").append(part);
    }
    challenge.purpose.append("\n").append(forwarded.address);
    return challenge;
}

// Exactly so many parts with one space between two. Nothing: it is not made like that.
using Parts = std::array<std::string_view, 5>;
std::optional<Parts> parts_of(std::string_view value) {
    Parts parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const std::size_t end = std::min(value.find(' '), value.size());
        parts.at(i) = value.substr(0, end);
        const bool is_last = i + 1 == parts.size();
        if (parts.at(i).empty() || is_last != (end == value.size())) return std::nullopt;
        value.remove_prefix(std::min(end + 1, value.size()));
    }
    return parts;
}

}  // namespace

std::string forwarded_value(const cluster::Keys& keys, const Forwarded& forwarded,
                            std::string_view owner, const net::HttpRequest& request) {
    Forwarded told = forwarded;
    if (told.address.empty()) told.address = unknown_address;
    std::string value(version);
    value.append(" ").append(domain::to_hex(bytes_of(told.node)));
    value.append(" ").append(told.address);
    value.append(" ").append(domain::to_hex(told.instance));
    value.append(" ").append(
        domain::to_hex(cluster::prove(keys, challenge_of(told, owner, request))));
    return value;
}

Sender sender_of(const cluster::Keys& keys, std::string_view self,
                 const net::HttpRequest& request) {
    const auto is_it = [](const net::HttpHeader& header) {
        return net::equal_ignoring_case(header.name, forwarded_field);
    };
    const auto field = std::ranges::find_if(request.headers, is_it);
    if (field == request.headers.end()) return NotForwarded{};
    // A node sends one.
    if (std::find_if(field + 1, request.headers.end(), is_it) != request.headers.end()) {
        return Forged{};
    }
    const std::optional<Parts> parts = parts_of(field->value);
    if (!parts) return Forged{};
    const auto& [its_version, node, address, instance, proof] = *parts;
    const std::optional<domain::Bytes> name = domain::from_hex(node);
    Forwarded forwarded{.node = {}, .address = std::string(address), .instance = {}};
    domain::Bytes32 proven{};
    if (its_version != version || !name || !domain::from_hex(instance, forwarded.instance) ||
        !domain::from_hex(proof, proven)) {
        return Forged{};
    }
    forwarded.node.assign(name->begin(), name->end());
    if (!cluster::is_proof(keys, challenge_of(forwarded, self, request), proven)) return Forged{};
    return forwarded;
}

}  // namespace api::forwarding
