#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "api/admin/admin_options.hpp"
#include "api/metrics/options.hpp"
#include "api/options.hpp"
#include "chains/evm/options.hpp"
#include "chains/loopback/options.hpp"
#include "chains/votes/options.hpp"
#include "cluster/options.hpp"
#include "domain/time.hpp"
#include "engine/options.hpp"
#include "net/http_server.hpp"
#include "net/proxy.hpp"
#include "platform/log.hpp"
#include "store/options.hpp"

namespace config {

enum class GatewayType { loopback, evm };

// Everything an operator may set, sorted by the layer it is for. The defaults of the layers are the
// defaults of the configuration.
struct Settings {
    store::Options store;
    engine::Options engine;
    api::Options api;
    net::HttpOptions http;
    api::admin::AdminOptions admin;
    api::metrics::MetricsOptions metrics;
    GatewayType gateway = GatewayType::loopback;
    chains::loopback::Options loopback;
    chains::evm::Options evm;
    chains::votes::Options votes;
    chains::votes::WebhookOptions webhook;
    platform::LogOptions log;
    std::optional<cluster::Options> cluster;  // nothing: a single machine
    net::Proxies proxies;  // of the environment; to nodes, vote chains, provers and webhooks

    std::size_t workers = 4;  // threads for the gateway's outside work
    // How long running work may report after SIGTERM before the program goes without it.
    domain::Milliseconds stop_grace{5'000};
};

}  // namespace config
