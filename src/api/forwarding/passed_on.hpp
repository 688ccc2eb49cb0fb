#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/client.hpp"
#include "net/http_message.hpp"

namespace api::forwarding {

using Fields = std::vector<std::pair<std::string, std::string>>;

// What a request has beside what was for one hop only (RFC 9110, 7.6.1), what the connection to the
// owner has of its own, and what nodes say to each other. `node` has its place in Via (7.6.3).
[[nodiscard]] Fields fields_to_owner(const net::HttpRequest& request, std::string_view node);

// Whether the request has been passed on by `node` before: it goes round.
[[nodiscard]] bool was_passed_on_by(std::string_view node, const net::HttpRequest& request);

// The owner's answer as the client gets it. `to_head`: of a HEAD.
[[nodiscard]] net::HttpResponse answer_of_owner(net::ClientResponse response, bool to_head);

// Another node says that it is not the owner.
[[nodiscard]] bool is_not_owner(const net::ClientResponse& response);

}  // namespace api::forwarding
