#pragma once

#include <boost/beast/core/span.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/span_body.hpp>
#include <optional>

#include "net/client.hpp"
#include "net/connect.hpp"

// Includes Beast: for the files of net only.
namespace net {

using RequestMessage = boost::beast::http::request<boost::beast::http::span_body<const char>>;

// As it goes over the wire; its body stays the request's. Nothing when target or headers hold what
// would end their line, or a header is one that this writes itself.
[[nodiscard]] std::optional<RequestMessage> message_of(const ClientRequest& request,
                                                       const Route& route);

}  // namespace net
