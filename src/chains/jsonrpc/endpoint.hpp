#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "chains/jsonrpc/endpoint_health.hpp"
#include "net/client.hpp"

namespace chains::jsonrpc {

// One URL of a node. Any thread.
struct Endpoint {
    Endpoint(net::Url url, std::size_t response_bytes_max,
             std::shared_ptr<net::ClientContext> context)
        : client(std::move(url), response_bytes_max, std::move(context)) {}

    net::Client client;
    EndpointHealth health;
};

}  // namespace chains::jsonrpc
