#include "chains/evm/nodes.hpp"

#include <string>
#include <utility>
#include <vector>

#include "chains/evm/events.hpp"
#include "chains/evm/options.hpp"
#include "chains/jsonrpc/http_node.hpp"
#include "net/url.hpp"

namespace chains::evm {

std::unique_ptr<jsonrpc::Node> make_node(std::vector<std::string> urls, const Options& options,
                                         const ports::Clock& clock) {
    return std::make_unique<jsonrpc::HttpNode>(
        jsonrpc::HttpNodeOptions{std::move(urls), options.call_timeout, options.response_bytes_max,
                                 options.batch_max, options.client_context},
        clock);
}

Nodes make_nodes(const Options& options, const ports::Clock& clock) {
    const auto node = [&](std::vector<std::string> urls) {
        return make_node(std::move(urls), options, clock);
    };
    Nodes nodes;
    nodes.write = node(options.write_urls);
    nodes.read = node(options.read_urls);
    for (const Options::HostChain& chain : options.host_chains) {
        nodes.hosts.emplace(chain.chain_id, node(chain.urls));
    }
    nodes.protocol = node(options.protocol_config.urls);
    for (const Options::Listener& listener : options.listening.listeners) {
        nodes.listeners.push_back(node({net::over_http(listener.url)}));
    }
    return nodes;
}

jsonrpc::SubscriptionOptions subscription_options(const Options& options, std::string url) {
    jsonrpc::SubscriptionOptions subscription;
    subscription.url = std::move(url);
    subscription.addresses = {options.decryption, options.input_verification};
    subscription.topics.assign(answer_topics().begin(), answer_topics().end());
    subscription.context = options.client_context;
    subscription.retry_interval = options.listening.retry_interval;
    subscription.recycle_interval = options.listening.recycle_interval;
    return subscription;
}

}  // namespace chains::evm
